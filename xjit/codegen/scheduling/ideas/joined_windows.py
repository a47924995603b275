"""Sums of products over windows: all elements of a window in one step, for several results that share what is read.

    for o in 0 .. n:                                  for o in 0 .. n by 2:
      for c in 0 .. features:                           for c in 0 .. features:
        for k in 0 .. 3:                                  for w in b0 .. e0:
          for w in b0 .. e0:                                x0 = a0[c, w]
            m0[w] = muladd(a0[c, w + k],         ->         m0[w] = muladd(x0, a1[o, c, 0], m0[w])
                           a1[o, c, k], m0[w])              m0_1[w] = muladd(x0, a1[o + 1, c, 0], m0_1[w])
                                                            x1 = a0[c, w + 1]
                                                            ...

An accumulator is loaded and stored once for a window and stays in a register in between; every element that is loaded
serves several results. Each sum takes its products in the same order as before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.record import Rewrite, found
from xjit.codegen.rewrites.unroll import Unroll
from xjit.codegen.rewrites.unroll_and_jam import Tail, UnrollAndJam
from xjit.codegen.rewrites.values.share import Share
from xjit.codegen.rewrites.values.specialize_inside import SpecializeInside
from xjit.codegen.scheduling.accesses import Access, GroupAccesses
from xjit.codegen.scheduling.ideas.columns import column_of
from xjit.codegen.scheduling.schedule import Loop as PlanLoop
from xjit.ir.loops.nodes import Kernel, Loop
from xjit.machine import Machine

if TYPE_CHECKING:
    from xjit.codegen.scheduling.loop_order import Ordered
    from xjit.codegen.scheduling.scheduler import NaiveNest


def in_whole_windows(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what joins the elements of windows, and results that share what is read."""
    for one in nests:
        if one.columns is not None and one.ordered.group.adds_products:
            for loop in one.ordered.plan.counted:
                (name,) = one.loops[loop.variable]
                yield (UnrollAndJam(name, loop.extent), Unroll(name))
            rows = joined_results(one.ordered)
            if rows is not None:
                (name,) = one.loops[rows.variable]
                yield (UnrollAndJam(name, joined_steps(rows, nest.machine), Tail.OVERLAP),)
                yield (Share(name, "v"),)
            path, _ = found(kernel, column_of(one))
            if blocks := [around.variable for around in path[:-1] if isinstance(around, Loop)]:
                yield (SpecializeInside(blocks[-1]),)


def windows_order(accesses: GroupAccesses) -> tuple[int, ...]:
    """The distances that decide the order of loops: results that share what is read stand next to the columns."""
    group, primary = accesses.group, accesses.primary
    if not group.adds_products:
        return primary
    kept = [axis for axis in group.kept if group.dims[axis] != 1 and primary[axis]]
    if not kept:
        return primary
    column = min(kept, key=lambda axis: abs(primary[axis]))
    vectors = _vectors(accesses, column, group.reduced)
    near = {axis for axis in kept if axis != column and any(not access.moves[axis] for access in vectors)}
    return tuple(
        2 * abs(primary[column]) + 1 if axis in near else 2 * distance for axis, distance in enumerate(primary)
    )


def _vectors(accesses: GroupAccesses, column: int, summed: Collection[int]) -> list[Access]:
    """The reads along the columns in the loops over what is summed."""
    return [
        access
        for access in accesses.reads.values()
        if access.moves[column] and any(access.moves[axis] for axis in summed)
    ]


def joined_results(loops: Ordered) -> PlanLoop | None:
    """The innermost loop of results that share what is read along the columns, which is taken several steps at a
    time.
    """
    group, plan, machine = loops.group, loops.plan, loops.accesses.machine
    if not plan.columns or not group.adds_products or loops.apart or plan.chunked is not None:
        return None
    column, summed = plan.kept[-1].axes[-1], {axis for loop in plan.reduced for axis in loop.axes}
    vectors = _vectors(loops.accesses, column, summed)
    for loop in reversed(plan.kept[:-1]):
        along = any(not access.moves[loop.axes[-1]] for access in vectors)
        if along and joined_steps(loop, machine) > 1:
            return loop
    return None


def joined_steps(loop: PlanLoop, machine: Machine) -> int:
    """The number of steps taken at a time: as few as make as many groups as the most do."""
    most = machine.joined_results
    groups = -(-loop.extent // most)
    return -(-loop.extent // groups)
