"""Minima and maxima in few instructions of x86, zeros ordered by sign and NaN kept, once loops are vectorised.

The instructions of x86 take the second operand where both are zero or one is NaN.  LLVM sorts the operands by their
signs before and looks for NaN after.  It is enough to look at the first operand, which in a reduction is the element,
and so waits for no other one.  Where that is a NaN or the negative zero, a minimum has all of its bits as well::

    %m = select (fcmp olt %a, %b), %a, %b                   vminpd
    %odd = is %a NaN or -0.0                                vfpclasspd
    %r = select %odd, (%m | %a), %m                         vorpd, masked

A maximum loses its sign where the first operand is a NaN or the positive zero.  Processors without AVX-512 give every
minimum the sign of a first operand that has one, which changes nothing but zeros, and take the sign of a maximum.
"""

from __future__ import annotations

import re

from xjit.dataclass import dataclass, field
from xjit.llvm import vector_width

_OPERANDS = r"(?P<type>(?:<\d+ x )?(?P<element>float|double)>?)"
_PAIR = re.compile(
    r"^  (?P<name>%[\w.\"-]+) = (?:tail )?call " + _OPERANDS + r" @llvm\.(?P<kind>minimum|maximum)\.[^(]+\("
    r"(?P=type) (?P<left>.+), (?P=type) (?P<right>.+)\)$",
    re.MULTILINE,
)
_LANES = re.compile(
    r"^  (?P<name>%[\w.\"-]+) = (?:tail )?call (?P<element>float|double)"
    r" @llvm\.vector\.reduce\.f(?P<kind>minimum|maximum)\.[^(]+"
    r"\(<(?P<lanes>\d+) x (?:float|double)> (?P<vector>.+)\)$",
    re.MULTILINE,
)
_BITS = {"float": 32, "double": 64}
_REGISTER = 128
_FEATURES = frozenset(("+avx512dq", "+avx512vl"))
# Quiet NaN, signalling NaN and one of the zeros.
_ODD = {"minimum": 0x81 | 0x04, "maximum": 0x81 | 0x02}
# f(m, a, all bits but the sign): either of the first two, and the last.
_EITHER_UNSIGNED = 0b10101000


def has_extremes(text: str) -> bool:
    """Return whether IR text has minima or maxima of floats."""
    return "llvm.minimum." in text or "llvm.maximum." in text


def written_out(text: str, features: str) -> str:
    """Optimised IR text with all minima and maxima of floats in instructions of processors with these features."""
    words = features.split(",")
    forms = _Forms(vector_width.preferred_bits(words) if set(words) >= _FEATURES else 0)
    found = _PAIR.sub(forms.pair, _LANES.sub(forms.lanes, text))
    return found + "".join(sorted(forms.declarations))


