"""The naive loops of a group: those over the kept axes around passes over the reduced ones.

    for i0 in 0 .. n0:                # kept axes
        pass 1: loop over the row, one or more reductions
        row values
        pass 2: loop over the row again, stores

Where nothing is reduced, the last kept axis is the innermost loop. Where the reduced axes are slow in memory, the row
is a column, whose elements are combined one after the other.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from xjit.codegen.lowering import reductions
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.naive.loop_bounds import Bounds
from xjit.codegen.lowering.naive.row_scratch import RowScratch
from xjit.codegen.lowering.naive.scan_operands import ScanOperands
from xjit.codegen.lowering.naive.short_lines import ShortLines
from xjit.codegen.lowering.running import RunningValue
from xjit.codegen.scheduling.ideas.columns import ColumnBlocks
from xjit.codegen.scheduling.ideas.joined_windows import joined_results, joined_steps
from xjit.codegen.scheduling.ideas.pairs import paired_loop
from xjit.codegen.scheduling.levels import Passes
from xjit.codegen.scheduling.rows.row_storage import RowStorage, choose_row_storage
from xjit.codegen.scheduling.rows.scan_reads import ScanReads
from xjit.codegen.scheduling.schedule import Loop
from xjit.dataclass import dataclass
from xjit.fusion.statements import Check, Reduce, Scan
from xjit.ir.loops.intexpr import variable


@dataclass(eq=False)
class NaiveLoops:
    """The loops of a group; with ``columns`` its rows are columns, which run in such blocks in the end."""

    values: GroupValues
    passes: Passes
    scans: ScanReads
    columns: ColumnBlocks | None

    def __post_init__(self) -> None:
        values = self.values
        self.nest, self.bounds, self.plan, self.group = values.nest, values.bounds, values.plan, values.group
        self._pairs = None if self.columns else paired_loop(values.loops)
        self._joined = joined_results(values.loops) if self.columns else None
        self._in_blocks = not self.columns and self.scans.are_worth_blocks
        keeps_nothing = self.columns or self._in_blocks
        self.storage = RowStorage() if keeps_nothing else choose_row_storage(self.passes)
        self.storage.keep_running(self.scans.read_later(self.passes.levels))
        self._kept = values.kept = RowScratch(self.storage, self.scans, values)
        values.staged = self._kept.is_staged
        self._folds: dict[int, reductions.Accumulator] = {}
        self._running: dict[int, RunningValue] = {}
        self._operands: ScanOperands | None = None
        self._along = reductions.NOWHERE
        if self.columns:
            # Loops over rows are the innermost ones in the end, as far as values depend on a column.
            values.elements.innermost |= {axis for loop in self.plan.reduced for axis in loop.axes}

    @property
    def work(self) -> float:
        """The work of all loops, in additions."""
        return self.values.accesses.work(columns=self.columns is not None)

    def write(self) -> None:
        """All loops."""
        outer = self.plan.kept if self.plan.reduced else self.plan.kept[:-1]
        self.values.find_stops()
        self.bounds.open(outer)
        if self.columns is not None and self.columns.least:
            self.nest.facts.append(self.bounds.extent(self.plan.kept[-1]) - self.columns.least)
        if self._joined is not None:
            steps = joined_steps(self._joined, self.values.accesses.machine)
            self.nest.facts.append(self.bounds.extent(self._joined) - steps)
        if self._pairs is None:
            self._rows(outer)
        else:
            self.values.buffers.join_neighbours(self._pairs)
            self.nest.facts.append(self.bounds.extent(self._pairs) - 2)
            with self.values.scratch.of_each(self.nest.inner):
                self._rows(outer)
        self.bounds.close_kept(len(outer))

    def _rows(self, outer: Sequence[Loop]) -> None:
        """The inside of the loops over rows."""
        if self.plan.reduced or not self.plan.kept:
            self._row()
        else:
            self._elements(len(outer))
        self.values.kept_values.extend(self._kept.kept_values)

    def _elements(self, number: int) -> None:
        """The last kept loop as the innermost one."""
        indexed_values = [indexed for visited in self.values.accesses.visits for indexed in visited]
        start, stop, kind = self.bounds.kept(number)
        self.values.loop(self.plan.kept[number], (start, stop), indexed_values, self._row, kind)

    def _row(self) -> None:
        """Everything that happens once per row: the passes over it, and what is stored between them."""
        self.values.write_passes(self.passes, self._pass)

    # ------------------------------------------------------------------ passes over a row

    def _pass(self, level: int) -> None:
        """One pass over the reduced axes: all reductions and stores that are ready."""
        row, statements, chosen = self.nest.inner, self.group.statements, self.passes.along(level)
        self._fill_ahead(level)
        self._kept.level = level
        self._kept.share()
        self._folds = {n: self.values.accumulator(n) for n in chosen if isinstance(statements[n], Reduce)}
        self._running = {n: self.values.running(n) for n in chosen if isinstance(statements[n], Scan)}
        for fold in (*self._folds.values(), *self._running.values()):
            if self.columns:
                fold.in_one_block()
            fold.start(row)
        few = None if self.columns else ShortLines.of(self.values, tuple(self._folds.values()))
        stops = dict(self.bounds.stops)
        if few is not None:
            self._few(few, chosen)
        self.bounds.open(self.plan.reduced[:-1])
        if self.plan.reduced:
            self._innermost(chosen)
        else:
            self._step(chosen)
        self.bounds.close_reduced(self.plan.reduced[:-1])
        self.bounds.stops = stops
        self._kept.finish(chosen)
        self._operands = None
        for number, fold in self._folds.items():
            self.values.settle(number, fold.finish(row), row)

    def _few(self, few: ShortLines, chosen: Sequence[int]) -> None:
        """The loop over few elements; those of more than few are left to the next one, if that makes nothing else."""
        checks = [number for number in chosen if isinstance(self.group.statements[number], Check)]
        is_all = len(few.sums) + len(checks) == len(chosen) and self.passes.count == 1

        def computed() -> None:
            few.take()
            for number in checks if is_all else ():
                self.values.store(number)

        few.start()
        stop = few.write(computed)
        if is_all:
            self.bounds.stops[self.plan.reduced[0].variable] = stop

    def _fill_ahead(self, level: int) -> None:
        """The loops that make results of nested reductions for the pass of this level."""
        self._kept.level = level - 1
        for indexed in self.storage.filled_before(level):
            self.bounds.open(self.plan.reduced)
            self.values.keep(indexed)
            self.bounds.close_reduced(self.plan.reduced)

    def _innermost(self, chosen: Sequence[int]) -> None:
        """The last reduced loop, in blocks where scans need them."""
        loop, line = self.plan.reduced[-1], self._line() or self.plan.reduced[-1:]
        start, stop = self.bounds.reduced(loop)
        if self._in_blocks and self._running:
            self._in_stages(loop, chosen)
        else:
            self._along = variable(line[0].variable)
            self._loop((start, stop), chosen)

    def _in_stages(self, loop: Loop, chosen: Sequence[int]) -> None:
        """Loops over a row, one behind the other: scans, and what needs them."""
        stages = self.scans.stages(chosen)
        rows = self._kept.hand_on(self.scans.handed_on(chosen))
        self._along = variable(loop.variable)
        self._operands = ScanOperands(self.scans, self.values, chosen)
        loops = 0
        for stage in stages:
            self._operands.begin(loops, stage)
            loops += self._loop(self._kept.span(stage), stage.statements)
            self._kept.finish(stage.statements)
        carry = next(iter(self._running.values())).name
        self.values.scan_passes.append(self._operands.found(carry, loops, rows))

    def _loop(self, bounds: Bounds, chosen: Sequence[int]) -> bool:
        """One loop over steps of a row; False where it would do nothing."""
        step = functools.partial(self._step, chosen)
        # The loop over columns becomes the innermost one: a rewrite decides about its calls.
        computed = () if self.columns else self.values.computed(chosen)
        return self.values.loop(self.plan.reduced[-1], bounds, computed, step)

    def _line(self) -> tuple[Loop, ...]:
        """The loops of what a sum takes as one line of elements, where they are several: views of larger arrays."""
        order = self.group.sums
        sums = (fold for fold in self._folds.values() if isinstance(fold, reductions.Recognised) and fold.in_lanes)
        if order is None or not any(sums):
            return ()
        loops = tuple(loop for loop in self.plan.reduced if set(loop.axes) <= set(order.line))
        return loops if len(loops) > 1 else ()

    def _step(self, chosen: Sequence[int]) -> None:
        """One element of a row."""
        if self._operands is not None:
            self._operands.take_first()
        for number in chosen:
            if number in self._folds:
                self._take(self._folds[number])
            elif number in self._running:
                self.values.settle_scan(number, self._running[number].advance(self.nest.inner))
            else:
                self.values.store(number)
        self._kept.note()
        if self._operands is not None:
            self._operands.note()

    def _take(self, fold: reductions.Accumulator) -> None:
        """Combine an accumulator with the element at hand."""
        if self.columns:
            fold.take_in_order(self.nest.inner)
        else:
            fold.take(self.nest.inner, self._along)
