"""The graphs inside of operations of control, and the operands that each of them reads.

An operation of control holds its graphs in the parameter ``graphs``; its record says which operands their parameters
start as. Values of the enclosing trace that a graph closes over are operands like any others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xjit.dataclass import dataclass, replace
from xjit.ir.node import Graph, Node

GRAPHS = "graphs"
"""The name of the parameter."""


@dataclass(frozen=True, slots=True, eq=False)
class InnerGraph:
    """A graph inside of an operation; ``operands`` are the numbers of the operands that its parameters start as."""

    graph: Graph
    operands: tuple[int, ...]


def inner_graphs(node: Node) -> tuple[InnerGraph, ...]:
    """The graphs inside of a node; none for operations that are not of control."""
    if node.op.reads is None:
        return ()
    graphs = node.param(GRAPHS)
    pairs = zip(graphs, node.op.reads(node.kwargs), strict=True)
    return tuple(InnerGraph(graph, tuple(operands)) for graph, operands in pairs)


def changed_parameters(node: Node, inner: InnerGraph) -> frozenset[Node]:
    """The parameters of a branch that stand for what the choice changes: it may write over them."""
    changes = node.kwargs.get("changes", ())
    pairs = zip(inner.graph.parameters, inner.operands, strict=True)
    return frozenset(parameter for parameter, number in pairs if number in changes)


def with_graphs(node: Node, graphs: tuple[Graph, ...]) -> Node:
    """The node with other graphs in place of its own; itself if they are the same."""
    if all(a is b for a, b in zip(graphs, node.param(GRAPHS), strict=True)):
        return node
    params = tuple((key, graphs if key == GRAPHS else value) for key, value in node.params)
    return replace(node, params=params)


def all_graphs(graph: Graph) -> Iterator[Graph]:
    """The graph itself, and all graphs inside of its nodes, however deep."""
    yield graph
    for node in graph.nodes:
        for inner in inner_graphs(node):
            yield from all_graphs(inner.graph)


def in_graphs(node: Node, change: Callable[[Graph], Graph]) -> Node:
    """The node with its graphs changed."""
    return with_graphs(node, tuple(change(inner.graph) for inner in inner_graphs(node))) if node.op.reads else node


def may_fail(node: Node) -> bool:
    """Return whether a node may raise an error when it runs: by its condition, in a library, or in its graphs."""
    if node.op.failure is not None or node.op.raises:
        return True
    solver = node.op.solver(node.kwargs) if node.op.solver is not None else None
    if solver is not None and solver.failure is not None:
        return True
    return any(map(may_fail, (one for inner in inner_graphs(node) for one in inner.graph.nodes)))
