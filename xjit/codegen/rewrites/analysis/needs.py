"""Needs of an iteration of a loop: along each axis of a buffer a span of indices, or all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from xjit.codegen.rewrites.analysis.dependence import Touch
from xjit.codegen.rewrites.analysis.intervals import interval
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import Atom, IntExpr, constant, maximum, minimum, operands, terms
from xjit.ir.loops.nodes import Buffer, LetInt, Loop


@dataclass(frozen=True, slots=True)
class Span:
    """All integers from ``low`` to before ``stop``."""

    low: IntExpr
    stop: IntExpr


Needed: TypeAlias = "Span | None"
"""The span that is needed along an axis; None if every iteration needs the same, or it is unknown."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """From where to where the index of a touch goes along each axis; None where that is not known."""

    buffer: str
    written: bool
    spans: tuple[Span | None, ...]


def reaches(touched: Iterable[Touch], buffers: Collection[str], scope: frozenset[str]) -> Iterator[Footprint]:
    """Yield how far touches of some buffers go, in names of the scope."""
    for touch in touched:
        if touch.buffer in buffers:
            spans = tuple(_span(at, touch.around, scope) for at in touch.index)
            yield Footprint(touch.buffer, touch.written, spans)


def _span(at: IntExpr, around: Sequence[Loop | LetInt], scope: frozenset[str]) -> Span | None:
    found = interval(at, around)
    if found is None or not found.low.names() | found.high.names() <= scope:
        return None
    return Span(found.low, found.high + 1)


def needed(buffer: Buffer, several: Iterable[Footprint], scope: frozenset[str]) -> tuple[Needed, ...]:
    """The spans that some touches need along the axes of a buffer, in names of the scope.

    RefusedError where it is not known along any axis.
    """
    every = list(dict.fromkeys(one.spans for one in several))
    found: list[Needed] = []
    for axis in range(len(buffer.extents)):
        spans = [known for one in every if (known := one[axis]) is not None]
        moves = len(spans) == len(every) and any(one.low.names() or one.stop.names() for one in spans)
        found.append(hull(spans, scope) if moves else None)
    if not any(found) and any(None in spans for spans in every):
        raise RefusedError(f"it is not known from where to where the indices of {buffer.name} go")
    return tuple(found)


def hull(spans: Collection[Span], scope: frozenset[str]) -> Span:
    """A span that has all of some others: the least one, or one that is as easily said as they are.

    max(4*b - first, 0) .. and 4*b - first - 1 .. begin at 4*b - first - 1.
    """
    low = _outer(minimum, Atom.MAX, list(dict.fromkeys(one.low for one in spans)), scope)
    return Span(low, _outer(maximum, Atom.MIN, list(dict.fromkeys(one.stop for one in spans)), scope))


def _outer(combine: Callable[..., IntExpr], kind: Atom, ends: list[IntExpr], scope: frozenset[str]) -> IntExpr:
    """The outermost of some ends; minima within maxima, and the reverse, go where there is more than one."""
    found = combine(*ends)
    if any(found == end for end in ends):
        return found
    return combine(*(_without(kind, end, scope) for end in ends))


def _without(kind: Atom, end: IntExpr, scope: frozenset[str]) -> IntExpr:
    """An expression further out: of each extreme what moves with the names of the scope."""
    found = constant(0)
    for coefficient, product in terms(end):
        if product is None:
            found = found + coefficient
        elif product.kind is kind and coefficient == 1:
            found = found + _moving(operands(product), scope)
        else:
            found = found + product * coefficient
    return found


def _moving(several: Iterable[IntExpr], scope: frozenset[str]) -> IntExpr:
    known = list(several)
    return next((one for one in known if one.names() & scope), known[0])
