"""Checks that a graph is well formed: every pass must leave it so."""

from __future__ import annotations

from xjit.ir.context import PARAMETER
from xjit.ir.inner_graphs import inner_graphs
from xjit.ir.node import Graph, Node, is_ordered
from xjit.ir.printer import graph_text


class BrokenGraphError(RuntimeError):
    """A pass of the compiler made a graph that contradicts itself; the message shows the node and the graph."""


def verify(graph: Graph) -> None:
    """Raises BrokenGraphError unless types can be inferred again, inputs come first and effects are in order."""
    seen: set[Node] = set()
    parameters = set(graph.parameters)
    for node in graph.nodes:
        if any(source not in seen for source in node.inputs):
            _fail(graph, node, "an input is not defined before it is used")
        if node.op is PARAMETER and node not in parameters:
            _fail(graph, node, "a parameter is not among the parameters of the graph")
        if is_ordered(node.op, node.kwargs) != (node.sequence >= 0):
            _fail(graph, node, "only nodes with effects have a place in the order of effects")
        inferred = node.op.infer(tuple(source.type for source in node.inputs), node.kwargs)
        if inferred != node.type:
            _fail(graph, node, f"the type should be {inferred}")
        seen.add(node)
        _verify_inner(graph, node)
    numbers = [node.sequence for node in graph.effects]
    if numbers != sorted(numbers):
        _fail(graph, graph.effects[0], "effects are out of order")


def _verify_inner(graph: Graph, node: Node) -> None:
    """The graphs inside of a node are well formed, and their parameters are of the types of its operands."""
    for inner in inner_graphs(node):
        verify(inner.graph)
        for parameter, number in zip(inner.graph.parameters, inner.operands, strict=True):
            found, wanted = node.inputs[number].aval, parameter.aval
            if (found.dtype, found.dims) != (wanted.dtype, wanted.dims):
                _fail(graph, node, f"operand {number} should be {wanted}")


def _fail(graph: Graph, node: Node, reason: str) -> None:
    raise BrokenGraphError(f"{node.op.name}: {node.type}: {reason}\n{graph_text(graph)}")
