"""IndexedValue-based lowering: the value of any node at any index, computed once per place and named.

Narrow floats (f16, bf16, f8) live in memory as bits and are computed in f32; every node rounds its result, as NumPy
does, so the bits are what is kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from xjit.codegen.lowering.folding import folded
from xjit.codegen.lowering.scopes import Element, LoopBuilder, Scope
from xjit.codegen.lowering.variants import has_fast_path, is_vector_function
from xjit.dataclass import dataclass, field
from xjit.fusion.regions.reads import positions_of, sources
from xjit.fusion.statements import IndexedValue
from xjit.ir.context import CONSTANT
from xjit.ir.index_map import Index as IndexMap
from xjit.ir.loops.intexpr import Atom, IntExpr, constant, variable
from xjit.ir.loops.nodes import Const, FromInt, Let, Prim, Value, Var
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind, Reducer
from xjit.ir.scalar_expr import Arg, Expr, Index, Lit, Literal
from xjit.ir.scalar_expr import Prim as PrimExpr
from xjit.ir.source_location import Where
from xjit.types import FLOAT32, FLOAT64, INT64, NAMES, NARROW_FLOATS, DType

VALUE_UNUSED = frozenset(("add", "sub", "min", "max", "eq", "ne", "lt", "le", "gt", "ge"))
"""Primitives whose machine code is no better for a known operand: what the bounds of positions are checked with.

Integers come to them through the table, so that arrays of other lengths have the same kernel.
"""

FLOAT_UNUSED = frozenset(("add", "sub", "mul", "div", "lt", "le", "gt", "ge"))
"""The same for floats: minima need not ask whether a known operand is NaN, powers have forms for known exponents.

