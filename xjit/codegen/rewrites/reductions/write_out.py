"""Write a short reduction out, its elements in the order in which lanes add them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit import numerics
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.reductions.lanes import steps_in_lanes
from xjit.codegen.rewrites.unroll import MOST
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Accumulate, Block, Kernel, Let, LetInt, Loop, Prim, Statement, Value, Var
from xjit.ir.loops.walk import renamed, substituted


@dataclass(frozen=True, slots=True)
class WriteOut:
    """Write the iterations of a short reduction out, with its elements in the order that is asked for.

    before      for d in 0 .. 3:
                  v = (x[d] * y[d])
                  t = add(t, v) in lanes along d
    after       v_0 = (x[0] * y[0])                     WriteOut("d")
                v_1 = (x[1] * y[1])
                v_2 = (x[2] * y[2])
                t = add(t, v_0)
                t = add(t, v_1)
                t = add(t, v_2)

    Whole groups of lanes come first: of eight elements t takes ((v_0 + v_4) + (v_2 + v_6)) + (...).
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that do more than one reduction, or whose extent is not a small number."""
        _, loop = found(kernel, self.loop)
        extent, (*given, step) = (loop.stop - loop.start).value, loop.body
        if extent is None or not 0 <= extent <= MOST or loop.step != 1:
            raise RefusedError(f"the loop over {self.loop} has not a small number of iterations")
        if not isinstance(step, Accumulate) or not all(isinstance(one, Let | LetInt) for one in given):
            raise RefusedError(f"the loop over {self.loop} does more than to reduce values")
        in_lanes = step in steps_in_lanes(loop)
        if step.lanes or (step.order is not None and not in_lanes):
            raise RefusedError(f"elements of {step.name} are not combined along {self.loop} alone")
        taken = Names(kernel)
        copies = [_copy(loop, number, taken) for number in range(extent)]
        before = [one for copy in copies for one in copy[:-1]]
        items = [one.value for copy in copies for one in copy[-1:] if isinstance(one, Accumulate)]
        added = list(_Sums(step, taken, before).of(items)) if in_lanes else items
        steps = (replace(step, value=item, order=None) for item in added)
        return with_statements(kernel, loop, (*before, *steps))


def _copy(loop: Loop, number: int, taken: Names) -> Block:
    """The body of one iteration, with names of its own."""
    body = substituted(loop.body, {loop.variable: loop.start + constant(number)})
    return renamed(body, taken.copies(body, str(number)))


@dataclass(eq=False)
class _Sums:
    """Names sums of values, as lanes add them."""

    step: Accumulate
    taken: Names
    statements: list[Statement]

    def of(self, items: Sequence[Value]) -> Iterator[Value]:
        """Yield what is added one after the other: the sum of whole groups, that of fewer lanes, the rest."""
        lanes = numerics.lanes(self.step.value.dtype)
        many = len(items) // lanes * lanes
        few = len(items) // numerics.FEW_LANES * numerics.FEW_LANES
        yield from self._tree(items[:many], lanes)
        yield from self._tree(items[many:few], numerics.FEW_LANES)
        yield from items[few:]

    def _tree(self, items: Sequence[Value], lanes: int) -> Iterator[Value]:
        """Yield the sum of whole groups, lane by lane and then in a tree of halves; nothing where there are none."""
        sums = list(items[:lanes])
        for place, item in enumerate(items[lanes:]):
            sums[place % lanes] = self._both(sums[place % lanes], item)
        while len(sums) > 1:
            half = len(sums) // 2
            sums = [self._both(*pair) for pair in zip(sums[:half], sums[half:], strict=True)]
        yield from sums

    def _both(self, one: Value, other: Value) -> Value:
        name = self.taken.fresh(f"{self.step.name}_both")
        self.statements.append(Let(name, Prim(self.step.reducer, (one, other), one.dtype)))
        return Var(name, one.dtype)
