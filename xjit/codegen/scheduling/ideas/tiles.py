"""Operands that run through memory across the others, read and written in tiles.

In ``x.T * y`` the rows of ``y`` and of the result are columns of ``x``. Read element by element, every one of ``x``
lies in another line of memory. So two loops are cut into tiles, and what lies across is transposed into scratch, a
few rows at a time in registers, before the tile is computed:

    parallel i0 in 0 .. n0:                 parallel i0_start in 0 .. n0 by 128:
      for i1 in 0 .. n1:                      for i1_start in 0 .. n1 by 64:
        y[i0, i1] = a[i0, i1] * x[i1, i0]       alloc m0: f32[128, 64] for each iteration
                                                for m0_column in i1_start .. min(i1_start + 64, n1) by 8:
                                                  for m0_row in i0_start .. min(i0_start + 128, n0) by 8:
                                                    m0[...] = transposed x[m0_column, m0_row] of 8 x 8
                                                for i0 in i0_start .. min(i0_start + 128, n0):
                                                  for i1 in i1_start .. min(i1_start + 64, n1):
                                                    y[i0, i1] = a[i0, i1] * m0[i0 - i0_start, i1 - i1_start]

A result that lies across is put into scratch in the innermost loop and transposed when the tile is done. Where
nothing is computed, as in ``x.T.copy()``, blocks go from the operand to the result at once:

                                                for i0 in i0_start .. min(i0_start + 64, n0) by 8:
                                                  for i1 in i1_start .. min(i1_start + 64, n1) by 8:
                                                    y[i0, i1] = transposed x[i1, i0] of 8 x 8
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from xjit import numerics
from xjit.codegen.language.scalar_types import TURNED
from xjit.codegen.lowering.buffers import Buffers
from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.analysis.dependence import touches
from xjit.codegen.rewrites.record import Rewrite, found
from xjit.codegen.rewrites.storage.stage_transposed import StageTransposed
from xjit.codegen.rewrites.storage.transpose_copy import TransposeCopy
from xjit.codegen.rewrites.tile import Tile
from xjit.codegen.rewrites.unroll import Unroll
from xjit.codegen.scheduling.accesses import Access, GroupAccesses
from xjit.codegen.scheduling.schedule import Loop, Schedule
from xjit.dataclass import dataclass
from xjit.fusion.plan import FusionGroup
from xjit.fusion.statements import IndexedValue, Statement
from xjit.ir.index_map import relabel
from xjit.ir.loops.intexpr import evaluate
from xjit.ir.loops.nodes import Kernel
from xjit.ir.loops.walk import buffers
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ir.scalar_expr import Arg
from xjit.machine import Machine

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


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


def transposition(group: FusionGroup, plan: Schedule, accesses: GroupAccesses) -> Transposition | None:
    """The tiles of a group; None where nothing lies across the innermost loop.

    A loop around the innermost one moves next to it if more lies across these two than across any other pair.
    """
    if not group.is_elementwise or group.reduced or plan.nested or plan.shared is None or len(plan.inner) < 2:
        return None
    only_moves = all(_only_moves(indexed.node) for visited in accesses.visits for indexed in visited)
    copied = _tiled(plan, accesses, copied=True) if only_moves else None
    return copied if copied is not None and copied.copies else _tiled(plan, accesses, copied=False)


def _tiled(plan: Schedule, accesses: GroupAccesses, *, copied: bool) -> Transposition | None:
    """The tiles of loops that compute nothing, to be copied in blocks, or those of others."""
    *outer, columns = plan.inner
    short = () if plan.short is None else (plan.short,)
    found = {loop: frozenset(_across(accesses, loop, columns, plan.short, copied)) for loop in outer}
    rows = max(outer, key=lambda loop: len(found[loop]))
    if not found[rows]:
        return None
    if _is_walked_backward(rows, found[rows], accesses):
        accesses.turn(frozenset(rows.axes))
        found[rows] = frozenset(_across(accesses, rows, columns, plan.short, copied))
    machine = accesses.machine
    column_bytes = machine.transposed_columns * sum(access.node.aval.dtype.itemsize for access in found[rows])
    column_bytes *= math.prod(loop.extent for loop in short)
    count = min(machine.transposed_rows, machine.transposed_bytes // column_bytes)
    if count < machine.fewest_transposed_rows:
        return None
    count = 1 << (count.bit_length() - 1)  # whole blocks of registers
    around = tuple(loop for loop in outer if loop is not rows)
    kept = (*around, rows, columns, *short)
    extents = [loop.extent for loop in around]
    extents += [math.ceil(rows.extent / count), math.ceil(columns.extent / machine.transposed_columns)]
    plan = dataclasses.replace(plan, kept=kept, shared=_shared(extents, machine))
    copies = _copies(found[rows], accesses, rows, columns) if copied else ()
    return Transposition(plan, found[rows], count, machine.transposed_columns, copies)


def _is_walked_backward(rows: Loop, across: Collection[Access], accesses: GroupAccesses) -> bool:
    """Return whether more of what lies across runs backward in memory than forward, and the rows may be walked so."""
    moves = [access.moves[rows.axes[-1]] for access in across]
    return accesses.positions.isdisjoint(rows.axes) and sum(move < 0 for move in moves) > len(moves) / 2


def _copies(
    across: Collection[Access], accesses: GroupAccesses, rows: Loop, columns: Loop
) -> tuple[tuple[Access, Access], ...]:
    """The read of every statement and where it is written, if none does more and all of it can go in blocks."""
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
    """Return whether the elements of a value are those of an operand, somewhere else perhaps."""
    return node.op.kind is Kind.INDEXING or isinstance(node.element, Arg)


def _across(accesses: GroupAccesses, rows: Loop, columns: Loop, short: Loop | None, copied: bool) -> Iterator[Access]:
    if min(rows.extent, columns.extent) <= numerics.TINY:
        return
    writes = zip(accesses.group.statements, accesses.writes, strict=True)
    stored = [access for statement, access in writes if access is not None and not _changes_width(statement)]
    together = accesses.interleaved(short)
    machine = accesses.machine
    within = machine.vector_step_bytes, machine.transposed_item_bytes
    least, largest = (0, max(TURNED)) if copied else within
    for access in (*accesses.reads.values(), *stored):
        item = access.node.aval.dtype.itemsize
        down, along = (abs(access.moves[loop.axes[-1]]) * item for loop in (rows, columns))
        is_suited = item <= largest and not access.lookups and access not in together
        if is_suited and 0 < down < along and down < machine.line_bytes and along > least:
            yield access


def _changes_width(statement: Statement) -> bool:
    return statement.values[0].node.aval.dtype.itemsize != statement.target.aval.dtype.itemsize


def _shared(extents: Sequence[int], machine: Machine) -> int:
    """The first loop that is long enough, or else nearly so; fewer blocks suffice, as there is more in each."""
    outer = len(extents) - 2
    long = machine.shared_extent
    limits = [long] * outer + [machine.shared_blocks] * 2 + [long // 4] * outer
    numbered = enumerate(zip((*extents, *extents[:outer]), limits, strict=True))
    return next((number % len(extents) for number, (extent, limit) in numbered if extent >= limit), outer)


def in_tiles(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what brings the loops of groups into tiles where operands or results lie across."""
    for one in nests:
        if one.ordered.transposition is not None:
            yield tuple(_tiled_loops(kernel, one, one.ordered.transposition, nest))


