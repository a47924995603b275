"""A group row by row: loops over the kept axes around passes over the reduced ones.

    for i0 in range(lo, hi):          # kept axes, shared among threads
        pass 1: loop over the row, one or more reductions
        row values
        pass 2: loop over the row again, stores

Where nothing is reduced, the last kept axis is the innermost loop.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from xjit.codegen.forms.rows import KeptRows, RowStorage, choose_row_storage
from xjit.codegen.forms.walks import BlockWalk, Stage
from xjit.codegen.lowering import reductions
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.loop_bounds import Bounds
from xjit.codegen.lowering.running import RunningValue
from xjit.codegen.scheduling.levels import Passes
from xjit.codegen.scheduling.pairs import paired_loop
from xjit.codegen.scheduling.scan_reads import ScanReads
from xjit.codegen.scheduling.schedule import Loop
from xjit.dataclass import dataclass
from xjit.fusion.regions.reads import below
from xjit.fusion.statements import IndexedValue, Reduce, Scan
from xjit.ir.loops.intexpr import variable


@dataclass(eq=False)
class RowNest:
    """The loops of a group row by row."""

    values: GroupValues
    passes: Passes
    scans: ScanReads

    def __post_init__(self) -> None:
        values = self.values
        self.nest, self.bounds, self.plan, self.group = values.nest, values.bounds, values.plan, values.group
        self._pairs = paired_loop(values.loops)
        self._in_blocks = self.scans.are_worth_blocks
        self._walk = BlockWalk(self.scans, self.nest, values.scratch)
        self.storage = RowStorage() if self._in_blocks else choose_row_storage(self.passes)
        self.storage.keep_running(self.scans.read_later(self.passes.levels))
        self._kept = values.kept = KeptRows(self.storage, self._walk, values)
        self._folds: dict[int, reductions.Accumulator] = {}
        self._running: dict[int, RunningValue] = {}
        self._along = reductions.NOWHERE

    @property
    def reads_again(self) -> bool:
        """Whether what one loop over a row reads another one may read, or another of joined iterations."""
        return self._in_blocks or self._pairs is not None or self.plan.short is not None

    @property
    def work(self) -> float:
        """How much there is to compute, in additions."""
        return self.values.accesses.work(columns=False)

    def write(self) -> None:
        """All loops."""
        outer = self.plan.kept if self.plan.reduced else self.plan.kept[:-1]
        self.bounds.open(outer)
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

    def _elements(self, number: int) -> None:
        """The last kept loop as the innermost one."""
        indexed_values = [indexed for visited in self.values.accesses.visits for indexed in visited]
        start, stop, kind = self.bounds.kept(number)
        self.values.loop(self.plan.kept[number], (start, stop), indexed_values, self._row, kind)

    def _row(self) -> None:
        """Everything that happens once per row: the passes over it, and what is stored between them."""
        self.values.store_all(self.passes.between(0))
        for level in range(1, self.passes.count + 1):
            if self.group.chunk is not None:
                for indexed in self.passes.read_ahead(level):
                    self.values.elements.value(indexed)
            self._pass(level)
            self.values.store_all(self.passes.between(level))

    # ------------------------------------------------------------------ passes over a row

    def _pass(self, level: int) -> None:
        """One pass over the reduced axes: all reductions and stores that are ready."""
        row, statements, chosen = self.nest.inner, self.group.statements, self.passes.along(level)
        self._fill_ahead(level)
        self._kept.level = level
        self._folds = {n: self.values.accumulator(n) for n in chosen if isinstance(statements[n], Reduce)}
        self._running = {n: self.values.running(n) for n in chosen if isinstance(statements[n], Scan)}
        for fold in (*self._folds.values(), *self._running.values()):
            fold.start(row)
        self.bounds.open(self.plan.reduced[:-1])
        if self.plan.reduced:
            self._innermost(chosen)
        else:
            self._step(chosen)
        self.bounds.close_reduced(self.plan.reduced[:-1])
        for number, fold in self._folds.items():
            self.values.settle(number, fold.finish(row), row)

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
            self._walk.write(loop, stop, chosen, self._stage)
        else:
            self._along = variable(line[0].variable)
            self._loop((start, stop), chosen)

    def _stage(self, stage: Stage, block: Bounds) -> None:
        """One loop over a block of a walk."""
        self._along = self._walk.block
        self._loop(block, stage.statements, stage.filled)

    def _loop(self, bounds: Bounds, chosen: Sequence[int], filled: Sequence[IndexedValue] = ()) -> None:
        """One loop over steps of a row; ``filled`` are made for scans in the next loop."""
        indexed_values = [*self.values.computed(chosen), *below(filled, self.values.accesses.operands)]
        step = functools.partial(self._step, chosen, filled)
        self.values.loop(self.plan.reduced[-1], bounds, indexed_values, step)

    def _line(self) -> tuple[Loop, ...]:
        """The loops of what a sum takes as one line of elements, where they are several: views of larger arrays."""
        order = self.group.sums
        sums = (fold for fold in self._folds.values() if isinstance(fold, reductions.Recognised) and fold.in_lanes)
        if order is None or not any(sums):
            return ()
        loops = tuple(loop for loop in self.plan.reduced if set(loop.axes) <= set(order.line))
        return loops if len(loops) > 1 else ()

    def _step(self, chosen: Sequence[int], filled: Sequence[IndexedValue] = ()) -> None:
        """One element of a row."""
        self.values.keep_all((*self.storage.filled_in(self._kept.level), *filled))
        for number in chosen:
            if number in self._folds:
                self._folds[number].take(self.nest.inner, self._along)
            elif number in self._running:
                self.values.settle_scan(number, self._running[number].advance(self.nest.inner))
            else:
                self.values.store(number)
