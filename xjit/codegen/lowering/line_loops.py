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

from xjit.codegen.lowering.loop_bounds import Bounds, LoopBounds
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.scheduling.schedule import Loop
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, minimum, variable


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of all elements of some loops, the slowest first."""

    nest: LoopBuilder
    loops: Sequence[Loop]
    own: LoopBounds

    def _size(self, number: int) -> IntExpr:
        """How many elements one step of a loop has."""
        inner = self.loops[number + 1 :]
        if len(inner) == 1:
            return self.nest.extent(inner[0].variable, inner[0].extent)
        return self.nest.word(("line", inner[0].variable), math.prod(loop.extent for loop in inner), "n")

    def bounds(self) -> Bounds:
        """The first element of the line and its end, of which the first loop may have a part only."""
        start, stop = self.own.reduced(self.loops[0])
        if start.value == 0:
            whole = math.prod(loop.extent for loop in self.loops)
            return start, self.nest.word(("line", self.loops[0].variable), whole, "n")
        return self.nest.integer("b", start * self._size(0)), self.nest.integer("e", stop * self._size(0))

    def position(self, start: IntExpr) -> IntExpr:
        """The distance of the element at hand from an element of the line."""
        steps = constant(0)
        for number, loop in enumerate(self.loops[:-1]):
            steps += variable(loop.variable) * self._size(number)
        return steps + variable(self.loops[-1].variable) - start

    def write(self, bounds: Bounds, innermost: Callable[[Bounds], None]) -> None:
        """All loops around the innermost one, over the elements between bounds."""
        rows: list[Bounds] = []
        for number, loop in enumerate(self.loops[:-1]):
            size = self._size(number)
            low = self.nest.integer("low", bounds[0] // size)
            rows.append((low, self.nest.integer("high", (bounds[1] + size - 1) // size)))
            self.nest.open(loop.variable, loop.axes)
            first = self.nest.integer("first", variable(loop.variable) * size)
            start = self.nest.integer("p", maximum(bounds[0] - first, 0))
            bounds = start, self.nest.integer("q", minimum(bounds[1] - first, size))
        innermost(bounds)
        for low, high in reversed(rows):
            self.nest.close(low, high)
