"""Makes results that belong into memory of the caller's the last version of it: a chain of updates of a parameter.

    y = update_slice x ...      stored into x      as it is: each update may change x itself
    y = f x                     stored into x      update_slice x (f x), all of it
    y = update_slice (f x) w    stored into x      the same, then the window

Where the plan finds that such a chain cannot change the parameter in place, the result is kept ``apart``: made first,
and stored when nothing reads the parameter any more. Results that are returned never are memory that is written.
"""

from __future__ import annotations

import itertools
from collections.abc import Set as AbstractSet

from xjit.dataclass import dataclass, replace
from xjit.ir.context import PARAMETER
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ops.define.memory_order import PACK
from xjit.ops.regions.strided_slices import UPDATE_SLICE
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.passes.own_memory import copy_for
from xjit.types import ArrayType, c_order

Written = tuple[tuple[int, int], ...]
"""The numbers of outputs, and of the parameters into whose memory they are stored."""


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of a program into memory of the caller's.

    The ``chains`` say for each parameter that is written what is in its memory one after the other: it is copied and
    updated in turns. The ``kept`` are results that are made before they are stored, the ``saved`` copies of what is
    written later.
    """

    chains: dict[Node, tuple[Node, ...]]
    kept: frozenset[Node]
    saved: frozenset[Node]

    @property
    def copies(self) -> dict[Node, Node]:
        """The copies in front of the updates, each with the parameter whose memory it is to be."""
        return {copy: first for first, chain in self.chains.items() for copy in chain[::2]}


NO_STORES = Stores({}, frozenset(), frozenset())


def stores_of(graph: Graph, written: Written, apart: AbstractSet[int] = frozenset()) -> Stores:
    """The stores of a graph that has a copy in front of each update. Those ``apart`` are made first."""
    chains: dict[Node, tuple[Node, ...]] = {}
    for number, place in written:
        chain = list[Node]()
        node = graph.outputs[number]
        while node is not graph.parameters[place]:
            (copy,) = node.updated
            chain += [node, copy]
            (node,) = copy.inputs
        if chain:
            chains[node] = tuple(reversed(chain))
    kept = frozenset(graph.outputs[number].inputs[1] for number, _ in written if number in apart)
    versions = {*chains, *itertools.chain.from_iterable(chains.values())}
    copied = (node for node in (*kept, *graph.outputs) if node.op is PACK and node not in versions)
    return Stores(chains, kept, frozenset(node for node in copied if _base(node.inputs[0]) in versions))


def _updates(node: Node) -> list[Node]:
    """The updates that make a value of the one that was there at first, in order."""
    found: list[Node] = []
    while node.op.kind is Kind.UPDATE and len(node.updated) == 1:
        found.append(node)
        node = node.inputs[0]
    return found[::-1]


def store_results(
    graph: Graph, views: tuple[bool, ...], written: Written, apart: AbstractSet[int] = frozenset()
) -> tuple[Graph, tuple[bool, ...]]:
    """The graph whose written outputs are updates of parameters, and which of its outputs are views.

    The outputs with the numbers ``apart`` are stored when they have been made.
    """
    if not written:
        return graph, views
    graph = _on_parameters(graph, [pair for pair in written if pair[0] not in apart])
    outputs = list(graph.outputs)
    for number, place in written:
        parameter, value = graph.parameters[place], outputs[number]
        if number in apart:
            outputs[number] = _stored(parameter, copy_for(value, value))
        elif _first(value) is not parameter:
            outputs[number] = _stored(parameter, value)
    return _returned(replace(graph, outputs=tuple(outputs)), views, written)


def _first(value: Node) -> Node:
    """The value that updates began with to make this one."""
    updates = _updates(value)
    return updates[0].inputs[0] if updates else value


def _stored(parameter: Node, value: Node) -> Node:
    """The parameter with all of its elements replaced."""
    rank = parameter.aval.rank
    return derived(UPDATE_SLICE, (parameter, value), value, axes=(), starts=(0,) * rank, strides=(1,) * rank, n=1)


def _on_parameters(graph: Graph, written: list[tuple[int, int]]) -> Graph:
    """The graph in which updates of values that end in a parameter's memory are updates of that."""
    based: dict[Node, Node] = {}
    for number, place in written:
        parameter, updates = graph.parameters[place], _updates(graph.outputs[number])
        first = updates[0].inputs[0] if updates else parameter
        if first.op is not PARAMETER and updates[0] not in based and _order(first) == _order(parameter):
            based[updates[0]] = parameter
    if not based:
        return graph
    new: dict[Node, Node] = {}
    for node in graph.nodes:
        inputs = tuple(new[source] for source in node.inputs)
        if node in based:
            inputs = (_stored(new.setdefault(based[node], based[node]), inputs[0]), *inputs[1:])
        after = None if node.after is None else new[node.after]
        same = after is node.after and inputs == node.inputs
        new[node] = node if same else replace(node, inputs=inputs, after=after)
    outputs = tuple(new[node] for node in graph.outputs)
    return replace(graph, outputs=outputs, effects=tuple(new[node] for node in graph.effects))


def _order(node: Node) -> tuple[int, ...]:
    """The axes of the memory that a value has if it is stored, from the slowest to the fastest."""
    aval: ArrayType = node.aval
    return aval.order if len(aval.order) == aval.rank else c_order(aval.rank)


def _returned(graph: Graph, views: tuple[bool, ...], written: Written) -> tuple[Graph, tuple[bool, ...]]:
    """The graph whose other outputs are copies where they would lie in memory that is written, but for views of what
    is there in the end.
    """
    stored = {number for number, _ in written}
    last = {graph.outputs[number] for number in stored}
    versions = {one for node in last for update in _updates(node) for one in (update.inputs[0], update)} | last
    outputs, shown = list(graph.outputs), list(views)
    for number, node in enumerate(outputs):
        base = _base(node)
        if number in stored or base not in versions or (views[number] and base in last):
            shown[number] &= number not in stored
        elif views[number] or node is base or node.op.flat:
            outputs[number], shown[number] = copy_for(node, node), False
    return replace(graph, outputs=tuple(outputs)), tuple(shown)


def _base(node: Node) -> Node:
    """The value in whose memory this one may lie."""
    while node.shows or node.op.flat or node.op.barrier:
        node = node.inputs[0]
    return node
