"""The numbers between which integers of a graph lie, as far as parameters, element types and arithmetic tell.

A counter below 10 is within 0 .. 9, one more than it within 1 .. 10, and x & 255 within 0 .. 255. Constants and
choices tell of floats: ``select(abs(x) < 8.0, x, 9.0)`` lies within -8.0 .. 9.0, and is a number.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit.ir.context import CONSTANT, PARAMETER, Trace
from xjit.ir.node import Node
from xjit.ir.opdef import Access, AxisMap, Kind
from xjit.ir.scalar_expr import Arg, Expr, Index, Lit, Prim
from xjit.types import BOOL, INT64, DType, TupleType, dtype_class

Span: TypeAlias = "tuple[int, int]"
FloatSpan: TypeAlias = "tuple[float, float]"
_Known: TypeAlias = "dict[tuple[Node, int], Span]"

_DEEPEST = 32
_TRUTH: Span = (0, 1)
_LARGEST_SHIFT = 63


def span_of(node: Node, trace: Trace | None) -> Span:
    """Between which numbers the elements of a node of integers or truth values lie, both included.

    The node is one of the trace, or of a trace around it.
    """
    return _node_span(node if trace is None else trace.adopt(node), trace, _DEEPEST, {})


def span_within(node: Node, known: Mapping[Node, Span]) -> Span:
    """The same of a node of a graph, where those of some nodes are known."""
    given = itertools.product(known.items(), range(_DEEPEST + 1))
    return _node_span(node, None, _DEEPEST, {(one, depth): span for (one, span), depth in given})


def span_over(node: Node, operands: Mapping[Node, Span]) -> Span:
    """The same of a node as far as the spans of its operands tell, all of which are known."""
    return _node_span(node, None, 1, {(one, 0): operands[one] for one in node.inputs})


def _node_span(node: Node, trace: Trace | None, depth: int, known: _Known) -> Span:
    """The span of a node; those that are ``known`` are not found again for each way that leads to a node."""
    found = known.get((node, depth))
    if found is None:
        found = known[node, depth] = _found_span(node, trace, depth, known)
    return found


def _found_span(node: Node, trace: Trace | None, depth: int, known: _Known) -> Span:
    found = None if trace is None else trace.spans.get(node)
    if found is not None:
        return found
    if node.op is CONSTANT:
        values = node.param("value").array()
        return (int(values.min()), int(values.max())) if values.size else (0, 0)
    if depth == 0:
        return type_span(node.aval.dtype)
    if node.op is PARAMETER:
        outer = captured(node, trace)
        inside = None if outer is None or trace is None else _node_span(outer, trace.parent, depth - 1, known)
        return inside or type_span(node.aval.dtype)
    extreme = extreme_of(node)
    if extreme is not None:
        return _corners(min if extreme[0] == "min" else max)(
            [_node_span(one, trace, depth - 1, known) for one in extreme[1:]]
        )
    if is_position(node):
        shape, elements = node.inputs[0].aval.shape, [node.inputs[0].limits.get(axis) for axis in node.param("dims")]
        some = all(one is None or _node_span(one, trace, depth - 1, known)[0] > 0 for one in elements)
        return (0, max(shape[axis] for axis in node.param("dims")) - 1) if some else type_span(node.aval.dtype)
    if node.op.kind is Kind.REDUCE and dtype_class(node.aval.dtype) in "PI":
        return _reduced_span(node, lambda one: _node_span(one, trace, depth - 1, known))
    if isinstance(node.element, Index):
        return 0, max(node.aval.shape[node.element.axis] - 1, 0)
    if node.op.kind is Kind.ELEMENTWISE and node.element is not None:
        return _expr_span(node.element, lambda number: _node_span(node.inputs[number], trace, depth - 1, known))
    if node.op.kind is Kind.INDEXING and node.inputs[0].aval.dtype == node.aval.dtype:
        spans = [_node_span(one, trace, depth - 1, known) for one in _sources(node)]
        return min(one[0] for one in spans), max(one[1] for one in spans)
    return type_span(node.aval.dtype)


def _reduced_span(node: Node, operand: Callable[[Node], Span]) -> Span:
    """The span of a sum or an extreme of elements of an operand, of which any number may be beyond a limit."""
    reducer = getattr(dict(node.params).get("reducer"), "combine", None)
    type = type_span(node.aval.dtype)
    if reducer not in ("add", "min", "max") or len(node.inputs) != 2 or not node.aval.size:
        return type
    elements, (low, high) = operand(node.inputs[0]), operand(node.inputs[1])
    if reducer == "add":
        most = node.inputs[0].aval.size // node.aval.size
        low, high = low + most * min(elements[0], 0), high + most * max(elements[1], 0)
        return (low, high) if type[0] <= low and high <= type[1] else type
    is_any = node.inputs[0].aval.size > 0 and not node.inputs[0].limits
    least, most = min(elements[0], low), max(elements[1], high)
    if not is_any:
        return least, most
    return (least, min(elements[1], high)) if reducer == "min" else (max(elements[0], low), most)


def _sources(node: Node) -> tuple[Node, ...]:
    """The operands whose elements those of a node are, which moves elements."""
    return node.inputs if node.op.pieces is not None else node.inputs[:1]


def is_position(node: Node) -> bool:
    """Return whether a node says where the first extreme along an axis is."""
    return node.op.kind is Kind.REDUCE and "extreme" in node.kwargs and not isinstance(node.type, TupleType)


def captured(node: Node, trace: Trace | None) -> Node | None:
    """The node of the enclosing trace that a parameter stands for."""
    if trace is None:
        return None
    place = dict(node.params).get("capture")
    outer = list(trace.captures)
    return outer[place] if place is not None and place < len(outer) and trace.captures[outer[place]] is node else None


def extreme_of(node: Node) -> tuple[str, Node, Node] | None:
    """``min`` or ``max`` and its operands, of a node of 64-bit integers that is one: by name, or chosen by what is
    less.
    """
    match node.element:
        case Prim("min" | "max" as name, (Arg(0), Arg(1))) if node.aval.dtype == INT64:
            return name, node.inputs[0], node.inputs[1]
        case Prim("select", (Arg(0), Arg(1), Arg(2))) if node.aval.dtype == INT64:
            condition, one, other = node.inputs
            match condition.element:
                case Prim("lt" | "le" | "gt" | "ge" as comparison, (Arg(0), Arg(1))):
                    less = comparison in ("lt", "le")
                    if condition.inputs == (one, other):
                        return "min" if less else "max", one, other
                    if condition.inputs == (other, one):
                        return "max" if less else "min", one, other
    return None


@functools.cache
def type_span(dtype: DType) -> Span:
    """All numbers of an element type."""
    if dtype == BOOL:
        return _TRUTH
    if dtype_class(dtype) != "I":
        return (-(2**1024), 2**1024)
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _expr_span(expr: Expr, operand: Callable[[int], Span], known: dict[int, Span] | None = None) -> Span:
    """The span of an expression; of parts that it has several times, such as squares of squares, found once."""
    known = {} if known is None else known
    found = known.get(id(expr))
    if found is None:
        found = known[id(expr)] = _new_expr_span(expr, operand, known)
    return found


def _new_expr_span(expr: Expr, operand: Callable[[int], Span], known: dict[int, Span]) -> Span:
    if isinstance(expr, Arg):
        return operand(expr.index)
    if isinstance(expr, Lit):
        value = expr.literal.item()
        whole = dtype_class(expr.dtype) in "PI"
        return (int(value), int(value)) if whole else type_span(expr.dtype)
    if not isinstance(expr, Prim) or dtype_class(expr.dtype) not in "PI":
        return type_span(expr.dtype)
    if any(dtype_class(arg.dtype) not in "PI" for arg in expr.args):
        return type_span(expr.dtype)
    spans = [_expr_span(arg, operand, known) for arg in expr.args]
    rule = _RULES.get(expr.name)
    found = rule(spans) if rule is not None else None
    low, high = type_span(expr.dtype)
    return found if found is not None and low <= found[0] and found[1] <= high else (low, high)


def _corners(apply: Callable[..., int]) -> Callable[[Sequence[Span]], Span]:
    def rule(spans: Sequence[Span]) -> Span:
        results = [apply(*ends) for ends in itertools.product(*spans)]
        return min(results), max(results)

    return rule


def _and(spans: Sequence[Span]) -> Span | None:
    (low, high), (first, last) = spans
    if low == high and first == last:
        return low & first, low & first
    tops = [high for low, high in spans if low >= 0]
    return (0, min(tops)) if tops else None


def _or(spans: Sequence[Span]) -> Span | None:
    if any(low < 0 for low, _ in spans):
        return None
    bits = max(high.bit_length() for _, high in spans)
    return max(low for low, _ in spans), 2**bits - 1


def _xor(spans: Sequence[Span]) -> Span | None:
    if any(low < 0 for low, _ in spans):
        return None
    return 0, 2 ** max(high.bit_length() for _, high in spans) - 1


def _not(spans: Sequence[Span]) -> Span | None:
    ((low, high),) = spans
    return (1 - high, 1 - low) if low >= 0 and high <= 1 else (~high, ~low)


def _select(spans: Sequence[Span]) -> Span:
    condition, one, other = spans
    if condition[0] == condition[1]:
        return one if condition[0] else other
    return min(one[0], other[0]), max(one[1], other[1])


def _less(spans: Sequence[Span]) -> Span:
    (low, high), (first, last) = spans
    return (1, 1) if high < first else (0, 0) if low >= last else _TRUTH


def _less_equal(spans: Sequence[Span]) -> Span:
    (low, high), (first, last) = spans
    return (1, 1) if high <= first else (0, 0) if low > last else _TRUTH


def _equal(spans: Sequence[Span]) -> Span:
    (low, high), (first, last) = spans
    if high < first or last < low:
        return (0, 0)
    return (1, 1) if low == high == first == last else _TRUTH


def _differs(spans: Sequence[Span]) -> Span:
    low, high = _equal(spans)
    return 1 - high, 1 - low


def _shift(apply: Callable[[int, int], int]) -> Callable[[Sequence[Span]], Span | None]:
    def rule(spans: Sequence[Span]) -> Span | None:
        (low, high), amount = spans
        known = amount[0] >= 0 and amount[1] <= _LARGEST_SHIFT
        return _corners(apply)([(low, high), amount]) if low >= 0 and known else None

    return rule


def _quotient(spans: Sequence[Span]) -> Span | None:
    return _corners(_truncated)(spans) if spans[1][0] > 0 else None


def _truncated(one: int, other: int) -> int:
    return one // other if one >= 0 else -(-one // other)


def _rest(spans: Sequence[Span]) -> Span | None:
    (low, high), (first, last) = spans
    if first <= 0:
        return None
    return (0 if low >= 0 else max(low, 1 - last)), min(max(high, 0), last - 1)


def _absolute(spans: Sequence[Span]) -> Span:
    ((low, high),) = spans
    return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


_RULES: dict[str, Callable[[Sequence[Span]], Any]] = {
    "add": _corners(operator.add),
    "sub": _corners(operator.sub),
    "mul": _corners(operator.mul),
    "neg": _corners(operator.neg),
    "min": _corners(min),
    "max": _corners(max),
    "abs": _absolute,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "not": _not,
    "select": _select,
    "lt": _less,
    "le": _less_equal,
    "gt": lambda spans: _less(spans[::-1]),
    "ge": lambda spans: _less_equal(spans[::-1]),
    "eq": _equal,
    "ne": _differs,
    "shl": _shift(operator.lshift),
    "lshr": _shift(operator.rshift),
    "ashr": _shift(operator.rshift),
    "idiv": _quotient,
    "irem": _rest,
    "cast": lambda spans: spans[0],
    "bitcast": lambda spans: spans[0],
}


# ---- floats


def float_span(node: Node, depth: int = _DEEPEST) -> FloatSpan | None:
    """Between which numbers the floats of a node lie, both included; None where one may be NaN or is not known."""
    if node.op is CONSTANT:
        values = node.param("value").array()
        known = values.size and bool(np.all(values == values))
        return (float(values.min()), float(values.max())) if known else None
    if depth == 0 or isinstance(node.type, TupleType):
        return None
    if node.op.kind is Kind.INDEXING and node.inputs[0].aval.dtype == node.aval.dtype:
        found = [float_span(one, depth - 1) for one in _sources(node)]
        known = [span for span in found if span is not None]
        return (min(x for x, _ in known), max(x for _, x in known)) if len(known) == len(found) else None
    match node.element:
        case Prim("select", (Arg(0), Arg(1), Arg(2))):
            condition, one, other = node.inputs
            chosen = _required(condition, one, depth - 1) or float_span(one, depth - 1)
            rest = float_span(other, depth - 1)
            return None if chosen is None or rest is None else (min(chosen[0], rest[0]), max(chosen[1], rest[1]))
        case Prim("floor" | "ceil" | "rint" | "trunc", (Arg(0),)):
            within = float_span(node.inputs[0], depth - 1)
            return None if within is None else (_rounded(math.floor, within[0]), _rounded(math.ceil, within[1]))
    return None


def _rounded(function: Callable[[float], int], number: float) -> float:
    return float(function(number)) if math.isfinite(number) else number


def _required(condition: Node, value: Node, depth: int) -> FloatSpan | None:
    """Between which numbers a value lies where a condition holds, which does not hold of NaN."""
    if depth == 0:
        return None
    match condition.element:
        case Prim("and", (Arg(0), Arg(1))):
            found = [span for one in condition.inputs if (span := _required(one, value, depth - 1)) is not None]
            return (max(low for low, _ in found), min(high for _, high in found)) if found else None
        case Prim("lt" | "le", (Arg(0), Arg(1))):
            less, more = condition.inputs
            return _between(less, more, value, depth)
        case Prim("gt" | "ge", (Arg(0), Arg(1))):
            more, less = condition.inputs
            return _between(less, more, value, depth)
    return None


def _between(less: Node, more: Node, value: Node, depth: int) -> FloatSpan | None:
    """The span of a value that is the one or the other of two numbers in order, or the absolute one of the first."""
    same, below, above = _same(value), float_span(less, depth - 1), float_span(more, depth - 1)
    if same is _same(less):
        return None if above is None else (-math.inf, above[1])
    if same is _same(more):
        return None if below is None else (below[0], math.inf)
    match less.element:
        case Prim("abs", (Arg(0),)) if same is _same(less.inputs[0]):
            return None if above is None else (-above[1], above[1])
    return None


def _same(node: Node) -> Node:
    """The node that computes the same elements."""
    while _is_in_place(node):
        node = node.inputs[0]
    return node


def _is_in_place(node: Node) -> bool:
    """Return whether each element of a node is that of its first operand at the same place, of the same type."""
    first = node.inputs[0] if node.inputs else None
    if first is None or node.op.kind is not Kind.INDEXING or isinstance(first.type, TupleType):
        return False
    same = first.aval.dtype == node.aval.dtype and first.aval.dims == node.aval.dims and not node.op.limits
    return same and node.access == Access(tuple(AxisMap(axis) for axis in range(node.aval.rank)))
