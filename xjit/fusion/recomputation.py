"""What the groups compute more often than was foreseen: values that two kernels turn out to compute."""

from __future__ import annotations

from xjit.fusion import cost
from xjit.fusion.groups import Grouping
from xjit.fusion.open_groups import placed
from xjit.fusion.statements import IndexedValue
from xjit.fusion.storage import stored_reason
from xjit.ir.node import Node


def recomputed(grouping: Grouping) -> dict[Node, str]:
    """The values that are better stored, seeing which statements share a kernel, each with the reason.

    Those nearest to the results: what is stored for them may be enough for the others.
    """
    machine = grouping.machine
    table = cost.CostTable(grouping.leaves, machine)
    counts: dict[Node, int] = {}
    for group in grouping.groups:
        seen: set[IndexedValue] = set()
        for statement, axes in zip(group.statements, group.axes, strict=True):
            visits = [one for one in grouping.slice_of(statement).visits if _is_dear(one.node, grouping, table)]
            for indexed in placed(visits, axes):
                if indexed not in seen:
                    seen.add(indexed)
                    times = group.evaluations(indexed.index, machine)
                    counts[indexed.node] = counts.get(indexed.node, 0) + times
    heavy = {
        node
        for node, times in counts.items()
        if cost.is_worth_storing(table.total(node), times, _size(node), machine)
    }
    chosen = heavy.difference(*(node.inputs for node in heavy))
    return {node: stored_reason(node, counts[node]) for node in counts if node in chosen}


def _is_dear(node: Node, grouping: Grouping, table: cost.CostTable) -> bool:
    return node not in grouping.leaves and table.total(node) > table.machine.load_cost


def _size(node: Node) -> int:
    return max(node.aval.size, 1)
