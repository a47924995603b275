"""Accumulators: how one reduction of a pass starts, takes a value, and finishes.

    s0 = f64(0)
    for j0 in range(n0):
        s0 = s0 + ld(a0, a0_at0 + j0)         in blocks along j0

A sum that rounds says in which order (:mod:`xjit.numerics`); its loops become blocks and lanes by rewrites
(:mod:`xjit.codegen.scheduling.ideas.reduction_loops`).
"""

from __future__ import annotations

from typing import Any

from xjit import numerics
from xjit.codegen.lowering.elements import Elements, encoded, register_dtype, storage_dtype
from xjit.codegen.lowering.scopes import Element, Scope
from xjit.codegen.rewrites.analysis import first_extremes
from xjit.dataclass import dataclass
from xjit.fusion.statements import IndexedValue, Reduce, Scan
from xjit.ir.context import CONSTANT
from xjit.ir.index_map import relabel
from xjit.ir.loops.intexpr import IntExpr, constant
from xjit.ir.loops.nodes import Accumulate, Carry, Const, Grouping, Order, Prim, Value, Var
from xjit.ir.loops.nodes import Fold as FoldStatement
from xjit.ir.node import Graph
from xjit.ir.opdef import Reducer
from xjit.ir.scalar_expr import Literal
from xjit.types import FLOAT64, INT64, NARROW_FLOATS, DType, dtype_class

NOWHERE = constant(0)
"""The line of elements that are in no loop."""


@dataclass(eq=False)
class Accumulator:
    """One reduction while its loops are open."""

    elements: Elements
    statement: Reduce | Scan
    axes: dict[int, int]

    def start(self, row: Scope) -> None:
        """Statements before all loops."""

    def take(self, inner: Scope, line: IntExpr = NOWHERE) -> None:
        """Statements inside the innermost loop; the ``line`` of elements is a run of the loop over this variable."""

    def take_in_order(self, inner: Scope) -> None:
        """Takes the element at hand behind those before it."""
        self.take(inner)

    def in_one_block(self) -> None:
        """Says before the start that all elements make one block, whose sum is the result."""

    def finish(self, row: Scope) -> list[Element]:
        """The results, one for each array that the reduction yields."""
        raise TypeError("an accumulator says how it finishes")

    def operand(self, number: int) -> Element:
        """The element of one operand (or initial value) at the current position."""
        indexed = self.statement.values[number]
        return self.elements.value(IndexedValue(indexed.node, relabel(indexed.index, self.axes)))

    def plain_operand(self, number: int) -> Value:
        """The same in the type that arithmetic uses."""
        dtype = self.statement.values[number].node.aval.dtype
        return self.elements.plain(self.operand(number), dtype, self.statement.target.where)


def make(elements: Elements, statement: Reduce, axes: dict[int, int]) -> Accumulator:
    """The accumulator of a reduction statement."""
    extreme = dict(statement.target.params).get("extreme")
    if extreme is not None:
        return PlaceOfExtreme(elements, statement, axes, extreme)
    reducer = statement.target.param("reducer")
    if reducer is None:
        return Fold(elements, statement, axes)
    if reducer.factors:
        return SumOfProducts(elements, statement, axes, reducer)
    return Recognised(elements, statement, axes, reducer)


