"""Horizontal fusion: let loops that stand one behind the other share one loop over all their iterations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.directions import Place, elements
from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.codegen.rewrites.analysis.surroundings import (
    block_of,
    extent,
    known_before,
    loop_behind,
    place_in,
    see_that_it_may_come_before,
    with_block,
)
from xjit.codegen.rewrites.record import RefusedError, found
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import constant, maximum, minimum, variable
from xjit.ir.loops.nodes import Block, Kernel, Loop, LoopKind
from xjit.ir.loops.ranges import Ranges


@dataclass(frozen=True, slots=True)
class HorizontalFuse:
    """Let loops share one loop, in blocks, over the iterations of the first and then those of the next.

    before      for i in 0 .. n:
                  out[i] = (x[i] + 1.0)
                for k in 1 .. m:
                  y[k] = x[0]
    after       for s in 0 .. max(0, m - 1) + n by 8:   HorizontalFuse(("i", "k"), "s", 8)
                  for i in s .. min(n, s + 8):
                    out[i] = (x[i] + 1.0)
                  for k in max(-n + s + 1, 1) .. min(-n + s + 9, m):
                    y[k] = x[0]

    Loops that are named as ``whole`` are one iteration each, of the kind of the others.
    """

    loops: tuple[str, ...]
    shared: str
    length: int
    whole: tuple[str, ...] = ()

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops of several kinds or with steps, and such without order that need each other."""
        path, first = found(kernel, self.loops[0])
        block = block_of(kernel, path)
        several = [first, *(loop_behind(block, first, name) for name in self.loops[1:])]
        places = [place_in(block, one) for one in several]
        between = self._between(block, places)
        known = known_before(kernel, path)
        kind = self._kind(known, several)
        parts = [self._as_steps(one) for one in several]
        total, body = constant(0), list[Loop]()
        for one in parts:
            begin = one.start + variable(self.shared) - total
            start = begin if one is parts[0] else maximum(begin, one.start)
            stop = minimum(begin + self.length, one.stop)
            body.append(replace(one, start=start, stop=stop, kind=LoopKind.SERIAL))
            total = total + extent(known, one)
        both = Loop(self.shared, constant(0), total, tuple(body), kind, self.length)
        return with_block(kernel, block, (*block[: places[0]], *between, both, *block[places[-1] + 1 :]))

    def _between(self, block: Block, places: Sequence[int]) -> Block:
        """The statements between the loops."""
        if list(places) != sorted(places):
            raise RefusedError(f"the loops do not stand in the order {', '.join(self.loops)}")
        moved: Block = ()
        for one, other in itertools.pairwise(places):
            between = block[one + 1 : other]
            see_that_it_may_come_before(between, tuple(block[place] for place in places if place < other))
            moved = (*moved, *between)
        return moved

    def _as_steps(self, loop: Loop) -> Loop:
        if loop.variable not in self.whole:
            return loop
        once = f"{loop.variable}_once"
        return Loop(once, constant(0), constant(1), (replace(loop, kind=LoopKind.SERIAL),))

    def _kind(self, known: Ranges, several: Sequence[Loop]) -> LoopKind:
        """The kind of all loops; refuses where they differ, or are without order and need each other."""
        steps = [one for one in several if one.variable not in self.whole]
        kind = steps[0].kind if steps else LoopKind.SERIAL
        for one in steps:
            if one.kind is not kind or one.step != 1:
                how = f"{one.kind.value} by {one.step}"
                raise RefusedError(f"the loop over {one.variable} is {how}, not {kind.value} by 1")
        if not kind.is_ordered:
            for reason in self._reasons(known, several):
                raise RefusedError(f"loops without order need each other: {reason}")
        return kind

    def _reasons(self, known: Ranges, several: Sequence[Loop]) -> Iterator[str]:
        for one, other in itertools.combinations(several, 2):
            yield from filter(None, (elements(known, Place((one,), one.body), Place((other,), other.body)),))
        for name in sorted(changed(tuple(several))):
            yield f"{name} changes"
