"""Several rows at a time: where a loop over rows around one over accumulators of columns is unrolled and jammed.

    for j0 in b0 .. e0:                           for j0 in b0 .. e0 - 3 by 4:
      x0 = m1[j0 - b0]                              x0 = m1[j0 - b0]
      for i0 in 0 .. n:                             x0_1 = m1[j0 + 1 - b0]
        m0[i0] = m0[i0] + x0 * ...                  ...
                                                    for i0 in 0 .. n:
                                                      m0[i0] = m0[i0] + x0 * ...
                                                      m0[i0] = m0[i0] + x0_1 * ...
                                                      ...
                                                  for j0_tail in ...: as before

The compiler keeps the accumulator in a register in between.  Every column adds its rows in the same order as before,
so that no bit changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.unroll_and_jam import UnrollAndJam
from xjit.codegen.scheduling.ideas.columns import Rows, rows_of_blocks
from xjit.ir.loops.nodes import Kernel, Let, LetInt, Statement, Store
from xjit.ir.loops.walk import buffers
from xjit.machine import Machine

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


def unrolled_rows(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what takes several rows at a time, if they are short work and accumulators are many or rows in strips."""
    machine = nest.machine
    for rows in rows_of_blocks(kernel, nests):
        if are_worth_joining(rows, nest.written, machine):
            known = buffers(kernel)
            accumulators = {one.buffer for one in rows.columns.body if isinstance(one, Store)}
            size = sum(known[name].dtype.itemsize for name in accumulators) * rows.extent
            if size >= machine.column_bytes or rows.in_strip:
                yield (UnrollAndJam(rows.loop.variable, machine.joined_rows),)


def are_worth_joining(rows: Rows, arguments: Collection[str], machine: Machine) -> bool:
    """Return whether a row is little more than loads and stores of accumulators, which are no arguments."""
    *before, inner = rows.loop.body
    if len(rows.columns.body) > machine.joined_statements:
        return False
    adds_up = all(isinstance(one, LetInt | Let) or _accumulates(one, arguments) for one in rows.columns.body)
    return adds_up and inner is rows.columns and all(isinstance(one, LetInt | Let) for one in before)


def _accumulates(one: Statement, arguments: Collection[str]) -> bool:
    return isinstance(one, Store) and one.buffer not in arguments
