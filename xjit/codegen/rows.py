"""Which expensive values of a row are kept between two passes, and where: in the output row that will replace them,
or in scratch.

In a softmax the exponentials of pass 2 are summed at once and divided in pass 3; they wait in the output row.
"""

from __future__ import annotations

from collections.abc import Iterator

from xjit.codegen.elements import storage_dtype
from xjit.codegen.levels import Passes
from xjit.codegen.region_values import Place, RegionValues
from xjit.codegen.schedule import Schedule
from xjit.codegen.walks import BlockWalk
from xjit.dataclass import dataclass, field
from xjit.fusion import cost
from xjit.fusion.plan import Pull
from xjit.fusion.reads import sources
from xjit.ir.index import axes_of
from xjit.ir.loops import Offset, Term

# Bytes of stack that one kernel may use for rows.
SCRATCH_BYTES = 131_072


@dataclass(eq=False)
class RowStorage:
    """Values with a place in memory between passes: the unit whose output row holds them, or None for scratch.

    ``running`` are what scans make, kept where it is made.
    """

    places: dict[Pull, int | None] = field(default_factory=dict)
    levels: dict[Pull, int] = field(default_factory=dict)
    ahead: dict[Pull, int] = field(default_factory=dict)
    running: frozenset[Pull] = frozenset()

    def filled_in(self, level: int) -> list[Pull]:
        """The values that the pass of this level has to keep."""
        others = self.ahead.keys() | self.running
        return [pull for pull, own in self.levels.items() if own == level and pull not in others]

    def keep_running(self, pulls: dict[Pull, int]) -> None:
        """Keeps what scans make in passes of these levels in scratch."""
        self.levels |= pulls
        self.running = frozenset(pulls)

    def filled_before(self, level: int) -> list[Pull]:
        """The values that a loop of their own has to make before the pass of this level."""
        return [pull for pull, first in self.ahead.items() if first == level]


@dataclass(eq=False)
class KeptRows:
    """The values of a row that are kept for later passes, or within a walk for its next loops.

    ``level`` is that of the pass at hand.
    """

    storage: RowStorage
    walk: BlockWalk
    values: RegionValues
    level: int = 0
    _names: dict[Pull, str] = field(default_factory=dict)

    def holds(self, pull: Pull) -> bool:
        """Whether an earlier pass has kept the value, or an earlier loop of the walk."""
        return self.storage.levels.get(pull, self.level) < self.level or self.walk.holds(pull)

    def place(self, pull: Pull) -> Place:
        """The buffer that the value is kept in, and where in it the one of the step at hand is."""
        if self.walk.keeps(pull):
            return self.walk.place(pull)
        number = self.storage.places.get(pull)
        if number is None:
            return self._in_scratch(pull)
        access = self.values.accesses.writes[number]
        assert access is not None
        return self.values.buffers.place(access)

    def places_of_scan(self, pull: Pull) -> Iterator[Place]:
        """Where a scan has to put the value for the walk at hand and for later passes."""
        if self.walk.keeps(pull):
            yield self.walk.place(pull)
        if pull in self.storage.running:
            yield self._in_scratch(pull)

    def _in_scratch(self, pull: Pull) -> Place:
        loop = self.values.plan.reduced[0]
        if pull not in self._names:
            extent, dtype = self.values.bounds.extent(loop), storage_dtype(pull.node.aval.dtype)
            self._names[pull] = self.values.scratch.take(extent, dtype)
        return self._names[pull], Offset((Term(loop.variable, 1),))


def choose_row_storage(passes: Passes) -> RowStorage:
    """Chooses the values that more than one pass needs and that cost more than a store and a load.

    An output row holds what its own unit reads: that is loaded, for all units of the pass, before the unit stores.
    Results of nested reductions get a loop of their own, so that the pass that needs them is vector code.
    """
    storage, accesses, levels = RowStorage(), passes.accesses, passes.levels
    region, full = accesses.region, [number for number in range(len(levels)) if not passes.is_row(number)]
    if not full or (not region.nested and len({levels[number] for number in full}) < 2):
        return storage
    used: dict[Pull, set[int]] = {}
    for number in full:
        for pull in accesses.walks[number]:
            used.setdefault(pull, set()).add(levels[number])
    table = cost.CostTable(accesses.leaves)
    everywhere = frozenset(axis for axis in range(region.rank) if region.dims[axis] != 1)
    wanted = [
        pull
        for pull, passes in used.items()
        if axes_of(pull.index) == everywhere
        and (pull.node in region.nested or (len(passes) > 1 and table.total(pull.node) >= cost.WORTH_A_ROW))
    ]
    inner = {source for pull in wanted for source in sources(pull, region.dims, region.nested)}
    free = SCRATCH_BYTES
    rows = _output_rows(passes, full)
    searched = _searched(passes, max(levels[number] for number in full))
    for pull in (pull for pull in wanted if pull not in inner):
        dtype = storage_dtype(pull.node.aval.dtype)
        readers = [n for n in rows if pull in accesses.walks[n] and pull not in searched]
        place = next((n for n in readers if storage_dtype(region.units[n].target.aval.dtype) == dtype), None)
        if place is not None:
            rows.remove(place)
        else:
            free -= _row_bytes(passes.plan, dtype.itemsize)
            if free < 0:
                continue
        storage.places[pull] = place
        storage.levels[pull] = min(used[pull])
        if pull.node in region.nested:
            storage.ahead[pull] = min(used[pull])
            storage.levels[pull] = min(used[pull]) - 1
    return storage


def _row_bytes(plan: Schedule, itemsize: int) -> int:
    if len(plan.reduced) != 1 or plan.chunked is not None:
        return SCRATCH_BYTES + 1
    return plan.reduced[0].extent * itemsize


def _searched(passes: Passes, last: int) -> set[Pull]:
    """What searches of the last pass need once more when that pass has filled the output rows."""
    units = enumerate(passes.accesses.region.units)
    searches = (number for number, unit in units if unit.is_search and passes.levels[number] == last)
    return {pull for number in searches for pull in passes.accesses.walks[number]}


def _output_rows(passes: Passes, full: list[int]) -> list[int]:
    """Units of the last pass that store every element of the domain once: their rows are free until then.

    The rows of what a bitcast fills are counted in elements of another type.
    """
    region, levels = passes.accesses.region, passes.levels
    last = max(levels[number] for number in full)
    return [
        number
        for number in full
        if levels[number] == last
        and not region.units[number].is_reduction
        and region.units[number].dims == region.dims
        and region.units[number].values[0].node is region.units[number].target
        and passes.accesses.writes[number] is not None
    ]
