"""Small arms of branches as part of what surrounds them."""

from __future__ import annotations

from typing import Any

from xjit.ir.context import CONSTANT, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ops.control.computations import Computation

_MOST_NODES = 24
_MOST_OF_ARRAYS = 4
_SMALL = 16


def is_small(part: Computation) -> bool:
    """Return whether computing all of it costs less than a branch, and cannot raise."""
    graph = part.graph
    inner = [node for node in graph.nodes if node.op.kind is not Kind.LEAF]
    if graph.effects or not all(map(_is_plain, inner)):
        return False
    large = any(node.aval.size > _SMALL for node in (*inner, *graph.outputs))
    return len(inner) <= (_MOST_OF_ARRAYS if large else _MOST_NODES)


def _is_plain(node: Node) -> bool:
    return node.op.kind in (Kind.ELEMENTWISE, Kind.INDEXING) and node.op.failure is None and not node.op.raises


def inlined(part: Computation) -> list[Any]:
    """The results of a computation, computed in the current trace."""
    trace = current()
    assert trace is not None
    known: dict[Node, Node] = {
        node: trace.adopt(value.node) for node, value in zip(part.graph.parameters, part.captures, strict=True)
    }
    for node in part.graph.nodes:
        if node not in known:
            known[node] = (
                trace.constant(node.param("value"), node.where)
                if node.op is CONSTANT
                else trace.add(node.op, tuple(known[one] for one in node.inputs), node.kwargs, node.where)
            )
    return [TracedValue(known[node], trace) for node in part.graph.outputs]
