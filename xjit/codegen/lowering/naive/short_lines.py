"""Sums whose length only the run knows: as few elements as go one by one are combined so, beside the lanes.

    is_long = min(1, max(0, n - 8))
    carry t = 0.0
    for j in 0 .. n * (1 - is_long):
      t = t + x[j]
    for j in 0 .. n * is_long:
      s = s + x[j] in blocks along j
    v = select(is_long == 0, t, s)

So the bits of a sum are those of its length, whether the length is known while tracing or not. Where the pass does
more than such sums the second loop goes through all elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xjit import numerics
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.naive.loop_bounds import Bounds
from xjit.codegen.lowering.reductions import Accumulator, Recognised
from xjit.dataclass import dataclass
from xjit.ir.loops.build import equal, number, position
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import LetInt


@dataclass(frozen=True, slots=True, eq=False)
class ShortLines:
    """The sums of a pass over loops of which some end where the run says."""

    values: GroupValues
    sums: tuple[Recognised, ...]

    @classmethod
    def of(cls, values: GroupValues, folds: Sequence[Accumulator]) -> ShortLines | None:
        """The sums among some accumulators that add in lanes, if there are any and their loops are such."""
        sums = tuple(one for one in folds if isinstance(one, Recognised) and one.in_lanes)
        ends = any(loop.variable in values.bounds.stops for loop in values.plan.reduced)
        return cls(values, sums) if sums and ends else None

    def start(self) -> None:
        """Statements before all loops."""
        for one in self.sums:
            one.start_in_turn(self.values.nest.inner)

    def write(self, computed: Callable[[], None]) -> IntExpr:
        """The loops over few elements; ``computed`` writes what is inside of the innermost loop.

        Returns where the first loop ends over elements that are more than few.
        """
        nest, bounds, loops = self.values.nest, self.values.bounds, self.values.plan.reduced
        spans = [bounds.reduced(loop) for loop in loops]
        is_long = self._named(spans)
        for one in self.sums:
            one.is_short = equal(position(is_long), number(0))
        (start, stop), *inner = spans
        spans = [(start, start + (stop - start) * (constant(1) - is_long)), *inner]
        bounds.open(loops[:-1])
        self.values.loop(loops[-1], spans[-1], (), computed)
        for span in reversed(spans[:-1]):
            nest.close(*span)
        return start + (stop - start) * is_long

    def _named(self, spans: Sequence[Bounds]) -> IntExpr:
        """Zero where there are few elements, else one."""
        count = constant(1)
        for start, stop in spans:
            count = count * (stop - start)
        name = self.values.nest.fresh("is_long")
        self.values.nest.inner.statements.append(LetInt(name, minimum(1, maximum(count - numerics.SHORT, 0))))
        return variable(name)

    def take(self) -> None:
        """Takes the element at hand behind those before it."""
        for one in self.sums:
            one.take_in_turn(self.values.nest.inner)
