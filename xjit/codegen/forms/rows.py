"""Which expensive values of a row are kept between two passes, and where: in the output row that will replace them,
or in scratch.

In a softmax the exponentials of pass 2 are summed at once and divided in pass 3; they wait in the output row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from xjit.codegen.forms.walks import BlockWalk
from xjit.codegen.lowering.buffers import Place
from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.storage.stage_in_output import StageInOutput
from xjit.codegen.rewrites.storage.stage_value import StageValue
from xjit.codegen.scheduling.levels import Passes
from xjit.codegen.scheduling.schedule import Schedule
from xjit.dataclass import dataclass, field
from xjit.fusion import cost
from xjit.fusion.regions.reads import sources
from xjit.fusion.statements import IndexedValue, Reduce
from xjit.ir.index_map import axes_of
from xjit.ir.loops.intexpr import variable
from xjit.ir.loops.nodes import Var


@dataclass(eq=False)
class RowStorage:
    """Values with a place in memory between passes: the statement whose output row holds them, or None for scratch.

    ``running`` are what scans make, kept where it is made.
    """

    places: dict[IndexedValue, int | None] = field(default_factory=dict)
    levels: dict[IndexedValue, int] = field(default_factory=dict)
    ahead: dict[IndexedValue, int] = field(default_factory=dict)
    running: frozenset[IndexedValue] = frozenset()

    def filled_in(self, level: int) -> list[IndexedValue]:
        """The values that the pass of this level has to keep."""
        others = self.ahead.keys() | self.running
        return [indexed for indexed, own in self.levels.items() if own == level and indexed not in others]

    def keep_running(self, indexed_values: dict[IndexedValue, int]) -> None:
        """Keeps what scans make in passes of these levels in scratch."""
        self.levels |= indexed_values
        self.running = frozenset(indexed_values)

    def filled_before(self, level: int) -> list[IndexedValue]:
        """The values that a loop of their own has to make before the pass of this level."""
        return [indexed for indexed, first in self.ahead.items() if first == level]


@dataclass(eq=False)
class KeptRows:
    """The values of a row that are kept for later passes, or within a walk for its next loops.

    ``level`` is that of the pass at hand.
    """

    storage: RowStorage
    walk: BlockWalk
    values: GroupValues
    level: int = 0
    _names: dict[IndexedValue, str] = field(default_factory=dict)
    _made: dict[IndexedValue, str] = field(default_factory=dict)

    def holds(self, indexed: IndexedValue) -> bool:
        """Whether an earlier loop has kept the value, which this one could not compute again."""
        waits = indexed in self.storage.ahead or indexed in self.storage.running
        return (waits and self._is_later(indexed)) or self.walk.holds(indexed)

    def is_staged(self, indexed: IndexedValue) -> bool:
        """Whether the value is to be loaded from where an earlier pass has stored it."""
        return self._is_later(indexed)

    def _is_later(self, indexed: IndexedValue) -> bool:
        return self.storage.levels.get(indexed, self.level) < self.level

    def place(self, indexed: IndexedValue) -> Place:
        """The buffer that the value is kept in, and where in it the one of the step at hand is."""
        if self.walk.keeps(indexed):
            return self.walk.place(indexed)
        return self._in_scratch(indexed)

    def places_of_scan(self, indexed: IndexedValue) -> Iterator[Place]:
        """Where a scan has to put the value for the walk at hand and for later passes."""
        if self.walk.keeps(indexed):
            yield self.walk.place(indexed)
        if indexed in self.storage.running:
            yield self._in_scratch(indexed)

    def note(self) -> None:
        """Notes the names of values that are kept for later passes, where they are computed."""
        for indexed in self.storage.filled_in(self.level):
            held = self.values.nest.known(indexed)
            if isinstance(value := held.bits or held.plain, Var):
                self._made.setdefault(indexed, value.name)

    def stage(self, place: int) -> None:
        """Has the values stored where they are computed first, and loaded where they are computed again."""
        found: list[Rewrite] = []
        moves: list[Rewrite] = []
        for indexed, name in self._made.items():
            number = self.storage.places[indexed]
            if number is None:
                found.append(StageValue(name, self._in_scratch(indexed)[0]))
                continue
            access = self.values.accesses.writes[number]
            assert access is not None
            buffer = self.values.nest.fresh("m")
            found.append(StageValue(name, buffer))
            moves.append(StageInOutput(buffer, self.values.buffers.place(access)[0]))
        self.values.nest.rewrites[place:place] = [*found, *moves]

    def _in_scratch(self, indexed: IndexedValue) -> Place:
        loop = self.values.plan.reduced[0]
        if indexed not in self._names:
            extent, dtype = self.values.bounds.extent(loop), storage_dtype(indexed.node.aval.dtype)
            self._names[indexed] = self.values.scratch.take(dtype, extent)
        return self._names[indexed], (variable(loop.variable),)


def choose_row_storage(passes: Passes) -> RowStorage:
    """Chooses the values that more than one pass needs and that cost more than a store and a load.

    An output row holds what its own statement reads: that is loaded, for all statements of the pass, before the
    statement stores. Results of nested reductions get a loop of their own, so that the pass that needs them is vector
    code.
    """
    storage, accesses, levels = RowStorage(), passes.accesses, passes.levels
    group, full = accesses.group, [number for number in range(len(levels)) if not passes.is_row(number)]
    if not full or (not group.nested and len({levels[number] for number in full}) < 2):
        return storage
    used: dict[IndexedValue, set[int]] = {}
    for number in full:
        for indexed in accesses.visits[number]:
            used.setdefault(indexed, set()).add(levels[number])
    table = cost.CostTable(accesses.leaves, accesses.machine)
    everywhere = frozenset(axis for axis in range(group.rank) if group.dims[axis] != 1)
    wanted = [
        indexed
        for indexed, passes in used.items()
        if axes_of(indexed.index) == everywhere
        and (
            indexed.node in group.nested
            or (len(passes) > 1 and table.total(indexed.node) >= accesses.machine.row_cost)
        )
    ]
    inner = {source for indexed in wanted for source in sources(indexed, group.dims, group.nested)}
    free: float = accesses.machine.row_scratch_bytes
    rows = _output_rows(passes, full)
    searched = _searched(passes, max(levels[number] for number in full))
    for indexed in (indexed for indexed in wanted if indexed not in inner):
        dtype = storage_dtype(indexed.node.aval.dtype)
        readers = [n for n in rows if indexed in accesses.visits[n] and indexed not in searched]
        place = next((n for n in readers if storage_dtype(group.statements[n].target.aval.dtype) == dtype), None)
        if place is not None:
            rows.remove(place)
        else:
            free -= _row_bytes(passes.plan, dtype.itemsize)
            if free < 0:
                continue
        storage.places[indexed] = place
        storage.levels[indexed] = min(used[indexed])
        if indexed.node in group.nested:
            storage.ahead[indexed] = min(used[indexed])
            storage.levels[indexed] = min(used[indexed]) - 1
    return storage


def _row_bytes(plan: Schedule, itemsize: int) -> float:
    if len(plan.reduced) != 1 or plan.chunked is not None:
        return math.inf
    return plan.reduced[0].extent * itemsize


def _searched(passes: Passes, last: int) -> set[IndexedValue]:
    """What searches of the last pass need once more when that pass has filled the output rows."""
    statements = enumerate(passes.accesses.group.statements)
    searches = (number for number, statement in statements if statement.is_search and passes.levels[number] == last)
    return {indexed for number in searches for indexed in passes.accesses.visits[number]}


def _output_rows(passes: Passes, full: list[int]) -> list[int]:
    """Statements of the last pass that store every element of the domain once: their rows are free until then.

    The rows of what a bitcast fills are counted in elements of another type.
    """
    group, levels = passes.accesses.group, passes.levels
    last = max(levels[number] for number in full)
    return [
        number
        for number in full
        if levels[number] == last
        and not isinstance(group.statements[number], Reduce)
        and group.statements[number].dims == group.dims
        and group.statements[number].values[0].node is group.statements[number].target
        and passes.accesses.writes[number] is not None
    ]
