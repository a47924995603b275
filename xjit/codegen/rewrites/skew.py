"""Run a loop some steps behind another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xjit.codegen.rewrites.analysis.directions import Place, dependence, there
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.surroundings import (
    block_of,
    known_before,
    loop_behind,
    place_in,
    see_that_it_may_come_before,
    with_block,
)
from xjit.codegen.rewrites.record import RefusedError, found
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, maximum, minimum, variable
from xjit.ir.loops.nodes import Kernel, Loop, LoopKind
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import renamed, substituted


@dataclass(frozen=True, slots=True)
class Skew:
    """Run a loop so many steps behind the one in front of it, in one loop.

    before      for i in 0 .. n:
                  t[i] = (x[i] * x[i])
                for k in 0 .. n - 2:
                  out[k] = (t[k + 2] - t[k])
    after       for i_first in 0 .. min(2, n):          Skew("i", "k", 2)
                  t[i_first] = (x[i_first] * x[i_first])
                for i in 2 .. n:
                  t[i] = (x[i] * x[i])
                  out[i - 2] = (t[i] - t[i - 2])

    What either loop has left in the end is a loop behind that.
    """

    first: str
    second: str
    steps: int

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where the second loop needs more of the first than is done by then, or comes before it."""
        path, first = found(kernel, self.first)
        block = block_of(kernel, path)
        second = loop_behind(block, first, self.second)
        start, stop = place_in(block, first), place_in(block, second)
        between = block[start + 1 : stop]
        see_that_it_may_come_before(between, (first,))
        known = known_before(kernel, path)
        self._see_that_it_may(known, first, second)
        both = tuple(
            one for one in self._pieces(first, second, Names(kernel)) if not known.at_most(one.stop, one.start)
        )
        return with_block(kernel, block, (*block[:start], *between, *both, *block[stop + 1 :]))

    def _see_that_it_may(self, known: Ranges, first: Loop, second: Loop) -> None:
        for one in (first, second):
            if one.kind is not LoopKind.SERIAL or one.step != 1:
                raise RefusedError(f"the loop over {one.variable} is {one.kind.value} by {one.step}, not for by 1")
        if not known.at_most(first.start, second.start + self.steps):
            raise RefusedError(f"the loop over {self.second} may begin before that over {self.first}")
        passed = variable(self.first) - there(variable(self.second), second) - self.steps - 1
        reason = dependence(known, Place((first,), first.body), Place((second,), second.body), passed)
        if reason:
            raise RefusedError(
                f"the loop over {self.second} needs that over {self.first} more than {self.steps} steps on: {reason}"
            )

    def _pieces(self, first: Loop, second: Loop, taken: Names) -> Iterator[Loop]:
        begin, end = second.start + self.steps, second.stop + self.steps
        yield _piece(first, taken, "first", first.start, minimum(begin, first.stop))
        behind = substituted(second.body, {self.second: variable(self.first) - self.steps})
        yield Loop(self.first, begin, minimum(first.stop, end), (*first.body, *behind))
        yield _piece(first, taken, "last", maximum(begin, end), first.stop)
        yield _piece(second, taken, "last", maximum(first.stop - self.steps, second.start), second.stop)


def _piece(loop: Loop, taken: Names, which: str, start: IntExpr, stop: IntExpr) -> Loop:
    """A part of a loop with names of its own."""
    (copy,) = renamed((replace(loop, start=start, stop=stop),), taken.copies((loop,), which))
    assert isinstance(copy, Loop)
    return copy
