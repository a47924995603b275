"""Values that the groups compute more often than was foreseen: those that two kernels turn out to compute."""

from __future__ import annotations

from xjit.fusion import cost
from xjit.fusion.grouping.groups import Grouping
from xjit.fusion.grouping.open_groups import OpenGroup, placed
from xjit.fusion.regions.materialized import partial_values
from xjit.fusion.statements import IndexedValue
from xjit.fusion.storage.choice import stored_reason
from xjit.ir.node import Graph, Node


def recomputed(graph: Graph, grouping: Grouping) -> dict[Node, str]:
    """The values that are better stored, seeing which statements share a kernel, each with the reason.

    Those nearest to the results: what is stored for them may be enough for the others.
    """
    doubtful = _doubtful(grouping) - partial_values(graph.nodes)
    machine = grouping.machine
    counts: dict[Node, int] = {}
    for group in grouping.groups if doubtful else ():
        seen: set[IndexedValue] = set()
        for statement, axes in zip(group.statements, group.axes, strict=True):
            visits = [one for one in grouping.slice_of(statement).visits if one.node in doubtful]
            for indexed in placed(visits, axes):
                if indexed not in seen:
                    seen.add(indexed)
                    times = group.evaluations(indexed.index, machine)
                    counts[indexed.node] = counts.get(indexed.node, 0) + times
    table = cost.CostTable(grouping.leaves, machine)
    often = {node: times for node, times in counts.items() if times > _size(node)}
    heavy = {
        node for node, times in often.items() if cost.is_worth_storing(table.total(node), times, _size(node), machine)
    }
    chosen = heavy.difference(*(node.inputs for node in heavy))
    return {node: stored_reason(node, counts[node]) for node in counts if node in chosen}


def _doubtful(grouping: Grouping) -> set[Node]:
    """The values that several groups compute, or one with loops that could not be foreseen for certain."""
    first: dict[Node, OpenGroup] = {}
    found: set[Node] = set()
    for group in grouping.groups:
        for statement in group.statements:
            for indexed in grouping.slice_of(statement).visits:
                if not group.is_elementwise or first.setdefault(indexed.node, group) is not group:
                    found.add(indexed.node)
    return found - grouping.leaves


def _size(node: Node) -> int:
    return max(node.aval.size, 1)
