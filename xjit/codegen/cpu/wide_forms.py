"""Vector forms of inline functions, for instructions that LLVM makes of no plain text.

AVX-512 takes floats apart in one instruction each, with zeros, infinities, negative and subnormal numbers as
logarithms want them, and multiplies them by powers of two with one rounding; the same on bit patterns takes a dozen.
It looks sixteen floats up in one instruction, others in a few (:mod:`xjit.codegen.cpu.tables`), where a load for each
element takes as many as there are.  A function with such a form stays a call until loops are vectorised::

    declare float @xjit_root_exponent_f32(float) "vector-function-abi-variant"="_ZGV_LLVM_N16v_...(..._f32_x16),..."

LLVM then calls the form for as many lanes as the loop has, in halves where that is more than a register has, and
what is left over calls the function itself.  Only after that are both inlined.  Loops for other processors, and
uncompiled text, know the function alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from string import Template
from typing import TYPE_CHECKING

from xjit.codegen.cpu import tables
from xjit.codegen.language.inline_functions import LEAST_CALLED, PREFIX, InlineFunction, lookup
from xjit.dataclass import dataclass
from xjit.llvm import vector_width

if TYPE_CHECKING:
    from xjit.codegen.cpu.llvm_pipeline import Target

VECTOR_BITS = (64, 128, 256, 512, 1024, 2048, 4096)
"""Bits of the vectors that a loop may ask for; where they are more than a register has, in halves."""
NARROWEST = 128
"""Bits of the narrowest registers."""
FEATURES = frozenset(("+avx512f", "+avx512dq", "+avx512vl"))
"""The features that a processor needs for all forms."""

# Nothing is read or written but the operand, so that calls may be moved, merged and dropped.
PURE = "nounwind willreturn memory(none)"

_CALL = re.compile(r" call [^\n@]*@(\w+)\(")
_DECLARATION = re.compile(r"^declare [^\n]*@\"?(\w+)\"?\([^\n]*$", re.MULTILINE)
# Above 1, what the fraction is halved from where it is to lie around one, between the roots of 1/2 and of 2.
_ROOT_TWO = {"f32": 0x3FF6A09E60000000, "f64": 0x3FF6A09E667F3BCD}
_ROUNDER = {"f32": 1.5 * 2.0**23, "f64": 1.5 * 2.0**52}

_FROM_ROOT = """
  %m = $getmant_from_one
  %halve = fcmp oge $vector %m, $root_two
"""
ROOT_EXPONENT = (
    _FROM_ROOT
    + """
  %k = $getexp
  %next = fadd $vector %k, $one
  %result = select <$lanes x i1> %halve, $vector %next, $vector %k
"""
)
"""k of ``2**k * m`` with ``sqrt(1/2) <= m < sqrt(2)``: -inf of zeros, infinity of infinities."""
ROOT_FRACTION = (
    _FROM_ROOT
    + """
  %half = fmul $vector %m, $half
  %result = select <$lanes x i1> %halve, $vector %half, $vector %m
"""
)
"""m of the same; one of zeros and infinity, NaN of negative numbers."""

_FROM_QUARTERS = """
  %m = $getmant_from_quarters
"""
QUARTERS_EXPONENT = (
    _FROM_QUARTERS
    + """
  %k = $getexp
  %below = fcmp olt $vector %m, $one
  %next = fadd $vector %k, $one
  %result = select <$lanes x i1> %below, $vector %next, $vector %k
"""
)
"""k of ``2**k * m`` with ``3/4 <= m < 3/2``: -inf of zeros, infinity of infinity, NaN of negative numbers."""
QUARTERS_FRACTION = _FROM_QUARTERS.replace("%m", "%result")
"""m of the same; one of zeros and infinity, NaN of negative numbers."""

WHOLE_EXPONENT = """
  %result = $getexp
"""
"""k of ``2**k * m`` with ``1 <= m < 2``: -inf of zeros, infinity of infinities, that of |x| where x is negative."""

SCALE = """
  %n = fadd $vector %y, $minus_rounder
  %result = $scalef
"""
"""x * 2**n, rounded once, for y of n and that which makes n an integer in the low bits."""

REST = """
  %result = $rest_of_x
"""
"""x less the nearest integer; zero of infinity."""

SCALE_BY_NEAREST = """
  %rest = $rest_of_y
  %n = fsub $vector %y, %rest
  %result = $scalef
