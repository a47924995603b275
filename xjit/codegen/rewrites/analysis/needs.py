"""What an iteration of a loop needs of a buffer: along each axis a span of indices, or all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

from xjit.codegen.rewrites.analysis.dependence import Touch
from xjit.codegen.rewrites.analysis.intervals import interval
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import Atom, IntExpr, constant, maximum, minimum, operands, terms
from xjit.ir.loops.nodes import Buffer


@dataclass(frozen=True, slots=True)
class Span:
    """All integers from ``low`` to before ``stop``."""

    low: IntExpr
    stop: IntExpr


Needed: TypeAlias = "Span | None"
"""What is needed along an axis; None where every iteration needs the same, or it is not known what."""


def needed(buffer: Buffer, touched: Sequence[Touch], scope: frozenset[str]) -> tuple[Needed, ...]:
    """What some touches need along the axes of a buffer, in names of the scope.

    RefusedError where it is not known along any axis.
    """
    found: list[Needed] = []
    unknown = False
    for axis in range(len(buffer.extents)):
        several = [interval(touch.index[axis], touch.around) for touch in touched]
        spans = [Span(one.low, one.high + 1) for one in several if one is not None]
        names = {name for one in spans for name in one.low.names() | one.stop.names()}
        lost = len(spans) < len(several) or not names <= scope
        unknown |= lost
        found.append(hull(spans, scope) if names and not lost else None)
    if unknown and not any(found):
        raise RefusedError(f"it is not known from where to where the indices of {buffer.name} go")
    return tuple(found)


def hull(spans: Collection[Span], scope: frozenset[str]) -> Span:
    """A span that has all of some others: the least one, or one that is as easily said as they are.

    max(4*b - first, 0) .. and 4*b - first - 1 .. begin at 4*b - first - 1.
    """
    low = _outer(minimum, Atom.MAX, [one.low for one in spans], scope)
    return Span(low, _outer(maximum, Atom.MIN, [one.stop for one in spans], scope))


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