class Recognised(Accumulator):
    """A named reducer on one operand. Sums and products of floats say in which ``grouping`` they take elements."""

    def __init__(self, elements: Elements, statement: Reduce | Scan, axes: dict[int, int], reducer: Reducer) -> None:
        super().__init__(elements, statement, axes)
        self.reducer = reducer
        operand, order = statement.values[0].node, statement.sums
        self.dtype = register_dtype(operand.aval.dtype)
        self.grouping = Grouping.BLOCKS if order is not None and order.in_lanes else None
        # The results of chunks are few and large: each is added with its rounding error.
        of_chunks = order is not None and dict(operand.params).get("chunk") is not None
        if of_chunks and numerics.keeps_errors(reducer.combine, self.dtype):
            self.grouping = Grouping.ERRORS
        self.name = elements.nest.fresh("t" if self.grouping is None else "s")
        self.in_turn: Var | None = None
        self.is_short: Value | None = None

    def in_one_block(self) -> None:
        self.grouping = None if self.grouping is Grouping.ERRORS else self.grouping and Grouping.LANES

    @property
    def in_lanes(self) -> bool:
        """Return whether elements are added lane by lane."""
        return self.grouping in (Grouping.BLOCKS, Grouping.LANES)

    @property
    def _total(self) -> Var:
        return Var(self.name, FLOAT64 if self.grouping is not None and self.grouping.is_wide else self.dtype)

    @property
    def in_order(self) -> str:
        """The primitive that combines elements one after the other."""
        either = self.reducer.either_zero and dtype_class(self.dtype) == "F"
        return f"keep_{self.reducer.combine}" if either else self.reducer.combine

    def identity(self, dtype: DType) -> Const:
        """The value that an accumulator of this type starts from."""
        return Const(Literal.of(self.reducer.identity(dtype), dtype))

    def start(self, row: Scope) -> None:
        row.statements.append(Carry(self.name, self.identity(self._total.dtype)))

    def start_in_turn(self, row: Scope) -> None:
        """A second total, of elements that go one by one; it is the result where the accumulator ``is_short``."""
        self.in_turn = Var(self.elements.nest.fresh("t"), self.dtype)
        row.statements.append(Carry(self.in_turn.name, self.identity(self.dtype)))

    def take_in_turn(self, inner: Scope) -> None:
        """Combines the second total with the element at hand."""
        assert self.in_turn is not None
        value = Prim(self.in_order, (self.in_turn, self.plain_operand(0)), self.dtype)
        inner.statements.append(FoldStatement((self.in_turn.name,), (value,)))

    def take(self, inner: Scope, line: IntExpr = NOWHERE) -> None:
        along = NOWHERE if self.grouping is Grouping.ERRORS else line
        order = None if self.grouping is None else Order(self.grouping, along)
        value = self.plain_operand(0)
        inner.statements.append(Accumulate(self.name, self.reducer.combine, value, order=order))

    def take_in_order(self, inner: Scope) -> None:
        value = Prim(self.in_order, (Var(self.name, self.dtype), self.plain_operand(0)), self.dtype)
        inner.statements.append(FoldStatement((self.name,), (value,)))

    def finish(self, row: Scope) -> list[Element]:
        total: Value = self._total
        if self.in_turn is not None and self.is_short is not None:
            total = Prim("select", (self.is_short, _as(self.in_turn, total.dtype), total), total.dtype)
        return [self.settle(total, row, self.statement.target.where)]

    def settle(self, value: Value, row: Scope, where: Any) -> Element:
        """The accumulated value, combined with an initial value that is not the identity, in the result's type."""
        dtype = self.statement.target.aval.dtype
        value = value if dtype in NARROW_FLOATS else _as(value, dtype)
        if not self._starts_at_identity():
            initial = _as(self.plain_operand(1), value.dtype)
            value = Prim(self.reducer.combine, (initial, value), value.dtype)
        if dtype in NARROW_FLOATS:
            bits = self.elements.let(row, "h", encoded(value, dtype), storage_dtype(dtype), where)
            return Element(None, bits, row)
        return Element(self.elements.let(row, "v", value, dtype, where), None, row)

    def _starts_at_identity(self) -> bool:
        initial = self.statement.values[1].node
        if initial.op is not CONSTANT:
            return False
        literal: Literal = initial.param("value")
        dtype = literal.dtype
        return literal.data == Literal.of(self.reducer.identity(dtype), dtype).data


