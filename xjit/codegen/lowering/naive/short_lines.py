"""Sums whose length only the run knows: as few elements as go one by one are combined so, beside the lanes.

    is_short = 1 - min(1, n // 9)
    carry t = 0.0
    for j in 0 .. n * is_short:
      t = t + x[j]
    for j in 0 .. n:
      s = s + x[j] in blocks along j
    v = select(is_short == 1, t, s)

So the bits of a sum are those of its length, whether the length is known while tracing or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xjit import numerics
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.naive.loop_bounds import Bounds
from xjit.codegen.lowering.reductions import Accumulator, Recognised
from xjit.dataclass import dataclass
from xjit.ir.loops.build import equal, number, position
from xjit.ir.loops.intexpr import IntExpr, constant, minimum, variable
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

    def write(self, computed: Callable[[], None]) -> None:
        """The loops over few elements; ``computed`` writes what is inside of the innermost loop."""
        nest, bounds, loops = self.values.nest, self.values.bounds, self.values.plan.reduced
        spans = [bounds.reduced(loop) for loop in loops]
        is_short = self._named(spans)
        for one in self.sums:
            one.is_short = equal(position(is_short), number(1))
        (start, stop), *inner = spans
        spans = [(start, start + (stop - start) * is_short), *inner]
        bounds.open(loops[:-1])
        self.values.loop(loops[-1], spans[-1], (), computed)
        for span in reversed(spans[:-1]):
            nest.close(*span)

    def _named(self, spans: Sequence[Bounds]) -> IntExpr:
        """One where there are few elements, else zero."""
        count = constant(1)
        for start, stop in spans:
            count = count * (stop - start)
        name = self.values.nest.fresh("is_short")
        few = constant(1) - minimum(1, count // (numerics.SHORT + 1))
        self.values.nest.inner.statements.append(LetInt(name, few))
        return variable(name)

    def take(self) -> None:
        """Takes the element at hand behind those before it."""
        for one in self.sums:
            one.take_in_turn(self.values.nest.inner)
