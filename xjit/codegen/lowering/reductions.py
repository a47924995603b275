"""Accumulators: how one reduction of a pass starts, takes a value, and finishes.

A float sum over a row, in the order that :mod:`xjit.numerics` defines:

    s0 = f64(0)
    for b0 in range(0, n0, 512):
        e0 = min(b0 + 512, n0)
        t0 = f32(0)
        u0 = f32(0)
        w0 = b0 + ((e0 - b0) & -64)
        for j0 in range(b0, w0):
            t0 = radd(t0, ld(a0, a0_at0 + j0))
        w1 = w0 + ((e0 - w0) & -8)
        for j0 in range(w0, w1):
            u0 = radd8(u0, ld(a0, a0_at0 + j0))
        t0 = t0 + u0
        for j0 in range(w1, e0):
            t0 = t0 + ld(a0, a0_at0 + j0)
        s0 = s0 + f64(t0)

Sums of narrow integers run in such blocks as well, added in as few bits as hold the sum of a block: more of them fit
into a vector. As many truth values as a block has add up to an int16, as many integers of 16 bits to an int32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from xjit import numerics
from xjit.codegen.cpu import searches
from xjit.codegen.lowering.elements import Elements, encoded, register_dtype, storage_dtype
from xjit.codegen.lowering.loop_bounds import Bounds
from xjit.codegen.lowering.scopes import Held, LoopBuilder, Scope
from xjit.codegen.text.scalar_text import kind
from xjit.dataclass import dataclass
from xjit.fusion.statements import IndexedValue, Reduce, Scan
from xjit.ir.context import CONSTANT
from xjit.ir.index_map import relabel
from xjit.ir.loops.intexpr import IntExpr, constant, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Carry,
    Const,
    Find,
    FromInt,
    Let,
    Load,
    Prim,
    Store,
    Value,
    Var,
)
from xjit.ir.loops.nodes import Fold as FoldStatement
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Reducer
from xjit.ir.scalar_expr import Literal
from xjit.ir.scalar_expr import Prim as PrimExpr
from xjit.types import BOOL, FLOAT64, INT16, INT32, INT64, NARROW_FLOATS, DType, dtype_class

ZERO = Const(Literal.of(np.int64(0)))


@dataclass(eq=False)
class Accumulator:
    """One reduction while its loops are open."""

    elements: Elements
    statement: Reduce | Scan
    axes: dict[int, int]

    @property
    def blocked(self) -> bool:
        """Whether the innermost loop is cut into blocks."""
        return False

    @property
    def in_turn(self) -> bool:
        """Whether one element has to wait for the one before it."""
        return False

    @property
    def unfinished(self) -> Value | None:
        """Whether further elements can change the result, where some value rules that out."""
        return None

    def start(self, row: Scope) -> None:
        """Statements before all loops."""

    def start_block(self, scope: Scope, bounds: Bounds) -> None:
        """Statements before the innermost loop, which runs between these bounds."""

    def take(self, inner: Scope) -> None:
        """Statements inside the innermost loop."""

    def end_block(self, scope: Scope) -> None:
        """Statements after the innermost loop."""

    def finish(self, row: Scope) -> list[Held]:
        """The results, one for each array that the reduction yields."""
        raise TypeError("an accumulator says how it finishes")

    def operand(self, number: int) -> Held:
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
        return FirstExtreme(elements, statement, axes, extreme)
    reducer = statement.target.param("reducer")
    if reducer is None:
        return Fold(elements, statement, axes)
    return Recognised(elements, statement, axes, reducer)


def _block_dtype(reducer: Reducer, operand: Node, dtype: DType) -> DType:
    """The type that a block is accumulated in: for sums of integers made of narrow ones the least that holds it."""
    if reducer.combine != "add" or dtype_class(dtype) != "I" or operand.op.element is None:
        return dtype
    expr = operand.element
    if not isinstance(expr, PrimExpr) or expr.name != "cast":
        return dtype
    source = expr.args[0].dtype
    if source != BOOL and (dtype_class(source) != "I" or source.itemsize > 2):
        return dtype
    narrow = INT16 if source == BOOL else INT32
    return narrow if narrow.itemsize < dtype.itemsize else dtype


class Recognised(Accumulator):
    """A named reducer on one operand.

    Float sums and products run in blocks, and in these lane by lane (``lanes`` of them side by side in the loop at
    hand, 0: one element after the other). Sums of narrow integers run in blocks as well.
    """

    def __init__(self, elements: Elements, statement: Reduce | Scan, axes: dict[int, int], reducer: Reducer) -> None:
        super().__init__(elements, statement, axes)
        self.reducer = reducer
        operand = statement.values[0].node
        self.dtype = register_dtype(operand.aval.dtype)
        order = statement.sums
        self.rounds = order is not None
        self.block_dtype = _block_dtype(reducer, operand, self.dtype)
        self.in_blocks = self.rounds or self.block_dtype != self.dtype
        nest: LoopBuilder = elements.nest
        self.block = nest.fresh("t")
        self.total = nest.fresh("s") if self.in_blocks else self.block
        self.error = nest.fresh("r") if self.rounds and reducer.combine == "add" and self.dtype == FLOAT64 else ""
        # The results of chunks are few and large: each is added with its rounding error.
        self.element_by_element = bool(self.error) and dict(operand.params).get("chunk") is not None
        self.in_lanes = order is not None and order.in_lanes and not self.element_by_element
        self.lanes = 0
        self.few = nest.fresh("u") if self.in_lanes else ""
        self.strip: Load | None = None
        if order is not None and not order.in_lanes and not self.element_by_element:
            self.in_one_block()

    def in_one_block(self) -> None:
        """Says before the start that all elements make one block, whose sum is the result."""
        self.in_blocks, self.total, self.error, self.element_by_element = False, self.block, "", False
        self.block_dtype = self.dtype

    @property
    def blocked(self) -> bool:
        return self.in_blocks and not self.element_by_element

    @property
    def in_turn(self) -> bool:
        return self.rounds and not self.in_lanes

    @property
    def unfinished(self) -> Value | None:
        if self.dtype != BOOL or self.reducer.last_word is None:
            return None
        return _differ(Var(self.block, BOOL), Const(Literal.of(self.reducer.last_word(BOOL), BOOL)))

    @property
    def _total_dtype(self) -> DType:
        return FLOAT64 if self.rounds and self.in_blocks else self.dtype

    @property
    def in_order(self) -> str:
        """The primitive that combines elements one after the other."""
        either = self.reducer.either_zero and dtype_class(self.dtype) == "F"
        return f"keep_{self.reducer.combine}" if either else self.reducer.combine

    def identity(self, dtype: DType) -> Const:
        """What an accumulator of this type starts from."""
        return Const(Literal.of(self.reducer.identity(dtype), dtype))

    def start(self, row: Scope) -> None:
        row.statements.append(Carry(self.total, self.identity(self._total_dtype)))
        if self.error:
            row.statements.append(Carry(self.error, Const(Literal.of(0.0, FLOAT64))))

    def start_block(self, scope: Scope, bounds: Bounds) -> None:
        if self.blocked:
            scope.statements.append(Carry(self.block, self.identity(self.block_dtype)))
        if self.in_lanes:
            scope.statements.append(Carry(self.few, self.identity(self.block_dtype)))

    def take(self, inner: Scope) -> None:
        value = self.plain_operand(0)
        if self.strip is not None:
            where = self.statement.target.where
            inner.statements.append(Store(self.strip.buffer, self.strip.index, value, where))
        elif self.element_by_element:
            self._compensate(value, inner)
        else:
            self.add(value, inner)

    def add(self, value: Value, inner: Scope) -> None:
        """Takes one element that is known."""
        value = _as(value, self.block_dtype)
        name = self.few if self.lanes == numerics.FEW_LANES else self.block
        inner.statements.append(Accumulate(name, self.reducer.combine, value, lanes=self.lanes))

    def _compensate(self, value: Value, scope: Scope) -> None:
        """Two-sum: adds a value to the total and the exact rounding error of that to the error."""
        fresh, total, error = self.elements.nest.fresh, Var(self.total, FLOAT64), Var(self.error, FLOAT64)
        names = [fresh(f"{self.error}_{letter}") for letter in "vsd"]
        added, both, taken = (Var(name, FLOAT64) for name in names)
        values = value, _add(total, added), _sub(both, total)
        scope.statements += [Let(name, one) for name, one in zip(names, values, strict=True)]
        lost = _add(_sub(total, _sub(both, taken)), _sub(added, taken))
        scope.statements.append(FoldStatement((self.error, self.total), (_add(error, lost), both)))

    def join(self, scope: Scope) -> None:
        """Adds up what lies in lanes; further elements follow one by one."""
        self.lanes = 0
        few = Var(self.few, self.block_dtype)
        scope.statements.append(Accumulate(self.block, self.reducer.combine, few))

    def end_block(self, scope: Scope) -> None:
        if not self.blocked:
            return
        dtype = self._total_dtype
        block = _as(Var(self.block, self.block_dtype), dtype)
        if self.error:
            self._compensate(block, scope)
        else:
            scope.statements.append(Accumulate(self.total, self.reducer.combine, block))

    def finish(self, row: Scope) -> list[Held]:
        where = self.statement.target.where
        value: Value = Var(self.total, self._total_dtype)
        if self.error:
            value = self._corrected(value, Var(self.error, FLOAT64))
        return [self.settle(value, row, where)]

    @staticmethod
    def _corrected(total: Value, error: Value) -> Value:
        """The total with its rounding errors; these are NaN once the total is infinite, which is the answer then."""
        known = Prim("eq", (error, error), BOOL)
        return Prim("select", (known, Prim("add", (total, error), FLOAT64), total), FLOAT64)

    def settle(self, value: Value, row: Scope, where: Any) -> Held:
        """The accumulated value, combined with an initial value that is not the identity, in the result's type."""
        dtype = self.statement.target.aval.dtype
        value = value if dtype in NARROW_FLOATS else _as(value, dtype)
        if not self._starts_at_identity():
            initial = _as(self.plain_operand(1), value.dtype)
            value = Prim(self.reducer.combine, (initial, value), value.dtype)
        if dtype in NARROW_FLOATS:
            bits = self.elements.let(row, "h", encoded(value, dtype), storage_dtype(dtype), where)
            return Held(None, bits, row)
        return Held(self.elements.let(row, "v", value, dtype, where), None, row)

    def _starts_at_identity(self) -> bool:
        initial = self.statement.values[1].node
        if initial.op is not CONSTANT:
            return False
        literal: Literal = initial.param("value")
        dtype = literal.dtype
        return literal.data == Literal.of(self.reducer.identity(dtype), dtype).data