class SumOfProducts(Recognised):
    """Products of two operands that are added one after the other, where a third operand holds if there is one.

    Where that does not hold, the first may lie ``around`` its array; ``filled`` with zeros, it makes terms there too.
    """

    def take(self, inner: Scope, line: IntExpr = NOWHERE) -> None:
        self.take_in_order(inner)

    def take_in_order(self, inner: Scope) -> None:
        params, total = self.statement.target.kwargs, Var(self.name, self.dtype)
        condition = self.operand(2) if len(self.statement.values) > 2 else None
        inside = None if condition is None else self.plain_operand(2)
        with self.elements.only_where(condition if params["around"] else None):
            left = self.plain_operand(0)
        if inside is not None and params["filled"]:
            left = Prim("select", (inside, left, self.identity(self.dtype)), self.dtype)
        value: Value = Prim(self.reducer.combine, (left, self.plain_operand(1), total), self.dtype)
        if inside is not None and not params["filled"]:
            value = Prim("select", (inside, value, total), self.dtype)
        inner.statements.append(FoldStatement((self.name,), (value,)))

    def _starts_at_identity(self) -> bool:
        return True


def _as(value: Value, dtype: DType) -> Value:
    """The value as another type, where it is not of that type."""
    return value if value.dtype == dtype else Prim("cast", (value,), dtype)


class PlaceOfExtreme(Accumulator):
    """The position of the first extreme of a row."""

    def __init__(self, elements: Elements, statement: Reduce, axes: dict[int, int], extreme: Reducer) -> None:
        super().__init__(elements, statement, axes)
        self.extreme = extreme
        self.dtype = register_dtype(statement.values[0].node.aval.dtype)
        self.best = Var(elements.nest.fresh("s"), self.dtype)
        self.place = Var(elements.nest.fresh("p"), INT64)

    def start(self, row: Scope) -> None:
        worst = Const(Literal.of(self.extreme.identity(self.dtype), self.dtype))
        row.statements += [Carry(self.best.name, worst), Carry(self.place.name, first_extremes.ZERO)]

    def take(self, inner: Scope, line: IntExpr = NOWHERE) -> None:
        value = self.plain_operand(0)
        search = first_extremes.FirstExtreme(self.best, self.place, self.extreme.combine, value, line)
        inner.statements.append(search.fold)

    def finish(self, row: Scope) -> list[Element]:
        return [Element(self.place, None, row)]


class Fold(Accumulator):
    """An arbitrary computation: carried values, one after the other in row-major order."""

    def __init__(self, elements: Elements, statement: Reduce, axes: dict[int, int]) -> None:
        super().__init__(elements, statement, axes)
        self.graph: Graph = statement.target.param("computation")
        self.count: int = statement.target.param("n")
        self.dtypes = [indexed.node.aval.dtype for indexed in statement.values[: self.count]]
        self.names = [elements.nest.fresh("c") for _ in range(self.count)]

    def _carried(self) -> list[Var]:
        return [Var(name, register_dtype(dtype)) for name, dtype in zip(self.names, self.dtypes, strict=True)]

    def start(self, row: Scope) -> None:
        for number, name in enumerate(self.names):
            row.statements.append(Carry(name, self.plain_operand(self.count + number)))

    def take(self, inner: Scope, line: IntExpr = NOWHERE) -> None:
        captured = [self.operand(k) for k in range(2 * self.count, len(self.statement.values))]
        arguments = [Element(var, None, inner) for var in self._carried()]
        arguments += [self.operand(number) for number in range(self.count)] + captured
        results = self.elements.inline(self.graph, arguments, inner)
        where = self.statement.target.where
        values = [self.elements.plain(held, dtype, where) for held, dtype in zip(results, self.dtypes, strict=True)]
        inner.statements.append(FoldStatement(tuple(self.names), tuple(values)))

    def finish(self, row: Scope) -> list[Element]:
        where = self.statement.target.where
        copies = [Prim("copy", (var,), var.dtype) for var in self._carried()]
        return [Element(self.elements.let(row, "v", copy, copy.dtype, where), None, row) for copy in copies]
