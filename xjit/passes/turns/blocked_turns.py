"""Marks loops whose rows need no others: all turns may be done for one block of rows after the other.

    while_loop i x {...}  ->  while_loop i x {...} blocked

The mark is the parameter ``blocked`` of the loop, the way to it from the outermost graph: the numbers of nodes and of
graphs in them. Planning may do the turns one after the other all the same. A block is not left before its end: of
loops of unknown length, and of long ones, some turns are taken at a time::

    while more(i, x):          while more(i, x):
      i, x = turn(i, x)          t = 0
                                 while t < 100 and more(i, x):        blocked
                                   t, i, x = t + 1, turn(i, x)
"""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from xjit.dataclass import replace
from xjit.ir.context import PARAMETER, PROJECT
from xjit.ir.inner_graphs import GRAPHS, inner_graphs, with_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ir.own_graphs import own_graph
from xjit.ir.rebuilding import reading, with_new
from xjit.machine import Machine, processor
from xjit.ops.define.core import registry
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.passes.loop_parts import parts_of
from xjit.passes.turns.batched_values import constant
from xjit.passes.turns.counted_turns import turns_of
from xjit.passes.turns.rows_apart import rows_are_apart
from xjit.types import INT64, TupleType, scalar_type

_USUAL = processor()

_MADE = frozenset({Kind.ELEMENTWISE, Kind.REDUCE, Kind.SCAN})

Way: TypeAlias = tuple[int, ...]


def mark_rows_apart(
    graph: Graph, machine: Machine = _USUAL, refused: AbstractSet[Way] = frozenset(), way: Way = ()
) -> Graph:
    """The graph with such loops marked, those inside of others included; the same object when there are none.

    Those at ``refused`` ways are not marked. The ``way`` is that to the graph itself. Other counted loops with work
    for threads are marked as ``apart``: their turns may be, as loops find out.
    """
    if not any(node.op.reads is not None for node in graph.nodes):
        return graph
    new: dict[Node, Node] = {}
    for number, node in enumerate(graph.nodes):
        found = reading(node, new)
        new[node] = found if found.op.reads is None else _marked(found, machine, refused, (*way, number))
    return with_new(graph, new)


def _marked(node: Node, machine: Machine, refused: AbstractSet[Way], way: Way) -> Node:
    """The operation of control with a mark on it, or on loops inside of it."""
    if node.op.control == "loop" and way not in refused and rows_are_apart(node):
        work = work_of_turn(node)
        known = turns_of(parts_of(node))
        turns = math.inf if known is None else len(known.values)
        if machine.blocked_work <= turns * work <= machine.most_blocked_work:
            return replace(node, params=(*node.params, ("blocked", way)))
        some = min(int(machine.most_blocked_work / work), machine.most_turns_at_a_time)
        if "masked" in node.kwargs and some >= 2:
            return _some_at_a_time(node, some, way)
        if turns * work > machine.blocked_work and machine.blocked_turn_work <= work and some >= 2:
            return _some_at_a_time(node, some, way)
    node = node if way in refused else _counted(node, machine, way)
    graphs = (mark_rows_apart(one, machine, refused, (*way, at)) for at, one in enumerate(node.param(GRAPHS)))
    return with_graphs(node, tuple(graphs))


def _counted(node: Node, machine: Machine, way: Way) -> Node:
    """The operation of control; a counted loop with work for threads, whose turns may be apart, with a mark."""
    known = turns_of(parts_of(node)) if node.op.control == "loop" else None
    if known is None or len(known.values) * work_of_turn(node) < machine.blocked_work:
        return node
    return replace(node, params=(*node.params, ("apart", way)))


def work_of_turn(loop: Node) -> int:
    """The elements that a turn makes of others, about; loops inside have the turns that are known, or one."""
    return 1 + _work_of(inner_graphs(loop)[1].graph)


def _work_of(graph: Graph) -> int:
    work = 0
    for node in graph.nodes:
        if node.op.control == "loop":
            known = turns_of(parts_of(node))
            work += work_of_turn(node) * (1 if known is None else len(known.values))
        elif node.op.reads is not None:
            work += sum(_work_of(inner.graph) for inner in inner_graphs(node))
        elif _is_made(node):
            work += max(one.aval.size for one in (*node.inputs, node))
    return work


def _is_made(node: Node) -> bool:
    """Return whether loops compute a value."""
    return node.op.kind in _MADE and not isinstance(node.type, TupleType)


def _some_at_a_time(loop: Node, turns: int, way: Way) -> Node:
    """The loop around one that takes so many turns at most, which is marked."""
    count, (condition, body) = loop.param("n"), loop.param(GRAPHS)
    carried = tuple(replace(one) for one in body.parameters[:count])
    closed = tuple(replace(one) for one in (*condition.parameters[count:], *body.parameters[count:]))
    begin = constant(0, INT64, loop)
    graphs = _counting(condition, turns, loop), _with_count(body, loop)
    assert isinstance(loop.type, TupleType)
    type = TupleType((begin.aval, *loop.type.elements))
    values = {**loop.kwargs, GRAPHS: graphs, "n": count + 1, "most": turns, "blocked": way}
    if "masked" in values:
        values["masked"] += 1
    inner = replace(loop, inputs=(begin, *carried, *closed), params=tuple(values.items()), type=type)
    ends = tuple(
        Node(PROJECT, (inner,), (("index", place),), one, loop.where)
        for place, one in enumerate(loop.type.elements, 1)
    )
    several = Graph(body.name, (*carried, *closed), ends)
    inputs = (*loop.inputs[: len(condition.parameters)], *loop.inputs[count:])
    values = {**loop.kwargs, GRAPHS: (own_graph(condition), several)}
    values.pop("masked", None)
    return replace(loop, inputs=inputs, params=tuple(values.items()))


def _counting(condition: Graph, turns: int, like: Node) -> Graph:
    """The condition that there are more turns, and that these have not been all of some.

    Turns of rows that are masked do nothing where no row goes on: they need no condition.
    """
    own = own_graph(condition)
    number = _counter(like)
    fewer = derived(registry["lt"], (number, constant(turns, INT64, like)), like)
    if "masked" in like.kwargs:
        return Graph(own.name, (number, *own.parameters), (fewer,))
    both = derived(registry["and_"], (fewer, own.outputs[0]), like)
    return Graph(own.name, (number, *own.parameters), (both,))


def _with_count(body: Graph, like: Node) -> Graph:
    """The body that counts its turns."""
    own = own_graph(body)
    number = _counter(like)
    following = derived(registry["add"], (number, constant(1, INT64, like)), like)
    return Graph(own.name, (number, *own.parameters), (following, *own.outputs))


def _counter(like: Node) -> Node:
    return Node(PARAMETER, (), (("type", scalar_type(INT64)),), scalar_type(INT64), like.where)
