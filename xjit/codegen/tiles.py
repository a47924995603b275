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

import dataclasses
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from xjit.codegen import schedule
from xjit.codegen.accesses import Access, GroupAccesses
from xjit.codegen.buffers import WIDE_STEP, Buffers
from xjit.codegen.elements import storage_dtype
from xjit.codegen.kinds import TURNED
from xjit.codegen.schedule import Loop, Schedule
from xjit.codegen.scopes import Held, Scope
from xjit.codegen.scratch import Scratch
from xjit.fusion.plan import FusionGroup
from xjit.fusion.statements import IndexedValue, Statement
from xjit.ir.expr import Arg
from xjit.ir.index import relabel
from xjit.ir.loops import Load, Offset, Store, Term
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.passes.split import TINY
from xjit.types import DType

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
    """The last two loops of a schedule in tiles: ``rows`` positions of the one around, ``columns`` of the innermost.

    ``across`` are the accesses that move less from one row to the next than within a row. Where threads share one of
    these two loops they share its blocks. ``copies`` are what is read and where it is written to, if that is all.
    """

    plan: Schedule
    across: frozenset[Access]
    rows: int
    columns: int
    copies: tuple[tuple[Access, Access], ...] = ()

    @property
    def steps(self) -> int:
        """The number of steps of the shared loop."""
        shared = self.plan.shared
        assert shared is not None
        return math.ceil(self.plan.kept[shared].extent / self.size(shared))

    def size(self, number: int) -> int:
        """Positions of a loop in one tile."""
        sizes = {len(self.plan.kept) - 2: self.rows, len(self.plan.kept) - 1: self.columns}
        return sizes.get(number, 1)


def transposition(group: FusionGroup, plan: Schedule, accesses: GroupAccesses) -> Transposition | None:
    """The tiles of a group; None where nothing lies across the innermost loop.

    A loop around the innermost one moves next to it if more lies across these two than across any other pair.
    """
    if not group.is_elementwise or group.reduced or plan.nested or plan.shared is None or len(plan.kept) < 2:
        return None
    only_moves = all(_only_moves(indexed.node) for visited in accesses.visits for indexed in visited)
    copied = _tiled(plan, accesses, copied=True) if only_moves else None
    return copied if copied is not None and copied.copies else _tiled(plan, accesses, copied=False)


def _tiled(plan: Schedule, accesses: GroupAccesses, *, copied: bool) -> Transposition | None:
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
    return Transposition(plan, found[rows], count, TILE_COLUMNS, copies)


def _is_walked_backward(rows: Loop, across: Collection[Access], accesses: GroupAccesses) -> bool:
    """Whether more of what lies across runs backward in memory than forward, and the rows may be walked so."""
    moves = [access.moves[rows.axes[-1]] for access in across]
    return accesses.positions.isdisjoint(rows.axes) and sum(move < 0 for move in moves) > len(moves) / 2


def _copies(
    across: Collection[Access], accesses: GroupAccesses, rows: Loop, columns: Loop
) -> tuple[tuple[Access, Access], ...]:
    """What every statement reads and where it writes that, if none does more and all of it can go in blocks."""
    found = []
    group = accesses.group
    for statement, axes, own, target in zip(
        group.statements, group.axes, accesses.found, accesses.writes, strict=True
    ):
        if target is None or len(own.reads) != 1 or not all(_only_moves(indexed.node) for indexed in own.visits):
            return ()
        (read,) = own.reads
        source = accesses.reads.get(IndexedValue(read.node, relabel(read.index, axes)))
        if source is None or source not in across or target in across or _changes_width(statement):
            return ()
        if source.moves[rows.axes[-1]] != 1 or target.moves[columns.axes[-1]] != 1:
            return ()
        found.append((source, target))
    return tuple(found)


def _only_moves(node: Node) -> bool:
    """Whether the elements of a value are those of an operand, somewhere else perhaps."""
    return node.op.kind is Kind.INDEXING or isinstance(node.element, Arg)


def _across(accesses: GroupAccesses, rows: Loop, columns: Loop, copied: bool) -> Iterator[Access]:
    if min(rows.extent, columns.extent) <= TINY:
        return
    writes = zip(accesses.group.statements, accesses.writes, strict=True)
    stored = [access for statement, access in writes if access is not None and not _changes_width(statement)]
    together = accesses.interleaved()
    least, largest = (0, max(TURNED)) if copied else (WIDE_STEP, LARGEST_IN_SCRATCH)
    for access in (*accesses.reads.values(), *stored):
        item = access.node.aval.dtype.itemsize
        down, along = (abs(access.moves[loop.axes[-1]]) * item for loop in (rows, columns))
        is_suited = item <= largest and not access.lookups and access not in together
        if is_suited and 0 < down < along and down < LINE_BYTES and along > least:
            yield access


def _changes_width(statement: Statement) -> bool:
    return statement.values[0].node.aval.dtype.itemsize != statement.target.aval.dtype.itemsize


def _shared(extents: Sequence[int]) -> int:
    """The first loop that is long enough, or else nearly so; fewer blocks suffice, as there is more in each."""
    outer = len(extents) - 2
    limits = [schedule.SHARED_EXTENT] * outer + [SHARED_BLOCKS] * 2 + [schedule.SHARED_EXTENT // 4] * outer
    numbered = enumerate(zip((*extents, *extents[:outer]), limits, strict=True))
    return next((number % len(extents) for number, (extent, limit) in numbered if extent >= limit), outer)


@dataclass(eq=False)
class Tiles(Buffers):
    """The buffers of a group that is computed in tiles, where what lies across is in scratch."""

    transposition: Transposition
    scratch: Scratch
    turned: dict[Access, tuple[str, DType]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Buffers.__post_init__(self)
        self.rows, self.columns = self.plan.kept[-2:]

    def holds(self, access: Access) -> bool:
        """Whether the elements of an access are in scratch."""
        return access in self.transposition.across

    def load(self, access: Access, scope: Scope, node: Node, written: bool) -> Held:
        """One element of a buffer, or of scratch."""
        if not self.holds(access):
            return Buffers.load(self, access, scope, node, written)
        dtype = storage_dtype(node.aval.dtype)
        return self.held(Load(*self.turned_place(access, dtype), dtype, True), scope, node)

    def put(self, access: Access, held: Held, chunked: bool = False, source: Node | None = None) -> None:
        """Stores one element, in a buffer or in scratch."""
        if not self.holds(access):
            Buffers.put(self, access, held, chunked, source)
            return
        dtype = (source or access.node).aval.dtype
        value, storage = self.elements.bits(held, dtype, access.node.where), storage_dtype(dtype)
        store = Store(*self.turned_place(access, storage), value, storage, access.node.where)
        self.nest.inner.statements.append(store)

    def turned_place(self, access: Access, dtype: DType) -> tuple[str, Offset]:
        """The scratch that holds the elements of an access, and where in it the one of both loops is."""
        if access not in self.turned:
            extent = str(self.transposition.rows * self.transposition.columns)
            self.turned[access] = self.scratch.take(extent, dtype), dtype
        offset = self.nest.offset("tile", "tile", {loop.variable: step for loop, step in self.steps})
        return self.turned[access][0], Offset((*offset.terms, Term(CORNER, -1)))

    @property
    def steps(self) -> tuple[tuple[Loop, int], tuple[Loop, int]]:
        """Both loops with their distances in scratch, in elements."""
        return (self.rows, self.transposition.columns), (self.columns, 1)
