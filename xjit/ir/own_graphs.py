"""Graphs written out for other values, and with nodes of their own."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.dataclass import replace
from xjit.ir.node import Graph, Node


def own_graph(graph: Graph) -> Graph:
    """The graph with nodes of its own, which no other graph shares."""
    parameters = tuple(replace(node) for node in graph.parameters)
    return Graph(graph.name, parameters, written_out(graph, parameters, {}))


def written_out(graph: Graph, values: Sequence[Node], known: dict[object, Node]) -> tuple[Node, ...]:
    """The results of a graph for other values than its parameters; nodes that are ``known`` are not made again.

    Copies that updates change stay apart.
    """
    new: dict[Node, Node] = dict(zip(graph.parameters, values, strict=True))
    copies = {copy for node in graph.nodes for copy in node.updated}
    for node in graph.nodes:
        if node not in new:
            inputs = tuple(new[source] for source in node.inputs)
            made = replace(node, inputs=inputs)
            new[node] = made if node in copies else known.setdefault((inputs, node.computes), made)
    return tuple(new[node] for node in graph.outputs)