"""
"""x * 2**n, rounded once, for the integer n nearest to y."""

# Operands of the instruction: which interval, and that negative numbers but zero give NaN.
_FROM_ONE, _FROM_THREE_QUARTERS = "i32 12, ", "i32 15, "
# No bits after the point, ties to even, no exception of what is not exact.
_OF_NEAREST = "i32 8, "


@dataclass(frozen=True, slots=True)
class Machine:
    """The target of forms: an instruction set, and bits of the widest registers."""

    instructions: str
    widest: int


def machine(target: Target) -> Machine:
    """The forms of lookup that a processor has; without instructions for it, loads.

    >>> from xjit.codegen.cpu.llvm_pipeline import Target
    >>> machine(Target("aarch64-unknown-linux-gnu", "generic", ""))
    Machine(instructions='neon', widest=128)
    """
    features = target.features.split(",")
    if set(features) >= FEATURES:
        return Machine("avx512", vector_width.preferred_bits(features))
    if "+avx2" in features:
        return Machine("avx2", 256)
    return Machine("neon" if target.traits.architecture in ("aarch64", "arm64") else "loads", NARROWEST)


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a function for vectors of some width."""

    function: InlineFunction
    bits: int

    @property
    def lanes(self) -> int:
        """Elements in a vector."""
        return self.bits // self._element_bits

    @property
    def name(self) -> str:
        """The name in LLVM."""
        return f"{self.function.symbol}_x{self.lanes}"

    @property
    def variant(self) -> str:
        """The attribute that tells the vectoriser that the form stands for the function."""
        return f"_ZGV_LLVM_N{self.lanes}{'v' * len(self._names)}_{self.function.symbol}({self.name})"

    @property
    def declaration(self) -> str:
        """LLVM assembly that says that there is such a function."""
        return f"declare {self._vector} @{self.name}({', '.join([self._vector] * len(self._names))}) {PURE}\n"

    def parts(self, machine: Machine) -> tuple[Form, ...]:
        """The forms whose definitions it takes to define this one, itself included."""
        other = self._other(machine)
        return (self,) if other is None else (self, *other.parts(machine))

    def is_made(self, machine: Machine) -> bool:
        """Return whether the form is compiled on its own and called, not written here and inlined."""
        return self.function.called is not None and self._other(machine) is None

    def definition(self, machine: Machine) -> str:
        """LLVM assembly of the function, for inlining only."""
        other = self._other(machine)
        if other is not None:
            body = self._halves(other) if other.bits < self.bits else self._low_half(other)
        elif self.function.table is not None:
            body = tables.form(self.function.symbol, self.function.table, machine.instructions, self.bits)
        else:
            body = self._instructions()
        arguments = ", ".join(f"{self._vector} %{name}" for name in self._names)
        attributes = f"alwaysinline {PURE} {vector_width.ANY_WIDTH}"
        return (
            f"define available_externally {self._vector} @{self.name}({arguments}) {attributes} {{\n"
            f"{body.strip()}\n  ret {self._vector} %result\n}}\n"
        )

    def needs(self, machine: Machine) -> str:
        """LLVM assembly of what the definition may refer to."""
        if self._other(machine) is not None:
            return ""
        if self.function.called is not None:
            return self.declaration
        if self.function.table is not None:
            return tables.needs(self.function.symbol, self.function.table, machine.instructions, self.bits)
        types = {"getexp": "", "getmant": "i32, ", "reduce": "i32, ", "scalef": f"{self._vector}, "}
        return "".join(
            f"declare {self._vector} @{self._intrinsic(name)}({self._vector}, {more}{self._vector}, {self._mask}"
            f"{', i32' if self.bits == vector_width.WIDEST else ''})\n"
            for name, more in types.items()
        )

    def _other(self, machine: Machine) -> Form | None:
        """The form that this one is made of where it has no instructions of its own."""
        if self.function.called is not None:
            return self._other_of_called(machine)
        least = NARROWEST if self.function.table is None else tables.narrowest(machine.instructions)
        if self.bits > max(least, machine.widest):
            return Form(self.function, self.bits // 2)
        return Form(self.function, self.bits * 2) if self.bits < least else None

    def _other_of_called(self, machine: Machine) -> Form | None:
        if self.lanes < LEAST_CALLED:
            return Form(self.function, self.bits * 2)
        long = self.bits > machine.widest and self.lanes > LEAST_CALLED
        return Form(self.function, self.bits // 2) if long else None

    def _instructions(self) -> str:
        kind = self.function.result
        return Template(self.function.wide).substitute(
            vector=self._vector,
            lanes=self.lanes,
            getmant_from_one=self._instruction("getmant", _FROM_ONE),
            getmant_from_quarters=self._instruction("getmant", _FROM_THREE_QUARTERS),
            getexp=self._instruction("getexp"),
            rest_of_x=self._instruction("reduce", _OF_NEAREST),
            rest_of_y=self._instruction("reduce", _OF_NEAREST, "y"),
            scalef=self._instruction("scalef", f"{self._vector} %n, "),
            root_two=self._constant(f"0x{_ROOT_TWO[kind]:X}"),
            one=self._constant("1.0"),
            half=self._constant("0.5"),
            minus_rounder=self._constant(f"-{_ROUNDER[kind]:.1f}"),
        )

    def _low_half(self, double: Form) -> str:
        lines = []
        for name in self._names:
            undefined = f"{self._vector} %{name}, {self._vector} poison"
            lines.append(f"  %{name}0 = shufflevector {undefined}, {self._places(range(double.lanes))}")
        arguments = ", ".join(f"{double._vector} %{name}0" for name in self._names)
        lines.append(f"  %both = call {double._vector} @{double.name}({arguments})")
        both = f"{double._vector} %both, {double._vector} poison"
        lines.append(f"  %result = shufflevector {both}, {self._places(range(self.lanes))}")
        return "\n".join(lines)

    def _halves(self, half: Form) -> str:
        lines = []
        for part in range(2):
            places = self._places(range(part * half.lanes, (part + 1) * half.lanes))
            for name in self._names:
                lines.append(
                    f"  %{name}{part} = shufflevector {self._vector} %{name}, {self._vector} poison, {places}"
                )
            arguments = ", ".join(f"{half._vector} %{name}{part}" for name in self._names)
            lines.append(f"  %part{part} = call {half._vector} @{half.name}({arguments})")
        both = f"{half._vector} %part0, {half._vector} %part1"
        lines.append(f"  %result = shufflevector {both}, {self._places(range(self.lanes))}")
        return "\n".join(lines)

    @staticmethod
    def _places(places: range) -> str:
        return f"<{len(places)} x i32> <{', '.join(f'i32 {place}' for place in places)}>"

    @property
    def _names(self) -> str:
        return "xy"[: len(self.function.arguments)]

    @property
    def _element_bits(self) -> int:
        return int(self.function.result[1:])

    @property
    def _element(self) -> str:
        return {"f32": "float", "f64": "double"}[self.function.result]

    @property
    def _vector(self) -> str:
        return f"<{self.lanes} x {self._element}>"

    @property
    def _mask(self) -> str:
        return f"i{max(8, self.lanes)}"

    def _intrinsic(self, name: str) -> str:
        return f"llvm.x86.avx512.mask.{name}.p{'sd'[self._element_bits == 64]}.{self.bits}"

    def _instruction(self, name: str, more: str = "", operand: str = "x") -> str:
        """A call for all lanes; the widest also says how to round, which is as everywhere."""
        rounding = ", i32 4" if self.bits == vector_width.WIDEST else ""
        operands = f"{self._vector} %{operand}, {more}{self._vector} %{operand}, {self._mask} -1{rounding}"
        return f"call {self._vector} @{self._intrinsic(name)}({operands})"

    def _constant(self, text: str) -> str:
        return f"<{', '.join([f'{self._element} {text}'] * self.lanes)}>"


def among(symbols: Iterable[str], target: Target) -> tuple[InlineFunction, ...]:
    """The functions of these names in LLVM that have vector forms on a processor."""
    has = machine(target)
    found = (lookup(symbol.removeprefix(PREFIX)) for symbol in symbols if symbol.startswith(PREFIX))
    wide = [function for function in found if function is not None]
    avx512 = has.instructions == "avx512"
    return tuple(one for one in wide if one.table is not None or one.called is not None or (one.wide and avx512))


def marked(text: str, functions: Iterable[InlineFunction]) -> str:
    """The assembly with the forms of these functions named where they are declared."""
    symbols = {function.symbol: function for function in functions}

    def mark(line: re.Match[str]) -> str:
        function = symbols.get(line[1])
        if function is None:
            return line[0]
        forms = ",".join(form.variant for form in forms_of(function))
        return f'{line[0]} {PURE} "vector-function-abi-variant"="{forms}"'

    return _DECLARATION.sub(mark, text)


def forms_of(function: InlineFunction) -> tuple[Form, ...]:
    """The forms for all widths."""
    element = int(function.result[1:])
    return tuple(Form(function, bits) for bits in VECTOR_BITS if bits > element)


def declarations(functions: Iterable[InlineFunction]) -> str:
    """LLVM assembly that declares all forms and keeps the passes from dropping them before loops are vectorised."""
    forms = [form for function in functions for form in forms_of(function)]
    names = ", ".join(f"ptr @{form.name}" for form in forms)
    used = f'@llvm.compiler.used = appending global [{len(forms)} x ptr] [{names}], section "llvm.metadata"\n'
    return used + "".join(form.declaration for form in forms)


def calls_in(text: str) -> frozenset[str]:
    """The names of what assembly calls."""
    return frozenset(_CALL.findall(text))


def called(names: Collection[str], functions: Iterable[InlineFunction]) -> tuple[Form, ...]:
    """The forms of these functions among names."""
    return tuple(form for function in functions for form in forms_of(function) if form.name in names)


def definitions(forms: Iterable[Form], target: Target) -> str:
    """LLVM assembly of forms for a processor."""
    has = machine(target)
    needed = dict.fromkeys(part for form in forms for part in form.parts(has))
    needs = dict.fromkeys(form.needs(has) for form in needed)
    return "".join((*needs, *(form.definition(has) for form in needed if not form.is_made(has))))


def made(forms: Iterable[Form], target: Target) -> tuple[Form, ...]:
    """The forms that it takes to define these and that are compiled on their own."""
    has = machine(target)
    return tuple(dict.fromkeys(part for form in forms for part in form.parts(has) if part.is_made(has)))