Where numbers of the program are known to change, they come through the table: another one has the same kernel.
"""

SMALL = 8
"""Up to this size integers, and floats that are integers, stay in the text."""

FAR = 2**48
"""Integers this far from zero are no extents, which may change from shape to shape, but ends of types."""


def register_dtype(dtype: DType) -> DType:
    """The type that arithmetic on this element type uses."""
    return FLOAT32 if dtype in NARROW_FLOATS else dtype


def storage_dtype(dtype: DType) -> DType:
    """The type that memory holds: the bits of narrow floats."""
    return np.dtype(f"u{dtype.itemsize}") if dtype in NARROW_FLOATS else dtype


def encoded(value: Value, dtype: DType) -> Prim:
    """The bits of a narrow float that a value is rounded to."""
    return Prim("encode", (value,), storage_dtype(dtype), NAMES[dtype])


def decoded(bits: Value, dtype: DType) -> Prim:
    """The float32 that the bits of a narrow float stand for."""
    return Prim("decode", (bits,), FLOAT32, NAMES[dtype])


@dataclass(eq=False)
class Elements:
    """Values of nodes inside a loop nest. ``read`` loads one element of a materialised node.

    ``dims`` are the extents of the domain, ``innermost`` the axes of the innermost loop, the one that becomes vector
    code; there ``calls`` says that vector functions are called instead of inlined.
    """

    nest: LoopBuilder
    read: Callable[[IndexedValue], Element]
    is_leaf: Callable[[IndexedValue], bool]
    position: Callable[[int], str | None]
    innermost: frozenset[int]
    dims: tuple[int, ...]
    calls: bool = False
    condition: Element | None = None

    @contextlib.contextmanager
    def only_where(self, condition: Element | None) -> Iterator[None]:
        """Has memory read only where a condition holds, if there is one; elsewhere values are nobody's business."""
        self.condition = condition
        yield
        self.condition = None

    def value(self, indexed: IndexedValue) -> Element:
        """The element of the node at the index; computed where its index allows, and only once there."""
        known = self._known(indexed)
        if known is not None:
            return known
        stack: list[tuple[IndexedValue, Sequence[IndexedValue] | None]] = [(indexed, None)]
        while stack:
            top, operands = stack.pop()
            if operands is None:  # not looked at yet
                if self._known(top) is not None:
                    continue
                operands = () if self.is_leaf(top) else sources(top, self.dims)
                waiting = [one for one in (*operands, *positions_of(top)) if self._known(one) is None]
                if waiting:
                    stack.append((top, operands))
                    stack.extend([(one, None) for one in reversed(waiting)])
                    continue
            self._remember(top, self._make(top, operands))
        return self._there(indexed)

    def _known(self, indexed: IndexedValue) -> Element | None:
        """The element if it is computed already; one that is read under a condition is nobody else's."""
        found: Element | None = self.nest.known(indexed)
        if found is None and self.condition is not None:
            found = self.nest.known((self.condition, indexed))
        return found

    def _there(self, indexed: IndexedValue) -> Element:
        found = self._known(indexed)
        assert found is not None, "operands come before their users"
        return found

    def _make(self, indexed: IndexedValue, operands: Sequence[IndexedValue]) -> Element:
        node = indexed.node
        if self.is_leaf(indexed):
            return self.read(indexed)
        if node.op is CONSTANT:
            return self.constant(node.param("value"))
        held = [self._there(source) for source in operands]
        if node.op.kind is Kind.INDEXING:
            return held[0]
        if node.op.kind is Kind.REDUCE:
            return self._folded(node, held, self._scope(indexed, held))
        return self.element(node, held, indexed.index, self._scope(indexed, held))

    def _folded(self, node: Node, held: list[Element], scope: Scope) -> Element:
        """One result of a reduction over a few elements: ``v1 = v0 + x1``, and so on, from the initial value."""
        reducer: Reducer = node.param("reducer")
        types = [source.aval.dtype for source in node.inputs]
        values = [self.plain(one, types[0], node.where) for one in held[:-1]]
        result = self.plain(held[-1], types[1], node.where)
        for value in values:
            call = Prim(reducer.combine, (result, value), result.dtype)
            result = self.let(scope, "v", call, result.dtype, node.where)
        return Element(result, None, scope)

    def _scope(self, indexed: IndexedValue, held: list[Element]) -> Scope:
        """The scope that a value belongs to: the innermost among its operands' and its own positions'."""
        own = self.nest.scope_for(indexed.index) if not held else held[0].scope
        return self.nest.innermost([own, *(one.scope for one in held)])

    def _remember(self, indexed: IndexedValue, held: Element) -> None:
        held.scope.known[indexed if self.condition is None else (self.condition, indexed)] = held

    def constant(self, literal: Literal) -> Element:
        """A constant of one element."""
        scope = self.nest.scopes[0]
        if literal.dtype not in NARROW_FLOATS:
            return Element(Const(Literal(literal.dtype, (), literal.data)), None, scope)
        bits = np.frombuffer(literal.data, storage_dtype(literal.dtype))[0]
        plain = np.frombuffer(literal.data, literal.dtype)[0].astype(np.float32)
        return Element(Const(Literal.of(plain)), Const(Literal.of(bits)), scope)

    def integer_from_table(self, value: Value) -> Value:
        """A larger integer as a word of the table, unless it is none of a shape; other values as they are."""
        if not isinstance(value, Const) or value.dtype != INT64:
            return value
        number = int(value.literal.item())
        if not SMALL < abs(number) < FAR:
            return value
        return FromInt(self.nest.constant(number, number), INT64)

    def float_from_table(self, value: Value, where: Where) -> Value:
        """A float as a word of the table: ``c0 = as_f64(n3)``; small integers and other values as they are."""
        if not isinstance(value, Const) or value.dtype not in (FLOAT32, FLOAT64):
            return value
        wide = np.float64(value.literal.item())
        if not np.isfinite(wide) or (wide == np.rint(wide) and abs(wide) <= SMALL):
            return value
        bits = int(wide.view(np.int64))
        scope, key = self.nest.scopes[0], ("float", value.literal)
        if key not in scope.known:
            word = FromInt(self.nest.constant(value.literal, bits), INT64)
            call = Prim("bitcast", (word,), FLOAT64)
            plain = call if value.dtype == FLOAT64 else Prim("cast", (call,), FLOAT32)
            scope.known[key] = self.let(scope, "c", plain, value.dtype, where)
        found: Value = scope.known[key]
        return found

    def element(self, node: Node, held: list[Element], index: IndexMap, scope: Scope) -> Element:
        """One element of an elementwise node from the elements of its operands, named in a scope."""
        assert node.element is not None
        return Evaluation(self, node, held, index, scope).result(node.element)

    def plain(self, held: Element, dtype: DType, where: Where) -> Value:
        """The value in the type that arithmetic uses."""
        if held.plain is None:
            assert held.bits is not None
            value = decoded(held.bits, dtype)
            held.plain = self.let(held.scope, "w", value, FLOAT32, where)
        return held.plain

    def bits(self, held: Element, dtype: DType, where: Where) -> Value:
        """The value as memory holds it."""
        if dtype not in NARROW_FLOATS:
            return self.plain(held, dtype, where)
        if held.bits is None:
            assert held.plain is not None
            value = encoded(held.plain, dtype)
            held.bits = self.let(held.scope, "h", value, storage_dtype(dtype), where)
        return held.bits

    def looked_up(self, indexed: IndexedValue) -> Var:
        """The name of an integer from data, as a position."""
        held = self.value(indexed)
        key = ("position", held)
        if key not in held.scope.known:
            plain = self.plain(held, indexed.node.aval.dtype, indexed.node.where)
            wide = plain if plain.dtype == INT64 else Prim("cast", (plain,), INT64)
            name = self.nest.fresh("g")
            held.scope.statements.append(Let(name, wide, indexed.node.where))
            held.scope.known[key] = Var(name, INT64)
        found: Var = held.scope.known[key]
        return found

    def let(self, scope: Scope, stem: str, value: Value, dtype: DType, where: Where) -> Value:
        """Names a value in a scope; values that are names or constants already stay as they are."""
        if isinstance(value, Var | Const) or (isinstance(value, FromInt) and value.expr.kind is Atom.WORD):
            return value
        name = self.nest.fresh(stem)
        scope.statements.append(Let(name, value, where))
        return Var(name, dtype)

    def inline(self, graph: Graph, arguments: list[Element], scope: Scope) -> list[Element]:
        """The outputs of a scalar computation on these arguments, written into a scope."""
        known: dict[Node, Element] = dict(zip(graph.parameters, arguments, strict=True))
        for node in graph.nodes:
            if node in known:
                continue
            if node.op is CONSTANT:
                known[node] = self.constant(node.param("value"))
            elif node.op.kind is Kind.INDEXING:
                known[node] = known[node.inputs[0]]
            else:
                known[node] = self.element(node, [known[source] for source in node.inputs], (), scope)
        return [known[node] for node in graph.outputs]


