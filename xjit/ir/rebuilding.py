"""Graphs made anew, node by node, where some of their nodes change.

new = {}
for node in graph.nodes:
    new[node] = reading(node, new)      or something else in place of the node
graph = with_new(graph, new)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xjit.dataclass import replace
from xjit.ir.node import Graph, Node


def reading(node: Node, new: Mapping[Node, Node], inputs: Sequence[Node] | None = None) -> Node:
    """The node behind its new effect, with the new nodes for its operands or these ``inputs``; itself if all are its
    own.
    """
    inputs = tuple(new[source] for source in node.inputs) if inputs is None else tuple(inputs)
    after = None if node.after is None else new[node.after]
    same = after is node.after and all(a is b for a, b in zip(inputs, node.inputs, strict=True))
    return node if same else replace(node, inputs=inputs, after=after)


def with_new(graph: Graph, new: Mapping[Node, Node]) -> Graph:
    """The graph whose outputs and effects are the new nodes; the same object if every node is its own new one."""
    if all(one is node for node, one in new.items()):
        return graph
    outputs, effects = (tuple(new[node] for node in nodes) for nodes in (graph.outputs, graph.effects))
    return replace(graph, outputs=outputs, effects=effects)
