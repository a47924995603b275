"""Graphs of what a loop does at a time, made of its condition and its body."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.dataclass import replace
from xjit.ir.node import Graph, Node


def turn_of(condition: Graph, body: Graph, carried: int) -> tuple[Graph, Graph]:
    """The condition of the first turn, and what a turn makes: the next values, and the condition of these.

    The parameters of a turn are the carried values, what the condition closes over and what the body does.
    """
    values = [replace(node) for node in body.parameters]
    of_condition = [replace(node) for node in condition.parameters[carried:]]
    known: dict[object, Node] = {}
    following = _written_out(body, values, known)
    more = _written_out(condition, (*following, *of_condition), known)
    parameters = (*values[:carried], *of_condition, *values[carried:])
    return own_graph(condition), Graph(body.name, parameters, (*following, *more))


def own_graph(graph: Graph) -> Graph:
    """The graph with nodes of its own, which no other graph shares."""
    parameters = tuple(replace(node) for node in graph.parameters)
    return Graph(graph.name, parameters, _written_out(graph, parameters, {}))


def _written_out(graph: Graph, values: Sequence[Node], known: dict[object, Node]) -> tuple[Node, ...]:
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
