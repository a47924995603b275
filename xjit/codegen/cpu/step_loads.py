"""Loads of elements at short steps, in loops that add lane by lane: picked out of whole vectors.

LLVM does that by itself, but leaves the last elements of a loop to one that takes them one by one, as a whole vector
might reach beyond the end of the buffer.  Lanes would not be what they are then.  So such a load stays a call until
loops are vectorised, of a function with forms for vectors, none of which reads beyond its last element::

    declare double @every2_f64(ptr) "vector-function-abi-variant"="_ZGV_LLVM_N8l16_every2_f64(every2_f64_x8),..."

    define <8 x double> @every2_f64_x8(ptr %p)
      %v0 = load <8 x double>, ptr %p                                                        0 1 2 3 4 5 6 7
      %v1 = load <8 x double>, ptr (%p and 7 elements)                                       7 8 9 ... 14
      %w1 = shufflevector %v0, %v1, <0, 2, 4, 6, 9, 11, 13, 15>                              0 2 4 ... 14

What reaches over more than a register is made of halves.  Only loads from buffers that the kernel leaves as they are
may become calls: these read no memory, as far as LLVM knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from xjit import numerics
from xjit.codegen.cpu.wide_forms import PURE
from xjit.codegen.language.scalar_types import FLOATS, INTEGERS, KINDS
from xjit.dataclass import dataclass
from xjit.llvm import vector_width

TYPES = (*INTEGERS, *FLOATS)
"""The types of elements."""

_DECLARATION = re.compile(r"^declare [^\n]*@\"?every(?P<step>\d)_(?P<kind>\w+?)\"?\([^\n]*$", re.MULTILINE)
_LLVM = {"f32": "float", "f64": "double"}
_PLAIN_BITS = 256


def name_of(step: int, kind: str) -> str:
    """The name of the function in LLVM.

    >>> name_of(2, "f64")
    'every2_f64'
    """
    return f"every{step}_{kind}"


@dataclass(frozen=True, slots=True, order=True)
class StepLoad:
    """The function that loads elements of a type which lie ``step`` apart."""

    step: int
    kind: str

    @property
    def _element(self) -> str:
        return _LLVM.get(self.kind, f"i{KINDS[self.kind].bits}")

    @property
    def _sizes(self) -> tuple[int, ...]:
        """The numbers of elements that a loop takes at a time, and halves of these."""
        return tuple(1 << power for power in range(1, (numerics.LANE_BYTES // 4).bit_length()))

    @property
    def attributes(self) -> str:
        """The attribute that tells the vectoriser which forms stand for the function."""
        name, distance = name_of(self.step, self.kind), self.step * KINDS[self.kind].bytes
        forms = (f"_ZGV_LLVM_N{lanes}l{distance}_{name}({name}_x{lanes})" for lanes in self._sizes)
        return f'{PURE} "vector-function-abi-variant"="{",".join(forms)}"'

    @property
    def forms(self) -> tuple[str, ...]:
        """The names of the forms."""
        return tuple(f"{name_of(self.step, self.kind)}_x{lanes}" for lanes in self._sizes)

    @property
    def declarations(self) -> str:
        """LLVM assembly that says that there are such forms."""
        return "".join(
            f"declare <{lanes} x {self._element}> @{form}(ptr) {PURE}\n"
            for lanes, form in zip(self._sizes, self.forms, strict=True)
        )

    def definitions(self, widest: int) -> str:
        """LLVM assembly of the function and its forms, for inlining only, with registers of so many bits."""
        element, bytes = self._element, KINDS[self.kind].bytes
        text = self._definition(
            element, name_of(self.step, self.kind), [f"%result = load {element}, ptr %p, align {bytes}"]
        )
        for lanes, form in zip(self._sizes, self.forms, strict=True):
            is_whole = lanes == 2 or lanes * KINDS[self.kind].bits <= widest
            lines = self._picked(lanes) if is_whole else self._halves(lanes)
            text += self._definition(f"<{lanes} x {element}>", form, lines)
        return text

    def _definition(self, result: str, name: str, lines: Iterable[str]) -> str:
        body = "\n".join(f"  {line}" for line in lines)
        return (
            f"define available_externally {result} @{name}(ptr %p) alwaysinline {vector_width.ANY_WIDTH} {{\n"
            f"{body}\n  ret {result} %result\n}}\n"
        )

    def _picked(self, lanes: int) -> list[str]:
        """Vectors side by side, the last one up to the last element, of which elements are chosen."""
        vector, bytes = f"<{lanes} x {self._element}>", KINDS[self.kind].bytes
        last = (lanes - 1) * self.step + 1 - lanes
        starts = [*range(0, last, lanes), last]
        lines = []
        for number, start in enumerate(starts):
            lines.append(f"%p{number} = getelementptr i8, ptr %p, i64 {start * bytes}")
            lines.append(f"%v{number} = load {vector}, ptr %p{number}, align {bytes}")
        before, found = "%v0", [lane * self.step if lane * self.step < lanes else None for lane in range(lanes)]
        for number, start in enumerate(starts[1:], 1):
            for lane in range(lanes):
                at = lane * self.step - start
                if number > 1 and found[lane] is not None:
                    found[lane] = lane
                if found[lane] is None and at < lanes:
                    found[lane] = lanes + at
            places = ", ".join("i32 poison" if at is None else f"i32 {at}" for at in found)
            name = "%result" if number == len(starts) - 1 else f"%w{number}"
            both = f"{vector} {before}, {vector} %v{number}"
            lines.append(f"{name} = shufflevector {both}, <{lanes} x i32> <{places}>")
            before = name
        return lines

    def _halves(self, lanes: int) -> list[str]:
        half = f"<{lanes // 2} x {self._element}>"
        name = f"{name_of(self.step, self.kind)}_x{lanes // 2}"
        distance = lanes // 2 * self.step * KINDS[self.kind].bytes
        places = ", ".join(f"i32 {lane}" for lane in range(lanes))
        return [
            f"%q = getelementptr i8, ptr %p, i64 {distance}",
            f"%low = call {half} @{name}(ptr %p)",
            f"%high = call {half} @{name}(ptr %q)",
            f"%result = shufflevector {half} %low, {half} %high, <{lanes} x i32> <{places}>",
        ]


def called_in(text: str) -> tuple[StepLoad, ...]:
    """The functions that unoptimised IR text declares."""
    return tuple(sorted({StepLoad(int(one["step"]), one["kind"]) for one in _DECLARATION.finditer(text)}))


def marked(text: str) -> str:
    """The assembly with the forms named where the functions are declared."""
    return _DECLARATION.sub(lambda one: f"{one[0]} {StepLoad(int(one['step']), one['kind']).attributes}", text)


def declarations(loads: Iterable[StepLoad]) -> str:
    """LLVM assembly that declares all forms and keeps the passes from dropping them before loops are vectorised."""
    loads = tuple(loads)
    names = [f"ptr @{form}" for load in loads for form in load.forms]
    used = f'appending global [{len(names)} x ptr] [{", ".join(names)}], section "llvm.metadata"\n'
    return f"@llvm.compiler.used = {used}" + "".join(load.declarations for load in loads)


def definitions(loads: Iterable[StepLoad], features: str) -> str:
    """LLVM assembly of all functions and forms, for registers as wide as a processor with these features prefers."""
    words = features.split(",")
    widest = vector_width.preferred_bits(words) if "+avx512f" in words else _PLAIN_BITS
    return "".join(load.definitions(widest) for load in loads)
