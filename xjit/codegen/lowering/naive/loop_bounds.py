"""Bounds of the loops of a group.

for i0 in range(n0):              # shared among threads
    for i1 in range(n0):
        for j0 in range(n1):      # reduced
"""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.scheduling.schedule import Loop, Schedule
from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import IntExpr, as_int, constant, variable
from xjit.ir.loops.nodes import LoopKind

Bounds = tuple[IntExpr, IntExpr]
"""The start and the stop of a loop."""


@dataclass(eq=False)
class LoopBounds:
    """Opens and closes the loops of a group.

    Threads share a loop if it is ``shared``. Loops in ``stops``, by their variables, end at integers of the run.
    """

    nest: LoopBuilder
    plan: Schedule
    shared: bool = True
    stops: dict[str, IntExpr] = field(default_factory=dict)

    def extent(self, loop: Loop) -> IntExpr:
        """The length of a loop."""
        if loop.variable in self.plan.rows.values():
            return self.nest.row(loop.extent)
        in_text = loop == self.plan.short or loop in self.plan.counted
        return as_int(loop.extent) if in_text else self.nest.extent(loop.variable, loop.extent)

    def kept(self, number: int) -> tuple[IntExpr, IntExpr, LoopKind]:
        """The bounds of a kept loop, and who runs it."""
        loop = self.plan.kept[number]
        kind = LoopKind.PARALLEL if self.shared and number == self.plan.shared else LoopKind.SERIAL
        return constant(0), self._stop(loop), kind

    def reduced(self, loop: Loop) -> Bounds:
        """The bounds of a reduced loop."""
        if self.plan.chunked is not None and loop is self.plan.reduced[self.plan.chunked]:
            return variable("k_start"), variable("k_stop")
        return constant(0), self._stop(loop)

    def _stop(self, loop: Loop) -> IntExpr:
        return self.stops[loop.variable] if loop.variable in self.stops else self.extent(loop)

    def open(self, loops: Sequence[Loop]) -> None:
        """Opens loops, each within the one before."""
        for loop in loops:
            self.nest.open(loop.variable, loop.axes)

    def close_kept(self, count: int) -> None:
        """Closes the first kept loops, so many of them."""
        for number in reversed(range(count)):
            self.nest.close(*self.kept(number))

    def close_reduced(self, loops: Sequence[Loop]) -> None:
        """Closes these reduced loops."""
        for loop in reversed(loops):
            self.nest.close(*self.reduced(loop))
