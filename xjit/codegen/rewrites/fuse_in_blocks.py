"""Run loops that follow each other a block of iterations at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import known_inside
from xjit.codegen.rewrites.analysis.directions import Place, dependence, there
from xjit.codegen.rewrites.analysis.exchange import with_line
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
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import Block, Kernel, LetInt, Loop, LoopKind, Statement
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import renamed


@dataclass(frozen=True, slots=True)
class FuseInBlocks:
    """Run loops that follow each other in one loop over blocks: each does its iterations of a block at once.

    before      for i in 0 .. n:
                  c[i] = (x[i] * x[i])
                for j in 2 .. n:
                  out[j] = (c[j] - c[j - 2])
    after       for b in 0 .. n by 512:                 FuseInBlocks(("i", "j"), 512, "b")
                  for i in b .. min(b + 512, n):
                    c[i] = (x[i] * x[i])
                  for j in max(2, b) .. min(b + 512, n):
                    out[j] = (c[j] - c[j - 2])

    Strip-mining and fusion. Loops over blocks of this length may be among them.
    """

    loops: tuple[str, ...]
    length: int
    block: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where a block of a loop needs, or changes, what later blocks of an earlier loop do."""
        path, first = found(kernel, self.loops[0])
        body = block_of(kernel, path)
        loops = [first]
        for name in self.loops[1:]:
            loops.append(loop_behind(body, loops[-1], name))
        start, stop = place_in(body, first), place_in(body, loops[-1])
        between = tuple(self._moved(body[start : stop + 1], loops))
        known = known_before(kernel, path)
        for one in between:
            known = known_inside(known, one, {}) if isinstance(one, LetInt) else known
        end = self._end(loops, known)
        parts = [self._part(loop, end, known) for loop in loops]
        self._see_that_they_may(known, loops)
        whole = Loop(self.block, constant(0), end, tuple(itertools.chain(*parts)), LoopKind.SERIAL, self.length)
        return with_block(kernel, body, (*body[:start], *between, whole, *body[stop + 1 :]))

    def _moved(self, block: Block, loops: Sequence[Loop]) -> Iterator[Statement]:
        """Yield the statements between the loops, which come before all of them."""
        passed: list[Statement] = []
        for one in block:
            if any(one is loop for loop in loops):
                passed.append(one)
            else:
                see_that_it_may_come_before((one,), tuple(passed))
                yield one

    def _end(self, loops: Sequence[Loop], known: Ranges) -> IntExpr:
        """The end of the last of the loops."""
        stops = list(dict.fromkeys(loop.stop for loop in loops))
        last = next((one for one in stops if all(known.at_most(other, one) for other in stops)), None)
        return maximum(*stops) if last is None else last

    def _part(self, loop: Loop, end: IntExpr, known: Ranges) -> Block:
        """The part of one of the loops in a block."""
        if not loop.kind.is_ordered or loop.kind is LoopKind.UNROLLED:
            raise RefusedError(f"the loop over {loop.variable} is {loop.kind.value}")
        start = variable(self.block)
        if loop.step == self.length and loop.start.value == 0 and loop.stop == end:
            return renamed(loop.body, {loop.variable: self.block})
        if loop.step != 1 or not known.at_most(constant(0), loop.start):
            raise RefusedError(f"the loop over {loop.variable} has steps, or may begin before 0")
        body, stop = with_line(loop.body, loop.variable, self.block), minimum(start + self.length, loop.stop)
        if loop.start.value == 0:
            return (replace(loop, start=start, stop=stop, body=body),)
        if body != loop.body:
            raise RefusedError(f"blocks of elements that the loop over {loop.variable} adds up do not begin at 0")
        return (replace(loop, start=maximum(start, loop.start), stop=stop),)

    def _see_that_they_may(self, known: Ranges, loops: Sequence[Loop]) -> None:
        """Refuses where an iteration of a loop needs what comes behind it in a loop before."""
        for first, second in itertools.combinations(loops, 2):
            passed = variable(first.variable) - there(variable(second.variable), second) - second.step
            reason = dependence(known, Place((first,), first.body), Place((second,), second.body), passed)
            if reason:
                raise RefusedError(f"a loop needs later blocks of one before it: {reason}")
