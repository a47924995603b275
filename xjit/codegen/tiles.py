"""Operands that run through memory across the others, read and written in tiles.

In ``x.T * y`` the rows of ``y`` and of the result are columns of ``x``. Read element by element, every one of ``x``
lies in another line of memory. So two loops are cut into tiles, and what lies across is transposed into scratch, a
few rows at a time in registers, before the tile is computed:

    for i0_block in range(lo, hi):
        i0_start = i0_block * 128
        i0_stop = select(i0_start + 128 < n0, i0_start + 128, n0)
        for i1_start in range(0, n1, 64):
            i1_stop = select(i1_start + 64 < n1, i1_start + 64, n1)
            corner = i0_start * 64 + i1_start
            for i1 in range(i1_start, i1_stop, 8):
                for i0 in range(i0_start, i0_stop, 8):
                    turn_f32(m0, i0 * 64 + i1 - corner, 64, a0, ..., i1_stop - i1, i0_stop - i0)
            for i0 in range(i0_start, i0_stop):
                tile_at = i0 * 64 - corner
                for i1 in range(i1_start, i1_stop):
                    ... ldw(m0, tile_at + i1) * ld(a1, a1_at0 + i1) ...

A result that lies across is put into scratch in the innermost loop and transposed when the tile is done. Where
nothing is computed, as in ``x.T.copy()``, blocks go from the operand to the result at once:

            for i0 in range(i0_start, i0_stop, 8):
                for i1 in range(i1_start, i1_stop, 8):
                    turn_f32(o0, i1 + i0 * o0_s0, o0_s0, a0, i1 * a0_s0 + i0, a0_s0, i1_stop - i1, i0_stop - i0)
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xjit.codegen import schedule
from xjit.codegen.accesses import Access, RegionAccesses
from xjit.codegen.buffers import WIDE_STEP, Buffers
from xjit.codegen.elements import storage_dtype
from xjit.codegen.kinds import TURNED
from xjit.codegen.schedule import Loop, Schedule
from xjit.codegen.scopes import Held, Scope
from xjit.codegen.strips import Strips
from xjit.fusion.plan import Pull, Region, Unit
from xjit.ir.expr import Arg
from xjit.ir.index import relabel
from xjit.ir.loops import Alloc, Base, Bound, Load, LoopKind, Offset, Store, Term, Turn
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.passes.split import TINY
from xjit.types import DType

RangeOf: TypeAlias = "Callable[[int], tuple[str, str, LoopKind]]"

# Elements of a tile along the innermost loop, and bytes of all tiles of a kernel. Tiles of 256 by 64 elements take
# 8 % off large arrays of float32, but a fifth more for arrays in the cache and twice the time for narrow ones.
TILE_COLUMNS = 64
TURNED_BYTES = 32_768
# Rows beyond which a tile gains nothing, and below which it costs more than it saves.
MOST_ROWS = 256
FEWEST_ROWS = 8
# Larger elements would be copied twice on their way through scratch, which costs more than it saves.
LARGEST_IN_SCRATCH = 8
# What is read at longer steps than a line of memory does not use lines better in tiles.
LINE_BYTES = 64
CORNER = "corner"
# As many blocks are worth sharing among threads.
SHARED_BLOCKS = 16


@dataclass(frozen=True, slots=True)
class Transposition:
    """The last two loops of a schedule in tiles: ``rows`` positions of the one around, TILE_COLUMNS of the innermost.

    ``across`` are the accesses that move less from one row to the next than within a row. Where threads share one of
    these two loops they share its blocks. ``copies`` are what is read and where it is written to, if that is all.
    """

    plan: Schedule
    across: frozenset[Access]
    rows: int
    copies: tuple[tuple[Access, Access], ...] = ()

    @property
    def steps(self) -> int:
        """The number of steps of the shared loop."""
        shared = self.plan.shared
        assert shared is not None
        return math.ceil(self.plan.kept[shared].extent / self.size(shared))

    def size(self, number: int) -> int:
        """Positions of a loop in one tile."""
        sizes = {len(self.plan.kept) - 2: self.rows, len(self.plan.kept) - 1: TILE_COLUMNS}
        return sizes.get(number, 1)


def transposition(region: Region, plan: Schedule, accesses: RegionAccesses) -> Transposition | None:
    """The tiles of a region; None where nothing lies across the innermost loop.

    A loop around the innermost one moves next to it if more lies across these two than across any other pair.
    """
    plain = all(unit.is_plain or unit.is_check for unit in region.units)
    if not plain or region.reduced or plan.nested or plan.shared is None or len(plan.kept) < 2:
        return None
    only_moves = all(_only_moves(pull.node) for walked in accesses.walks for pull in walked)
    copied = _tiled(plan, accesses, copied=True) if only_moves else None
    return copied if copied is not None and copied.copies else _tiled(plan, accesses, copied=False)


def _tiled(plan: Schedule, accesses: RegionAccesses, *, copied: bool) -> Transposition | None:
    """The tiles of loops that compute nothing, to be copied in blocks, or those of others."""
    *outer, columns = plan.kept
    found = {loop: frozenset(_across(accesses, loop, columns, copied)) for loop in outer}
    rows = max(outer, key=lambda loop: len(found[loop]))
    if not found[rows]:
        return None
    if _is_walked_backward(rows, found[rows], accesses):
        accesses.turn(frozenset(rows.axes))
        found[rows] = frozenset(_across(accesses, rows, columns, copied))
    column_bytes = TILE_COLUMNS * sum(access.node.aval.dtype.itemsize for access in found[rows])
    count = min(MOST_ROWS, TURNED_BYTES // column_bytes)
    if count < FEWEST_ROWS:
        return None
    count = 1 << (count.bit_length() - 1)  # whole blocks of registers
    kept = (*(loop for loop in outer if loop is not rows), rows, columns)
    extents = [loop.extent for loop in kept[:-2]]
    extents += [math.ceil(rows.extent / count), math.ceil(columns.extent / TILE_COLUMNS)]
    plan = dataclasses.replace(plan, kept=kept, shared=_shared(extents))
    copies = _copies(found[rows], accesses, rows, columns) if copied else ()
    return Transposition(plan, found[rows], count, copies)


def _is_walked_backward(rows: Loop, across: Collection[Access], accesses: RegionAccesses) -> bool:
    """Whether more of what lies across runs backward in memory than forward, and the rows may be walked so."""
    moves = [access.moves[rows.axes[-1]] for access in across]
    return accesses.positions.isdisjoint(rows.axes) and sum(move < 0 for move in moves) > len(moves) / 2


def _copies(
    across: Collection[Access], accesses: RegionAccesses, rows: Loop, columns: Loop
) -> tuple[tuple[Access, Access], ...]:
    """What every unit reads and where it writes that, if none does more and all of it can go in blocks."""
    found = []
    region = accesses.region
    for unit, axes, own, target in zip(region.units, region.axes, accesses.found, accesses.writes, strict=True):
        if target is None or len(own.reads) != 1 or not all(_only_moves(pull.node) for pull in own.visits):
            return ()
        (read,) = own.reads
        source = accesses.reads.get(Pull(read.node, relabel(read.index, axes)))
        if source is None or source not in across or target in across or _changes_width(unit):
            return ()
        if source.moves[rows.axes[-1]] != 1 or target.moves[columns.axes[-1]] != 1:
            return ()
        found.append((source, target))
    return tuple(found)


def _only_moves(node: Node) -> bool:
    """Whether the elements of a value are those of an operand, somewhere else perhaps."""
    return node.op.kind is Kind.INDEXING or isinstance(node.element, Arg)


def _across(accesses: RegionAccesses, rows: Loop, columns: Loop, copied: bool) -> Iterator[Access]:
    if min(rows.extent, columns.extent) <= TINY:
        return
    writes = zip(accesses.region.units, accesses.writes, strict=True)
    stored = [access for unit, access in writes if access is not None and not _changes_width(unit)]
    together = accesses.interleaved()
    least, largest = (0, max(TURNED)) if copied else (WIDE_STEP, LARGEST_IN_SCRATCH)
    for access in (*accesses.reads.values(), *stored):
        item = access.node.aval.dtype.itemsize
        down, along = (abs(access.moves[loop.axes[-1]]) * item for loop in (rows, columns))
        is_suited = item <= largest and not access.lookups and access not in together
        if is_suited and 0 < down < along and down < LINE_BYTES and along > least:
            yield access


def _changes_width(unit: Unit) -> bool:
    return unit.values[0].node.aval.dtype.itemsize != unit.target.aval.dtype.itemsize


def _shared(extents: Sequence[int]) -> int:
    """The first loop that is long enough, or else nearly so; fewer blocks suffice, as there is more in each."""
    outer = len(extents) - 2
    limits = [schedule.SHARED_EXTENT] * outer + [SHARED_BLOCKS] * 2 + [schedule.SHARED_EXTENT // 4] * outer
    numbered = enumerate(zip((*extents, *extents[:outer]), limits, strict=True))
    return next((number % len(extents) for number, (extent, limit) in numbered if extent >= limit), outer)


def _bounds(loop: Loop) -> tuple[str, str]:
    """The names of the bounds of a loop within a tile."""
    return f"{loop.variable}_start", f"{loop.variable}_stop"


@dataclass(eq=False)
class Tiles(Buffers):
    """The buffers of a region that is computed in tiles, where what lies across is in scratch; writes its loops."""

    transposition: Transposition
    names: dict[Access, str] = field(default_factory=dict)
    dtypes: dict[Access, DType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Buffers.__post_init__(self)
        self.rows, self.columns = self.plan.kept[-2:]

    @property
    def allocs(self) -> list[Alloc]:
        """The scratch that the tiles lie in."""
        extent = str(self.transposition.rows * TILE_COLUMNS)
        return [Alloc(name, extent, self.dtypes[access]) for access, name in self.names.items()]

    def holds(self, access: Access) -> bool:
        """Whether the elements of an access are in scratch."""
        return access in self.transposition.across

    def write(
        self,
        strips: Strips,
        element: Callable[[], None],
        range_of: RangeOf,
        extent_of: Callable[[Loop], str],
    ) -> None:
        """All loops, around what ``element`` writes.

        ``range_of`` gives the bounds and the kind of a kept loop, ``extent_of`` the name of its extent.
        """
        outer = self.plan.kept[:-2]
        for loop in outer:
            self.nest.open(loop.variable, loop.axes)
        self._open_tile(range_of, extent_of)
        if self.transposition.copies:
            for source, target in self.transposition.copies:
                self._copy_across(source, target)
        else:
            self._compute(strips, element)
        self._close_tile(range_of)
        for number in reversed(range(len(outer))):
            self.nest.close(*range_of(number))

    def _compute(self, strips: Strips, element: Callable[[], None]) -> None:
        """One tile, with what lies across in scratch."""
        corner = tuple(Term(_bounds(loop)[0], step) for loop, step in self._steps())
        self.nest.inner.statements.append(Base(CORNER, Offset(corner)))
        for access in dict.fromkeys(self.accesses.reads.values()):
            if self.holds(access):
                self._move(access, storage_dtype(access.node.aval.dtype), written=False)
        self.nest.open(self.rows.variable, self.rows.axes)
        pulls = [pull for walked in self.accesses.walks for pull in walked]
        strips.loop(self.columns, _bounds(self.columns), pulls, element, short=True)
        self.nest.close(*_bounds(self.rows))
        for access in filter(None, self.accesses.writes):
            if self.holds(access):
                self._move(access, self.dtypes[access], written=True)

    def _open_tile(self, range_of: RangeOf, extent_of: Callable[[Loop], str]) -> None:
        for number, loop in self._blocked():
            start, stop = _bounds(loop)
            size = self.transposition.size(number)
            if range_of(number)[2] is LoopKind.PARALLEL:
                block = f"{loop.variable}_block"
                self.nest.open(block).statements.append(Base(start, Offset((Term(block, size),))))
            else:
                self.nest.open(start)
            self.nest.inner.statements.append(Bound(stop, start, size, extent_of(loop)))

    def _close_tile(self, range_of: RangeOf) -> None:
        for number, _ in reversed(self._blocked()):
            start, stop, kind = range_of(number)
            self.nest.close(start, stop, kind, 1 if kind is LoopKind.PARALLEL else self.transposition.size(number))

    def _blocked(self) -> list[tuple[int, Loop]]:
        """The two loops with their numbers."""
        return list(enumerate(self.plan.kept))[-2:]

    def load(self, access: Access, scope: Scope, node: Node, written: bool) -> Held:
        """One element of a buffer, or of scratch."""
        if not self.holds(access):
            return Buffers.load(self, access, scope, node, written)
        dtype = storage_dtype(node.aval.dtype)
        return self.held(Load(*self._place(access, dtype), dtype, True), scope, node)

    def put(self, access: Access, held: Held, chunked: bool = False, source: Node | None = None) -> None:
        """Stores one element, in a buffer or in scratch."""
        if not self.holds(access):
            Buffers.put(self, access, held, chunked, source)
            return
        dtype = (source or access.node).aval.dtype
        value, storage = self.elements.bits(held, dtype, access.node.where), storage_dtype(dtype)
        store = Store(*self._place(access, storage), value, storage, access.node.where)
        self.nest.inner.statements.append(store)

    def _place(self, access: Access, dtype: DType) -> tuple[str, Offset]:
        """The scratch that holds the elements of an access, and where in it the one of both loops is."""
        if access not in self.names:
            self.names[access] = self.nest.fresh("m")
            self.dtypes[access] = dtype
        return self.names[access], self._offset()

    def _steps(self) -> tuple[tuple[Loop, int], tuple[Loop, int]]:
        return (self.rows, TILE_COLUMNS), (self.columns, 1)

    def _offset(self) -> Offset:
        offset = self.nest.offset("tile", "tile", {loop.variable: step for loop, step in self._steps()})
        return Offset((*offset.terms, Term(CORNER, -1)))

    def _move(self, access: Access, dtype: DType, *, written: bool) -> None:
        name = self.pointer(access, written, dtype)
        if access.moves[self.rows.axes[-1]] == 1:
            self._turn(access, name, dtype, written)
        else:
            self._copy(access, name, dtype, written)

    def _turn(self, access: Access, name: str, dtype: DType, written: bool) -> None:
        """Between a buffer and scratch, whole blocks in registers."""
        # What is contiguous in the buffer is the inner loop.
        with self._blocks(dtype, self.columns, self.rows):
            buffer = (name, self.offset_of(access, name), self.stride(access, name, self.columns))
            scratch = (*self._place(access, dtype), TILE_COLUMNS)
            columns, rows = self._left()
            turn = Turn(*scratch, *buffer, columns, rows, dtype)
            if written:
                turn = Turn(*buffer, *scratch, rows, columns, dtype)
            self.nest.inner.statements.append(turn)

    def _copy_across(self, source: Access, target: Access) -> None:
        """From one buffer to another, whole blocks in registers; the one that is written is filled in order."""
        dtype = storage_dtype(source.node.aval.dtype)
        with self._blocks(dtype, self.rows, self.columns):
            to, origin = self.pointer(target, True, dtype), self.pointer(source, False, dtype)
            write = (to, self.offset_of(target, to), self.stride(target, to, self.rows))
            read = (origin, self.offset_of(source, origin), self.stride(source, origin, self.columns))
            self.nest.inner.statements.append(Turn(*write, *read, *self._left(), dtype))

    def _left(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """What a block takes at most along the columns and along the rows, as a limit and a variable."""
        columns, rows = ((_bounds(loop)[1], loop.variable) for loop in (self.columns, self.rows))
        return columns, rows

    @contextlib.contextmanager
    def _blocks(self, dtype: DType, *loops: Loop) -> Iterator[None]:
        """The loops over the blocks of a tile."""
        for loop in loops:
            self.nest.open(loop.variable, loop.axes)
        yield
        for loop in reversed(loops):
            self.nest.close(*_bounds(loop), step=TURNED[dtype.itemsize])

    def _copy(self, access: Access, name: str, dtype: DType, written: bool) -> None:
        """Element by element, where the buffer has gaps or is walked backward."""
        for loop in (self.rows, self.columns):
            self.nest.open(loop.variable, loop.axes)
        scratch, at = self._place(access, dtype)
        offset = self.offset_of(access, name)
        target, source = (name, offset), (scratch, at)
        if not written:
            target, source = source, target
        value = Load(*source, dtype, written or self.pointers.written[name])
        store = Store(*target, value, dtype, access.node.where)
        self.nest.inner.statements.append(store)
        for loop in (self.columns, self.rows):
            self.nest.close(*_bounds(loop))
