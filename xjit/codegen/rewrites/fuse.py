"""Make one loop of two that stand one behind the other."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.directions import Place, dependence, earlier, later
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
from xjit.ir.loops.intexpr import variable
from xjit.ir.loops.nodes import Kernel, Loop
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import substituted


@dataclass(frozen=True, slots=True)
class Fuse:
    """Make one loop of two over the same range that stand one behind the other.

    before      for i in 0 .. n:
                  t[i] = (x[i] + 1.0)
                for k in 0 .. n:
                  out[k] = (t[k] * x[k])
    after       for i in 0 .. n:                        Fuse("i", "k")
                  t[i] = (x[i] + 1.0)
                  out[i] = (t[i] * x[i])

    Names of values, and scratch, between the two come before both.
    """

    first: str
    second: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where an iteration of the second loop needs what a later one of the first does, or undoes it."""
        path, first = found(kernel, self.first)
        block = block_of(kernel, path)
        second = loop_behind(block, first, self.second)
        start, stop = place_in(block, first), place_in(block, second)
        between = block[start + 1 : stop]
        see_that_it_may_come_before(between, (first,))
        self._see_that_they_are_alike(first, second)
        behind = replace(first, body=substituted(second.body, {second.variable: variable(first.variable)}))
        self._see_that_the_second_may_come_earlier(known_before(kernel, path), first, behind)
        both = replace(first, body=(*first.body, *behind.body))
        return with_block(kernel, block, (*block[:start], *between, both, *block[stop + 1 :]))

    def _see_that_they_are_alike(self, first: Loop, second: Loop) -> None:
        ranges = [f"{one.kind.value} {one.start} .. {one.stop} by {one.step}" for one in (first, second)]
        if ranges[0] != ranges[1]:
            raise RefusedError(f"the loops over {self.first} and {self.second} differ: {ranges[0]}, and {ranges[1]}")

    def _see_that_the_second_may_come_earlier(self, known: Ranges, first: Loop, second: Loop) -> None:
        orders = [earlier(first)] if first.kind.is_ordered else [earlier(first), later(first)]
        for order in orders:
            reason = dependence(known, Place((first,), first.body), Place((second,), second.body), order)
            if reason:
                raise RefusedError(f"the loop over {self.second} needs all of that over {self.first}: {reason}")
