"""Change the order of loops that are one in the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.directions import Place, earlier, elements, later
from xjit.codegen.rewrites.analysis.scalars import changed, read, reordering
from xjit.codegen.rewrites.analysis.surroundings import known_before, written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Block, Kernel, Let, LetInt, Loop, LoopKind, Statement
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import defined, loads


@dataclass(frozen=True, slots=True)
class Reorder:
    """Change the order of loops that are one in the next.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    s[j] = (s[j] + x[i, j])
    after       for j in 0 .. m:                        Reorder(("j", "i"))
                  for i in 0 .. n:
                    s[j] = (s[j] + x[i, j])

    Names of values between two loops are given inside of the inner one.
    """

    order: tuple[str, ...]

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where bounds depend on a loop that would be inside, or elements are needed in the order of now."""
        nest = self._nest(kernel)
        path, outermost = found(kernel, nest[0].variable)
        known = known_before(kernel, path)
        body = nest[-1].body
        for place in range(len(nest)):
            # The loop that comes here passes those in front of it, one after the other.
            at = next(at for at, loop in enumerate(nest) if loop.variable == self.order[place])
            for before in range(at - 1, place - 1, -1):
                self._see_that_they_may(known, nest, before, body)
                nest[before : before + 2] = nest[before + 1], nest[before]
        return with_statements(kernel, outermost, (_nested(nest, body),))

    def _nest(self, kernel: Kernel) -> list[Loop]:
        """The loops in the order of now."""
        loops = [found(kernel, name) for name in self.order]
        nest = [min(loops, key=lambda one: len(one[0]))[1]]
        while len(nest) < len(self.order):
            match nest[-1].body:
                case (*between, Loop(variable=name) as inner) if name in self.order and _are_names(between):
                    nest.append(self._with(tuple(between), inner))
                case _:
                    raise RefusedError(f"the loop over {nest[-1].variable} has more in it than one of the loops")
        for one in nest:
            if not (one.kind.is_ordered or one.kind is LoopKind.PARALLEL):
                raise RefusedError(f"the loop over {one.variable} is {one.kind.value} already")
        return nest

    def _with(self, between: Block, inner: Loop) -> Loop:
        """The loop with names of values in it that are given in front of it."""
        names = {name for one in between for name in defined(one)}
        needed = {load.buffer for load in loads(between)} | read(between)
        lost = needed & (written(inner.body) | changed(inner.body)) | names & (
            inner.start.names() | inner.stop.names()
        )
        for name in sorted(lost):
            raise RefusedError(f"{name} is needed in front of the loop over {inner.variable}")
        return replace(inner, body=(*between, *inner.body)) if between else inner

    def _see_that_they_may(self, known: Ranges, nest: Sequence[Loop], at: int, body: Block) -> None:
        """Refuses where a loop of the nest and the next one may not change their order."""
        outer, inner = nest[at : at + 2]
        if outer.variable in (inner.start.names() | inner.stop.names()):
            raise RefusedError(f"the bounds of the loop over {inner.variable} depend on {outer.variable}")
        for loop in nest[:at]:
            known = known.within(loop.variable, loop.start, loop.stop)
        if known.at_most(outer.stop - outer.start, constant(outer.step)):
            return  # there is one iteration
        place = Place(tuple(nest[at:]), body)
        reason = reordering(body) or elements(known, place, place, later(outer), earlier(inner))
        if inner.kind is LoopKind.PARALLEL:  # iterations of the outer loop may then run at a time
            reason = reason or elements(known, place, place, later(outer), later(inner))
        if reason:
            raise RefusedError(f"the order of {outer.variable} and {inner.variable} matters: {reason}")


def _are_names(block: Sequence[Statement]) -> bool:
    return all(isinstance(one, Let | LetInt) for one in block)


def _nested(nest: Sequence[Loop], body: Block) -> Loop:
    for loop in reversed(nest):
        body = (replace(loop, body=body),)
    (outermost,) = body
    assert isinstance(outermost, Loop)
    return outermost
