"""Which expensive values of a row are kept between two passes, and where: in the output row that will replace them,
or in scratch.

In a softmax the exponentials of pass 2 are summed at once and divided in pass 3; they wait in the output row::

    for j0 in 0 .. n0:                     for j0 in 0 .. n0:
      v1 = exp(...)                          v1 = exp(...)
      s0 = add(s0, v1)                       o0[i0, j0] = v1
    for j0_0 in 0 .. n0:                     s0 = add(s0, v1)
      v6 = exp(...)                        for j0_0 in 0 .. n0:
      o0[i0, j0_0] = v6 / s0                 v6 = o0[i0, j0_0]
                                             o0[i0, j0_0] = v6 / s0
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.scopes import LoopBuilder
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
from xjit.ir.loops.nodes import Kernel

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


@dataclass(eq=False)
class RowStorage:
    """Values with a place in memory between passes: the statement whose output row holds them, or None for scratch.

    ``levels`` are the passes that make them; ``ahead`` are results of nested reductions, which a loop of their own
    makes before a pass; ``running`` are what scans make, kept where it is made.
    """

    places: dict[IndexedValue, int | None] = field(default_factory=dict)
    levels: dict[IndexedValue, int] = field(default_factory=dict)
    ahead: dict[IndexedValue, int] = field(default_factory=dict)
    running: frozenset[IndexedValue] = frozenset()

    @property
    def computed(self) -> list[IndexedValue]:
        """The values that each pass computes, until a rewrite has them stored by the first."""
        return [indexed for indexed in self.levels if indexed not in self.ahead and indexed not in self.running]

    def keep_running(self, indexed_values: dict[IndexedValue, int]) -> None:
        """Keeps what scans make in passes of these levels in scratch."""
        self.levels |= indexed_values
        self.running = frozenset(indexed_values)

    def filled_before(self, level: int) -> list[IndexedValue]:
        """The values that a loop of their own has to make before the pass of this level."""
        return [indexed for indexed, first in self.ahead.items() if first == level]


@dataclass(frozen=True, slots=True)
class KeptValue:
    """A value that later passes need, by the name that the first gives it: in scratch, or in the row of a result."""

    name: str
    buffer: str
    is_output: bool


def keep_rows(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what has values of rows stored by the pass that computes them first, and loaded by the others."""
    for one in nests:
        values = [(value, nest.fresh("m") if value.is_output else value.buffer) for value in one.kept_values]
        moves = [StageInOutput(buffer, value.buffer) for value, buffer in values if value.is_output]
        if values:
            yield (*(StageValue(value.name, buffer) for value, buffer in values), *moves)


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
    """The values that searches of the last pass need once more when that pass has filled the output rows."""
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
