"""Windows of an array that a turn reads, stored so that the next array can be written over it.

    while k < n:                                                    row = x[k]; column = x[:, k]
      x = min(x, x[:, k, None] + x[k])          ->                  x = min(x, column[:, None] + row)   in place

Of the array that the loop carries the next one needs each element itself, and few others. These are read through
windows; once the windows are stored, a kernel writes the next array over the last one, and nothing moves but what
changes. Without them turns go to and fro between two arrays, twice as much memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.regions.materialized import is_given
from xjit.fusion.regions.parts import Parts
from xjit.fusion.statements import Statement, Store
from xjit.ir.index_map import identity
from xjit.ir.node import Graph, Node
from xjit.machine import Machine
from xjit.types import TupleType


def windows_ahead(
    graph: Graph, parts: Parts, owned: AbstractSet[Node], layouts: Layouts, machine: Machine
) -> dict[Node, str]:
    """The windows of ``owned`` parameters that are to be stored, each with the reason."""
    given = [one for one in graph.parameters if one in owned and not isinstance(one.type, TupleType)]
    wanted: dict[Node, str] = {}
    for node in given:
        for result in dict.fromkeys(graph.outputs):
            windows = _windows(node, result, graph, parts, layouts, machine)
            wanted |= {one: _reason(one, result) for one in windows}
    return wanted


def _reason(window: Node, result: Node) -> str:
    return f"{window.op.name} at {window.where} is stored: {result.op.name} is written over what it is a part of"


def _windows(
    node: Node, result: Node, graph: Graph, parts: Parts, layouts: Layouts, machine: Machine
) -> frozenset[Node]:
    """The windows of a parameter without which a result could be written over it; none where that is not so."""
    statement = _whole_store(result, parts)
    if statement is None or node in graph.outputs or not _is_alike(node, result, layouts):
        return frozenset()
    few = frozenset(one for one in _inlined(result, parts) if node in one.inputs and one.aval.size < node.aval.size)
    if not few or sum(one.aval.nbytes for one in few) > node.aval.nbytes // machine.stored_ahead:
        return frozenset()
    if set(_readers(node, parts)) != {statement} or _is_read_whole(node, graph, parts):
        return frozenset()
    reads = parts.slices.with_leaves(parts.slices.leaves | few).of(statement).reads
    own = [one.index for one in reads if one.node is node]
    return few if own and all(index == identity(statement.dims) for index in own) else frozenset()


def _whole_store(result: Node, parts: Parts) -> Statement | None:
    """The one statement that stores each element of a result; None where there are others."""
    match parts.statements.get(result, ()):
        case (Store() as one,) if one.makes_target and one.domain.is_whole:
            return one
    return None


def _is_alike(node: Node, result: Node, layouts: Layouts) -> bool:
    alike = (node.aval.dtype, node.aval.dims) == (result.aval.dtype, result.aval.dims)
    return alike and layouts.strides(node) == layouts.strides(result)


def _readers(node: Node, parts: Parts) -> Iterator[Statement]:
    """Yield the statements that read a value from memory."""
    for several in parts.statements.values():
        for one in several:
            if any(indexed.node is node for indexed in parts.slices.of(one).reads):
                yield one


def _is_read_whole(node: Node, graph: Graph, parts: Parts) -> bool:
    """Return whether a step on whole arrays reads a value."""
    return any(node in one.inputs for one in graph.nodes if one in parts.stored and one not in parts.statements)


def _inlined(result: Node, parts: Parts) -> Iterator[Node]:
    """Yield the values that a statement computes where it needs them."""
    stack, seen = list(result.inputs), set[Node]()
    while stack:
        top = stack.pop()
        if top in seen or top in parts.stored or is_given(top):
            continue
        seen.add(top)
        yield top
        stack += top.inputs
