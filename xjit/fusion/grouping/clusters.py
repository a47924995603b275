"""Kernels of several nests: the parts of one result run together if none of them needs another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xjit.dataclass import dataclass, field
from xjit.fusion.grouping.group_dependence import Dependent
from xjit.fusion.grouping.open_groups import OpenGroup
from xjit.fusion.statements import Store
from xjit.ir.node import Node


@dataclass(eq=False)
class Cluster(Dependent):
    """Groups that are one step; its number is that of the first of them."""

    number: int = 0
    groups: list[OpenGroup] = field(default_factory=list)


def clusters_of(groups: Sequence[OpenGroup]) -> list[Cluster]:
    """All groups, in their order, those that make parts of one result together."""
    home = {group: Cluster(number=group.number, groups=[group]) for group in groups}
    for group, cluster in home.items():
        cluster.need({home[other] for other in group.before})
    first_of: dict[Node, OpenGroup] = {}
    for group in groups:
        for target in dict.fromkeys(_parted(group)):
            cluster, other = home[first_of.setdefault(target, group)], home[group]
            if not (cluster is other or cluster.needs(other) or other.needs(cluster)):
                cluster.groups += other.groups
                cluster.absorb(other)
                home.update(dict.fromkeys(other.groups, cluster))
    return sorted(dict.fromkeys(home.values()), key=_number)


def _parted(group: OpenGroup) -> Iterator[Node]:
    """The results of which a group makes parts, every element by itself."""
    if group.is_elementwise:
        for statement in group.statements:
            if isinstance(statement, Store) and statement.domain.origin:
                yield statement.target


def by_need(clusters: Sequence[Cluster]) -> Iterator[Cluster]:
    """The clusters, each after those that it needs, else in their order."""
    done: set[Cluster] = set()
    for cluster in clusters:
        stack = [cluster]
        while stack:
            waiting = sorted(stack[-1].before - done, key=_number)
            if waiting:
                stack.extend(waiting)
                continue
            top = stack.pop()
            if top not in done:
                done.add(top)
                yield top


def _number(cluster: Cluster) -> int:
    return cluster.number
