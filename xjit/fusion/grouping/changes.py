"""Buffers that are changed in place, in the loops that read them before.

    g[:, k] = d[:, k] - w[:, k - 1] * g[:, k - 1]     one kernel: no step changes what another one reads
    w[:, k] = c[:, k] / (b[:, k] - w[:, k - 1])

What reads a buffer runs before what changes it. Where every step reads only what it changes itself in the end, or
what none changes, both may share loops: the statement that changes elements comes behind the one that reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from xjit.dataclass import dataclass, field
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.buffers.updates import keeps_what_is_read
from xjit.fusion.grouping.open_groups import OpenGroup, placed
from xjit.fusion.regions.materialized import owner
from xjit.fusion.regions.reads import Slices
from xjit.fusion.statements import IndexedValue, Statement, Store
from xjit.ir.node import Node


@dataclass(frozen=True, slots=True)
class _Change:
    """A value that is changed in place of those in its buffer, and groups that only have to read them before."""

    values: frozenset[Node]
    readers: frozenset[OpenGroup]


@dataclass(eq=False)
class Changes:
    """The steps that change a buffer in place."""

    slices: Slices
    layouts: Layouts
    noted: dict[OpenGroup, _Change] = field(default_factory=dict)

    def note(self, step: OpenGroup, values: Iterable[Node], readers: Iterable[OpenGroup]) -> None:
        """Notes such a step, what is in its buffer, and which groups read that and are not needed otherwise."""
        self.noted[step] = _Change(frozenset(values), frozenset(readers))

    def spared(self, group: OpenGroup, statement: Statement, before: AbstractSet[OpenGroup]) -> list[OpenGroup]:
        """The steps before a statement that do not have to wait for a group if the statement joins it."""
        axes = group.axes_for(statement) if group.is_elementwise and isinstance(statement, Store) else None
        if axes is None:
            return []
        found = [step for step in before if step in self.noted and group in self.noted[step].readers]
        return [step for step in found if self._keeps(group, statement, axes, self.noted[step].values)]

    def let_go(self, group: OpenGroup, spared: Iterable[OpenGroup]) -> None:
        """Lets these steps not wait for a group any more, which a statement joins that changes the buffers."""
        values: set[Node] = set()
        for step in spared:
            step.leave(group)
            values |= self.noted[step].values
        if values:
            group.stale |= self._made_of(group, values)

    def _made_of(self, group: OpenGroup, values: AbstractSet[Node]) -> frozenset[Node]:
        """The results of a group that some values are read for, also through others of its results."""
        found: set[Node] = set()
        for statement in group.statements:
            if any(one.node in values or owner(one.node) in found for one in self.slices.of(statement).reads):
                found.add(statement.target)
        return frozenset(found)

    def _keeps(self, group: OpenGroup, statement: Statement, axes: dict[int, int], values: frozenset[Node]) -> bool:
        reads = (one for one in self._reads(group) if one.node in values)
        return keeps_what_is_read(statement, axes, reads, group.dims, self.layouts)

    def _reads(self, group: OpenGroup) -> Iterator[IndexedValue]:
        for statement, axes in zip(group.statements, group.axes, strict=True):
            yield from placed(self.slices.of(statement).reads, axes)


def waited_for(group: OpenGroup, before: AbstractSet[OpenGroup], spared: Iterable[OpenGroup]) -> set[OpenGroup]:
    """Return what has to run before a group that a statement joins, where some steps wait for the group no more."""
    there = set(spared)
    return {*(before - there), *(one for step in there for one in step.before if one is not group)}
