"""Facts about integers inside of loops: ranges of variables, and proofs of inequalities from them.

>>> from xjit.ir.loops.intexpr import constant, variable, word
>>> i, n = variable("i"), word("n")
>>> facts = Ranges().within("i", constant(0), n)        # 0 <= i < n
>>> facts.at_most(i, n - 1), facts.at_most(i + 1, n - 1)
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterator

from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import Atom, IntExpr, factors, operands, substitute, terms, variable

# How many bounds are put in place of variables before a proof is given up.
DEPTH = 12
# The same where the other of two proofs may be the one that there is.
QUICK = 3


@dataclass(frozen=True, slots=True)
class Bounds:
    """low <= name <= high, innermost last; named integers have the same for both."""

    name: str
    low: IntExpr
    high: IntExpr


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of the variables in scope, and differences known not to be negative."""

    bounds: tuple[Bounds, ...] = ()
    facts: tuple[IntExpr, ...] = ()

    def within(self, name: str, start: IntExpr, stop: IntExpr) -> Ranges:
        """With a variable from ``start`` to before ``stop``; where it lives, the range is not empty."""
        known = Bounds(name, start, stop - 1)
        return Ranges((*self.bounds, known), (*self.facts, stop - 1 - start))

    def named(self, name: str, value: IntExpr) -> Ranges:
        """With a name for an expression."""
        return Ranges((*self.bounds, Bounds(name, value, value)), self.facts)

    def supposing(self, fact: IntExpr) -> Ranges:
        """With an expression that is not negative."""
        return Ranges(self.bounds, (*self.facts, fact))

    def at_most(self, a: IntExpr, b: IntExpr) -> bool:
        """Return whether a <= b is proved; False says nothing."""
        return self._not_negative(b - a, DEPTH, {})

    def below(self, a: IntExpr, b: IntExpr) -> bool:
        """Return whether a < b is proved."""
        return self.at_most(a + 1, b)

    def apart(self, a: IntExpr, b: IntExpr) -> bool:
        """Return whether the two are proved to differ."""
        differences = b - a - 1, a - b - 1
        return any(self._not_negative(one, depth, {}) for depth in (QUICK, DEPTH) for one in differences)

    def _not_negative(self, expr: IntExpr, depth: int, failed: dict[IntExpr, int]) -> bool:
        """Return whether an expression is proved; ``failed`` are those that were not, and at what depth."""
        if all(coefficient >= 0 and _is_natural(product) for coefficient, product in terms(expr)):
            return True
        if failed.get(expr, 0) >= depth:
            return False
        failed[expr] = depth
        extreme = next(_extremes(expr), None)
        if extreme is not None:
            coefficient, atom = extreme
            either = any if (coefficient < 0) == (atom.kind is Atom.MIN) else all
            others = [expr - atom * coefficient + one * coefficient for one in operands(atom)]
            return either(self._not_negative(other, depth - 1, failed) for other in others)
        return any(self._not_negative(other, depth - 1, failed) for other in self._smaller(expr, depth, failed))

    def _smaller(self, expr: IntExpr, depth: int, failed: dict[IntExpr, int]) -> Iterator[IntExpr]:
        """Yield expressions that are at most this one, with less in them that is not known."""
        for coefficient, quotient in _quotients(expr):
            dividend, rest = operands(quotient)[0], expr - quotient * coefficient
            times, remainder = divmod(coefficient, _divisor(quotient))
            if remainder == 0:
                yield rest + (dividend - (_divisor(quotient) - 1 if coefficient > 0 else 0)) * times
            if coefficient > 0 and self._not_negative(dividend, depth - 1, failed):
                yield rest
        for known in reversed(self.bounds):
            if known.name in expr.names():
                sign = _direction(expr, known.name)
                if sign:
                    yield substitute(expr, {known.name: known.low if sign > 0 else known.high})
                break
        for fact in self.facts:
            if _helps(fact, expr):
                yield expr - fact


def _helps(fact: IntExpr, expr: IntExpr) -> bool:
    """Return whether an expression without a fact has less in it that may be negative."""
    if any(product is not None and c < 0 and _subtracts(fact, product) for c, product in terms(expr)):
        return True
    return fact.constant < 0 and _lacks_a_number(expr) and _lacks_a_number(expr - fact)


def _lacks_a_number(expr: IntExpr) -> bool:
    """Return whether only the constant of a sum may be negative."""
    return all(product is None or (coefficient >= 0 and _is_natural(product)) for coefficient, product in terms(expr))


def _is_natural(product: IntExpr | None) -> bool:
    """Return whether a product of atoms is never negative: of words, and remainders by positive numbers."""
    return product is None or all(
        atom.kind is Atom.WORD or (atom.kind is Atom.MOD and _divisor(atom) > 0) for atom in factors(product)
    )


def _quotients(expr: IntExpr) -> Iterator[tuple[int, IntExpr]]:
    """Yield (coefficient, atom) of the quotients by positive numbers that are terms of a sum.

    d*(a // d) is at least a - (d - 1), and at most a; it is not negative where a is not.
    """
    for coefficient, product in terms(expr):
        if product is not None and product.kind is Atom.FLOORDIV and _divisor(product) > 0:
            yield coefficient, product


def _divisor(atom: IntExpr) -> int:
    return operands(atom)[1].value or 0


def _direction(expr: IntExpr, name: str) -> int:
    """1 where the expression grows with a variable, -1 where it falls, 0 where neither is plain."""
    signs = set()
    for coefficient, product in terms(expr):
        if product is None or name not in product.names():
            continue
        others = [atom for atom in factors(product) if atom != variable(name)]
        if len(others) != len(factors(product)) - 1 or not all(map(_is_natural, others)):
            return 0
        signs.add(1 if coefficient > 0 else -1)
    return signs.pop() if len(signs) == 1 else 0


def _extremes(expr: IntExpr) -> Iterator[tuple[int, IntExpr]]:
    """Yield (coefficient, atom) of the minima and maxima that are terms of a sum.

    c*min(a, b) is at least c*a where c is negative, and the lesser of c*a and c*b where it is positive.
    """
    for coefficient, product in terms(expr):
        if product is not None and product.kind in (Atom.MIN, Atom.MAX):
            yield coefficient, product


def _subtracts(fact: IntExpr, product: IntExpr) -> bool:
    return any(other == product and coefficient < 0 for coefficient, other in terms(fact))
