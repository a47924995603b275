"""Memory that loops and choices of steps keep: results that lie in the memory of an operand, whatever the steps do.

    i1, x1 = while_loop i0 x0 {...}      each turn changes x0 itself: x1 is x0, and no memory is exchanged
    y = conditional i x x {...}          each block changes x itself, or leaves it: y is x

The plans of all graphs inside of an operation have to make the result where the operand is given to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

from xjit.fusion.buffers.handed_on import begun_in_place, handed_on
from xjit.fusion.buffers.layout import Layouts, packed_strides
from xjit.fusion.buffers.updates import NotInPlaceError, held_by
from xjit.fusion.plan import AliasStep, BranchKernelStep, KernelStep, LoopKernelStep, Plan, ViewStep
from xjit.ir.context import PARAMETER, PROJECT
from xjit.ir.inner_graphs import inner_graphs
from xjit.ir.node import Graph, Node
from xjit.passes.stored_results import Stores
from xjit.programs.input_layouts import layouts_of
from xjit.runtime.calls.records import ArraySpec, ScalarSpec


class Part(Protocol):
    """The program of a graph inside of an operation of control."""

    @property
    def graph(self) -> Graph:
        """The graph."""
        ...

    @property
    def specs(self) -> tuple[ArraySpec | ScalarSpec, ...]:
        """The descriptions of the values of its parameters."""
        ...

    @property
    def plan(self) -> Plan | None:
        """The plan of the graph."""
        ...

    @property
    def inner(self) -> Mapping[Node, Sequence[Part]]:
        """The programs of the graphs inside of its operations."""
        ...


_KERNELS = KernelStep | AliasStep | ViewStep

Inner: TypeAlias = "Mapping[Node, Sequence[Part]]"


def check_kept(graph: Graph, inner: Inner, layouts: Layouts, stores: Stores) -> None:
    """Raises NotInPlaceError where steps would not keep memory of the caller's that they start from."""
    kept = dict(kept_values(graph, inner, layouts))
    made = ((one, parameter) for parameter, chain in stores.chains.items() for one in chain if one.op is PROJECT)
    steps = [(one, parameter) for one, parameter in made if one.inputs[0] in inner]
    several = len(stores.chains) > 1  # which signals would leave in turns that are not done yet
    late = frozenset(
        parameter
        for one, parameter in steps
        if one not in kept or (several and not _ends_whole(one.inputs[0], inner[one.inputs[0]], stores))
    )
    if late:
        raise NotInPlaceError(late)


def _ends_whole(node: Node, parts: Sequence[Part], stores: Stores) -> bool:
    """Return whether signals end an operation of control where all of its turns before are done, and no other.

    They wait for the end of a turn that has nothing but kernels of known length.
    """
    if not _has_loop(node):
        return True
    plan = parts[-1].plan
    short = plan is not None and all(isinstance(one, _KERNELS) for one in plan.steps)
    return node.op.control == "loop" and short and stores.may_end_in(node)


def _has_loop(node: Node) -> bool:
    """Return whether an operation of control is a loop, or has one in a graph of its own."""
    inside = (one for inner in inner_graphs(node) for one in inner.graph.nodes if one.op.control)
    return node.op.control == "loop" or any(map(_has_loop, inside))


def kept_values(graph: Graph, inner: Inner, layouts: Layouts) -> Iterator[tuple[Node, Node]]:
    """Yield the results of the steps of a graph that lie where operands of them do, each with that."""
    kept = {node: kept_results(node, parts, layouts) for node, parts in inner.items()}
    for node in graph.nodes:
        if node.op is PROJECT and node.param("index") in kept.get(node.inputs[0], ()):
            yield node, kept[node.inputs[0]][node.param("index")]


def kept_results(node: Node, parts: Sequence[Part], layouts: Layouts) -> dict[int, Node]:
    """The numbers of the results of an operation that lie where operands of it do, each with that."""
    found: dict[int, Node] = {}
    loops = node.op.control == "loop"
    pairs = list(zip(inner_graphs(node), parts, strict=True))[1 if loops else 0 :]
    for number in range(node.param("n") if loops else len(inner_graphs(node)[0].graph.outputs)):
        operands = [_operand(node, inner.operands, part, number) for inner, part in pairs]
        first = operands[0]
        if first is None or first not in node.updated or any(one is not first for one in operands):
            continue
        own = first is node.inputs[number] if loops else first not in found.values()
        if own and first.aval.rank and layouts.strides(first) == packed_strides(first.aval):
            found[number] = first
    return found


def _operand(node: Node, operands: Sequence[int], part: Part, number: int) -> Node | None:
    """The operand in whose memory a graph makes a result; None where that is other memory."""
    graph = part.graph
    if number >= len(graph.outputs):
        return None
    start = _start(part, graph.outputs[number])
    places = [place for place, one in enumerate(graph.parameters) if one is start]
    whole = bool(places) and start.aval.dims == graph.outputs[number].aval.dims
    return node.inputs[operands[places[0]]] if whole else None


def _start(part: Part, node: Node) -> Node:
    """The first value in the memory that one of a graph lies in."""
    changed = dict(_changed(part))
    while node.op is not PARAMETER:
        held = held_by(node)
        if held is node and node not in changed:
            break
        node = held if held is not node else changed[node]
    return node


def _changed(part: Part) -> Iterator[tuple[Node, Node]]:
    """Yield the values that lie in the memory of another one, each with that."""
    assert part.plan is not None, "operations have plans of all their graphs"
    yield from kept_values(part.graph, part.inner, layouts_of(part.graph, part.specs))
    for step in part.plan.steps:
        match step:
            case AliasStep(node, operand):
                yield node, operand
            case LoopKernelStep():
                yield from begun_in_place(step).items()
            case BranchKernelStep():
                yield from handed_on(step).items()
            case _:
                pass
