"""Several loops run through as one line of elements, a piece at a time, where strides do not let them fall together.

The elements of ``x[1:-1, 1:-1]`` are one line to a sum over all of them; a block of it ends anywhere in a row:

    low0 = b0 // n1
    high0 = (e0 + n1 - 1) // n1
    for j0 in range(low0, high0):
        first0 = j0 * n1
        p0 = max(b0 - first0, 0)
        q0 = min(e0 - first0, n1)
        for j1 in range(p0, q0):
            ...
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xjit.codegen.loop_bounds import LoopBounds
from xjit.codegen.schedule import Loop
from xjit.codegen.scopes import Nest
from xjit.dataclass import dataclass
from xjit.ir.loops import Base, Offset, Rows, Share, Term


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of all elements of some loops, the slowest first."""

    nest: Nest
    loops: Sequence[Loop]
    own: LoopBounds

    def _size(self, number: int) -> str:
        """The name of how many elements one step of a loop has."""
        inner = self.loops[number + 1 :]
        if len(inner) == 1:
            return self.nest.extent(inner[0].variable, inner[0].extent)
        return self.nest.word(("line", inner[0].variable), math.prod(loop.extent for loop in inner), "n")

    def bounds(self) -> tuple[str, str]:
        """The names of the first element of the line and of its end, of which the first loop may have a part only."""
        start, stop = self.own.reduced(self.loops[0])
        if start == "0":
            whole = math.prod(loop.extent for loop in self.loops)
            return "0", self.nest.word(("line", self.loops[0].variable), whole, "n")
        names = self.nest.fresh("b"), self.nest.fresh("e")
        for name, bound in zip(names, (start, stop), strict=True):
            self.nest.inner.statements.append(Base(name, Offset((Term(bound, self._size(0)),))))
        return names

    def position(self, start: str) -> Offset:
        """The distance of the element at hand from an element of the line."""
        steps = [Term(loop.variable, self._size(number)) for number, loop in enumerate(self.loops[:-1])]
        return Offset((*steps, Term(self.loops[-1].variable, 1), Term(start, -1)))

    def write(self, bounds: tuple[str, str], innermost: Callable[[tuple[str, str]], None]) -> None:
        """All loops around the innermost one, over the elements between bounds."""
        rows: list[tuple[str, str]] = []
        for number, loop in enumerate(self.loops[:-1]):
            size = self._size(number)
            rows.append((self.nest.fresh("low"), self.nest.fresh("high")))
            self.nest.inner.statements.append(Rows(*rows[-1], *bounds, size))
            scope = self.nest.open(loop.variable, loop.axes)
            first, part = self.nest.fresh("first"), (self.nest.fresh("p"), self.nest.fresh("q"))
            scope.statements.append(Base(first, Offset((Term(loop.variable, size),))))
            scope.statements.append(Share(*part, first, size, *bounds))
            bounds = part
        innermost(bounds)
        for low, high in reversed(rows):
            self.nest.close(low, high)
