"""Branches that replace all of an array which others change in part store into it, too: no memory is exchanged.

    conditional i v k x {                        conditional i v x k x {
      then(v) -> v                         ->      then(v, x) -> update_slice x v         all of it
      otherwise(k, x) -> update_slice x k          otherwise(k, x) -> update_slice x k
    }                                            }

Else what is made by either branch would be new memory, and all of it copied into that of an argument or of a loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from xjit.dataclass import replace
from xjit.ir.context import PARAMETER
from xjit.ir.inner_graphs import GRAPHS, InnerGraph, inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.machine import Machine
from xjit.passes.loop_parts import with_control
from xjit.passes.stored_results import stored_over

_Start = tuple[Node | None, bool]
"""The operand that a branch makes a result of by updates, if any, and whether there are some."""


def store_replaced(graph: Graph, machine: Machine) -> Graph:
    """The graph whose branches store what they replace large arrays by; the same object when there are none."""

    def change(node: Node, new: dict[Node, Node], read: dict[int, Node]) -> None:
        made = new[node]
        large = [number for number, one in read.items() if one.aval.rank and one.aval.nbytes >= machine.tested_ahead]
        for number in large:
            made = _with_stores(made, number)
        if made is not new[node]:
            new[node] = made
            new.update((one, replace(one, inputs=(made,))) for one in read.values())

    return with_control(graph, "branch", change)


def _with_stores(choice: Node, number: int) -> Node:
    """The choice with a result stored into what branches update to make it, if that is one operand."""
    branches = inner_graphs(choice)
    starts = [_start(choice, inner, number) for inner in branches]
    updated = {one for one, changed in starts if changed}
    base = updated.pop() if len(updated) == 1 else None
    alike = base is not None and all(
        (one.aval.dtype, one.aval.dims) == (base.aval.dtype, base.aval.dims) and one.aval.is_static and not one.limits
        for one in (base, *(inner.graph.outputs[number] for inner in branches))
    )
    if base is None or not alike or base is choice.inputs[0] or all(one is base for one, _ in starts):
        return choice
    graphs, inputs = list[Graph](), [choice.inputs[0]]
    for inner, (one, _) in zip(branches, starts, strict=True):
        operands = [choice.inputs[place] for place in inner.operands]
        graph = inner.graph
        if one is not base:
            graph, operands = _storing(graph, operands, base, number)
        graphs.append(graph)
        inputs += operands
    params = {**choice.kwargs, GRAPHS: tuple(graphs)}
    return replace(choice, inputs=tuple(inputs), params=tuple(params.items()))


def _start(choice: Node, inner: InnerGraph, number: int) -> _Start:
    node, changed = inner.graph.outputs[number], False
    while node.op.kind is Kind.UPDATE and len(node.updated) == 1:
        node, changed = node.inputs[0], True
    if node not in inner.graph.parameters:
        return None, False
    return choice.inputs[inner.operands[inner.graph.parameters.index(node)]], changed


def _storing(graph: Graph, operands: Sequence[Node], base: Node, number: int) -> tuple[Graph, list[Node]]:
    """The graph of a branch that stores a result into an operand, and its operands."""
    known = dict(zip(operands, graph.parameters, strict=True))
    given = known.get(base) or Node(PARAMETER, (), (("type", base.type),), base.type, base.where)
    outputs = list(graph.outputs)
    outputs[number] = stored_over(given, outputs[number])
    if base in known:
        return replace(graph, outputs=tuple(outputs)), list(operands)
    return replace(graph, parameters=(*graph.parameters, given), outputs=tuple(outputs)), [*operands, base]
