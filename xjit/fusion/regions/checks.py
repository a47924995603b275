"""Conditions that have to hold: every kernel notes in a status of the program what it finds not to, and goes on.

    bad0 = b1(0)
    for i0 in range(lo, hi):
        ...
        bad0 = bad0 | ~v2
    if bad0:
        st(o1, 0, b1(1))

The program looks at the status when its kernels are done, before anybody else gets to see what they made.
"""

from __future__ import annotations

import itertools

from xjit.fusion.statements import Check, Domain, IndexedValue
from xjit.ir.index_map import Index, identity
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind, OpDef
from xjit.types import BOOL, array_type

STATUS = OpDef(
    name="status",
    kind=Kind.LEAF,
    infer=lambda types, params: array_type(BOOL, ()),
    reference=lambda operand: False,
    doc="Whether the condition of a node was found not to hold somewhere.",
)


def is_status(node: Node) -> bool:
    """Return whether the node stands for a status of the program, not for a value."""
    return node.op is STATUS


def check_of(node: Node, dims: tuple[int, ...] | None = None, index: Index = ()) -> Check:
    """The check of the condition of a node: over its own dimensions, or at an index in a given domain."""
    condition = node.inputs[-1]
    if dims is None:
        dims = condition.aval.shape
        index, limits = identity(dims), tuple(sorted(condition.limits.items(), key=_axis))
        return Check(Domain(dims, limits=limits), (IndexedValue(condition, index),), status_of(node))
    return Check(Domain(dims), (IndexedValue(condition, index),), status_of(node))


def _axis(limit: tuple[int, Node]) -> int:
    return limit[0]


def status_of(node: Node) -> Node:
    """A status that says whether a node has failed."""
    return Node(STATUS, (node,), (), array_type(BOOL, ()), node.where)


def evaluates_condition(indexed: IndexedValue, dims: tuple[int, ...]) -> bool:
    """Return whether every element of a condition is needed for what a domain reads of the node that has it."""
    node = indexed.node
    if node.op.failure is None or node.inputs[-1].aval.shape != node.aval.shape:
        return False
    long = [(map, size) for map, size in zip(indexed.index, node.aval.shape, strict=True) if size != 1]
    walked = all(
        map.axis is not None
        and not (map.found or map.also)
        and dims[map.axis] == size
        and (map.scale, map.offset) in ((1, 0), (-1, size - 1))
        for map, size in long
    )
    return walked and len({map.axis for map, _ in long}) == len(long)


def conditions_of(graph: Graph) -> dict[Node, tuple[Node, ...]]:
    """For the nodes that are made from nodes with conditions: all of these, in order. Such nodes count themselves."""
    found: dict[Node, dict[Node, None]] = {}
    for node in graph.nodes:
        above = [found[source] for source in node.inputs if source in found]
        if node.op.failure is not None:
            found[node] = dict.fromkeys((*itertools.chain(*above), node))
        elif above:
            found[node] = above[0] if len(above) == 1 else dict.fromkeys(itertools.chain(*above))
    return {node: tuple(conditions) for node, conditions in found.items()}
