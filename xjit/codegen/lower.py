"""A region becomes a loop nest.

A row region with two passes:

    for i0 in range(lo, hi):          # kept axes, shared among threads
        pass 1: loop over the row, one or more reductions
        row values
        pass 2: loop over the row again, stores
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xjit.codegen import reductions
from xjit.codegen.buffers import Buffers, Pointers
from xjit.codegen.checks import Checks
from xjit.codegen.chunks import open_chunks
from xjit.codegen.columns import ColumnAccumulator, most_columns
from xjit.codegen.elements import Elements, storage_dtype
from xjit.codegen.levels import is_row, levels_of, read_ahead, read_later, stores_once
from xjit.codegen.loop_order import ordered
from xjit.codegen.nested import NestedReductions
from xjit.codegen.packed import PackedReductions
from xjit.codegen.row_values import RowValues, expensive_row_values
from xjit.codegen.rows import SCRATCH_BYTES, RowStorage, choose_row_storage
from xjit.codegen.running import RunningValue
from xjit.codegen.schedule import Loop
from xjit.codegen.scopes import Held, Nest, Scope
from xjit.codegen.several_rows import join_rows
from xjit.codegen.strips import Strips
from xjit.codegen.tiles import Tiles
from xjit.codegen.walks import BlockWalk
from xjit.fusion.cost import COLUMN_BLOCK, COLUMN_BYTES, shared_columns
from xjit.fusion.groups import made_at
from xjit.fusion.layout import Layouts
from xjit.fusion.plan import Pull, Region
from xjit.fusion.units import owner
from xjit.ir.index import relabel
from xjit.ir.loops import Alloc, Base, Bound, Load, LoopKind, Offset, Store, Term
from xjit.ir.node import Node
from xjit.types import BOOL, FLOAT64, DType, TupleType

Folds: TypeAlias = "dict[int, reductions.Accumulator]"


@dataclass(eq=False)
class Lowering:
    """One region: ``write`` puts its loops into the nest. ``shared`` are the names of the bounds of the loop that
    threads share, None where they share none. The loops over ``tiled`` axes stay apart and have ``bounds``.
    """

    region: Region
    layouts: Layouts
    leaves: frozenset[Node]
    stored: frozenset[Node]
    nest: Nest
    pointers: Pointers
    checks: Checks
    tiled: frozenset[int] = frozenset()
    shared: tuple[str, str] | None = ("lo", "hi")
    bounds: dict[int, tuple[str, str]] = field(default_factory=dict)
    allocs: list[Alloc] = field(default_factory=list)
    row_names: dict[Pull, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        loops_of = ordered(self.region, self.layouts, self.leaves, self.stored, self.tiled)
        self.region, self.accesses, self.plan = loops_of.region, loops_of.accesses, loops_of.plan
        self.pairs = loops_of.pairs
        columns = self.plan.columns or not self.plan.reduced
        loops = self.plan.kept if columns else self.plan.reduced
        innermost = frozenset(loops[-1].axes) if loops else frozenset()
        self.elements = Elements(self.nest, self._read, self._is_leaf, self._variable, innermost, self.region.dims)
        self.strips = Strips(self.nest, self.elements)
        memory = (self.nest, self.elements, self.plan, self.region, self.accesses, self.pointers)
        self.tiles = None if loops_of.transposition is None else Tiles(*memory, loops_of.transposition)
        self.buffers = self.tiles or Buffers(*memory)
        packed = PackedReductions(self.nest, self.elements, self.buffers, self.scratch, self._extent)
        self.nested = NestedReductions(self.nest, self.elements, self.plan, self.region.nested, self._extent, packed)
        self.levels = levels_of(self.accesses, self.plan)
        self.walk = BlockWalk(self.region, self.accesses, self.nest, self.scratch)
        running = self.walk.read_later(self.levels)
        lagging = any(unit.lag is not None for unit in self.region.units)
        by_column = self.plan.columns and bool(self.region.reduced) and not running and not lagging
        self.column_block = min(COLUMN_BLOCK, most_columns(self.region))
        self.in_columns = by_column and stores_once(self.region, self.plan, self.levels)
        self.in_blocks = not self.in_columns and self.walk.is_worthwhile
        self.row_storage = RowStorage() if self.in_columns or self.in_blocks else self._chosen_rows()
        self.row_storage.keep_running(running)
        self.row_values = RowValues(self.region, self.nest, self.elements, self.strips, self.scratch, self._fill)
        self.level = 0
        self.scans: dict[int, RunningValue] = {}

    # ------------------------------------------------------------------ the nest

    def write(self) -> int:
        """The whole nest; the number of steps of the shared loop."""
        return self._columns() if self.in_columns else self._rows()

    def _chosen_rows(self) -> RowStorage:
        full = [number for number in range(len(self.levels)) if not is_row(self.region, self.plan, number)]
        return choose_row_storage(self.region, self.accesses, self.plan, self.levels, full)

    @property
    def extent(self) -> int:
        """The number of steps of the shared loop, where it is one over elements."""
        if self.tiles is not None:
            return self.tiles.transposition.steps
        return 1 if self.plan.shared is None else self._steps(self.plan.kept[self.plan.shared])

    def _steps(self, loop: Loop) -> int:
        return math.ceil(loop.extent / 2) if loop == self.pairs else loop.extent

    def _rows(self) -> int:
        """Kept loops around the passes; the number of steps of the shared loop."""
        if self.tiles is not None:
            self.tiles.write(self.strips, self._row, self._kept_bounds, self._extent)
            self.allocs += self.tiles.allocs
            return self.extent
        chunks = open_chunks(self.nest, self.region, self.plan) if self.plan.chunked is not None else None
        outer = self.plan.kept if self.plan.reduced else self.plan.kept[:-1]
        for loop in outer:
            if loop == self.pairs:
                self.nest.open_pairs(loop.variable, loop.axes, self.nest.word("pairs", loop.extent - 2, "n"))
            else:
                self.nest.open(loop.variable, loop.axes)
        if self.plan.reduced or not self.plan.kept:
            self._row()
        else:
            number = len(outer)
            # What depends on a fold over single elements is known inside of the loop only, too late for strips.
            folding = any(unit.is_reduction for unit in self.region.units)
            pulls = [] if folding else [pull for walked in self.accesses.walks for pull in walked]
            start, stop, kind = self._kept_bounds(number)
            self.strips.loop(self.plan.kept[number], (start, stop), pulls, self._row, kind=kind)
        for number in reversed(range(len(outer))):
            self.nest.close(*self._kept_bounds(number))
        if chunks is not None:
            self.nest.close("lo", "hi", LoopKind.PARALLEL)
            return chunks
        return self.extent

    def _kept_bounds(self, number: int) -> tuple[str, str, LoopKind]:
        loop = self.plan.kept[number]
        if loop.axes[0] in self.bounds:
            return *self.bounds[loop.axes[0]], LoopKind.SERIAL
        if number == self.plan.shared and self.shared is not None:
            return *self.shared, LoopKind.PARALLEL
        stop = self.nest.word("steps", self._steps(loop), "n") if loop == self.pairs else self._extent(loop)
        return "0", stop, LoopKind.SERIAL

    def _row(self) -> None:
        """Everything that happens once per row: the passes over it, and what is stored between them."""
        self._row_units(0)
        for level in range(1, max(self.levels, default=0) + 1):
            if self.region.chunk is not None:
                for pull in read_ahead(self.accesses, self.plan, self.levels, level):
                    self.elements.value(pull)
            self._pass(level)
            self._row_units(level)

    def _range(self, loop: Loop) -> tuple[str, str]:
        if self.plan.chunked is not None and loop is self.plan.reduced[self.plan.chunked]:
            return "k_start", "k_stop"
        return "0", self._extent(loop)

    def _extent(self, loop: Loop) -> str:
        return self.nest.extent(loop.variable, loop.extent)

    # ------------------------------------------------------------------ passes over a row

    def _pass(self, level: int) -> None:
        """One pass over the reduced axes: all reductions and stores that are ready."""
        row = self.nest.inner
        self._fill_ahead(level)
        self.level = level
        chosen = [
            n
            for n, unit in enumerate(self.region.units)
            if self.levels[n] == level and not is_row(self.region, self.plan, n)
        ]
        folds = {n: self._accumulator(n) for n in chosen if self.region.units[n].is_reduction}
        self.scans = {n: self._running(n) for n in chosen if self.region.units[n].is_scan}
        for fold in (*folds.values(), *self.scans.values()):
            fold.start(row)
        for loop in self.plan.reduced[:-1]:
            self.nest.open(loop.variable, loop.axes)
        if self.plan.reduced:
            self._innermost(chosen, folds, any(fold.blocked for fold in folds.values()))
        else:
            self._block(chosen, folds)
        for loop in reversed(self.plan.reduced[:-1]):
            self.nest.close(*self._range(loop))
        for number, fold in folds.items():
            self._settle(number, fold.finish(row), row)

    def _fill_ahead(self, level: int) -> None:
        """The loops that make results of nested reductions for the pass of this level."""
        self.level = level - 1
        for pull in self.row_storage.filled_before(level):
            for loop in self.plan.reduced:
                self.nest.open(loop.variable, loop.axes)
            self._fill(pull)
            for loop in reversed(self.plan.reduced):
                self.nest.close(*self._range(loop))

    def _innermost(self, chosen: list[int], folds: Folds, blocked: bool) -> None:
        loop = self.plan.reduced[-1]
        start, stop = self._range(loop)
        if self.in_blocks and self.scans:
            self.walk.write(loop, stop, chosen, lambda one, b: self._loop(b, one.units, folds, True, one.filled))
            return
        stops = 0 < len(folds) == len(chosen) and all(fold.unfinished is not None for fold in folds.values())
        if not blocked and not stops:
            self._loop((start, stop), chosen, folds, short=False)
            return
        size = reductions.block_size(self.accesses.leaves_gaps(loop.axes[-1])) if blocked else reductions.STOP_BLOCK
        block, end = self.nest.fresh("b"), self.nest.fresh("e")
        scope = self.nest.open(block)
        scope.statements.append(Bound(end, block, size, stop))
        self._loop((block, end), chosen, folds, short=blocked)
        if stops:
            self.nest.only_if([fold.unfinished for fold in folds.values()], 1)
        self.nest.close(start, stop, step=size)

    def _loop(
        self, bounds: tuple[str, str], chosen: Sequence[int], folds: Folds, short: bool, filled: Sequence[Pull] = ()
    ) -> None:
        around, own = self.nest.inner, [folds[number] for number in chosen if number in folds]
        for fold in own:
            fold.start_block(around, bounds)
        pulls = [pull for number in chosen for pull in self.accesses.walks[number] if not self._waits_in_row(pull)]
        pulls += [below for pull in filled for below in self.walk.below(pull)]
        self.strips.loop(self.plan.reduced[-1], bounds, pulls, lambda: self._body(chosen, folds, filled), short=short)
        for fold in own:
            fold.end_block(around)

    def _block(self, chosen: list[int], folds: Folds) -> None:
        around = self.nest.inner
        for fold in folds.values():
            fold.start_block(around, ("0", "1"))
        self._body(chosen, folds)
        for fold in folds.values():
            fold.end_block(around)

    def _body(self, chosen: Sequence[int], folds: Folds, filled: Sequence[Pull] = ()) -> None:
        for pull in (*self.row_storage.filled_in(self.level), *filled):
            self._fill(pull)
        for number in chosen:
            if number in folds:
                folds[number].take(self.nest.inner)
            elif number in self.scans:
                self._settle_scan(number, self.scans[number].advance(self.nest.inner))
            else:
                self._store(number)

    def _running(self, number: int) -> RunningValue:
        return RunningValue(self.elements, self.region.units[number], self.region.axes[number])

    def _settle_scan(self, number: int, held: Held) -> None:
        """Makes a running value known where it stands, and stores it."""
        unit, access = self.region.units[number], self.accesses.writes[number]
        index = made_at(unit, self.region.axes[number])
        assert access is not None and index is not None
        pull = Pull(unit.target, index)
        self.nest.inner.known[pull] = held
        if self.walk.keeps(pull):
            self._fill(pull, self.walk.place(pull))
        if pull in self.row_storage.running:
            self._fill(pull, self._scratch_place(pull))
        if unit.target in self.stored:
            self.buffers.put(access, held)

    def _accumulator(self, number: int) -> reductions.Accumulator:
        return reductions.make(self.elements, self.region.units[number], self.region.axes[number])

    def _settle(self, number: int, results: list[Held], row: Scope) -> None:
        """Makes the results of a reduction known to the row, and stores those that have a buffer."""
        unit, axes = self.region.units[number], self.region.axes[number]
        index = made_at(unit, axes)
        nodes = self.accesses.results_of(unit.target)
        for k, held in enumerate(results):
            for node in nodes.get(k, ()):
                if index is not None:
                    row.known[Pull(node, index)] = held
                if node in self.stored or (node is unit.target and not isinstance(node.type, TupleType)):
                    self._store_result(node, number, held)

    def _store_result(self, node: Node, number: int, held: Held) -> None:
        access = self.accesses.writes[number]
        if access is None or node not in self.stored:
            return
        self.buffers.put(dataclasses.replace(access, node=node), held, chunked=self.region.chunk is not None)

    def _row_units(self, level: int) -> None:
        """Stores that need no more passes: one element per row."""
        for number in range(len(self.region.units)):
            if self.levels[number] == level and is_row(self.region, self.plan, number):
                self._store(number)

    # ------------------------------------------------------------------ columns

    def _columns(self) -> int:
        """Reduced axes that are slow in memory: blocks of columns, an accumulator per column.

        for b in range(lo, hi):
            for i in block: acc[i] = identity
            for j in reduced axes:
                for i in block: acc[i] = combine(acc[i], value)
            for i in block: out[i] = acc[i]
        """
        loop = self.plan.kept[-1]
        chunks = open_chunks(self.nest, self.region, self.plan) if self.plan.chunked is not None else None
        for outer in self.plan.kept[:-1]:
            self.nest.open(outer.variable, outer.axes)
        scope = self.nest.open("b")
        block = min(self.column_block, shared_columns(loop.extent, math.prod(self.region.dims), self.work))
        width = self.nest.word("width", block, "width")
        scope.statements.append(Base("b_start", Offset((Term("b", width),))))
        scope.statements.append(Bound("b_stop", "b_start", width, self._extent(loop)))
        for level in range(1, max(self.levels) + 1):
            self._column_pass(loop, level)
        blocks = math.ceil(loop.extent / block)
        extents = [outer.extent for outer in self.plan.kept[:-1]] + [blocks]
        stops = [self._extent(outer) for outer in self.plan.kept[:-1]] + [self.nest.word("blocks", blocks, "blocks")]
        shared = extents.index(max(extents)) if chunks is None else None
        for number in reversed(range(len(extents))):
            if number == shared:
                self.nest.close("lo", "hi", LoopKind.PARALLEL)
            else:
                self.nest.close("0", stops[number])
        if chunks is None:
            return max(extents)
        self.nest.close("lo", "hi", LoopKind.PARALLEL)
        return chunks

    def _column_pass(self, loop: Loop, level: int) -> None:
        """All reductions, scans and stores of one level, for one block of columns."""
        self.level = level
        chosen = [n for n, own in enumerate(self.levels) if own == level and not is_row(self.region, self.plan, n)]
        columns = {n: self._column(n, loop) for n in chosen if not self._is_store(n)}
        self.nest.open(loop.variable, loop.axes)
        for column in columns.values():
            column.start()
        self.nest.close("b_start", "b_stop")
        for reduced in self.plan.reduced[:-1]:
            self.nest.open(reduced.variable, reduced.axes)
        rows = self.plan.reduced[-1]
        ahead = expensive_row_values(self.region, self.accesses, chosen, rows)
        strip = self.row_values.open(rows, self._range(rows), ahead) if ahead else None
        self.nest.open(rows.variable, rows.axes)
        self._add_rows(loop, chosen, columns)
        self.nest.close(*(strip or self._range(rows)))
        names = [column.name for column in columns.values()]
        if strip:
            self.row_values.close(self._range(rows), names)
        elif sum(fold.dtype.itemsize for fold in columns.values()) * loop.extent >= COLUMN_BYTES:
            join_rows(self.nest, names)
        for reduced in reversed(self.plan.reduced[:-1]):
            self.nest.close(*self._range(reduced))
        self._finish_columns(loop, {n: columns[n] for n in chosen if self.region.units[n].is_reduction})

    def _add_rows(self, loop: Loop, chosen: list[int], columns: dict[int, ColumnAccumulator]) -> None:
        """One step of the loops over reduced axes, for all columns of the block."""
        rare = self._fill_columns(loop, chosen)
        self.nest.open(loop.variable, loop.axes)
        for number in chosen:  # what reads a scan comes after it
            if self.region.units[number].is_reduction:
                columns[number].take()
            elif self.region.units[number].is_scan:
                self._settle_scan(number, columns[number].take_running())
        for number in filter(self._is_store, chosen):
            self._store(number)
        self.nest.close("b_start", "b_stop")
        for pull in rare:
            del self.row_storage.levels[pull]

    def _is_store(self, number: int) -> bool:
        unit = self.region.units[number]
        return not (unit.is_reduction or unit.is_scan)

    def _finish_columns(self, loop: Loop, columns: dict[int, ColumnAccumulator]) -> None:
        """The results of a block of columns; what the next pass reads of them is kept in scratch."""
        row = self.nest.open(loop.variable, loop.axes)
        for number, column in columns.items():
            self._settle(number, [column.finish(row)], row)
        if self.level == 1:
            self._row_units(0)
        self._row_units(self.level)
        ahead = read_ahead(self.accesses, self.plan, self.levels, self.level + 1)
        ahead += read_later(self.accesses, self.plan, self.levels, self.level)
        for pull in dict.fromkeys(ahead):
            self._fill(pull)
        self.nest.close("b_start", "b_stop")
        self.row_storage.levels.update(dict.fromkeys(ahead, self.level))

    def _fill_columns(self, loop: Loop, chosen: list[int]) -> list[Pull]:
        """Keeps calls of functions with rare arguments in scratch, as accumulators cannot run twice; not of scans."""
        pulls, later = [pull for n in chosen for pull in self.accesses.walks[n]], self.walk.made_of_scans(chosen)
        rare = dict.fromkeys(pull for pull in pulls if self.strips.is_rare(pull, loop) and pull not in later)
        kept = list(rare)[: SCRATCH_BYTES // (2 * self.column_block * FLOAT64.itemsize)]

        def fill() -> None:
            for pull in kept:
                self._fill(pull)

        if kept:
            self.strips.loop(loop, ("b_start", "b_stop"), kept, fill)
            self.row_storage.levels.update(dict.fromkeys(kept, self.level - 1))
        return kept

    def _column(self, number: int, loop: Loop) -> ColumnAccumulator:
        fold = self._running(number) if self.region.units[number].is_scan else self._accumulator(number)
        assert isinstance(fold, reductions.Recognised)
        return ColumnAccumulator(fold, self.scratch(str(self.column_block), fold.dtype), loop.variable)

    # ------------------------------------------------------------------ memory

    def _variable(self, axis: int) -> str | None:
        loop = self.plan.loop_of(axis)
        return None if loop is None else loop.variable

    def _is_leaf(self, pull: Pull) -> bool:
        if pull in self.accesses.reads or self._waits_in_row(pull) or pull.node in self.nested.first:
            return True
        return owner(pull.node) in self.accesses.targets & self.accesses.leaves

    def _waits_in_row(self, pull: Pull) -> bool:
        earlier = self.row_storage.levels.get(pull, self.level) < self.level
        return earlier or pull in self.row_values.waiting or self.walk.holds(pull)

    def _read(self, pull: Pull) -> Held:
        if self._waits_in_row(pull):
            return self._from_row(pull)
        if pull.node in self.nested.first:
            return self.nested.result(pull)
        access = self.accesses.reads[pull]
        return self.buffers.load(access, self.nest.scope_for(pull.index), pull.node, False)

    def _store(self, number: int) -> None:
        unit, axes = self.region.units[number], self.region.axes[number]
        pull = unit.values[0]
        held = self.elements.value(Pull(pull.node, relabel(pull.index, axes)))
        if unit.is_check:
            self.checks.take(unit.target, self.elements.plain(held, BOOL, pull.node.where), held.scope)
            return
        access = self.accesses.writes[number]
        assert access is not None
        self.buffers.put(access, held, source=pull.node)

    def _fill(self, pull: Pull, place: tuple[str, Offset] | None = None) -> None:
        """Keeps an expensive value of the row for later passes: in scratch, or in the output row it will become."""
        held = self.elements.value(pull)
        dtype = pull.node.aval.dtype
        value = self.elements.bits(held, dtype, pull.node.where)
        name, offset = place or self._row_place(pull)
        self.nest.inner.statements.append(Store(name, offset, value, storage_dtype(dtype), pull.node.where))

    def _from_row(self, pull: Pull) -> Held:
        """A value that an earlier pass kept."""
        name, offset = self._row_place(pull)
        return self.buffers.held(
            Load(name, offset, storage_dtype(pull.node.aval.dtype), True), self.nest.scope_for(pull.index), pull.node
        )

    def _row_place(self, pull: Pull) -> tuple[str, Offset]:
        if pull in self.row_values.places:
            return self.row_values.places[pull]
        if self.walk.keeps(pull):
            return self.walk.place(pull)
        number = self.row_storage.places.get(pull)
        if number is not None:
            access = self.accesses.writes[number]
            assert access is not None
            return self.buffers.place(access)
        return self._scratch_place(pull)

    def _scratch_place(self, pull: Pull) -> tuple[str, Offset]:
        loop = self.plan.kept[-1] if self.in_columns else self.plan.reduced[0]
        if pull not in self.row_names:
            extent = str(self.column_block) if self.in_columns else self._extent(loop)
            self.row_names[pull] = self.scratch(extent, storage_dtype(pull.node.aval.dtype))
        first = (Term("b_start", -1),) if self.in_columns else ()
        return self.row_names[pull], Offset((Term(loop.variable, 1), *first))

    def scratch(self, extent: str, dtype: DType) -> str:
        """The name of a new scratch buffer."""
        name = self.nest.fresh("m")
        self.allocs.append(Alloc(name, extent, dtype))
        return name

    @property
    def work(self) -> float:
        """How much there is to compute, in additions."""
        return self.accesses.work(self.in_columns) / (1 if self.pairs is None else 2)