def _tiled_loops(kernel: Kernel, naive: NaiveNest, turned: Transposition, nest: LoopBuilder) -> Iterator[Rewrite]:
    """Yield the rewrites of one group; a short loop is written out first."""
    short, (row_loop, column_loop) = turned.plan.short, turned.plan.inner[-2:]
    (rows,), (columns,) = naive.loops[row_loop.variable], naive.loops[column_loop.variable]
    if short is not None:
        yield Unroll(naive.loops[short.variable][0])
    yield Tile((rows, columns), (turned.rows, turned.columns), (f"{rows}_start", f"{columns}_start"))
    if turned.copies:
        times = 1 if short is None else short.extent
        sizes = [TURNED[storage_dtype(source.node.aval.dtype).itemsize] for source, _ in turned.copies]
        yield TransposeCopy(rows, columns, tuple(sizes * times))
        return
    known, values = buffers(kernel), dict(nest.words.values())
    across = set(_names(turned, naive.buffers))
    positions = {} if short is None else {naive.loops[short.variable][0]: short.extent}
    for name, axes, plane in dict.fromkeys(_places(kernel, rows, columns, positions)):
        down, along = (evaluate(known[name].strides[axis], values) for axis in axes)
        if name in across and abs(down) < abs(along):
            block = TURNED[known[name].dtype.itemsize] if down == 1 else 1
            yield StageTransposed(name, rows, nest.fresh("m"), axes, columns, block, plane)


def _names(turned: Transposition, buffers: Buffers) -> Iterator[str]:
    """Yield the names of buffers of which elements lie across."""
    accesses = buffers.accesses
    yield from (buffers.pointer(access, False) for access in accesses.reads.values() if access in turned.across)
    for access, values in zip(accesses.writes, accesses.values, strict=True):
        if access is not None and access in turned.across:
            yield buffers.pointer(access, True, values[0].node.aval.dtype)


def _places(
    kernel: Kernel, rows: str, columns: str, positions: Mapping[str, int]
) -> Iterator[tuple[str, tuple[int, int], tuple[tuple[int, int], ...]]]:
    """Yield the buffers that a loop over rows touches, each with the axes along which rows and columns go, and with
    its positions along other axes for every one of the ``positions`` of a short loop.
    """
    _, loop = found(kernel, rows)
    for touch in touches((loop,)):
        names = [expr.names() for expr in touch.index]
        axes = [[axis for axis, own in enumerate(names) if name in own] for name in (rows, columns)]
        if len(axes[0]) == len(axes[1]) == 1:
            along = [axis for axis, own in enumerate(names) if own and own <= positions.keys()]
            for at in itertools.product(*map(range, positions.values())) if along else ((),):
                values = dict(zip(positions, at, strict=False))
                plane = tuple((axis, evaluate(touch.index[axis], values)) for axis in along)
                yield touch.buffer, (axes[0][0], axes[1][0]), plane
