"""Keep only the elements of a buffer that are still needed, in a ring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import Touch, known_inside, touches
from xjit.codegen.rewrites.analysis.exchange import reindexed
from xjit.codegen.rewrites.analysis.intervals import Interval, region
from xjit.codegen.rewrites.analysis.surroundings import block_of, known_before, place_in, with_block
from xjit.codegen.rewrites.record import RefusedError
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, substitute, variable
from xjit.ir.loops.nodes import Alloc, Block, Buffer, Kernel, LetInt, Loop, Statement
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import path_to


@dataclass(frozen=True, slots=True)
class FoldStorage:
    """Keep the last ``extent`` elements of scratch along an axis, each in place of one that is no longer needed.

    before      alloc t: f64[n] for each iteration
                for i in 0 .. n:
                  t[i] = (x[i] * x[i])
                  out[i] = t[i]
    after       alloc t: f64[1] for each iteration      FoldStorage("t", 1)
                for i in 0 .. n:
                  t[0] = (x[i] * x[i])
                  out[i] = t[0]

    Of more than one the index goes round: t[i % 4].
    """

    buffer: str
    extent: int
    axis: int = 0

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where it is not proved that each element was needed for the last time when its place is taken."""
        path = path_to(kernel.body, lambda one: isinstance(one, Alloc) and one.buffer.name == self.buffer)
        if not path:
            raise RefusedError(f"{self.buffer} is no scratch of the kernel")
        alloc, block = path[-1], block_of(kernel, path)
        assert isinstance(alloc, Alloc)
        if not 0 <= self.axis < len(alloc.buffer.extents) or self.extent < 1:
            raise RefusedError(f"{self.buffer} has no axis {self.axis}, or would have no element")
        see_that_it_is_loaded_and_stored(self.buffer, block)
        self._see_that_places_are_free(block[place_in(block, alloc) :], known_before(kernel, path))
        extents = list(alloc.buffer.extents)
        extents[self.axis] = constant(self.extent)
        smaller = Alloc(Buffer.packed(self.buffer, alloc.buffer.dtype, *extents), alloc.scope)
        folded = reindexed(block, self.buffer, self._folded)
        new = tuple(smaller if old is alloc else one for old, one in zip(block, folded, strict=True))
        return with_block(kernel, block, new)

    def _folded(self, index: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
        return *index[: self.axis], index[self.axis] % self.extent, *index[self.axis + 1 :]

    def _see_that_places_are_free(self, block: Block, known: Ranges) -> None:
        """Refuses where no line is found that indices stay close behind, and that goes up from round to round."""
        spans: list[_Span] = []
        for one in block:
            if isinstance(one, LetInt):
                known = known_inside(known, one, {})
            touched = [touch for touch in touches((one,)) if touch.buffer == self.buffer]
            if not touched:
                continue
            span = self._span(one, touched)
            tops = [span.touched.high, *(other.last for other in reversed(spans) if not span.writes)]
            found = next(
                (at for top in tops if (at := replace(span, top=top)).follows(spans, known, self.extent)), None
            )
            if found is None:
                what = f"the loop over {one.variable}" if isinstance(one, Loop) else "a statement"
                raise RefusedError(f"{what} may need more than {self.extent} elements of {self.buffer} at a time")
            spans.append(found)

    def _span(self, one: Statement, touched: list[Touch]) -> _Span:
        """From where to where a statement touches the buffer, in one round where it is a loop in order."""
        rounds = one if isinstance(one, Loop) and one.kind.is_ordered else None
        inside = [replace(touch, around=touch.around[rounds is not None :]) for touch in touched]
        found = region(replace(touch, index=touch.index[self.axis : self.axis + 1]) for touch in inside)
        if found is None:
            raise RefusedError(f"it is not known from where to where the indices of {self.buffer} go")
        return _Span(rounds, found[0], any(touch.written for touch in touched), found[0].high)


@dataclass(frozen=True, slots=True)
class _Span:
    """Elements that a round touches; ``top`` is a line above them that never falls."""

    rounds: Loop | None
    touched: Interval
    writes: bool
    top: IntExpr

    @property
    def last(self) -> IntExpr:
        """The line after the last round."""
        return self._in(self.rounds.stop - 1) if self.rounds else self.top

    @property
    def first(self) -> IntExpr:
        """The line in the first round."""
        return self._in(self.rounds.start) if self.rounds else self.top

    def _in(self, value: IntExpr) -> IntExpr:
        assert self.rounds is not None
        return substitute(self.top, {self.rounds.variable: value})

    def follows(self, before: Sequence[_Span], known: Ranges, extent: int) -> bool:
        """Return whether the elements are close below the line, and it is nowhere below those of earlier
        statements.
        """
        there = known_inside(known, self.rounds, {}) if self.rounds else known
        if not (there.at_most(self.touched.high, self.top) and there.below(self.top, self.touched.low + extent)):
            return False
        if self.rounds and not there.at_most(self.top, self._in(variable(self.rounds.variable) + self.rounds.step)):
            return False
        return all(_not_empty(known, one.rounds, self.rounds).at_most(one.last, self.first) for one in before)


def _not_empty(known: Ranges, *loops: Loop | None) -> Ranges:
    for loop in loops:
        known = known if loop is None else known.supposing(loop.stop - 1 - loop.start)
    return known
