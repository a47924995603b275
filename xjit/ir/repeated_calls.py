"""Nodes whose condition an error of the user's own depends on."""

from __future__ import annotations

from xjit.ir.boundary import comes_first
from xjit.ir.inner_graphs import inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind


def is_demand(node: Node) -> bool:
    """Return whether NumPy has to do the call from the beginning where the condition of a node does not hold."""
    return node.op.failure is not None and comes_first(node.op.failure(node.kwargs))


def may_begin_anew(node: Node) -> bool:
    """Return whether NumPy may have to do the call from the beginning because of a node."""
    return is_demand(node) or (node.op.leaves is not None and node.op.leaves(node.kwargs))


def may_fail_inside(node: Node) -> bool:
    """Return whether a graph inside of an operation of control has conditions, demands left out.

    What the operation has made so far when one does not hold is in no memory of the caller's.
    """
    return bool(node.op.control) and any(map(_may_fail, (inner.graph for inner in inner_graphs(node))))


def _may_fail(graph: Graph) -> bool:
    return any(
        (one.op.failure is not None and not is_demand(one)) or one.op.leaves is not None or may_fail_inside(one)
        for one in graph.nodes
    )


def tested_first(graph: Graph, several: bool) -> tuple[Node, ...]:
    """The nodes whose conditions are tested before memory of the caller's is written.

    They are demands, calls in Python that NumPy may begin anew at, operations of control with conditions inside of
    them, and conditions of what control makes. Of what updates make they are too if the caller gets ``several``
    arrays written: the order of these is not kept.
    """
    late = set[Node]()
    found = list[Node]()
    for node in graph.nodes:
        if node.op.control or (several and node.op.kind is Kind.UPDATE) or not late.isdisjoint(node.inputs):
            late.add(node)
        fails = node.op.failure is not None and node in late
        if fails or may_begin_anew(node) or may_fail_inside(node):
            found.append(node)
    return tuple(found)
