"""Kernels of several nests: the parts of one result run together if none of them needs another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xjit.fusion.groups import Group
from xjit.ir.node import Node


def clusters_of(groups: Sequence[Group]) -> list[tuple[Group, ...]]:
    """All groups, in their order, those that make parts of one result together."""
    clusters = _Clusters(groups)
    by_target: dict[Node, Group] = {}
    for group in groups:
        for statement in group.statements:
            if statement.domain.origin and group.is_elementwise:
                clusters.join(by_target.setdefault(statement.target, group), group)
    return clusters.all()


class _Clusters:
    """Sets of groups; each is known by its first one."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self._first = {group: group for group in groups}
        self._members = {group: [group] for group in groups}

    def join(self, one: Group, other: Group) -> None:
        """Makes one cluster of those of two groups, unless one of them needs the other."""
        a, b = self._first[one], self._first[other]
        if a is b or self._needs(a, b) or self._needs(b, a):
            return
        for group in self._members[b]:
            self._first[group] = a
        self._members[a] += self._members.pop(b)

    def _needs(self, start: Group, goal: Group) -> bool:
        """Whether a cluster needs another one, directly or through others."""
        stack, seen = [start], {start}
        while stack:
            for member in self._members[stack.pop()]:
                for group in member.before:
                    first = self._first[group]
                    if first is goal:
                        return True
                    if first not in seen:
                        seen.add(first)
                        stack.append(first)
        return False

    def all(self) -> list[tuple[Group, ...]]:
        """The clusters, in the order of their first groups."""
        return [tuple(members) for members in self._members.values()]
