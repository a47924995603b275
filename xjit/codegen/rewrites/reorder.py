"""Change the order of loops that are one in the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.directions import Place, earlier, elements, later
from xjit.codegen.rewrites.analysis.scalars import reordering
from xjit.codegen.rewrites.analysis.surroundings import known_before, see_that_it_may_come_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant
from xjit.ir.loops.nodes import Block, Kernel, Let, LetInt, Loop, LoopKind
from xjit.ir.loops.ranges import Ranges
from xjit.ir.loops.walk import names


@dataclass(frozen=True, slots=True)
class Reorder:
    """Change the order of loops that are one in the next, with nothing between them but names of values.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    s[j] = (s[j] + x[i, j])
    after       for j in 0 .. m:                        Reorder(("j", "i"))
                  for i in 0 .. n:
                    s[j] = (s[j] + x[i, j])

    A name is given where its loop is afterwards, and its value computed as often.
    """

    order: tuple[str, ...]

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where bounds depend on a loop that would be inside, or elements are needed in the order of now."""
        nest = self._nest(kernel)
        path, outermost = found(kernel, nest[0].loop.variable)
        known = known_before(kernel, path)
        for place in range(len(nest)):
            # The loop that comes here passes those in front of it, one after the other.
            at = next(at for at, one in enumerate(nest) if one.loop.variable == self.order[place])
            for before in range(at - 1, place - 1, -1):
                _see_that_they_may(known, nest, before)
                nest[before : before + 2] = _exchanged(*nest[before : before + 2])
        return with_statements(kernel, outermost, _nested(nest))

    def _nest(self, kernel: Kernel) -> list[_Level]:
        """The loops in the order of now."""
        loops = [found(kernel, name) for name in self.order]
        inner = min(loops, key=lambda one: len(one[0]))[1]
        nest = [_Level(inner, inner.body)]
        while len(nest) < len(self.order):
            match nest[-1].body:
                case (*before, Loop(variable=name) as inner) if name in self.order and _are_names(before):
                    nest[-1:] = _Level(nest[-1].loop, tuple(before)), _Level(inner, inner.body)
                case _:
                    raise RefusedError(f"the loop over {nest[-1].loop.variable} has more in it than one of the loops")
        for one in nest:
            if not (one.loop.kind.is_ordered or one.loop.kind is LoopKind.PARALLEL):
                raise RefusedError(f"the loop over {one.loop.variable} is {one.loop.kind.value} already")
        return nest


@dataclass(frozen=True, slots=True)
class _Level:
    """A loop of a nest, and what is in it but the next one."""

    loop: Loop
    body: Block


def _are_names(statements: Sequence[object]) -> bool:
    return all(isinstance(one, Let | LetInt) for one in statements)


def _exchanged(outer: _Level, inner: _Level) -> tuple[_Level, _Level]:
    """Two levels in the other order; what was in the outer one is in its loop still."""
    return _Level(inner.loop, ()), _Level(outer.loop, (*outer.body, *inner.body))


def _see_that_they_may(known: Ranges, nest: Sequence[_Level], at: int) -> None:
    """Refuses where a loop of the nest and the next one may not change their order."""
    outer, inner = (one.loop for one in nest[at : at + 2])
    given = {outer.variable} | names(nest[at].body)
    if given & (inner.start.names() | inner.stop.names()):
        raise RefusedError(f"the bounds of the loop over {inner.variable} depend on {outer.variable}")
    for one in nest[:at]:
        known = known.within(one.loop.variable, one.loop.start, one.loop.stop)
    if known.at_most(outer.stop - outer.start, constant(outer.step)):
        return  # there is one iteration
    body = tuple(statement for one in nest[at:] for statement in one.body)
    loops = tuple(one.loop for one in nest[at:])
    see_that_it_may_come_before(nest[at].body, body)
    reason = reordering(body) or _elements(known, Place(loops, body), outer, inner)
    if reason:
        raise RefusedError(f"the order of {outer.variable} and {inner.variable} matters: {reason}")


def _elements(known: Ranges, place: Place, outer: Loop, inner: Loop) -> str:
    """Why iterations may touch elements in another order; those of a loop without order meet nowhere."""
    if not outer.kind.is_ordered:
        return ""
    orders: list[IntExpr] = [earlier(inner)] if inner.kind.is_ordered else [earlier(inner), later(inner)]
    reasons = (elements(known, place, place, later(outer), order) for order in orders)
    return next(filter(None, reasons), "")


def _nested(nest: Sequence[_Level]) -> Block:
    body: Block = ()
    for one in reversed(nest):
        body = (replace(one.loop, body=(*one.body, *body)),)
    return body
