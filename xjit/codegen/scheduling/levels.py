"""The passes over a row: after which of them each statement is done, and what the next one may expect to be there."""

from __future__ import annotations

from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.codegen.scheduling.schedule import Schedule
from xjit.dataclass import dataclass, field
from xjit.fusion.plan import FusionGroup
from xjit.fusion.regions.materialized import owner
from xjit.fusion.regions.reads import sources
from xjit.fusion.statements import IndexedValue, Reduce, Scan
from xjit.ir.index_map import lookups_of
from xjit.ir.node import Node


@dataclass(eq=False)
class Passes:
    """The passes over each row of a group, counted from 1.

    ``levels`` says of each statement after which pass, or in which, it is done; 0 of what needs none.
    """

    accesses: GroupAccesses
    plan: Schedule
    levels: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.levels = self._levels()

    @property
    def count(self) -> int:
        """The number of passes."""
        return max(self.levels, default=0)

    @property
    def _group(self) -> FusionGroup:
        return self.accesses.group

    def _levels(self) -> tuple[int, ...]:
        """Find the levels: a reduction's result is there after its pass, a scan's already within."""
        levels: list[int] = []
        row: dict[Node, int] = {}
        full: dict[Node, int] = {}
        for number, statement in enumerate(self._group.statements):
            made = [owner(indexed.node) for indexed in self.accesses.found[number].reads]
            if self.is_row(number):
                own = max((row.get(node, 0) for node in made), default=0)
            else:
                own = max((full.get(node, 1) for node in made), default=1)
            levels.append(own)
            if isinstance(statement, Reduce | Scan):
                row[statement.target] = own
                full[statement.target] = own if isinstance(statement, Scan) else own + 1
        return tuple(levels)

    def is_row(self, number: int) -> bool:
        """Return whether a statement stores one element per row."""
        statement, axes = self._group.statements[number], self._group.axes[number]
        if isinstance(statement, Reduce | Scan):
            return False
        touched = {axes[axis] for axis in range(len(statement.dims)) if statement.dims[axis] != 1}
        return not touched & {axis for loop in self.plan.reduced for axis in loop.axes}

    def along(self, level: int) -> list[int]:
        """The statements that run along the rows in the pass of this level."""
        return [number for number, own in enumerate(self.levels) if own == level and not self.is_row(number)]

    def between(self, level: int) -> list[int]:
        """The statements that store one element per row between the pass of this level and the next one."""
        return [number for number, own in enumerate(self.levels) if own == level and self.is_row(number)]

    @property
    def store_once(self) -> bool:
        """Return whether no pass but the first stores whole rows."""
        later = (number for number, level in enumerate(self.levels) if level > 1)
        return all(isinstance(self._group.statements[number], Reduce) or self.is_row(number) for number in later)

    def read_ahead(self, level: int) -> list[IndexedValue]:
        """Find the reads of a pass that were computed from earlier results, the same for a whole row or column.

        In a deviation ``x - s / n`` from a mean, where ``s`` is a sum of the pass before, this is the quotient.
        """
        group, found = self._group, dict[IndexedValue, None]()
        made = {statement.target for statement in group.statements if isinstance(statement, Reduce)}
        for number in self.along(level):
            ready: set[IndexedValue] = set()

            def is_ready(indexed: IndexedValue, ready: set[IndexedValue] = ready) -> bool:
                return (owner(indexed.node) in made or indexed in ready) and _is_still(indexed, group)

            for indexed in self.accesses.visits[number]:
                used = [source for source in sources(indexed, group.dims, group.nested) if is_ready(source)]
                if used and _is_still(indexed, group):
                    ready.add(indexed)
                else:
                    found.update(dict.fromkeys(used))
            found.update(dict.fromkeys(filter(is_ready, self.accesses.values[number])))
        return list(found)

    def read_later(self, level: int) -> list[IndexedValue]:
        """The results of a level that are read as they are, by later passes than the next and by what stores rows."""
        group, found = self._group, dict[IndexedValue, None]()
        pairs = zip(group.statements, self.levels, strict=True)
        made = {statement.target for statement, own in pairs if isinstance(statement, Reduce) and own == level}
        for number, own in enumerate(self.levels):
            if own <= level + (not self.is_row(number)):
                continue
            reads = self.accesses.found[number].reads
            found.update(dict.fromkeys(indexed for indexed in reads if owner(indexed.node) in made))
        return list(found)


def _is_still(indexed: IndexedValue, group: FusionGroup) -> bool:
    """Return whether a value does not change along the reduced axes, but from chunk to chunk."""
    numbers = group.chunk_numbers
    by_number = all(IndexedValue(one.source, one.axes) in numbers for one in lookups_of(indexed.index))
    return by_number and all(axis in group.kept for map in indexed.index for axis, _ in map.terms)
