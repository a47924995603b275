"""Sorts as passes: runs of each line are put in order, then pairs of runs are merged until one is left.  In front of
several passes one looks which lines are in order already.

The passes are kernels of their own, between which all threads meet.  In between elements lie in scratch, line after
line; the last pass writes the results.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from xjit import numerics
from xjit.fusion.plan import SortStep
from xjit.fusion.regions.reads import gap_reason
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind, OpDef, Ordering
from xjit.target import Target
from xjit.types import INT64, ArrayType, Type


def _given_type(inputs: tuple[Any, ...], params: Any) -> Type:
    found: Type = params["type"]
    return found


def _no_reference(*arrays: Any, **params: Any) -> Any:
    raise TypeError("scratch has elements while a program runs only")


SCRATCH = OpDef(name="scratch", kind=Kind.LEAF, infer=_given_type, reference=_no_reference)
"""Memory between the passes of a sort."""


def ordering_of(node: Node) -> Ordering | None:
    """The order that kernels put the lines of a node in; None for other operations."""
    if node.op.sorts is None:
        return None
    return node.op.sorts(tuple(source.aval for source in node.inputs), node.kwargs)


def has_code_for(before: Graph, target: Target) -> bool:
    """Return whether kernels can compute every node of a computation over scalars."""
    return all(_is_scalar_code(node, target) for node in before.nodes)


def _is_scalar_code(node: Node, target: Target) -> bool:
    if node.op in (PARAMETER, CONSTANT) or node.op.kind is Kind.INDEXING:
        return True
    return node.op.kind is Kind.ELEMENTWISE and gap_reason(node, target) is None


def passes_of(sort: SortStep, graph: Graph, parts: int) -> Iterator[SortStep]:
    """Yield the passes of a sort. Whether long lines are in order is seen part by part, so many of each."""
    node, ordering = sort.node, sort.ordering
    lines = node.inputs[: ordering.moved]
    extent, size = lines[0].aval.shape[ordering.axis], lines[0].aval.size
    run = numerics.sorted_run(sum(line.aval.dtype.itemsize for line in lines))
    widths = [0, *itertools.takewhile(lambda width: width < extent, (run << level for level in itertools.count()))]
    sources, order = lines, None
    if len(widths) > 1:
        order = _order(node, size // extent * parts)
        yield SortStep(node, ordering, lines, (), run, order=order, parts=parts)
    for number, width in enumerate(widths):
        last = number == len(widths) - 1
        targets = tuple(
            _result(graph, node, index) if last and index < ordering.results else _scratch(line, size)
            for index, line in enumerate(lines)
        )
        copied = lines if last and order else ()
        yield SortStep(node, ordering, sources, targets, run, width, order, parts, copied)
        sources = targets


def _result(graph: Graph, node: Node, index: int) -> Node:
    """The node of a result; scratch for one that nobody reads."""
    if isinstance(node.type, ArrayType):
        return node
    for other in graph.nodes:
        if other.op is PROJECT and other.inputs[0] is node and other.param("index") == index:
            return other
    return _scratch(node.inputs[index], node.inputs[index].aval.size)


def _order(node: Node, parts: int) -> Node:
    type = ArrayType(INT64, (parts,), (0,))
    return Node(SCRATCH, (), (("type", type),), type, node.where)


def _scratch(line: Node, size: int) -> Node:
    type = ArrayType(line.aval.dtype, (size,), (0,))
    return Node(SCRATCH, (), (("type", type),), type, line.where)
