"""The passes over a row: after which of them each unit is done, and what the next one may expect to be there."""

from __future__ import annotations

from xjit.codegen.accesses import RegionAccesses
from xjit.codegen.schedule import Schedule
from xjit.dataclass import dataclass, field
from xjit.fusion.plan import Pull, Region
from xjit.fusion.reads import sources
from xjit.fusion.units import owner
from xjit.ir.index import lookups_of
from xjit.ir.node import Node


@dataclass(eq=False)
class Passes:
    """The passes over each row of a region, counted from 1.

    ``levels`` says of each unit after which pass, or in which, it is done; 0 of what needs none.
    """

    accesses: RegionAccesses
    plan: Schedule
    levels: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.levels = self._levels()

    @property
    def count(self) -> int:
        """How many passes there are."""
        return max(self.levels, default=0)

    @property
    def _region(self) -> Region:
        return self.accesses.region

    def _levels(self) -> tuple[int, ...]:
        """What a reduction gives is there after its pass, what a scan gives already within."""
        levels: list[int] = []
        row: dict[Node, int] = {}
        full: dict[Node, int] = {}
        for number, unit in enumerate(self._region.units):
            made = [owner(pull.node) for pull in self.accesses.found[number].reads]
            if self.is_row(number):
                own = max((row.get(node, 0) for node in made), default=0)
            else:
                own = max((full.get(node, 1) for node in made), default=1)
            levels.append(own)
            if unit.is_reduction or unit.is_scan:
                row[unit.target] = own
                full[unit.target] = own if unit.is_scan else own + 1
        return tuple(levels)

    def is_row(self, number: int) -> bool:
        """Whether a unit stores one element per row."""
        unit, axes = self._region.units[number], self._region.axes[number]
        if unit.is_reduction or unit.is_scan:
            return False
        touched = {axes[axis] for axis in range(len(unit.dims)) if unit.dims[axis] != 1}
        return not touched & {axis for loop in self.plan.reduced for axis in loop.axes}

    def along(self, level: int) -> list[int]:
        """The units that run along the rows in the pass of this level."""
        return [number for number, own in enumerate(self.levels) if own == level and not self.is_row(number)]

    def between(self, level: int) -> list[int]:
        """The units that store one element per row between the pass of this level and the next one."""
        return [number for number, own in enumerate(self.levels) if own == level and self.is_row(number)]

    @property
    def store_once(self) -> bool:
        """Whether no pass but the first stores whole rows."""
        later = (number for number, level in enumerate(self.levels) if level > 1)
        return all(self._region.units[number].is_reduction or self.is_row(number) for number in later)

    def read_ahead(self, level: int) -> list[Pull]:
        """What the pass of a level reads that was computed from earlier results, the same for a whole row or column.

        In a deviation ``x - s / n`` from a mean, where ``s`` is a sum of the pass before, this is the quotient.
        """
        region, found = self._region, dict[Pull, None]()
        made = {unit.target for unit in region.units if unit.is_reduction}
        for number in self.along(level):
            ready: set[Pull] = set()

            def is_ready(pull: Pull, ready: set[Pull] = ready) -> bool:
                return (owner(pull.node) in made or pull in ready) and _is_still(pull, region)

            for pull in self.accesses.walks[number]:
                used = [source for source in sources(pull, region.dims, region.nested) if is_ready(source)]
                if used and _is_still(pull, region):
                    ready.add(pull)
                else:
                    found.update(dict.fromkeys(used))
            found.update(dict.fromkeys(filter(is_ready, self.accesses.values[number])))
        return list(found)

    def read_later(self, level: int) -> list[Pull]:
        """The results of a level that are read as they are, by later passes than the next and by what stores rows."""
        region, found = self._region, dict[Pull, None]()
        pairs = zip(region.units, self.levels, strict=True)
        made = {unit.target for unit, own in pairs if unit.is_reduction and own == level}
        for number, own in enumerate(self.levels):
            if own <= level + (not self.is_row(number)):
                continue
            reads = self.accesses.found[number].reads
            found.update(dict.fromkeys(pull for pull in reads if owner(pull.node) in made))
        return list(found)


def _is_still(pull: Pull, region: Region) -> bool:
    """Whether a value does not change along the reduced axes, but from chunk to chunk."""
    numbers = region.chunk_numbers
    by_number = all(Pull(one.source, one.axes) in numbers for one in lookups_of(pull.index))
    return by_number and all(map.axis is None or map.axis in region.kept for map in pull.index)
