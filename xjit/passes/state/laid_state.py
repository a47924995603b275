"""Lays out what a loop carries: an array that turns read and write across lies along their windows meanwhile.

    x = while_loop i x {... x[:, i] = f(x[:, i]) ...}    ->    x = pack (while_loop i (pack x) {...} {orders of x})

The order of the axes in memory is part of the types of the array inside of the loop, of its versions and of the loops
in it that carry them. Whatever is read of it is a row of numbers as before, so that the order of every sum stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from xjit.dataclass import replace
from xjit.ir.context import PARAMETER, PROJECT
from xjit.ir.inner_graphs import GRAPHS, inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ir.rebuilding import reading, with_new
from xjit.machine import Machine, processor
from xjit.ops.define.memory_order import PACK
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.passes.state.laid_for_loops import (
    TouchedWindow,
    UnknownWindowsError,
    WindowSearch,
    better_order,
    is_read_by_loops,
    is_window,
    lay_for_loops,
    long_axes,
)
from xjit.types import ArrayType, TupleType, c_order

_USUAL = processor()

Orders: TypeAlias = "Mapping[int, tuple[int, ...]]"
"""The orders of arrays that lie otherwise than row by row, by their places among operands or parameters."""


def lay_along(graph: Graph, machine: Machine = _USUAL) -> Graph:
    """The graph with copies of what loops carry or read across; the same object when there are none."""
    return lay_for_loops(lay_state(graph, machine), machine)


def lay_state(graph: Graph, machine: Machine) -> Graph:
    """The graph whose outermost loops carry arrays in the order that turns need; the same object if all stay."""
    new: dict[Node, Node] = {}
    search = _StateSearch(WindowSearch())
    for node in graph.nodes:
        inputs = tuple(new[source] for source in node.inputs)
        orders = search.orders(node, machine)
        if orders:
            pairs = enumerate(inputs)
            laid = [derived(PACK, (one,), node, order=orders[n]) if n in orders else one for n, one in pairs]
            new[node] = _with_orders(node, laid, orders)
        elif node.op is PROJECT and inputs[0].type != node.inputs[0].type:
            end = _again(node, inputs)
            order = c_order(node.aval.rank)
            new[node] = end if end.type == node.type else derived(PACK, (end,), node, order=order)
        else:
            new[node] = reading(node, new)
    return with_new(graph, new)


class _StateSearch:
    """Finds what turns of loops touch of the arrays that they carry."""

    def __init__(self, search: WindowSearch) -> None:
        self._search = search

    def orders(self, node: Node, machine: Machine) -> Orders:
        """The orders in which an outermost loop should carry its arrays, those of the others left out."""
        if node.op.control != "loop" or "blocked" in node.kwargs or not isinstance(node.type, TupleType):
            return {}
        least = 2.0 * machine.visits_of_copies  # one before the loop, and one behind it
        found = {
            place: better_order(type, self._walks_of(node, place, 1.0), least, machine)
            for place, type in enumerate(node.type.elements)
        }
        return {place: order for place, order in found.items() if order is not None}

    def _walks_of(self, loop: Node, place: int, times: float) -> Iterator[TouchedWindow]:
        """Yield what turns of a loop touch of the array that it carries at a place, or raise UnknownWindowsError."""
        times *= loop.kwargs.get("most") or float("inf")
        if times == float("inf") or loop.sequence >= 0:
            raise UnknownWindowsError
        condition, body = (inner.graph for inner in inner_graphs(loop))
        yield from self._walks_in(condition, condition.parameters[place], times, ())
        yield from self._walks_in(body, body.parameters[place], times, (place,))

    def _walks_in(self, graph: Graph, state: Node, times: float, ends: Sequence[int]) -> Iterator[TouchedWindow]:
        """Yield what a graph touches of an array and its versions, of which the last one ends as some outputs."""
        versions, readers = {state}, self._search.readers(graph)
        loops: dict[Node, int] = {}
        for node in graph.nodes:
            read = [number for number, one in enumerate(node.inputs) if one in versions]
            if node.op is PROJECT and node.inputs[0] in loops:
                if node.param("index") == loops[node.inputs[0]]:
                    versions.add(node)
            elif not read:
                continue
            elif node.op.control == "loop":
                count = node.param("n")
                if max(read) < count and len(read) == 1:
                    loops[node] = read[0]
                    yield from self._walks_of(node, read[0], times)
                else:  # among what it starts from and what it closes over: refused
                    yield from self._search.walks_of(node, read, times)
            elif node.op.kind is Kind.UPDATE and read == [0] and len(node.updated) == 1 and node.place is not None:
                versions.add(node)
                yield _touched(long_axes(node.place, node.inputs[1].aval), node.inputs[1].aval, times)
            elif is_window(node, node.inputs[read[0]]) and _is_row(node, readers):
                yield _touched(long_axes(node.access, node.aval), node.aval, times)
            else:
                raise UnknownWindowsError
        if [place for place, one in enumerate(graph.outputs) if one in versions] != list(ends):
            raise UnknownWindowsError


def _touched(axes: frozenset[int], window: ArrayType, times: float) -> TouchedWindow:
    if len(axes) > 1:
        raise UnknownWindowsError
    return TouchedWindow(axes, times * window.size)


def _is_row(window: Node, readers: Mapping[Node, list[Node]]) -> bool:
    """Return whether loops read a window as a row or one number, which have no order of axes."""
    seen = all(one.op.kind is Kind.INDEXING and one.aval.rank < 2 for one in readers.get(window, ()))
    return seen and is_read_by_loops(window, readers)


def _with_orders(loop: Node, inputs: Sequence[Node], orders: Orders) -> Node:
    """The loop with other operands, and arrays that it carries in these orders."""
    graphs = []
    for inner in inner_graphs(loop):
        own = {place: orders[number] for place, number in enumerate(inner.operands) if number in orders}
        graphs.append(_laid(inner.graph, own))
    params = tuple((key, tuple(graphs) if key == GRAPHS else value) for key, value in loop.params)
    return _again(replace(loop, params=(*params, ("orders", tuple(sorted(orders.items()))))), inputs)


def _laid(graph: Graph, orders: Orders) -> Graph:
    """The graph whose parameters at some places lie in these orders, and what is made of them."""
    new: dict[Node, Node] = {}
    for place, parameter in enumerate(graph.parameters):
        new[parameter] = _ordered(parameter, orders[place]) if place in orders else parameter
    for node in graph.nodes:
        if node.op is not PARAMETER:
            inputs = tuple(new[source] for source in node.inputs)
            after = None if node.after is None else new[node.after]
            same = after is node.after and all(a is b for a, b in zip(inputs, node.inputs, strict=True))
            new[node] = node if same else _inside(replace(node, after=after), inputs)
    nodes = (graph.parameters, graph.outputs, graph.effects)
    parameters, outputs, effects = (tuple(new[node] for node in some) for some in nodes)
    return replace(graph, parameters=parameters, outputs=outputs, effects=effects)


def _inside(node: Node, inputs: Sequence[Node]) -> Node:
    """A node of a loop's graph with other operands, of which a loop carries those in the orders that they have."""
    if node.op.control == "loop":
        pairs = enumerate(zip(inputs[: node.param("n")], node.inputs, strict=False))
        orders = {place: one.aval.order for place, (one, old) in pairs if one.type != old.type}
        if orders:
            return _with_orders(node, inputs, orders)
    return _again(node, inputs)


def _ordered(parameter: Node, order: tuple[int, ...]) -> Node:
    type = replace(parameter.aval, order=order)
    return replace(parameter, params=tuple((k, type if k == "type" else v) for k, v in parameter.params), type=type)


def _again(node: Node, inputs: Sequence[Node]) -> Node:
    """The node with other operands, and the type that follows from theirs."""
    type = node.op.infer(tuple(source.type for source in inputs), node.kwargs)
    return replace(node, inputs=tuple(inputs), type=type)
