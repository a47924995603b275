"""From where to where the indices of a block go: interval analysis of integer expressions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xjit.codegen.rewrites.analysis.dependence import Touch
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import (
    Atom,
    IntExpr,
    constant,
    factors,
    maximum,
    minimum,
    operands,
    substitute,
    terms,
    variable,
)
from xjit.ir.loops.nodes import LetInt, Loop


@dataclass(frozen=True, slots=True)
class Interval:
    """All integers from ``low`` to ``high``, both included."""

    low: IntExpr
    high: IntExpr

    def __or__(self, other: Interval) -> Interval:
        return Interval(minimum(self.low, other.low), maximum(self.high, other.high))


def region(touched: Iterable[Touch]) -> tuple[Interval, ...] | None:
    """For each axis, from where to where some touches go in all iterations around them; None if that is not known."""
    found: tuple[Interval, ...] | None = None
    for touch in touched:
        own = [interval(expr, touch.around) for expr in touch.index]
        known = [one for one in own if one is not None]
        if len(known) != len(own):
            return None
        found = tuple(known) if found is None else tuple(a | b for a, b in zip(found, known, strict=True))
    return found


def interval(expr: IntExpr, around: Sequence[Loop | LetInt]) -> Interval | None:
    """The interval of an expression in all iterations of some loops, the outermost first; None if it is unknown."""
    low: IntExpr | None = expr
    high: IntExpr | None = expr
    for one in reversed(around):
        low, high = _without(low, one, -1), _without(high, one, 1)
    return None if low is None or high is None else Interval(low, high)


def most(expr: IntExpr, names: Iterable[str] = ()) -> IntExpr | None:
    """A bound from above without minima and variables, but for some names; None if none is found."""
    extremes = [(c, p) for c, p in terms(expr) if p is not None and p.kind in (Atom.MIN, Atom.MAX)]
    if not extremes:
        return expr if expr.names() <= frozenset(names) else _most_of_quotient(expr, names)
    coefficient, atom = extremes[0]
    rest = expr - atom * coefficient
    found = [most(rest + one * coefficient, names) for one in operands(atom)]
    if (coefficient > 0) == (atom.kind is Atom.MIN):
        known = [one for one in found if one is not None]
        numbers = [one for one in known if one.value is not None]
        return minimum(*(numbers or known)) if known else None
    return None if None in found else maximum(*(one for one in found if one is not None))


def _most_of_quotient(expr: IntExpr, names: Iterable[str]) -> IntExpr | None:
    """A bound from above of one quotient by a number; None for anything else."""
    match list(terms(expr)):
        case [(1, IntExpr(kind=Atom.FLOORDIV) as quotient)]:
            dividend, divisor = operands(quotient)
            found = most(dividend, names) if (divisor.value or 0) > 0 else None
            return None if found is None else found // divisor
    return None


def _without(expr: IntExpr | None, around: Loop | LetInt, side: int) -> IntExpr | None:
    """The least (side -1) or the greatest (side 1) that an expression is in a loop, or behind a named integer."""
    if expr is None:
        return None
    if isinstance(around, LetInt):
        return substitute(expr, {around.name: around.expr})
    total = constant(0)
    for coefficient, product in terms(expr):
        if product is None:
            total = total + coefficient
            continue
        found = _extreme(product, around, side if coefficient > 0 else -side)
        if found is None:
            return None
        total = total + found * coefficient
    return total


def _extreme(product: IntExpr, loop: Loop, side: int) -> IntExpr | None:
    if loop.variable not in product.names():
        return product
    if product == variable(loop.variable):
        return loop.start if side < 0 else loop.stop - 1
    if product.kind in (Atom.MIN, Atom.MAX):
        found = [_without(one, loop, side) for one in operands(product)]
        if any(one is None for one in found):
            return None
        combine = minimum if product.kind is Atom.MIN else maximum
        return combine(*(one for one in found if one is not None))
    others = [atom for atom in factors(product) if atom != variable(loop.variable)]
    if len(others) + 1 == len(factors(product)) and all(atom.kind is Atom.WORD for atom in others):
        whole = loop.start if side < 0 else loop.stop - 1
        for atom in others:
            whole = whole * atom
        return whole
    if product.kind is Atom.FLOORDIV and (operands(product)[1].value or 0) > 0:
        inner = _without(operands(product)[0], loop, side)
        return None if inner is None else inner // operands(product)[1]
    return None