def _add(one: Value, other: Value) -> Value:
    return Prim("add", (one, other), FLOAT64)


def _sub(one: Value, other: Value) -> Value:
    return Prim("sub", (one, other), FLOAT64)


def _as(value: Value, dtype: DType) -> Value:
    """The value as another type, where it is not of that type."""
    return value if value.dtype == dtype else Prim("cast", (value,), dtype)


class FirstExtreme(Accumulator):
    """The position of the first extreme of a row: found in the block where the extreme was first met.

    for b0 in range(0, n0, 512):
        e0 = min(b0 + 512, n0)
        t0 = f32(-inf)
        for j0 in range(b0, e0):
            t0 = fmax(t0, ld(a0, a0_at0 + j0))
        v0 = fmax(s0, t0)
        v1 = (v0 != s0) & (s0 == s0) | (b0 == 0)
        s0 = v0
        p0 = select(v1, b0, p0)
        q0 = select(v1, e0, q0)
    f0 = first(a0, a0_at0, p0, q0, s0)

    What is not in memory is computed once more::

    f0 = i32(2147483647)
    v2 = select(s0 == s0, q0, p0)
    for j0 in range(v2, q0):
        x0 = ld(a0, a0_at0 + j0)
        f0 = min(f0, select(x0 != x0, i32(j0) - i32(p0), i32(2147483647)))
    for j0 in range(p0, v2):
        f0 = min(f0, select(ld(a0, a0_at0 + j0) == s0, i32(j0) - i32(p0), i32(2147483647)))
    v3 = p0 + i64(f0)

    Only one of the last two loops runs, as a row with a NaN has that for its extreme: a loop that asks for both takes
    up to a half longer.
    """

    def __init__(self, elements: Elements, statement: Reduce, axes: dict[int, int], extreme: Reducer) -> None:
        super().__init__(elements, statement, axes)
        self.extreme = extreme
        self.dtype = register_dtype(statement.values[0].node.aval.dtype)
        fresh = elements.nest.fresh
        self.block, self.best = Var(fresh("t"), self.dtype), Var(fresh("s"), self.dtype)
        self.first, self.end = Var(fresh("p"), INT64), Var(fresh("q"), INT64)
        # Counted from the first position of the block: the fewer bits, the more fit into a vector.
        self.found = Var(fresh("f"), INT32 if self.dtype.itemsize >= INT32.itemsize else INT16)
        self.bounds = (constant(0), constant(0))
        self.loop = elements.nest.inner

    @property
    def blocked(self) -> bool:
        return True

    @property
    def unfinished(self) -> Value | None:
        if dtype_class(self.dtype) != "I" or self.extreme.last_word is None:
            return None
        return _differ(self.best, Const(Literal.of(self.extreme.last_word(self.dtype), self.dtype)))

    def start(self, row: Scope) -> None:
        given = ((self.best, self._identity()), (self.first, ZERO), (self.end, ZERO))
        row.statements += [Carry(one.name, value) for one, value in given]

    def start_block(self, scope: Scope, bounds: Bounds) -> None:
        self.bounds = bounds
        scope.statements.append(Carry(self.block.name, self._identity()))

    def take(self, inner: Scope) -> None:
        self.loop = inner
        value = self.plain_operand(0)
        inner.statements.append(Accumulate(self.block.name, self.extreme.combine, value))

    def end_block(self, scope: Scope) -> None:
        where = self.statement.target.where
        start, stop = (FromInt(bound, INT64) for bound in self.bounds)
        both = Prim(self.extreme.combine, (self.best, self.block), self.dtype)
        better = self.elements.let(scope, "v", both, self.dtype, where)
        changed = Prim("and", (_differ(better, self.best), _same(self.best, self.best)), BOOL)
        is_new = Prim("or", (changed, _same(start, ZERO)), BOOL)
        flag = self.elements.let(scope, "v", is_new, BOOL, where)
        first = Prim("select", (flag, start, self.first), INT64)
        end = Prim("select", (flag, stop, self.end), INT64)
        changes = ((self.best, better), (self.first, first), (self.end, end))
        scope.statements += [FoldStatement((one.name,), (value,)) for one, value in changes]

    def finish(self, row: Scope) -> list[Held]:
        place = self._in_memory()
        if place is not None:
            ends = variable(self.first.name), variable(self.end.name)
            row.statements.append(Find(self.found.name, *place, *ends, self.best))
            return [Held(Var(self.found.name, INT64), None, row)]
        none = Const(Literal.of(np.iinfo(self.found.dtype).max, self.found.dtype))
        row.statements.append(Carry(self.found.name, none))
        stop = self.end
        if dtype_class(self.dtype) == "F":
            stop = self._let(row, Prim("select", (_same(self.best, self.best), self.end, self.first), INT64))
            self._search(none, stop, self.end, lambda value: _differ(value, value))
        self._search(none, self.first, stop, lambda value: _same(value, self.best))
        return [Held(self._let(row, Prim("add", (self.first, _as(self.found, INT64)), INT64)), None, row)]

    def _in_memory(self) -> tuple[Load, int] | None:
        """The first element of the row and its axis, where nothing but elements side by side is searched."""
        nest, loop = self.elements.nest, self.loop
        assert loop.variable is not None
        inner = nest.open(loop.variable, tuple(loop.axes))
        value = self.plain_operand(0)
        nest.scopes.pop()
        match inner.statements:
            case [Let(name, Load() as load)] if value == Var(name, load.dtype) and kind(load.dtype) in searches.TYPES:
                return self._along(load, variable(loop.variable))
        return None

    def _along(self, load: Load, step: IntExpr) -> tuple[Load, int] | None:
        """The element at the first step of a loop and the axis of the steps; None where they leave gaps."""
        nest = self.elements.nest
        axes = nest.axes[load.buffer] if nest.written.get(load.buffer) is False else []
        moved = [axis for axis, at in enumerate(load.index) if step.names() & at.names()]
        if len(moved) != 1 or moved[0] >= len(axes) or axes[moved[0]].value != 1:
            return None
        first = load.index[moved[0]] - step
        if step.names() & first.names():
            return None
        return replace(load, index=(*load.index[: moved[0]], first, *load.index[moved[0] + 1 :])), moved[0]

    def _let(self, row: Scope, value: Value) -> Var:
        name = self.elements.let(row, "v", value, INT64, self.statement.target.where)
        assert isinstance(name, Var)
        return name

    def _search(self, none: Value, start: Var, stop: Var, hits: Callable[[Value], Value]) -> None:
        """A loop over the block, which keeps the least place of the extreme."""
        nest, loop, dtype = self.elements.nest, self.loop, self.found.dtype
        assert loop.variable is not None
        inner = nest.open(loop.variable, tuple(loop.axes))
        value = self.plain_operand(0)
        is_hit = hits(value)
        at, first = (_as(one, dtype) for one in (FromInt(variable(loop.variable), INT64), self.first))
        place = Prim("select", (is_hit, Prim("sub", (at, first), dtype), none), dtype)
        inner.statements.append(Accumulate(self.found.name, "min", place))
        nest.close(variable(start.name), variable(stop.name))

    def _identity(self) -> Const:
        return Const(Literal.of(self.extreme.identity(self.dtype), self.dtype))


