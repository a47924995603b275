"""A group becomes a nest of naive loops, with what the scheduler has to know of them."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.lowering.buffers import Pointers
from xjit.codegen.lowering.check_flags import Checks
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.naive.chunks import open_chunks
from xjit.codegen.lowering.naive.loop_bounds import LoopBounds
from xjit.codegen.lowering.naive.loop_names import LoopNames
from xjit.codegen.lowering.naive.naive_loops import NaiveLoops
from xjit.codegen.lowering.naive.naive_updates import NaiveUpdates
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.lowering.scratch import Scratch
from xjit.codegen.scheduling.ideas.columns import ColumnBlocks
from xjit.codegen.scheduling.levels import Passes
from xjit.codegen.scheduling.loop_order import ordered
from xjit.codegen.scheduling.rows.scan_reads import ScanReads
from xjit.codegen.scheduling.scheduler import NaiveNest
from xjit.codegen.scheduling.scratch_axes import InTiles
from xjit.dataclass import dataclass
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.plan import FusionGroup
from xjit.ir.loops.nodes import LoopKind
from xjit.ir.node import Node


@dataclass(eq=False)
class Lowering:
    """One group: ``write`` puts its loops into the nest."""

    group: FusionGroup
    layouts: Layouts
    leaves: frozenset[Node]
    stored: frozenset[Node]
    nest: LoopBuilder
    pointers: Pointers
    checks: Checks
    scratch: Scratch
    tiles: InTiles

    def __post_init__(self) -> None:
        loops = self.loops = ordered(
            self.group, self.layouts, self.leaves, self.stored, self.nest.machine, self.tiles
        )
        self.group, self.accesses = loops.group, loops.accesses
        self.passes, scans = Passes(self.accesses, loops.plan), ScanReads(self.accesses)
        self.columns: ColumnBlocks | None = None
        if self._is_in_columns(scans):
            self.columns = ColumnBlocks.of(self.accesses, loops.plan)
            loops = self.loops = replace(loops, plan=self.columns.shared(loops.plan))
        loops = self.loops = replace(loops, plan=loops.plan.with_limits(self.group.limits))
        self.plan = loops.plan
        self._names = LoopNames(self.nest)
        self.bounds = LoopBounds(self.nest, self.plan)
        self.values = GroupValues(
            loops, self.stored, self.nest, self.pointers, self.checks, self.scratch, self.bounds
        )
        self.naive_loops: NaiveLoops | NaiveUpdates
        if self.group.changes:
            self.naive_loops = NaiveUpdates(self.values)
        else:
            self.naive_loops = NaiveLoops(self.values, self.passes, scans, self.columns)

    def _is_in_columns(self, scans: ScanReads) -> bool:
        """Return whether columns run in blocks, for which no pass but the first may store whole rows."""
        plan = self.loops.plan
        if self.loops.transposition is not None or not plan.columns or not self.group.reduced:
            return False
        return self.passes.store_once and not self._waits_for(scans)

    def _waits_for(self, scans: ScanReads) -> bool:
        """Return whether something needs a scan at other steps than its own, for which whole rows are kept."""
        return self.group.has_skew or bool(scans.read_later(self.passes.levels))

    @property
    def work(self) -> float:
        """The work of all loops, in additions."""
        return self.naive_loops.work

    @property
    def naive(self) -> NaiveNest:
        """The loops that have been written."""
        loops = {name: tuple(own) for name, own in self._names.given.items()}
        kept, scans = tuple(self.values.kept_values), tuple(self.values.scan_passes)
        return NaiveNest(self.loops, loops, self.values.buffers, self.columns, kept, scans)

    @property
    def is_alone(self) -> bool:
        """Return whether none of the loops is one whose iterations threads share."""
        return self.plan.shared is None and self.plan.chunked is None

    def write(self) -> None:
        """The whole nest, its loops with names of their own."""
        statements = self.nest.inner.statements
        begin = len(statements)
        self._write()
        statements[begin:] = self._names.told_apart(tuple(statements[begin:]))

    def _write(self) -> None:
        if self.plan.single:
            self._write_around_single()
            return
        if self.plan.chunked is None:
            self.naive_loops.write()
            return
        chunks = open_chunks(self.nest, self.group, self.plan)
        self.naive_loops.write()
        self.nest.close(0, chunks, LoopKind.PARALLEL if self.bounds.shared else LoopKind.SERIAL)

    def _write_around_single(self) -> None:
        """The nest inside of the loops over single elements, which has all that depends on no other loop."""
        for loop in self.plan.single:
            self.nest.open(loop.variable)
        outermost, self.nest.outermost = self.nest.outermost, len(self.nest.scopes) - 1
        self.naive_loops.write()
        for loop in reversed(self.plan.single):
            self.nest.close(0, loop.extent)
        self.nest.outermost = outermost
