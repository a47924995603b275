"""Gives what an update changes memory of its own.

    dynamic_update_slice x u s  ->  dynamic_update_slice (pack x) u s

The copy is the one value whose elements the update changes. The plan leaves it out where nobody reads the operand
afterwards: then the copy is the operand, and only the window moves.

A choice whose branches update an operand has such a copy in front of it, too, for all of them, and a loop in front of
the arrays that it starts from::

    conditional c x s {update x s, x}  ->  conditional c (pack x) s {update x s, x}
    while_loop i x {...}               ->  while_loop i (pack x) {...}
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from xjit.dataclass import replace
from xjit.ir.context import CONSTANT
from xjit.ir.inner_graphs import InnerGraph, inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ir.rebuilding import reading, with_new
from xjit.ops.define.memory_order import PACK
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.types import c_order


def own_what_is_updated(graph: Graph, given: AbstractSet[Node] = frozenset()) -> Graph:
    """The graph with a copy in front of each update, those in graphs inside of it included; the same object when
    there are none.

    Equal copies stay apart: each is changed in another way. Operations of control copy by themselves what they
    change of values that are ``given``, but for loops that threads may share, in which a copy is no part of a turn.
    """
    if not any(node.updated or node.op.control for node in graph.nodes):
        return graph
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        inputs = tuple(new[source] for source in node.inputs)
        if node.op.kind is Kind.UPDATE:
            count = len(node.updated)
            if count == 1 and not inputs[1].aval.size:  # of nothing nothing changes
                new[node] = copy_for(inputs[0], node)
                continue
            inputs = (*(copy_for(source, node) for source in inputs[:count]), *inputs[count:])
        new[node] = reading(node, new, inputs)
        if node.op.control:
            new[node] = _with_own_operands(new[node], given)
    return with_new(graph, new)


def _with_own_operands(node: Node, given: AbstractSet[Node]) -> Node:
    """An operation of control with copies of the operands that it changes; the same object where it changes none."""
    changed = _begun(node) if node.op.control == "loop" else _changed_by_arms(node)
    kept = frozenset[Node]() if node.kwargs.get("blocked") or node.kwargs.get("apart") else given
    own = {place: one for place, one in changed.items() if one not in kept and one.op is not CONSTANT}
    if not own:
        return node
    shared: dict[Node, Node] = {}
    inputs = list(node.inputs)
    for place, source in own.items():
        copy = copy_for(source, node)
        inputs[place] = copy if node.op.control == "loop" else shared.setdefault(source, copy)
    return replace(node, inputs=tuple(inputs), params=(*node.params, ("changes", tuple(own))))


def _begun(loop: Node) -> dict[int, Node]:
    """The arrays that a loop starts from and does not read otherwise, by their places: one may be there twice."""
    count = loop.param("n")
    begun = enumerate(loop.inputs[:count])
    return {place: one for place, one in begun if one.aval.rank and one not in loop.inputs[count:]}


def _changed_by_arms(choice: Node) -> dict[int, Node]:
    """The operands of which a graph of a choice changes elements, by their places."""
    inner = inner_graphs(choice)
    parts = [[choice.inputs[number] for number in one.operands] for one in inner]
    found = {choice.inputs[number] for one in inner for number in _changed(one)}
    alone = {one for one in found if all(part.count(one) <= 1 for part in parts)}
    return {place: one for place, one in enumerate(choice.inputs) if one in alone}


def _changed(inner: InnerGraph) -> Iterator[int]:
    """The operands of which a graph inside of a choice changes elements, and those that a loop in it starts from."""
    graph = inner.graph
    begun = {source for node in graph.nodes if node.op.control == "loop" for source in node.inputs[: node.param("n")]}
    begun |= {copy.inputs[0] for node in graph.nodes for copy in node.updated}
    for parameter, number in zip(graph.parameters, inner.operands, strict=True):
        if parameter in begun and parameter.aval.rank:
            yield number


def copy_for(source: Node, reader: Node) -> Node:
    """A copy of a value in its own order, for the line of the program that a reader of it stands for."""
    aval = source.aval
    order = aval.order if len(aval.order) == aval.rank else c_order(aval.rank)
    return derived(PACK, (source,), reader, order=order)
