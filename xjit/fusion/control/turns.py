"""Graphs of what a loop does at a time, made of its condition and its body."""

from __future__ import annotations

from xjit.dataclass import replace
from xjit.ir.node import Graph, Node
from xjit.ir.own_graphs import own_graph, written_out


def turn_of(condition: Graph, body: Graph, carried: int) -> tuple[Graph, Graph]:
    """The condition of the first turn, and what a turn makes: the next values, and the condition of these.

    The parameters of a turn are the carried values, what the condition closes over and what the body does.
    """
    values = [replace(node) for node in body.parameters]
    of_condition = [replace(node) for node in condition.parameters[carried:]]
    known: dict[object, Node] = {}
    effects: list[Node] = []
    following = written_out(body, values, known, effects)
    more = written_out(condition, (*following, *of_condition), known, effects)
    parameters = (*values[:carried], *of_condition, *values[carried:])
    return own_graph(condition), Graph(body.name, parameters, (*following, *more), tuple(effects))