@dataclass(eq=False)
class Evaluation:
    """Turns one scalar expression into values; subexpressions that occur twice get a name."""

    elements: Elements
    node: Node
    held: list[Element]
    index: IndexMap
    scope: Scope
    _uses: dict[int, int] = field(default_factory=dict)
    _made: dict[int, Value] = field(default_factory=dict)

    def result(self, expr: Expr) -> Element:
        """The expression as the value of the node."""
        dtype = self.node.aval.dtype
        if isinstance(expr, Arg) and expr.dtype == dtype:
            return self.held[expr.index]
        self._count(expr)
        where = self.node.where
        if dtype in NARROW_FLOATS:
            value = self.elements.let(self.scope, "h", self.bits(expr), storage_dtype(dtype), where)
            return Element(None, value, self.scope)
        return Element(self.elements.let(self.scope, "v", self.plain(expr), dtype, where), None, self.scope)

    def _count(self, expr: Expr) -> None:
        stack: list[Expr] = [expr]
        while stack:
            top = stack.pop()
            self._uses[id(top)] = self._uses.get(id(top), 0) + 1
            if isinstance(top, PrimExpr) and self._uses[id(top)] == 1:
                stack.extend(top.args)

    def plain(self, expr: Expr) -> Value:
        """The expression in the type that arithmetic uses; narrow floats are rounded at casts only."""
        if isinstance(expr, Arg):
            return self.elements.plain(self.held[expr.index], expr.dtype, self.node.where)
        if isinstance(expr, Lit):
            held = self.elements.constant(expr.literal)
            assert held.plain is not None
            return held.plain
        if isinstance(expr, Index):
            return self._position(expr)
        if id(expr) not in self._made:
            value = self._call(expr)
            if self._uses.get(id(expr), 0) > 1:
                value = self.elements.let(self.scope, "u", value, value.dtype, self.node.where)
            self._made[id(expr)] = value
        return self._made[id(expr)]

    def _position(self, expr: Index) -> Value:
        map = self.index[expr.axis]
        place: Value = FromInt(self._steps(map.terms) + map.offset, expr.dtype)
        for lookup in map.found:
            found = self.elements.looked_up(IndexedValue(lookup.source, lookup.axes))
            times = Const(Literal.of(np.int64(lookup.times)))
            place = Prim("add", (place, Prim("mul", (found, times), INT64)), INT64)
        return place

    def _steps(self, terms: Iterable[tuple[int, int]]) -> IntExpr:
        """The positions on axes, times their scales, of those that have loops."""
        named = ((self.elements.position(axis), scale) for axis, scale in terms)
        return sum((variable(name) * scale for name, scale in named if name is not None), constant(0))

    def _call(self, expr: PrimExpr) -> Value:
        if expr.name == "bitcast":
            source = expr.args[0]
            raw = self.bits(source)
            to = storage_dtype(expr.dtype)
            value: Value = raw if raw.dtype == to else Prim("bitcast", (raw,), to)
            return decoded(value, expr.dtype) if expr.dtype in NARROW_FLOATS else value
        if expr.dtype in NARROW_FLOATS and expr.name == "cast":
            return decoded(self.bits(expr), expr.dtype)
        if expr.name == "select" and isinstance(condition := self.plain(expr.args[0]), Const):
            return self.plain(expr.args[1] if condition.literal.array() else expr.args[2])
        args = tuple(self.plain(arg) for arg in expr.args)
        known = folded(expr.name, args, expr.dtype)
        if known is not None:
            return known
        if expr.name in VALUE_UNUSED:
            args = tuple(map(self.elements.integer_from_table, args))
        if self.elements.nest.varying and expr.name in FLOAT_UNUSED:
            args = tuple(map(self._own_or_from_table, expr.args, args))
        return Prim(expr.name, self._named(expr, args), register_dtype(expr.dtype), self._variant(expr))

    def _named(self, expr: PrimExpr, args: tuple[Value, ...]) -> tuple[Value, ...]:
        """The operands of a function, with names if they are asked whether they are rare."""
        if not has_fast_path(expr.name, register_dtype(expr.args[0].dtype)):
            return args
        return tuple(self.elements.let(self.scope, "u", arg, arg.dtype, self.node.where) for arg in args)

    def _own_or_from_table(self, expr: Expr, value: Value) -> Value:
        """Numbers of the operation's own definition stay in the text, those of the user's program need not."""
        return self.elements.float_from_table(value, self.node.where) if isinstance(expr, Arg) else value

    def _variant(self, expr: PrimExpr) -> str:
        """Functions are called instead of inlined, which compiles faster, where speed counts for less.

        That is outside of vector code if they have rare arguments, and if these ask for it, in loops over them.
        """
        key = expr.name, register_dtype(expr.args[0].dtype)
        if not self.scope.axes & self.elements.innermost:
            return "rare" if has_fast_path(*key) else ""
        return "called" if self.elements.calls and is_vector_function(*key) else ""

    def bits(self, expr: Expr) -> Value:
        """The expression as memory holds it; copies and selections keep every bit."""
        if expr.dtype not in NARROW_FLOATS:
            return self.plain(expr)
        storage = storage_dtype(expr.dtype)
        if isinstance(expr, Arg):
            return self.elements.bits(self.held[expr.index], expr.dtype, self.node.where)
        if isinstance(expr, Lit):
            held = self.elements.constant(expr.literal)
            assert held.bits is not None
            return held.bits
        if isinstance(expr, PrimExpr) and expr.name == "select":
            condition, true, false = expr.args
            return Prim("select", (self.plain(condition), self.bits(true), self.bits(false)), storage)
        if isinstance(expr, PrimExpr) and expr.name == "bitcast":
            raw = self.bits(expr.args[0])
            return raw if raw.dtype == storage else Prim("bitcast", (raw,), storage)
        if isinstance(expr, PrimExpr) and expr.name == "cast":
            return encoded(self.plain(expr.args[0]), expr.dtype)
        return encoded(self.plain(expr), expr.dtype)
