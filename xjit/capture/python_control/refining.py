"""Facts that a condition tells of integers where it holds: within ``if i + 1 < n`` i is less than n - 1."""

from __future__ import annotations

from collections.abc import Iterator

from xjit.ir.context import CONSTANT, PROJECT, Trace
from xjit.ir.inner_graphs import inner_graphs
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ir.scalar_expr import Arg, Expr, Lit, Prim
from xjit.ir.spans import Span, span_of
from xjit.types import INT64

_OPPOSITES = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_NUMBERS = (0, 1)
"""The numbers of the branches where a condition holds, and where it does not."""


def refine(trace: Trace, pred: Node, holds: bool) -> None:
    """Notes in a trace between which numbers integers lie if a condition of it, or of one around it, holds or not."""
    for node, low, high in _facts(pred, holds, trace):
        inner = trace.adopt(node)
        before = span_of(inner, trace)
        found = max(before[0], low), min(before[1], high)
        if found[0] <= found[1]:
            trace.spans[inner] = found


def _facts(pred: Node, holds: bool, trace: Trace | None) -> Iterator[tuple[Node, int, int]]:
    """Nodes, and the numbers between which they lie."""
    if not pred.aval.rank and pred.op is not CONSTANT:
        yield pred, int(holds), int(holds)
    if pred.op is PROJECT:
        yield from _chosen(pred, holds, trace)
        return
    expr = pred.element
    if not isinstance(expr, Prim):
        return
    if expr.name == "not" and isinstance(expr.args[0], Arg):
        yield from _facts(pred.inputs[expr.args[0].index], not holds, trace)
    elif expr.name == ("and" if holds else "or"):
        for arg in expr.args:
            if isinstance(arg, Arg):
                yield from _facts(pred.inputs[arg.index], holds, trace)
    elif expr.name == "select" and len(pred.inputs) == 3:
        condition, one, other = pred.inputs
        if holds and (other is condition or _is_constant(other, False)):  # one and the other
            yield from _facts(condition, True, trace)
            yield from _facts(one, True, trace)
        elif not holds and (one is condition or _is_constant(one, True)):  # neither
            yield from _facts(condition, False, trace)
            yield from _facts(other, False, trace)
    elif expr.name in _OPPOSITES:
        name = expr.name if holds else _OPPOSITES[expr.name]
        left, right = (_operand(arg, pred) for arg in expr.args)
        if left is not None and right is not None:
            yield from _compared(name, left, right, trace)
            yield from _compared(_MIRRORED[name], right, left, trace)


def _chosen(pred: Node, holds: bool, trace: Trace | None) -> Iterator[tuple[Node, int, int]]:
    """The facts of the only branch that can have made a truth value: its number, and what it tells of its operands.

    i < n and x[i] > 0, the second in a branch of its own, holds: i is less than n
    """
    choice = pred.inputs[0]
    if choice.op.control != "branch":
        return
    place, graphs = pred.param("index"), inner_graphs(choice)
    left = [number for number, one in enumerate(graphs) if not _is_constant(one.graph.outputs[place], not holds)]
    if len(left) != 1:
        return
    (number,), expr = left, choice.inputs[0].element
    if isinstance(expr, Prim) and expr.name == "select" and len(graphs) == len(_NUMBERS):
        condition, *numbers = choice.inputs[0].inputs
        if all(map(_is_constant_number, numbers, _NUMBERS)):
            yield from _facts(condition, number == 0, trace)
    graph = graphs[number].graph
    given = dict(zip(graph.parameters, (choice.inputs[one] for one in graphs[number].operands), strict=True))
    for node, low, high in _facts(graph.outputs[place], holds, None):
        if node in given:
            yield given[node], low, high


def _is_constant_number(node: Node, number: int) -> bool:
    return node.op is CONSTANT and node.aval.size == 1 and int(node.param("value").item()) == number


def _is_constant(node: Node, value: bool) -> bool:
    return node.op is CONSTANT and node.aval.size == 1 and bool(node.param("value").item()) is value


def _operand(arg: Expr, pred: Node) -> Node | int | None:
    if isinstance(arg, Lit):
        value = arg.literal.item()
        return int(value) if arg.dtype == INT64 else None
    if isinstance(arg, Arg) and pred.inputs[arg.index].aval.dtype == INT64:
        return pred.inputs[arg.index]
    return None


def _compared(name: str, one: Node | int, other: Node | int, trace: Trace | None) -> Iterator[tuple[Node, int, int]]:
    """The facts that ``one < other`` and the like tell of the first operand."""
    if not isinstance(one, Node):
        return
    low, high = (other, other) if isinstance(other, int) else span_of(other, trace)
    found: Span | None = {
        "lt": (-(2**63), high - 1),
        "le": (-(2**63), high),
        "gt": (low + 1, 2**63 - 1),
        "ge": (low, 2**63 - 1),
        "eq": (low, high),
    }.get(name)
    if found is not None:
        yield from _shifted(one, *found)


def _shifted(node: Node, low: int, high: int) -> Iterator[tuple[Node, int, int]]:
    """The same for what the node is more or less than by a constant."""
    yield node, low, high
    expr = node.element if node.op is not CONSTANT else None
    if node.op.kind is Kind.INDEXING and node.inputs[0].type == node.type and not node.aval.rank:
        yield from _shifted(node.inputs[0], low, high)
    if not isinstance(expr, Prim) or expr.name not in ("add", "sub") or len(node.inputs) != 2:
        return
    first, second = node.inputs
    if second.op is CONSTANT and second.aval.size == 1 and expr.args == (Arg(0, INT64), Arg(1, INT64)):
        number = int(second.param("value").item()) * (1 if expr.name == "add" else -1)
        yield from _shifted(first, low - number, high - number)