@dataclass
class _Forms:
    """Writes them; vectors of up to ``widest`` bits have the instructions of AVX-512."""

    widest: int
    declarations: set[str] = field(default_factory=set)

    def pair(self, found: re.Match[str]) -> str:
        """The extreme of two numbers or vectors, the second one of which waits for no other."""
        name, kind, element, stem = found["name"], found["kind"], found["element"], _stem(found["name"])
        if found["type"] != element:
            lanes = int(found["type"][1:].partition(" ")[0])
            return _text(_Vectors(kind, element, lanes, self).extreme(name, found["right"], found["left"], stem))
        vectors = _Vectors(kind, element, _REGISTER // _BITS[element], self)
        lines = [
            f"{stem}.{side} = insertelement {vectors.type} poison, {element} {found[side]}, i32 0"
            for side in ("left", "right")
        ]
        lines += vectors.extreme(f"{stem}.v", f"{stem}.right", f"{stem}.left", stem)
        return _text([*lines, f"{name} = extractelement {vectors.type} {stem}.v, i32 0"])

    def lanes(self, found: re.Match[str]) -> str:
        """The extreme of all lanes of a vector, in halves. Lanes that nobody needs fill a register."""
        stem, vector, element, lines = _stem(found["name"]), found["vector"], found["element"], list[str]()
        width = int(found["lanes"])
        vectors = _Vectors(found["kind"], element, width, self)
        while width > 1:
            whole, width, parts = vectors.type, width // 2, list[str]()
            vectors = _Vectors(found["kind"], element, max(width, _REGISTER // _BITS[element]), self)
            for letter, first in (("l", 0), ("h", width)):
                parts.append(f"{stem}.{letter}{width}")
                places = [f"i32 {first + place}" for place in range(width)]
                places += ["i32 poison"] * (vectors.lanes - width)
                mask = f"<{vectors.lanes} x i32> <{', '.join(places)}>"
                lines.append(f"{parts[-1]} = shufflevector {whole} {vector}, {whole} poison, {mask}")
            vector = f"{stem}.t{width}"
            low, high = parts
            lines += vectors.extreme(vector, low, high, f"{stem}.{width}")
        return _text([*lines, f"{found['name']} = extractelement {vectors.type} {vector}, i32 0"])


@dataclass(frozen=True)
class _Vectors:
    """Writes the extreme of two vectors of some type."""

    kind: str
    element: str
    lanes: int
    forms: _Forms

    @property
    def type(self) -> str:
        """The type in LLVM."""
        return f"<{self.lanes} x {self.element}>"

    @property
    def _bits(self) -> int:
        return _BITS[self.element]

    @property
    def _word(self) -> str:
        return f"<{self.lanes} x i{self._bits}>"

    def extreme(self, name: str, one: str, other: str, stem: str) -> list[str]:
        """The instructions; nothing but the first ones need both operands."""
        order, type, word = ("olt" if self.kind == "minimum" else "ogt"), self.type, self._word
        wide = _REGISTER <= self.lanes * self._bits <= self.forms.widest
        return [
            f"{stem}.is = fcmp {order} {type} {one}, {other}",
            f"{stem}.m = select <{self.lanes} x i1> {stem}.is, {type} {one}, {type} {other}",
            f"{stem}.bits = bitcast {type} {stem}.m to {word}",
            f"{stem}.own = bitcast {type} {one} to {word}",
            *(self._masked(one, stem) if wide else self._plain(one, stem)),
            f"{name} = bitcast {word} {stem}.exact to {type}",
        ]

    def _masked(self, one: str, stem: str) -> list[str]:
        word, mask = self._word, f"<{self.lanes} x i1>"
        is_odd = self._declared(f"fpclass.p{'sd'[self._bits == 64]}", mask, (self.type,))
        either = f"or {word} {stem}.bits, {stem}.own"
        if self.kind == "maximum":
            logic = self._declared(f"pternlog.{'dq'[self._bits == 64]}", word, (word,) * 3)
            operands = f"{word} {stem}.bits, {word} {stem}.own, {word} {self._all(self._unsigned)}"
            either = f"call {word} {logic}({operands}, i32 {_EITHER_UNSIGNED})"
        return [
            f"{stem}.odd = call {mask} {is_odd}({self.type} {one}, i32 {_ODD[self.kind]})",
            f"{stem}.fixed = {either}",
            f"{stem}.exact = select {mask} {stem}.odd, {word} {stem}.fixed, {word} {stem}.bits",
        ]

    def _plain(self, one: str, stem: str) -> list[str]:
        word, mask = self._word, f"<{self.lanes} x i1>"
        is_nan = [
            f"{stem}.is_nan = fcmp uno {self.type} {one}, {one}",
            f"{stem}.mask = sext {mask} {stem}.is_nan to {word}",
        ]
        if self.kind == "minimum":
            return [
                *is_nan,
                f"{stem}.chosen = or {word} {stem}.mask, {self._all(-self._unsigned - 1)}",
                f"{stem}.some = and {word} {stem}.own, {stem}.chosen",
                f"{stem}.exact = or {word} {stem}.bits, {stem}.some",
            ]
        return [
            *is_nan,
            f"{stem}.nan = and {word} {stem}.own, {stem}.mask",
            f"{stem}.sign = or {word} {stem}.own, {self._all(self._unsigned)}",
            f"{stem}.signed = and {word} {stem}.bits, {stem}.sign",
            f"{stem}.exact = or {word} {stem}.signed, {stem}.nan",
        ]

    @property
    def _unsigned(self) -> int:
        """All bits but the sign."""
        return int((1 << self._bits - 1) - 1)

    def _all(self, value: int) -> str:
        return f"<{', '.join([f'i{self._bits} {value}'] * self.lanes)}>"

    def _declared(self, name: str, result: str, operands: tuple[str, ...]) -> str:
        """An instruction of AVX-512 for vectors of this type, which takes a constant as well."""
        full = f"@llvm.x86.avx512.{name}.{self.lanes * self._bits}"
        self.forms.declarations.add(f"declare {result} {full}({', '.join(operands)}, i32 immarg)\n")
        return full


def _text(lines: list[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _stem(name: str) -> str:
    return f"%extreme.{name[1:].replace(chr(34), '')}"
