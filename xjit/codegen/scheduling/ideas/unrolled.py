"""Innermost loops over a few elements, written out: the loop around them becomes the one that is vector code.

A row of three that is subtracted from every pixel keeps the axis of colours apart from the others, so that

    for i0 in 0 .. n0:                      for i0 in 0 .. n0:
      for i1 in 0 .. 3:                       o0[i0, 0] = a0[i0, 0] - a1[0]
        o0[i0, i1] = a0[i0, i1] - a1[i1]      o0[i0, 1] = a0[i0, 1] - a1[1]
                                              o0[i0, 2] = a0[i0, 2] - a1[2]

would run over three elements at a time as it is on the left. On the right LLVM finds vector loads and stores with
shuffles.  Where the planes of an image are made of its pixels, the short loop is the one around; written out, with
the loops inside of it joined, it reads all pixels once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xjit import numerics
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.record import Rewrite
from xjit.codegen.rewrites.unroll import Unroll
from xjit.codegen.rewrites.unroll_and_jam import UnrollAndJam
from xjit.codegen.rewrites.values.share import Share
from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.codegen.scheduling.schedule import Loop, Schedule
from xjit.fusion.plan import FusionGroup
from xjit.ir.loops.nodes import Kernel

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


def in_copies(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what writes the short loops of nests out, with the loops inside of them joined."""
    for one in nests:
        plan = one.ordered.plan
        if plan.short is not None and one.ordered.transposition is None:
            (name,) = one.loops[plan.short.variable]
            (innermost,) = one.loops[plan.inner[-1].variable]
            joined = () if plan.short is plan.kept[-1] else (UnrollAndJam(name, plan.short.extent),)
            yield (*joined, Unroll(name))
            yield (Share(innermost, "v"),)


def short_loop(group: FusionGroup, plan: Schedule, accesses: GroupAccesses) -> Loop | None:
    """The loop that is to be written out: the innermost one, or one around it that some operand is interleaved along.

    That is: nothing is reduced, a longer loop is there, its elements fill no vector, and the kernel stays short.
    """
    if not group.is_elementwise or group.reduced or plan.nested or len(plan.kept) < 2:
        return None
    *outer, inner = plan.kept
    if inner.extent <= numerics.TINY:
        return inner if outer[-1].extent > numerics.TINY and _is_worth_it(group, inner, accesses) else None
    found = (loop for loop in outer if _interleaves(accesses, loop, inner) and _is_worth_it(group, loop, accesses))
    return next(found, None)


def _is_worth_it(group: FusionGroup, loop: Loop, accesses: GroupAccesses) -> bool:
    operations = sum(map(len, accesses.visits)) * loop.extent
    machine = accesses.machine
    is_short = loop.extent <= numerics.TINY and loop.extent * _widest(group) < machine.vector_bytes
    return is_short and operations <= machine.written_out_operations


def _interleaves(accesses: GroupAccesses, loop: Loop, inner: Loop) -> bool:
    """Return whether an operand has the elements of the loop side by side between those of the innermost one."""
    moves = (tuple(abs(access.moves[one.axes[-1]]) for one in (loop, inner)) for access in accesses.reads.values())
    return any(0 < across < along <= numerics.TINY for across, along in moves)


def _widest(group: FusionGroup) -> int:
    """The size in bytes of the largest elements that are stored."""
    return max(statement.values[0].node.aval.dtype.itemsize for statement in group.statements)
