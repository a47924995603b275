"""Passes over whole programs: what rewrites a graph rewrites the graphs inside of its operations as well."""

from __future__ import annotations

from collections.abc import Callable

from xjit.ir.inner_graphs import in_graphs
from xjit.ir.node import Graph
from xjit.passes.simplify import rewrite

Pass = Callable[[Graph], Graph]


def in_all_graphs(change: Pass) -> Pass:
    """The pass over a graph and all graphs inside of it, the innermost first."""

    def whole(graph: Graph) -> Graph:
        known: dict[int, Graph] = {}  # nodes are asked more than once, and keep their graphs alive

        def inside(graph: Graph) -> Graph:
            if id(graph) not in known:
                known[id(graph)] = whole(graph)
            return known[id(graph)]

        if any(node.op.reads is not None for node in graph.nodes):
            graph = rewrite(graph, lambda node: in_graphs(node, inside))
        return change(graph)

    return whole
