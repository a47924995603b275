"""Gives what an update changes memory of its own.

    dynamic_update_slice x u s  ->  dynamic_update_slice (pack x) u s

The copy is the one value whose elements the update changes. The plan leaves it out where nobody reads the operand
afterwards: then the copy is the operand, and only the window moves.
"""

from __future__ import annotations

from xjit.dataclass import replace
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ops.define.memory_order import PACK
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.types import c_order


def own_what_is_updated(graph: Graph) -> Graph:
    """The graph with a copy in front of each update; the same object when there are none.

    Equal copies stay apart: each is changed in another way.
    """
    if not any(node.updated for node in graph.nodes):
        return graph
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        inputs = tuple(new[source] for source in node.inputs)
        if len(node.updated) == 1 and not inputs[1].aval.size:  # of nothing nothing changes
            new[node] = copy_for(inputs[0], node)
            continue
        if node.op.kind is Kind.UPDATE:
            count = len(node.updated)
            inputs = (*(copy_for(source, node) for source in inputs[:count]), *inputs[count:])
        after = None if node.after is None else new[node.after]
        same = after is node.after and inputs == node.inputs
        new[node] = node if same else replace(node, inputs=inputs, after=after)
    outputs = tuple(new[node] for node in graph.outputs)
    return replace(graph, outputs=outputs, effects=tuple(new[node] for node in graph.effects))


def copy_for(source: Node, reader: Node) -> Node:
    """A copy of a value in its own order, for the line of the program that a reader of it stands for."""
    aval = source.aval
    order = aval.order if len(aval.order) == aval.rank else c_order(aval.rank)
    return derived(PACK, (source,), reader, order=order)
