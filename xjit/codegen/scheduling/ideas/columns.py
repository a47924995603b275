"""Blocks of columns: reductions over axes that are slow in memory, with an accumulator for each column of a block.

    parallel i0 in 0 .. n0:            parallel b0 in 0 .. n0 by width:
      carry t0                           for i0 in b0 .. b0 + width: m[i0 - b0] = 0.0
      for j0 in 0 .. n1:          ->     for j0 in 0 .. n1:
        t0 = (t0 + a0[j0, i0])             for i0_2 in b0 .. b0 + width: m[i0_2 - b0] = m[i0_2 - b0] + a0[j0, i0_2]
      o0[i0] = t0                        for i0_3 in b0 .. b0 + width: o0[i0_3] = m[i0_3 - b0]

The inner loops are vector code along rows of memory, and the accumulators of a block stay in the first-level cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.analysis.intervals import most
from xjit.codegen.rewrites.interchange import Interchange
from xjit.codegen.rewrites.record import RefusedError, Rewrite, found
from xjit.codegen.rewrites.unroll_and_jam import Tail
from xjit.codegen.rewrites.vectorize import Vectorize
from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.codegen.scheduling.ideas.rare import overwrites
from xjit.codegen.scheduling.schedule import Schedule
from xjit.dataclass import dataclass
from xjit.fusion.cost import shared_columns
from xjit.fusion.plan import FusionGroup
from xjit.fusion.statements import Reduce, Scan, Store
from xjit.ir.loops.intexpr import minimum
from xjit.ir.loops.nodes import Kernel, Loop
from xjit.machine import Machine
from xjit.types import COMPLEX128

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


@dataclass(frozen=True, slots=True)
class ColumnBlocks:
    """Blocks of so many columns, at most those that there is ``room`` for.

    Of those that ``overlap`` the last one begins earlier: their accumulators are vectors in registers. So are those
    of blocks of as many columns as ``lanes``, which are made where the last one may begin earlier.
    """

    width: int
    room: int
    overlap: bool = False
    lanes: int = 0

    @property
    def least(self) -> int:
        """The number of columns without which no block overlaps another one; 0 where none does."""
        return self.width if self.overlap else self.lanes

    @classmethod
    def of(cls, accesses: GroupAccesses, plan: Schedule) -> ColumnBlocks:
        """The blocks of a group; fewer columns than there is room for where that makes blocks for all threads."""
        group, machine = accesses.group, accesses.machine
        if group.adds_products:
            width = _one_vector(group, plan.kept[-1].extent, machine)
            return cls(width, width, overlap=True)
        room = min(machine.column_block, most_columns(group, machine))
        elements, work = math.prod(group.dims), accesses.work(columns=True)
        width = min(room, shared_columns(plan.kept[-1].extent, elements, work, machine))
        lanes = columns_in_registers(accesses, plan) if work < machine.function_cost * elements else 0
        repeats = lanes and 4 * (accesses.work(columns=True, block=lanes) - work) > elements
        return cls(width, room, lanes=0 if repeats else lanes)

    def shared(self, plan: Schedule) -> Schedule:
        """The loops with the longest one shared, where that over columns counts blocks."""
        *outer, column = [loop.extent for loop in plan.kept]
        steps = *outer, math.ceil(column / (self.lanes or self.width))
        return plan if plan.chunked is not None else replace(plan, shared=steps.index(max(steps)))


def most_columns(group: FusionGroup, machine: Machine) -> int:
    """Count the columns that have an accumulator for every reduction and scan of a group, in whole vectors."""
    count = sum(isinstance(statement, Reduce | Scan) for statement in group.statements)
    columns, vectors = machine.accumulator_bytes // (COMPLEX128.itemsize * max(1, count)), machine.accumulator_columns
    return max(vectors, columns // vectors * vectors)


def columns_in_registers(accesses: GroupAccesses, plan: Schedule) -> int:
    """Count the columns whose accumulators stay in registers for all rows: a power of two.

    0 where blocks are better, which read memory along rows: there are more columns than that, and not few rows. So it
    is where the elements of a row lie apart, which no vector is loaded of.
    """
    group, machine, columns = accesses.group, accesses.machine, plan.kept[-1]
    sums = [one for one in group.statements if isinstance(one, Reduce)]
    if len(sums) != 1 or not all(isinstance(one, Reduce | Store) for one in group.statements):
        return 0
    size = sums[0].target.aval.dtype.itemsize
    count = min(machine.register_bytes // size, 2 ** (columns.extent.bit_length() - 1))
    if any(access.moves[columns.axes[-1]] not in (0, 1) for access in accesses.reads.values()):
        return 0
    rows = [axis for loop in plan.reduced for axis in loop.axes]
    swept = (
        access.node.aval.dtype.itemsize * math.prod(group.dims[axis] for axis in rows if access.moves[axis])
        for access in accesses.reads.values()
        if access.moves[columns.axes[-1]]
    )
    streams = count < columns.extent and sum(swept) * columns.extent > machine.swept_bytes
    return 0 if streams or count * size < machine.least_register_bytes else count


def _one_vector(group: FusionGroup, columns: int, machine: Machine) -> int:
    """Count the columns whose accumulators are a vector, or less of one if there are fewer: a power of two."""
    sizes = [one.target.aval.dtype.itemsize for one in group.statements if isinstance(one, Reduce)]
    return int(max(1, min(machine.vector_bytes // max(sizes), 2 ** (columns.bit_length() - 1))))


def in_blocks_of_columns(
    kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder
) -> Iterator[Sequence[Rewrite]]:
    """Yield what runs columns in blocks, inside of the loops over rows."""
    for one in nests:
        if one.columns is not None:
            column = column_of(one)
            rows, columns, block = tuple(_rows(one)), one.columns, nest.fresh("b")
            if columns.overlap:
                yield (Interchange(column, rows, columns.width, block, Tail.OVERLAP),)
                continue
            overlapping = Interchange(column, rows, columns.lanes, block, Tail.OVERLAP)
            _, loop = found(kernel, column)
            # Columns of the last block would be changed twice.
            twice = overwrites(loop, nest.in_one_memory)
            if columns.lanes and not twice and _may_be(overlapping, kernel):
                yield (overlapping,)
                continue
            width = nest.word(("width", column), columns.width, "width")
            length = minimum(width, columns.room)
            yield (Interchange(column, rows, length, block),)


def _may_be(rewrite: Rewrite, kernel: Kernel) -> bool:
    """Return whether a rewrite is not refused."""
    try:
        rewrite.apply(kernel)
    except RefusedError:
        return False
    return True


def in_lanes(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what runs all columns of a block side by side, where their accumulators are in registers."""
    for one in nests:
        if one.columns is not None and one.columns.lanes:
            for rows in rows_of_blocks(kernel, (one,)):
                if (rows.columns.stop - rows.columns.start).value == one.columns.lanes:
                    yield (Vectorize(rows.columns.variable),)


