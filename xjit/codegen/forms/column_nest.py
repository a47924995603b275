"""A group whose reduced axes are slow in memory: blocks of columns, an accumulator per column.

for b in range(lo, hi):                   # shared among threads
    for i in block: acc[i] = identity
    for j in reduced axes:
        for i in block: acc[i] = combine(acc[i], value)
    for i in block: out[i] = acc[i]
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence

from xjit.codegen.forms.columns import ColumnAccumulator, KeptColumns, most_columns
from xjit.codegen.forms.row_values import RowValues, expensive_row_values
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.reductions import Recognised
from xjit.codegen.lowering.variants import calls_varied
from xjit.codegen.scheduling.levels import Passes
from xjit.codegen.scheduling.scan_reads import ScanReads
from xjit.codegen.scheduling.several_rows import join_rows
from xjit.dataclass import dataclass
from xjit.fusion.cost import shared_columns
from xjit.fusion.statements import IndexedValue, Reduce, Scan
from xjit.ir.index_map import axes_of
from xjit.ir.loops.intexpr import minimum, variable
from xjit.ir.loops.nodes import LetInt, LoopKind
from xjit.types import FLOAT64

BLOCK = (variable("b_start"), variable("b_stop"))
"""The bounds of a block."""


@dataclass(eq=False)
class ColumnNest:
    """The loops of a group in blocks of columns, which are ``work`` additions in all."""

    values: GroupValues
    passes: Passes
    scans: ScanReads

    def __post_init__(self) -> None:
        values = self.values
        self.nest, self.bounds, self.plan, self.group = values.nest, values.bounds, values.plan, values.group
        self._loop = self.plan.kept[-1]
        self.work = values.accesses.work(columns=True)
        self._room = min(self.nest.machine.column_block, most_columns(self.group, self.nest.machine))
        # A block may have fewer columns than there is room for, so that there are blocks for all threads.
        elements = math.prod(self.group.dims)
        self._width = min(self._room, shared_columns(self._loop.extent, elements, self.work, self.nest.machine))
        self._steps = [*(loop.extent for loop in self.plan.kept[:-1]), math.ceil(self._loop.extent / self._width)]
        self._row_values = RowValues(values)
        self._kept = values.kept = KeptColumns(self._row_values, values.scratch, self._loop.variable, self._room)

    def write(self) -> None:
        """All loops."""
        outer = self.plan.kept[:-1]
        self.bounds.open(outer)
        scope = self.nest.open("b")
        width = self.nest.word("width", self._width, "width")
        stop = minimum(variable("b_start") + width, self.bounds.extent(self._loop))
        scope.statements += [LetInt("b_start", variable("b") * width), LetInt("b_stop", stop)]
        for level in range(1, self.passes.count + 1):
            self._pass(level)
        stops = [*map(self.bounds.extent, outer), self.nest.word("blocks", self._steps[-1], "blocks")]
        is_shared = self.plan.chunked is None and self.bounds.shared
        longest = self._steps.index(max(self._steps))
        for number in reversed(range(len(stops))):
            kind = LoopKind.PARALLEL if is_shared and number == longest else LoopKind.SERIAL
            self.nest.close(0, stops[number], kind)

    # ------------------------------------------------------------------ passes over the rows of a block

    def _pass(self, level: int) -> None:
        """All reductions, scans and stores of one level, for one block of columns."""
        chosen, outer = self.passes.along(level), self.plan.reduced[:-1]
        columns = {number: self._column(number) for number in chosen if not self._is_store(number)}
        self.nest.open(self._loop.variable, self._loop.axes)
        for column in columns.values():
            column.start()
        self.nest.close(*BLOCK)
        self.bounds.open(outer)
        self._rows(chosen, columns)
        self.bounds.close_reduced(outer)
        self._finish(
            level, {n: column for n, column in columns.items() if isinstance(self.group.statements[n], Reduce)}
        )

    def _column(self, number: int) -> ColumnAccumulator:
        is_scan = isinstance(self.group.statements[number], Scan)
        fold = self.values.running(number) if is_scan else self.values.accumulator(number)
        assert isinstance(fold, Recognised)
        return ColumnAccumulator(fold, self.values.scratch.take(fold.dtype, self._room), self._loop.variable)

    def _is_store(self, number: int) -> bool:
        return not isinstance(self.group.statements[number], Reduce | Scan)

    def _rows(self, chosen: Sequence[int], columns: Mapping[int, ColumnAccumulator]) -> None:
        """The last loop over rows: several of them in a step, where that saves loads and stores of accumulators."""
        rows = self.plan.reduced[-1]
        ahead = expensive_row_values(self.values.accesses, chosen, rows)
        strip = self._row_values.open(rows, self.bounds.reduced(rows), ahead) if ahead else None
        self.nest.open(rows.variable, rows.axes)
        self._row(chosen, columns)
        self.nest.close(*(strip or self.bounds.reduced(rows)))
        if strip:
            self._row_values.close(self.bounds.reduced(rows))
        elif self._fill_the_cache(columns.values()):
            join_rows(self.nest)

    def _fill_the_cache(self, columns: Iterable[ColumnAccumulator]) -> bool:
        """Whether accumulators are many enough to be loaded and stored for several rows at once."""
        size = sum(column.dtype.itemsize for column in columns) * self._loop.extent
        return size >= self.nest.machine.column_bytes

    def _row(self, chosen: Sequence[int], columns: Mapping[int, ColumnAccumulator]) -> None:
        """One row of the block."""
        rare = self._keep_rare(chosen)
        self.nest.open(self._loop.variable, self._loop.axes)
        for number in chosen:  # what reads a scan comes after it
            match self.group.statements[number]:
                case Reduce():
                    columns[number].take()
                case Scan():
                    self.values.settle_scan(number, columns[number].take_running())
        self.values.store_all(filter(self._is_store, chosen))
        self.nest.close(*BLOCK)
        self._kept.waiting.difference_update(rare)

    def _keep_rare(self, chosen: Sequence[int]) -> list[IndexedValue]:
        """Keeps calls of functions with rare arguments in scratch, as accumulators cannot run twice; not of scans."""
        values, loop = self.values, self._loop
        rare = [indexed for indexed in values.computed(chosen) if self._is_rare(indexed)]
        kept = [indexed for indexed in rare if not self.scans.are_needed_for(indexed)]
        kept = kept[: self.nest.machine.row_scratch_bytes // (2 * self._room * FLOAT64.itemsize)]
        if kept:
            values.loop(loop, BLOCK, kept, functools.partial(values.keep_all, kept))
            self._kept.waiting.update(kept)
        return kept

    def _is_rare(self, indexed: IndexedValue) -> bool:
        """Return whether a value calls a function with rare arguments in each column."""
        return bool(axes_of(indexed.index) & set(self._loop.axes)) and calls_varied(indexed.node)

    def _finish(self, level: int, columns: Mapping[int, ColumnAccumulator]) -> None:
        """The results of a block of columns; what the next pass reads of them is kept in scratch."""
        row = self.nest.open(self._loop.variable, self._loop.axes)
        for number, column in columns.items():
            self.values.settle(number, [column.finish(row)], row)
        if level == 1:
            self.values.store_all(self.passes.between(0))
        self.values.store_all(self.passes.between(level))
        needed = dict.fromkeys(self.passes.read_ahead(level + 1) + self.passes.read_later(level))
        ahead = [indexed for indexed in needed if not self._kept.holds(indexed)]
        self.values.keep_all(ahead)
        self.nest.close(*BLOCK)
        self._kept.waiting.update(ahead)
