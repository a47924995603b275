"""Integer expressions in the kernel language, in the order in which their names were given.

>>> from xjit.ir.loops.intexpr import minimum, variable, word
>>> i, n = variable("i"), word("n")
>>> IntegerText().of(minimum(i + 4, n) * 2), IntegerText().of(i + (n - i) // 64 * 64)
('select(i + 4 < n, i + 4, n) * 2', 'i + (n - i & -64)')
"""

from __future__ import annotations

from collections.abc import Iterable

from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import Atom, IntExpr, Term, factors, operands, terms

# A sign, and a text without one.
Signed = tuple[str, str]


@dataclass(slots=True)
class IntegerText:
    """Writes integer expressions; what was given first comes first, words of the table before all else.

    ``given`` numbers the names of integers in the order in which they were given.
    """

    given: dict[str, float] = field(default_factory=dict)
    _count: int = 0

    def give(self, name: str) -> None:
        """Note a name that is given now."""
        self.given[name] = self._count
        self._count += 1

    def give_behind(self, name: str, expr: IntExpr) -> None:
        """Note a name that is given where the names of an expression have been."""
        self.given[name] = self.age(expr) + 0.5

    def age(self, expr: IntExpr | None) -> float:
        """The number of the youngest name in an expression; -1 if it has words only."""
        return -1 if expr is None else max((self.given.get(name, 0) for name in expr.names()), default=-1)

    def of(self, expr: IntExpr) -> str:
        """The text of an expression."""
        match expr.kind:
            case Atom.VARIABLE | Atom.WORD:
                return str(expr)
            case Atom.PRODUCT:
                return " * ".join(map(self._factor, sorted(operands(expr), key=lambda one: -self.age(one))))
            case Atom.MIN | Atom.MAX:
                return self._extreme(expr)
            case Atom.FLOORDIV | Atom.MOD:
                return self._quotient(expr)
        return _joined(map(self._term, self.in_order(terms(expr))))

    def in_order(self, found: Iterable[Term]) -> list[Term]:
        """Terms, added ones before subtracted ones, each by age; words and the constant last."""

        def key(term: Term) -> tuple[bool, bool, bool, float, bool]:
            coefficient, product = term
            is_name = product is not None and product.kind is Atom.VARIABLE
            return product is None, coefficient < 0, self.age(product) < 0, self.age(product), not is_name

        return sorted(found, key=key)

    def _term(self, term: Term) -> Signed:
        coefficient, product = term
        size = abs(coefficient)
        if product is not None and product.kind is Atom.FLOORDIV and operands(product)[1].value == size:
            return _sign(coefficient), self._multiple(operands(product)[0], size)
        shown = str(size) if product is None else self._factor(product)
        return _sign(coefficient), shown if product is None or size == 1 else f"{shown} * {size}"

    def _multiple(self, expr: IntExpr, step: int) -> str:
        """The expression after whole steps, in the form in which LLVM sees that there is nothing else."""
        if step.bit_count() == 1:
            return f"({self._factor(expr)} & {-step})"
        return f"{self._quotient_by(expr, str(step))} * {step}"

    def _extreme(self, expr: IntExpr) -> str:
        first, *rest = map(self.of, sorted(operands(expr), key=lambda one: -self.age(one)))
        sign = "<" if expr.kind is Atom.MIN else ">"
        for other in rest:
            first = f"select({first} {sign} {other}, {first}, {other})"
        return first

    def _quotient(self, expr: IntExpr) -> str:
        """A quotient that rounds down, or what it leaves: the language's own division rounds towards zero."""
        a, b = operands(expr)
        if b.value is not None and b.value.bit_count() == 1:
            whole, rest = f"ashr({self.of(a)}, {b.value.bit_length() - 1})", f"(({self.of(a)}) & {b.value - 1})"
        else:
            divisor = self.of(b)
            whole = self._quotient_by(a, divisor)
            rest = f"({self.of(a)} - {whole} * ({divisor}))"
        return whole if expr.kind is Atom.FLOORDIV else rest

    def _quotient_by(self, dividend: IntExpr, divisor: str) -> str:
        shown = self.of(dividend)
        return f"sdiv({shown} - select({shown} < 0, {divisor} - 1, 0), {divisor})"

    def _factor(self, expr: IntExpr) -> str:
        text = self.of(expr)
        return f"({text})" if expr.kind is Atom.SUM and len(factors(expr)) == 1 and " " in text else text


def _sign(coefficient: int) -> str:
    return "-" if coefficient < 0 else "+"


def _joined(signed: Iterable[Signed]) -> str:
    text = ""
    for sign, shown in signed:
        text = f"{text} {sign} {shown}" if text else f"-{shown}" if sign == "-" else shown
    return text or "0"