@dataclass(frozen=True, slots=True)
class Rows:
    """A loop over rows and the last one in it, over the columns of a block; there are ``extent`` columns in all."""

    loop: Loop
    columns: Loop
    room: int
    extent: int

    @property
    def in_strip(self) -> bool:
        """Return whether there are no more rows than some number in the text."""
        length = most(self.loop.stop - self.loop.start)
        return length is not None and length.value is not None


def rows_of_blocks(kernel: Kernel, nests: Sequence[NaiveNest]) -> Iterator[Rows]:
    """Yield the innermost loops over rows of columns in blocks."""
    for one in nests:
        if one.columns is not None:
            plan = one.ordered.plan
            names = set(_rows(one))
            for loop in around_columns(kernel, (one,)):
                inner = loop.body[-1]
                innermost = loop.variable in one.loops.get(plan.reduced[-1].variable, ())
                if innermost and isinstance(inner, Loop) and inner.variable not in names:
                    yield Rows(loop, inner, one.columns.room, plan.kept[-1].extent)


def around_columns(kernel: Kernel, nests: Sequence[NaiveNest]) -> Iterator[Loop]:
    """Yield the loops over rows that have come to stand around those over columns."""
    for one in nests:
        if one.columns is not None:
            counted = {name for loop in one.ordered.plan.counted for name in one.loops[loop.variable]}
            for name in _rows(one):
                if name in counted:  # has been written out
                    continue
                path, loop = found(kernel, name)
                if column_of(one) not in {other.variable for other in path if isinstance(other, Loop)}:
                    yield loop


def _rows(one: NaiveNest) -> list[str]:
    return [name for loop in one.ordered.plan.reduced for name in one.loops.get(loop.variable, ())]


def column_of(one: NaiveNest) -> str:
    """The loop over columns, as it was written."""
    (column,) = one.loops[one.ordered.plan.kept[-1].variable]
    return column
