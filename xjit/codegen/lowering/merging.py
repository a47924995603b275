"""Merges as loops, with the comparator written into them.

Groups of a few elements are put in order by exchanges of neighbours, then merged.  All of it is stable, and merges by
one step::

    c = before(b[j], a[i])
    out[k] = select(c, b[j], a[i])
    i, j, k = i + !c, j + c, k + 1

It runs from both ends at once and without asking for the ends of the runs: as long as both have 2 h elements, h steps
at either end cannot pass one.  So a comparator that contradicts itself puts no element out of place or in twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from xjit import numerics
from xjit.codegen.lowering.elements import Elements, storage_dtype
from xjit.codegen.lowering.scopes import Element, LoopBuilder, Scope
from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import Integer, IntExpr, as_int, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import (
    Block,
    Carry,
    Const,
    Fold,
    FromInt,
    If,
    Let,
    LetInt,
    Load,
    Loop,
    LoopKind,
    Prim,
    Statement,
    Store,
    Value,
    Var,
    While,
)
from xjit.ir.node import Graph
from xjit.ir.scalar_expr import Literal
from xjit.ir.source_location import Where
from xjit.machine import Machine
from xjit.types import BOOL, INT64, DType

Values: TypeAlias = "tuple[Value, ...]"
"""The elements of one place, of all operands that move, as memory holds them."""

Place: TypeAlias = "Callable[[int, IntExpr], tuple[str, tuple[IntExpr, ...]]]"
"""The number of an operand and a position in a line -> a buffer and an index."""


_Inside: TypeAlias = "contextlib.AbstractContextManager[None]"


def _nothing_to_read(indexed: object) -> Element:
    raise TypeError("comparators read nothing from memory")


@dataclass(eq=False)
class Merges:
    """Writes merges of lines of operands with these types into a nest, ``run`` elements at a time.

    ``before`` is the comparator, ``captured`` are the values that it takes besides elements.
    """

    machine: Machine
    dtypes: Sequence[DType]
    before: Graph
    run: int
    where: Where
    nest: LoopBuilder = field(init=False)
    elements: Elements = field(init=False)
    captured: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nest = LoopBuilder(self.machine)
        self.elements = Elements(
            self.nest, _nothing_to_read, lambda indexed: False, lambda axis: None, frozenset(), ()
        )

    @property
    def group(self) -> int:
        """The number of elements that are put in order by exchanges."""
        return numerics.sorted_group(len(self.before.nodes) - len(self.before.parameters))

    # ---- statements

    def add(self, *statements: Statement) -> None:
        """Write statements into the innermost block."""
        self.nest.inner.statements += statements

    @contextlib.contextmanager
    def inside(self, make: Callable[[Block], Statement]) -> Iterator[None]:
        """Write a block, of which the statement is made."""
        self.nest.scopes.append(Scope(None, frozenset()))
        yield
        block = tuple(self.nest.scopes.pop().statements)
        self.add(make(block))

    def loop(self, stem: str, stop: Integer, kind: LoopKind = LoopKind.SERIAL) -> tuple[IntExpr, _Inside]:
        """The variable of a loop from 0, and its block."""
        name = self.nest.fresh(stem)
        return variable(name), self.inside(lambda block: Loop(name, constant(0), as_int(stop), block, kind))

    def integer(self, stem: str, expr: Integer) -> IntExpr:
        """A name for an integer."""
        name = self.nest.fresh(stem)
        self.add(LetInt(name, as_int(expr)))
        return variable(name)

    def carry(self, stem: str, expr: Integer) -> IntExpr:
        """An integer that changes."""
        name = self.nest.fresh(stem)
        self.add(Carry(name, _number(expr)))
        return variable(name)

    def change(self, *changes: tuple[IntExpr, Value | Integer]) -> None:
        """Give integers new values, all at once."""
        values = tuple(_number(new) if isinstance(new, IntExpr | int) else new for _, new in changes)
        self.add(Fold(tuple(str(name) for name, _ in changes), values))

    def load(self, place: Place, at: Integer) -> Values:
        """The elements of all operands at a place."""
        position = self.integer("p", at)
        found = []
        for number, dtype in enumerate(self.dtypes):
            load = Load(*place(number, position), storage_dtype(dtype))
            found.append(self.elements.let(self.nest.inner, "x", load, load.dtype, self.where))
        return tuple(found)

    def store(self, place: Place, at: Integer, values: Values) -> None:
        """Write the elements of all operands to a place."""
        position = self.integer("p", at)
        for number, value in enumerate(values):
            self.add(Store(*place(number, position), value, self.where))

    def is_before(self, first: Values, second: Values) -> Value:
        """The comparator on two places, by a name."""
        scope = self.nest.inner
        pairs = [
            held(value, dtype, scope)
            for one, other, dtype in zip(first, second, self.dtypes, strict=True)
            for value in (one, other)
        ]
        (found,) = self.elements.inline(self.before, [*pairs, *self.captured], scope)
        where = self.where
        value = self.elements.plain(found, BOOL, where)
        return value if isinstance(value, Var) else self._named("c", value)

    def _named(self, stem: str, value: Value) -> Value:
        name = self.nest.fresh(stem)
        self.add(Let(name, value, self.where))
        return Var(name, value.dtype)

    def chosen(self, condition: Value, one: Values, other: Values) -> Values:
        """The elements of one of two places, by name."""
        return tuple(
            self._named("v", Prim("select", (condition, a, b), a.dtype)) for a, b in zip(one, other, strict=True)
        )

    # ---- merges

    def exchange(self, source: Place, target: Place, first: IntExpr, turn: IntExpr, group: int) -> None:
        """Put a few neighbours in order, in registers: those of even, then those of odd numbers, and so on."""
        held = [self.load(source, first + turn * group + number) for number in range(group)]
        for turns in range(group):
            for number in range(turns % 2, group - 1, 2):
                one, other = held[number], held[number + 1]
                condition = self.is_before(other, one)
                held[number], held[number + 1] = (
                    self.chosen(condition, other, one),
                    self.chosen(condition, one, other),
                )
        for number, values in enumerate(held):
            self.store(target, turn * group + number, values)

    def insert(self, source: Place, target: Place, first: IntExpr, done: IntExpr, count: IntExpr) -> None:
        """Put the elements behind the last group in order, one by one."""
        name = self.nest.fresh("q")
        with self.inside(lambda block: Loop(name, done, count, block)):
            taken = self.load(source, first + variable(name))
            place, going = self.carry("k", variable(name)), self.nest.fresh("go")
            self.add(Carry(going, _compared("lt", done, variable(name))))
            with self.inside(lambda block: While(Var(going, BOOL), block)):
                neighbour = self.load(target, place - 1)
                less = self.is_before(taken, neighbour)
                with self.inside(lambda block: If(less, block)):
                    self.store(target, place, neighbour)
                further = Prim("and", (less, _compared("lt", done + 1, place)), BOOL)
                back = Prim("sub", (_number(place), _as_integer(less)), INT64)
                self.add(Fold((str(place), going), (back, further)))
            self.store(target, place, taken)

    def merge_groups(self, scratch: Place, count: IntExpr, group: int) -> IntExpr:
        """Merge groups to one run; the result is where it begins in scratch."""
        width, start = self.carry("w", group), self.carry("from", 0)
        with self.inside(lambda block: While(_compared("lt", width, count), block)):
            to = self.integer("to", self.run - start)
            first = self.carry("k", 0)
            with self.inside(lambda block: While(_compared("lt", first, count), block)):
                middle = self.integer("middle", minimum(first + width, count))
                last = self.integer("last", minimum(first + width * 2, count))
                ends = (start + first, start + middle, start + middle, start + last)
                self.merge(scratch, scratch, *ends, to + first)
                self.change((first, last))
            self.change((width, width * 2), (start, to))
        return start

    def merge(
        self, source: Place, target: Place, i: IntExpr, i_end: IntExpr, j: IntExpr, j_end: IntExpr, k: IntExpr
    ) -> None:
        """Merge the elements from i to i_end and those from j to j_end to the places from k on."""
        i, i_end, j, j_end, k = (
            self.carry(stem, one)
            for stem, one in zip(("i", "ie", "j", "je", "k"), (i, i_end, j, j_end, k), strict=True)
        )
        k_end = self.carry("ke", k + (i_end - i) + (j_end - j))
        half = minimum(i_end - i, j_end - j) // 2
        both = Prim("and", (_compared("lt", i, i_end), _compared("lt", j, j_end)), BOOL)
        crossed = self._are_crossed(source, i_end, j, both)
        steps = self.carry("h", 0)
        self.change((steps, _if(crossed, half, 0)))
        with self.inside(lambda block: While(_compared("lt", numerics.FEW_STEPS - 1, steps), block)):
            _, inside = self.loop("t", steps)
            with inside:
                self._step(source, target, i, j, k)
                self._step_back(source, target, i_end, j_end, k_end)
            self.change((steps, half))
        with self.inside(lambda block: While(Prim("and", (crossed, both), BOOL), block)):
            self._step(source, target, i, j, k)
        self._copy(source, target, i, i_end, k)
        self._copy(source, target, j, j_end, self.integer("k", k + (i_end - i)))

    def _are_crossed(self, source: Place, i_end: IntExpr, j: IntExpr, both: Value) -> Value:
        """The condition that some element of the second run comes before one of the first."""
        name = self.nest.fresh("crossed")
        self.add(Carry(name, Const(Literal.of(False, BOOL))))
        with self.inside(lambda block: If(both, block)):
            condition = self.is_before(self.load(source, j), self.load(source, i_end - 1))
            self.add(Fold((name,), (condition,)))
        return Var(name, BOOL)

    def in_order(self, source: Place, first: IntExpr, count: IntExpr) -> Value:
        """The condition that elements are in order already; no more are looked at from one on that is not.

        The place of the next one does not wait for a comparison.
        """

        def fits(place: IntExpr) -> Value:
            one, other = self.load(source, first + place - 1), self.load(source, first + place)
            return self._named("c", Prim("not", (self.is_before(other, one),), BOOL))

        return self._all("t", 1, count, fits)

    def _all(self, stem: str, start: Integer, stop: Integer, fits: Callable[[IntExpr], Value]) -> Value:
        """The condition that all places from one on fit, of which none is asked after one that does not."""
        place, all, going = self.carry(stem, start), self.nest.fresh("all"), self.nest.fresh("go")
        self.add(Carry(all, Const(Literal.of(True, BOOL))), Carry(going, _compared("lt", place, stop)))
        with self.inside(lambda block: While(Var(going, BOOL), block)):
            found = fits(place)
            further = Prim("and", (found, _compared("lt", place + 1, stop)), BOOL)
            self.add(Fold((str(place), all, going), (_number(place + 1), found, further)))
        return Var(all, BOOL)

    def note(self, name: str, at: IntExpr, condition: Value) -> None:
        """Write a condition to a buffer of integers: 1, else 0."""
        self.add(Store(name, (at,), _as_integer(condition), self.where))

    def noted(self, name: str, first: IntExpr, count: IntExpr) -> Value:
        """The condition that so many notes from one on say yes."""

        def fits(place: IntExpr) -> Value:
            load = Load(name, (self.integer("p", first + place),), INT64)
            found = self.elements.let(self.nest.inner, "x", load, INT64, self.where)
            return self._named("c", Prim("lt", (_number(0), found), BOOL))

        return self._all("q", 0, count, fits)

    def either(self, condition: Value) -> tuple[_Inside, _Inside]:
        """The blocks for a condition that holds, and for one that does not."""
        other = Prim("not", (condition,), BOOL)
        return self.inside(lambda block: If(condition, block)), self.inside(lambda block: If(other, block))

    def _step(self, source: Place, target: Place, i: IntExpr, j: IntExpr, k: IntExpr) -> None:
        """Take the first element of two runs: that of the first, unless the other's comes before it."""
        one, other = self.load(source, i), self.load(source, j)
        condition = self.is_before(other, one)
        self.store(target, k, self.chosen(condition, other, one))
        taken = _as_integer(condition)
        rest = Prim("sub", (_number(1), taken), INT64)
        self.change((i, _sum(i, rest)), (j, _sum(j, taken)), (k, k + 1))

    def _step_back(self, source: Place, target: Place, i: IntExpr, j: IntExpr, k: IntExpr) -> None:
        """Take the last element of two runs: that of the second, unless it comes before the other's."""
        one, other = self.load(source, i - 1), self.load(source, j - 1)
        condition = self.is_before(other, one)
        self.store(target, k - 1, self.chosen(condition, one, other))
        taken = _as_integer(condition)
        rest = Prim("sub", (taken, _number(1)), INT64)
        self.change((i, Prim("sub", (_number(i), taken), INT64)), (j, _sum(j, rest)), (k, k - 1))

    def _copy(self, source: Place, target: Place, start: IntExpr, end: IntExpr, k: IntExpr) -> None:
        """Copy what is left of a run."""
        at, inside = self.loop("t", self.integer("left", end - start))
        with inside:
            self.store(target, k + at, self.load(source, start + at))

    def split(
        self, source: Place, first: IntExpr, middle: IntExpr, count: IntExpr, own: IntExpr, pieces: IntExpr
    ) -> tuple[IntExpr, IntExpr, IntExpr, IntExpr]:
        """The elements of the first run in front of a piece of the result, those up to its end, and its bounds.

        All pieces of a pair halve it in the same way, so that they fit together whatever the comparator says.
        """
        run = self.run
        low, high = self.carry("lo", 0), self.carry("hi", pieces)
        left, right = self.carry("le", 0), self.carry("ri", middle - first)
        with self.inside(lambda block: While(_compared("lt", low + 1, high), block)):
            half = self.integer("half", (low + high) // 2)
            begin, end = self.integer("b", minimum(low * run, count)), self.integer("e", minimum(high * run, count))
            place = self.integer("d", minimum(half * run, count))
            least = self.carry("x", maximum(left, place - (end - right)))
            most = self.carry("y", minimum(right, place - (begin - left)))
            with self.inside(lambda block: While(_compared("lt", least, most), block)):
                probe = self.integer("z", (least + most) // 2)
                one, other = self.load(source, first + probe), self.load(source, middle + place - probe - 1)
                later = self.is_before(other, one)
                self.change(
                    (least, _if(later, least, probe + 1)),
                    (most, _if(later, probe, most)),
                )
            ahead = self._named("c", _compared("lt", own, half))
            self.change(
                (low, _if(ahead, low, half)),
                (left, _if(ahead, left, least)),
                (high, _if(ahead, half, high)),
                (right, _if(ahead, least, right)),
            )
        begin, end = self.integer("b", minimum(low * run, count)), self.integer("e", minimum(high * run, count))
        return left, right, begin, end


def held(value: Value, dtype: DType, scope: Scope) -> Element:
    """The element that memory holds so."""
    return Element(None, value, scope) if value.dtype != dtype else Element(value, None, scope)


def _number(expr: Integer) -> Value:
    return FromInt(as_int(expr), INT64)


def _as_integer(condition: Value) -> Value:
    return Prim("cast", (condition,), INT64)


def _sum(one: Integer, other: Value) -> Value:
    return Prim("add", (_number(one), other), INT64)


def _if(condition: Value, one: Integer, other: Integer) -> Value:
    return Prim("select", (condition, _number(one), _number(other)), INT64)


def _compared(name: str, one: Integer, other: Integer) -> Value:
    return Prim(name, (_number(one), _number(other)), BOOL)
