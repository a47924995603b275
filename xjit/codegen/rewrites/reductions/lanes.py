"""Add elements lane by lane: whole groups of lanes in a loop of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit import numerics
from xjit.codegen.rewrites.analysis.exchange import with_accumulates
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import start_of
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, variable
from xjit.ir.loops.nodes import Accumulate, Carry, Grouping, Kernel, LetInt, Loop, Order, Statement, Var
from xjit.ir.loops.walk import renamed

IN_LANES = (Grouping.LANES, Grouping.FEW_LANES)


@dataclass(frozen=True, slots=True)
class Lanes:
    """Add whole groups of lanes in a loop of their own, what is left of them in a second one.

    before      for j in 0 .. n:
                  s = add(s, x[j]) in lanes along j
    after       j_end = 32*(n // 32)                    Lanes("j", "k")
                for j in 0 .. j_end:
                  s = add(s, x[j]) in 32 lanes
                for k in j_end .. n:
                  s = add(s, x[k]) in few lanes along k

    Few lanes are added up by themselves, and follow:

                carry s_few: f64 = 0.0                  Lanes("k", "l")
                k_end = 8*((-j_end + n) // 8) + j_end
                for k in j_end .. k_end:
                  s_few = add(s_few, x[k]) in 8 lanes
                s = add(s, s_few)
                for l in k_end .. n:
                  s = add(s, x[l])
    """

    loop: str
    rest: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops in which nothing is added in lanes, or by groups of different sizes."""
        _, loop = found(kernel, self.loop)
        steps = steps_in_lanes(loop)
        sizes = {lanes_of(one) for one in steps}
        if len(sizes) != 1 or loop.step != 1:
            raise RefusedError(f"groups of the loop over {self.loop} have {len(sizes)} sizes, not one")
        return with_statements(kernel, loop, tuple(self._cut(loop, steps, min(sizes), Names(kernel))))

    def _cut(self, loop: Loop, steps: Sequence[Accumulate], lanes: int, taken: Names) -> Iterator[Statement]:
        few = {
            one.name: taken.fresh(f"{one.name}_few")
            for one in steps
            if one.order and one.order.grouping is Grouping.FEW_LANES
        }
        for one in steps:
            if one.name in few:
                yield Carry(few[one.name], start_of(one))
        end: IntExpr = loop.start + (loop.stop - loop.start) // lanes * lanes
        if end.value is None:
            name = taken.fresh(f"{self.loop}_end")
            yield LetInt(name, end)
            end = variable(name)
        if end != loop.start:
            yield replace(loop, stop=end, body=_in_groups(loop, steps, lanes, few))
        for one in steps:
            if one.name in few:
                yield Accumulate(one.name, one.reducer, Var(few[one.name], one.value.dtype))
        if end != loop.stop:
            yield self._last(loop, end, steps, taken)

    def _last(self, loop: Loop, start: IntExpr, steps: Sequence[Accumulate], taken: Names) -> Loop:
        """The loop over what is left."""

        def left(one: Accumulate) -> Accumulate:
            if one not in steps or one.order is None:
                return one
            is_few = one.order.grouping is Grouping.FEW_LANES
            return replace(one, order=None if is_few else Order(Grouping.FEW_LANES, variable(self.loop)))

        rest = replace(loop, start=start, body=with_accumulates(loop.body, left))
        (copy,) = renamed((rest,), taken.copies(rest.body, self.rest) | {self.loop: self.rest})
        assert isinstance(copy, Loop)
        return copy


def steps_in_lanes(loop: Loop) -> list[Accumulate]:
    """The statements of a loop that add in lanes along it."""
    along = [Order(grouping, variable(loop.variable)) for grouping in IN_LANES]
    return [one for one in loop.body if isinstance(one, Accumulate) and one.order in along]


def lanes_of(one: Accumulate) -> int:
    """The size of the groups that come first."""
    is_few = one.order is not None and one.order.grouping is Grouping.FEW_LANES
    return numerics.FEW_LANES if is_few else numerics.lanes(one.value.dtype)


def _in_groups(loop: Loop, steps: Sequence[Accumulate], lanes: int, few: dict[str, str]) -> tuple[Statement, ...]:
    def grouped(one: Accumulate) -> Accumulate:
        return one if one not in steps else replace(one, name=few.get(one.name, one.name), lanes=lanes, order=None)

    return with_accumulates(loop.body, grouped)