def _same(one: Value, other: Value) -> Value:
    return Prim("eq", (one, other), BOOL)


def _differ(one: Value, other: Value) -> Value:
    return Prim("ne", (one, other), BOOL)


class Fold(Accumulator):
    """An arbitrary computation: carried values, one after the other in row-major order."""

    def __init__(self, elements: Elements, statement: Reduce, axes: dict[int, int]) -> None:
        super().__init__(elements, statement, axes)
        self.graph: Graph = statement.target.param("computation")
        self.count: int = statement.target.param("n")
        self.dtypes = [indexed.node.aval.dtype for indexed in statement.values[: self.count]]
        self.names = [elements.nest.fresh("c") for _ in range(self.count)]

    @property
    def in_turn(self) -> bool:
        return True

    def _carried(self) -> list[Var]:
        return [Var(name, register_dtype(dtype)) for name, dtype in zip(self.names, self.dtypes, strict=True)]

    def start(self, row: Scope) -> None:
        for number, name in enumerate(self.names):
            row.statements.append(Carry(name, self.plain_operand(self.count + number)))

    def take(self, inner: Scope) -> None:
        captured = [self.operand(k) for k in range(2 * self.count, len(self.statement.values))]
        arguments = [Held(var, None, inner) for var in self._carried()]
        arguments += [self.operand(number) for number in range(self.count)] + captured
        results = self.elements.inline(self.graph, arguments, inner)
        where = self.statement.target.where
        values = [self.elements.plain(held, dtype, where) for held, dtype in zip(results, self.dtypes, strict=True)]
        inner.statements.append(FoldStatement(tuple(self.names), tuple(values)))

    def finish(self, row: Scope) -> list[Held]:
        where = self.statement.target.where
        copies = [Prim("copy", (var,), var.dtype) for var in self._carried()]
        return [Held(self.elements.let(row, "v", copy, copy.dtype, where), None, row) for copy in copies]
