"""Branches yield what is read, of values that they know; a choice that is known is none.

conditional 1 x y {a(x), b(y)}  ->  b(y)
"""

from __future__ import annotations

from xjit.dataclass import replace
from xjit.ir.context import CONSTANT
from xjit.ir.inner_graphs import GRAPHS, inner_graphs
from xjit.ir.node import Graph, Node
from xjit.passes.loop_parts import needed_by, substituted, with_control
from xjit.types import TupleType


def trim_branches(graph: Graph) -> Graph:
    """The graph with branches that yield what is read; the same object when there are none."""
    return with_control(graph, "branch", _trim)


def _trim(node: Node, new: dict[Node, Node], read: dict[int, Node]) -> None:
    """Puts a smaller choice, or the values of the branch that is known, in place of a choice and its results."""
    made = new[node]
    index = made.inputs[0]
    if index.op is CONSTANT and made.sequence < 0:
        number, last = int(index.param("value").array()), len(made.param(GRAPHS)) - 1
        chosen = inner_graphs(made)[number if 0 <= number <= last else last]
        operands = [made.inputs[one] for one in chosen.operands]
        inlined = substituted(chosen.graph, dict(zip(chosen.graph.parameters, operands, strict=True)))
        new.update((projection, inlined.outputs[place]) for place, projection in read.items())
        return
    new[node] = found = _smaller(made, sorted(read))
    for place, number in enumerate(sorted(read)):
        params = tuple((key, place if key == "index" else value) for key, value in read[number].params)
        new[read[number]] = replace(read[number], inputs=(found,), params=params)


def _smaller(node: Node, kept: list[int]) -> Node:
    """The choice of these results alone, with what is known inside of the branches."""
    graphs: list[Graph] = []
    inputs = [node.inputs[0]]
    for inner in inner_graphs(node):
        operands = [node.inputs[one] for one in inner.operands]
        pairs = list(zip(inner.graph.parameters, operands, strict=True))
        graph = substituted(inner.graph, {one: operand for one, operand in pairs if operand.op is CONSTANT})
        graph = replace(graph, outputs=tuple(graph.outputs[number] for number in kept))
        needed = needed_by((*graph.outputs, *graph.effects))
        graphs.append(replace(graph, parameters=tuple(one for one, _ in pairs if one in needed)))
        inputs += [operand for one, operand in pairs if one in needed]
    assert isinstance(node.type, TupleType)
    type = TupleType(tuple(node.type.elements[number] for number in kept))
    params = tuple((key, tuple(graphs) if key == GRAPHS else value) for key, value in node.params)
    return replace(node, inputs=tuple(inputs), params=params, type=type)
