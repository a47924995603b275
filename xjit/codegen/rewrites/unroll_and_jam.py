"""Unroll-and-jam: take several iterations of a loop in one, with the loops inside of it joined."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import carried_by
from xjit.codegen.rewrites.analysis.directions import Place, dependence, earlier, later, rereads, there
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.codegen.rewrites.analysis.surroundings import extent, known_before, written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, minimum, variable
from xjit.ir.loops.nodes import Block, Const, FromInt, If, Kernel, LetInt, Loop, LoopKind, Prim, Statement
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import names, renamed, substituted
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, INT64


class Tail(enum.Enum):
    """The fate of the iterations that fill no group."""

    LOOP = "a loop of its own"
    OVERLAP = "the last group begins earlier"

    def __repr__(self) -> str:
        return f"Tail.{self.name}"


@dataclass(frozen=True, slots=True)
class UnrollAndJam:
    """Take several iterations of a loop in one, with the loops inside of it joined.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    s[j] = (s[j] + x[i, j])
    after       for i in 0 .. n - 1 by 2:               UnrollAndJam("i", 2)
                  for j in 0 .. m:
                    s[j] = (s[j] + x[i, j])
                    s[j] = (s[j] + x[i + 1, j])
                for i_tail in 2*(n // 2) .. n:
                  for j_tail in 0 .. m:
                    s[j_tail] = (s[j_tail] + x[i_tail, j_tail])

    With an overlap the last group begins earlier, where there are enough iterations for one:

                for i in 0 .. n by 2:                   UnrollAndJam("i", 2, Tail.OVERLAP)
                  if (s64(n) >= 2):
                    i_at = min(i, n - 2)
                    ...
                  else:
                    for i_tail in i .. n:
                      ...

    What holds for each iteration alike, as the ends of blocks, is named once.  Iterations that run in any order need
    no proof to run side by side, but for scratch that they share.
    """

    loop: str
    factor: int
    tail: Tail = Tail.LOOP

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where a joined iteration needs what an earlier one does later, or may not run twice."""
        path, loop = found(kernel, self.loop)
        is_parallel = loop.kind is LoopKind.PARALLEL
        if loop.step != 1 or not (loop.kind.is_ordered or is_parallel) or self.factor < 2:
            raise RefusedError(f"the loop over {self.loop} is {loop.kind.value} by {loop.step}, not for by 1")
        known = known_before(kernel, path)
        if known.below(loop.stop, loop.start + self.factor):
            raise RefusedError(f"the loop over {self.loop} has fewer than {self.factor} iterations")
        if not is_parallel or _shares_scratch(kernel, loop):
            reason = next(_Joining(loop, self.factor, _differing(loop)).reasons(known, loop.body), "")
            if reason:
                raise RefusedError(f"iterations over {self.loop} do not run side by side: {reason}")
        if self.tail is Tail.LOOP:
            return with_statements(kernel, loop, tuple(self._with_tail(known, loop, Names(kernel))))
        self._see_that_it_may_run_twice((*path[:-1], loop), known, loop)
        return with_statements(kernel, loop, (self._overlapped(known, loop, Names(kernel)),))

    def _with_tail(self, known: Ranges, loop: Loop, taken: Names) -> Iterator[Loop]:
        last = loop.stop - (self.factor - 1)
        yield replace(loop, stop=last, step=self.factor, body=self._group(loop, variable(self.loop), taken))
        rest = loop.start + extent(known, loop) // self.factor * self.factor
        if rest != loop.stop:
            yield self._tail(loop, rest, taken)

    def _overlapped(self, known: Ranges, loop: Loop, taken: Names) -> Loop:
        at, last = taken.fresh(f"{self.loop}_at"), loop.stop - self.factor
        group = (LetInt(at, minimum(variable(self.loop), last)), *self._group(loop, variable(at), taken))
        if not known.at_most(loop.start, last):
            length = FromInt(loop.stop - loop.start, INT64)
            enough = Prim("ge", (length, Const(Literal.of(self.factor, INT64))), BOOL)
            group = (If(enough, group, (self._tail(loop, variable(self.loop), taken),)),)
        return replace(loop, step=self.factor, body=group)

    def _tail(self, loop: Loop, start: IntExpr, taken: Names) -> Loop:
        (copy,) = renamed((loop,), taken.copies((loop,), "tail"))
        assert isinstance(copy, Loop)
        return replace(copy, start=start)

    def _group(self, loop: Loop, first: IntExpr, taken: Names) -> Block:
        copies, differing = [], _differing(loop)
        for number in range(self.factor):
            body = substituted(loop.body, {self.loop: first + number})
            copies.append(renamed(body, taken.copies(body, str(number), differing) if number else {}))
        return tuple(_joined(copies))

    def _see_that_it_may_run_twice(self, path: Sequence[Statement], known: Ranges, loop: Loop) -> None:
        reason = carried_by(path) if loop.kind.is_ordered else ""
        for name in sorted(changed(loop.body)):
            reason = reason or f"{name} changes"
        inside = known.within(loop.variable, loop.start, loop.stop)
        reason = reason or rereads(inside, loop.body)
        if reason:
            raise RefusedError(f"an iteration over {self.loop} may not run twice: {reason}")


@dataclass(frozen=True, slots=True)
class _Joining:
    """The order of statements in iterations of a group."""

    loop: Loop
    factor: int
    differing: frozenset[str]

    def reasons(self, known: Ranges, body: Block) -> Iterator[str]:
        """Yield why statements of a body, inside of loops that are joined, may not change their order."""
        if not any(isinstance(one, Loop) for one in body):
            return  # iterations follow each other
        order = later(self.loop), self._in_a_group()
        own = frozenset(names(self.loop.body))
        for place, one in enumerate(body):
            for before in range(place):
                first = Place((self.loop,), (one,), body[:place], own)
                second = Place((self.loop,), (body[before],), body[:before], own)
                yield from filter(None, (dependence(known, first, second, *order),))
            if isinstance(one, Loop) and _is_joined(one, self.differing):
                both = Place((self.loop, one), one.body, (), own)
                yield from filter(None, (dependence(known, both, both, *order, earlier(one)),))
                if one.kind is LoopKind.PARALLEL:
                    yield from filter(None, (dependence(known, both, both, *order, later(one)),))
                yield from self.reasons(known.within(one.variable, one.start, one.stop), one.body)

    def _in_a_group(self) -> IntExpr:
        here = variable(self.loop.variable)
        return here + (self.factor - 1) - there(here, self.loop)


def _shares_scratch(kernel: Kernel, loop: Loop) -> bool:
    """Return whether the iterations of a loop write to scratch that is given outside of it."""
    own = names(loop.body) | {argument.buffer.name for argument in kernel.arguments}
    return not written(loop.body) <= own


def _differing(loop: Loop) -> frozenset[str]:
    """The names that mean something else in each iteration: not those of loops that are joined, and of integers that
    hang on nothing else.
    """
    found = {loop.variable}

    def go_through(block: Block) -> None:
        for one in block:
            if isinstance(one, Loop) and _is_joined(one, found):
                go_through(one.body)
            elif not isinstance(one, LetInt) or one.expr.names() & found:
                found.update(names((one,)))

    go_through(loop.body)
    return frozenset(found)


def _is_joined(inner: Loop, differing: Collection[str]) -> bool:
    """Return whether a loop has the same bounds in all iterations."""
    return (inner.kind.is_ordered or inner.kind is LoopKind.PARALLEL) and (
        inner.start.names() | inner.stop.names()
    ).isdisjoint(differing)


def _joined(copies: Sequence[Block]) -> Iterator[Statement]:
    """Yield the statements of some copies side by side, loops with the same bounds as one; without loops, in turn."""
    if not any(isinstance(one, Loop) for one in copies[0]):
        first, *others = copies
        yield from first
        yield from (one for copy in others for one in copy if not (isinstance(one, LetInt) and one in first))
        return
    for several in zip(*copies, strict=True):
        first = several[0]
        loops = [one for one in several if isinstance(one, Loop)]
        bounds = {(one.start, one.stop, one.step, one.kind) for one in loops}
        if isinstance(first, Loop) and len(bounds) == 1 and _is_joined(first, ()):
            at = variable(first.variable)
            bodies = [substituted(one.body, {one.variable: at}) for one in loops]
            yield replace(first, body=tuple(_joined(bodies)))
        elif isinstance(first, LetInt):
            yield from dict.fromkeys(several)
        else:
            yield from several
