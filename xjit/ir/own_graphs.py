"""Graphs written out for other values, and with nodes of their own."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.dataclass import replace
from xjit.ir.node import Graph, Node


def own_graph(graph: Graph) -> Graph:
    """The graph with nodes of its own, which no other graph shares."""
    parameters = tuple(replace(node) for node in graph.parameters)
    effects: list[Node] = []
    outputs = written_out(graph, parameters, {}, effects)
    return Graph(graph.name, parameters, outputs, tuple(effects))


def written_out(
    graph: Graph, values: Sequence[Node], known: dict[object, Node], effects: list[Node] | None = None
) -> tuple[Node, ...]:
    """The results of a graph for other values than its parameters; nodes that are ``known`` are not made again.

    Copies that updates change stay apart. Nodes with effects are added to these, behind those that are there.
    """
    effects = [] if effects is None else effects
    new: dict[Node, Node] = dict(zip(graph.parameters, values, strict=True))
    copies = {copy for node in graph.nodes for copy in node.updated}
    for node in graph.nodes:
        if node not in new:
            inputs = tuple(new[source] for source in node.inputs)
            if node.sequence >= 0:
                after = effects[-1] if effects else None
                new[node] = replace(node, inputs=inputs, sequence=len(effects), after=after)
                effects.append(new[node])
                continue
            made = replace(node, inputs=inputs)
            new[node] = made if node in copies else known.setdefault((inputs, node.computes), made)
    return tuple(new[node] for node in graph.outputs)
