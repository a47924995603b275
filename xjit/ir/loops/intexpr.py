"""Integer expressions: bounds of loops, indices of elements, extents, kept in one form for each value.

An expression is a sum of products of atoms; atoms are variables of loops, words of the kernel's table (extents and
strides, at least 0), and what does not expand: the minimum, the maximum, a quotient or a remainder.

>>> i, n = variable("i"), word("n")
>>> print((i + 1) * 4 - i, "|", minimum(i + 4, i + 1), "|", (n * 8 + 3) // 8)
3*i + 4 | i + 1 | n
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

from xjit.dataclass import dataclass, field


class Atom(enum.Enum):
    """The outermost operation of an expression."""

    SUM = "sum"  # coefficients and products, and a constant
    PRODUCT = "product"  # of two or more atoms
    VARIABLE = "variable"  # a loop's, or a named integer
    WORD = "word"  # of the kernel's table, at least 0
    MIN = "min"
    MAX = "max"
    FLOORDIV = "floordiv"  # rounds towards minus infinity, as Python's
    MOD = "mod"  # of the sign of the divisor, as Python's

    # There is one object of each, and expressions are looked up by them all the time.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, repr=False)
class IntExpr:
    """One expression; equal ones are mostly one object.

    ``parts`` are the name of a variable or word, the operands of the other kinds; of a sum ((coefficient, atom), ...)
    in the order of their texts, with ``constant``. ``text`` is that of all but sums, which are put in order by it.
    """

    kind: Atom
    parts: tuple[Any, ...] = ()
    constant: int = 0
    text: str = field(default="", compare=False, repr=False)
    _names: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    _words: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    _hash: int = field(default=0, compare=False, repr=False)

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Integer) -> IntExpr:
        if isinstance(other, IntExpr):
            return _added(self, other)
        return _ordered_sum(_products(self), self.constant + other) if other else self

    def __radd__(self, other: int) -> IntExpr:
        return self + other

    def __sub__(self, other: Integer) -> IntExpr:
        return self + other * -1

    def __rsub__(self, other: int) -> IntExpr:
        return self * -1 + other

    def __neg__(self) -> IntExpr:
        return self * -1

    def __mul__(self, other: Integer) -> IntExpr:
        return _multiplied(self, other if isinstance(other, IntExpr) else constant(other))

    def __rmul__(self, other: int) -> IntExpr:
        return self * other

    def __floordiv__(self, other: Integer) -> IntExpr:
        return _quotient(self, as_int(other))[0]

    def __mod__(self, other: Integer) -> IntExpr:
        return _quotient(self, as_int(other))[1]

    @property
    def value(self) -> int | None:
        """The number that the expression is; None if it is not known."""
        return self.constant if self.kind is Atom.SUM and not self.parts else None

    def names(self) -> frozenset[str]:
        """The variables, without words, that the expression reads."""
        return self._names

    def words(self) -> frozenset[str]:
        """The words of the table that the expression reads."""
        return self._words

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return self.text or _sum_text(self)


Integer: TypeAlias = "IntExpr | int"
# Coefficient and product of atoms; None is the empty product, 1.
Term: TypeAlias = "tuple[int, IntExpr | None]"


@functools.lru_cache(maxsize=1 << 14)
def _make(kind: Atom, parts: tuple[Any, ...], constant: int = 0) -> IntExpr:
    """The one object for an expression, as long as it is not forgotten."""
    text = "" if kind is Atom.SUM else _text(kind, parts)
    inside: list[IntExpr] = []
    if kind not in (Atom.VARIABLE, Atom.WORD):
        inside = [one[1] for one in parts] if kind is Atom.SUM else [*parts]
    names = frozenset(parts) if kind is Atom.VARIABLE else _union([one.names() for one in inside])
    words = frozenset(parts) if kind is Atom.WORD else _union([one.words() for one in inside])
    return IntExpr(kind, parts, constant, text, names, words, hash((kind, parts, constant)))


def _union(several: Sequence[frozenset[str]]) -> frozenset[str]:
    """The names in any of some sets."""
    return several[0] if len(several) == 1 else frozenset().union(*several)


@functools.lru_cache(maxsize=1 << 10)
def constant(value: int) -> IntExpr:
    """A number."""
    return _make(Atom.SUM, (), value)


@functools.lru_cache(maxsize=1 << 10)
def variable(name: str) -> IntExpr:
    """The variable of a loop, or a named integer."""
    return _make(Atom.VARIABLE, (name,))


def word(name: str) -> IntExpr:
    """An extent or a stride that the kernel finds in its table; it is never negative."""
    return _make(Atom.WORD, (name,))


def as_int(value: Integer) -> IntExpr:
    """The expression, or that of a number."""
    return value if isinstance(value, IntExpr) else constant(value)


def minimum(*operands: Integer) -> IntExpr:
    """The least of some expressions; those that another is always at most are left out."""
    return _extreme(Atom.MIN, operands)


def maximum(*operands: Integer) -> IntExpr:
    """The greatest of some expressions; those that another is always at least are left out."""
    return _extreme(Atom.MAX, operands)


def substitute(expr: IntExpr, values: Mapping[str, IntExpr]) -> IntExpr:
    """The expression with others in place of variables.

    >>> print(substitute(variable("i") * 4 + variable("j"), {"i": variable("j") + 1}))
    5*j + 4
    """
    if expr.names().isdisjoint(values):
        return expr
    match expr.kind:
        case Atom.VARIABLE:
            return values[_name(expr)]
        case Atom.SUM:
            several = [(c, substitute(product, values)) for c, product in _products(expr)]
            return _sum([(c * a, x) for c, one in several for a, x in terms(one)] + [(expr.constant, None)])
    return _applied(expr.kind, [substitute(one, values) for one in operands(expr)])


def evaluate(expr: IntExpr, values: Mapping[str, int]) -> int:
    """The number for values of all its variables and words; KeyError if one is missing."""
    found = _rebuilt(expr, lambda atom: constant(values[_name(atom)])).value
    if found is None:
        raise ArithmeticError(f"{expr} has no value: it divides by zero")
    return found


def with_words(expr: IntExpr, values: Mapping[str, int]) -> IntExpr:
    """The expression with numbers in place of words.

    >>> print(with_words(variable("i") * word("n") + 1, {"n": 6}))
    6*i + 1
    """
    return _rebuilt(expr, lambda atom: constant(values[_name(atom)]) if atom.kind is Atom.WORD else atom)


def factors(product: IntExpr) -> tuple[IntExpr, ...]:
    """The atoms of a product."""
    return operands(product) if product.kind is Atom.PRODUCT else (product,)


def terms(expr: IntExpr) -> list[Term]:
    """(coefficient, product of atoms) of a sum, the constant last, as (constant, None), unless it is 0."""
    if expr.kind is not Atom.SUM:
        return [(1, expr)]
    return [*_products(expr), (expr.constant, None)] if expr.constant else [*_products(expr)]


def _products(expr: IntExpr) -> tuple[tuple[int, IntExpr], ...]:
    """The terms of a sum without its constant."""
    return expr.parts if expr.kind is Atom.SUM else ((1, expr),)


@functools.lru_cache(maxsize=1 << 12)
def _added(a: IntExpr, b: IntExpr) -> IntExpr:
    if not b.parts and b.kind is Atom.SUM:
        return a + b.constant
    collected = {product: coefficient for coefficient, product in _products(a)}
    for coefficient, product in _products(b):
        collected[product] = collected.get(product, 0) + coefficient
    return _collected_sum(collected, a.constant + b.constant)


@functools.lru_cache(maxsize=1 << 12)
def _multiplied(a: IntExpr, b: IntExpr) -> IntExpr:
    number = b.value
    if number is None:
        return _sum([(c * d, _product(x, y)) for c, x in terms(a) for d, y in terms(b)])
    if number in (0, 1):
        return a if number else b
    return _ordered_sum(tuple([(c * number, x) for c, x in _products(a)]), a.constant * number)


def _sum(parts: Iterable[Term]) -> IntExpr:
    collected: dict[IntExpr, int] = {}
    rest = 0
    for coefficient, product in parts:
        if product is None:
            rest += coefficient
        else:
            collected[product] = collected.get(product, 0) + coefficient
    return _collected_sum(collected, rest)


def _collected_sum(collected: Mapping[IntExpr, int], rest: int) -> IntExpr:
    """The sum of products by their coefficients, and a number."""
    kept = [(coefficient, product) for product, coefficient in collected.items() if coefficient]
    if len(kept) > 1:
        kept.sort(key=lambda term: term[1].text)
    return _ordered_sum(tuple(kept), rest)


def _ordered_sum(kept: tuple[tuple[int, IntExpr], ...], rest: int) -> IntExpr:
    """The sum of products in the order of their texts, of which none is there twice."""
    if rest == 0 and len(kept) == 1 and kept[0][0] == 1:
        return kept[0][1]
    return _make(Atom.SUM, kept, rest)


def _product(a: IntExpr | None, b: IntExpr | None) -> IntExpr | None:
    if a is None or b is None:
        return a or b
    return _make(Atom.PRODUCT, tuple(sorted((*factors(a), *factors(b)), key=attrgetter("text"))))


def _quotient(a: IntExpr, b: IntExpr) -> tuple[IntExpr, IntExpr]:
    """(a // b, a % b); what the divisor divides leaves both."""
    divisor = b.value
    if divisor == 0:
        raise ZeroDivisionError(f"{a} // 0")
    if divisor is None:
        return _make(Atom.FLOORDIV, (a, b)), _make(Atom.MOD, (a, b))
    whole = _sum([(c // divisor, p) for c, p in terms(a) if c % divisor == 0])
    rest = _sum([(c, p) for c, p in terms(a) if c % divisor])
    if rest.value is not None:
        return whole + rest.value // divisor, constant(rest.value % divisor)
    by = constant(divisor)
    return whole + _make(Atom.FLOORDIV, (rest, by)), _make(Atom.MOD, (rest, by))


def _extreme(kind: Atom, several: Iterable[Integer]) -> IntExpr:
    flat: dict[IntExpr, None] = {}
    for operand in map(as_int, several):
        flat.update(dict.fromkeys(operands(operand) if operand.kind is kind else (operand,)))
    better = (lambda d: d < 0) if kind is Atom.MIN else (lambda d: d > 0)
    kept = [one for one in flat if not any(_differs(other, one, better) for other in flat)]
    return kept[0] if len(kept) == 1 else _make(kind, tuple(sorted(kept, key=str)))


def _differs(a: IntExpr, b: IntExpr, how: Callable[[int], bool]) -> bool:
    """Return whether the two differ by a known number, and how."""
    difference = a.constant - b.constant
    return difference != 0 and how(difference) and _products(a) == _products(b)


def _rebuilt(expr: IntExpr, leaf: Callable[[IntExpr], IntExpr]) -> IntExpr:
    match expr.kind:
        case Atom.VARIABLE | Atom.WORD:
            return leaf(expr)
        case Atom.SUM:
            total = constant(expr.constant)
            for coefficient, product in _products(expr):
                total = total + _rebuilt(product, leaf) * coefficient
            return total
    return _applied(expr.kind, [_rebuilt(one, leaf) for one in operands(expr)])


def _applied(kind: Atom, parts: Sequence[IntExpr]) -> IntExpr:
    """The expression of operands, by its outermost operation; no sum."""
    match kind:
        case Atom.PRODUCT:
            return functools.reduce(IntExpr.__mul__, parts)
        case Atom.MIN:
            return minimum(*parts)
        case Atom.MAX:
            return maximum(*parts)
        case Atom.FLOORDIV:
            return parts[0] // parts[1]
    return parts[0] % parts[1]


def operands(expr: IntExpr) -> tuple[IntExpr, ...]:
    """The operands of a product, an extreme, a quotient or a remainder."""
    return expr.parts


def _name(atom: IntExpr) -> str:
    return str(atom.parts[0])


def _text(kind: Atom, parts: tuple[Any, ...]) -> str:
    match kind:
        case Atom.VARIABLE | Atom.WORD:
            return str(parts[0])
        case Atom.MIN | Atom.MAX:
            return f"{kind.value}({', '.join(map(str, parts))})"
        case Atom.PRODUCT:
            return "*".join(map(str, parts))
    sign = " // " if kind is Atom.FLOORDIV else " % "
    return f"({sign.join(map(_in_parentheses, parts))})"


def _in_parentheses(expr: IntExpr) -> str:
    return f"({expr})" if expr.kind is Atom.SUM and expr.value is None else str(expr)


def _sum_text(expr: IntExpr) -> str:
    text = ""
    for coefficient, product in terms(expr) or [(0, None)]:
        size = abs(coefficient)
        shown = str(size) if product is None else str(product) if size == 1 else f"{size}*{product}"
        sign = "-" if coefficient < 0 else "+"
        text = f"{text} {sign} {shown}" if text else f"-{shown}" if coefficient < 0 else shown
    return text
