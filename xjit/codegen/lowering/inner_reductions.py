"""Reductions inside of the loops of others: one small loop nest for each of their results.

for j0 in range(n1):              # the centres
    t0 = f64(0.0)
    for d2 in range(16):          # the coordinates
        x0 = ld(a0, i0 * 16 + d2)
        x1 = ld(a1, j0 * 16 + d2)
        v0 = x0 - x1
        t0 = radd(t0, v0 * v0)
    t1 = fmin(t1, t0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xjit import numerics
from xjit.codegen.lowering import reductions
from xjit.codegen.lowering.elements import Elements
from xjit.codegen.lowering.scopes import Element, LoopBuilder
from xjit.codegen.scheduling.schedule import Loop, Schedule
from xjit.dataclass import dataclass
from xjit.fusion.regions.tiny import nested_values
from xjit.fusion.statements import Domain, IndexedValue, Reduce
from xjit.ir.index_map import axes_of
from xjit.ir.loops.intexpr import IntExpr, as_int, variable
from xjit.ir.node import Node


@dataclass(eq=False)
class NestedReductions:
    """Writes the loops of nested reductions where their results are wanted.

    ``first`` maps a reduction to the first of its axes, ``extent`` is the length of a loop.
    """

    nest: LoopBuilder
    elements: Elements
    plan: Schedule
    first: Mapping[Node, int]
    extent: Callable[[Loop], IntExpr]

    def result(self, indexed: IndexedValue) -> Element:
        """One result of a nested reduction, computed in the scope that its index belongs to."""
        hidden = self.nest.leave_to(self.nest.scope_for(indexed.index))
        held = self._run(self._statement(indexed))
        self.nest.scopes.extend(hidden)
        return held

    def _statement(self, indexed: IndexedValue) -> Reduce:
        first = self.first[indexed.node]
        values = nested_values(indexed, first)
        reduced = tuple(range(first, first + len(indexed.node.param("dims"))))
        return Reduce(Domain(()), values, indexed.node, reduced)

    def _run(self, statement: Reduce) -> Element:
        scope = self.nest.inner
        used = {axis for indexed in statement.values for axis in axes_of(indexed.index)} | set(statement.reduced)
        loops = [loop for loop in self.plan.nested if loop.axes[0] in statement.reduced]
        reducer = statement.target.param("reducer")
        fold = reductions.Recognised(self.elements, statement, {axis: axis for axis in used}, reducer)
        if len(loops) < 2 and all(loop.extent <= numerics.BLOCK for loop in loops):
            fold.in_one_block()
        fold.start(scope)
        stops = [self._stop(loop) for loop in loops]
        for loop in loops:
            self.nest.open(loop.variable, loop.axes)
        fold.take(self.nest.inner, variable(loops[-1].variable) if loops else reductions.NOWHERE)
        for stop in reversed(stops):
            self.nest.close(0, stop)
        (held,) = fold.finish(scope)
        return held

    def _stop(self, loop: Loop) -> IntExpr:
        return as_int(loop.extent) if loop.extent <= self.nest.machine.baked_extent else self.extent(loop)
