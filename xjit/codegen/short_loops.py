"""Innermost loops over a few elements, written out: the loop around them becomes the one that is vector code.

A row of three that is subtracted from every pixel keeps the axis of colours apart from the others, so that

    for i0 in range(lo, hi):
        for i1 in range(n0):
            st(o0, i0 * 3 + i1, ld(a0, i0 * 3 + i1) - ld(a1, i1))

would run over three elements at a time. It becomes

    for i0 in range(lo, hi):
        st(o0, i0 * 3, ld(a0, i0 * 3) - x0)
        st(o0, i0 * 3 + 1, ld(a0, i0 * 3 + 1) - x1)
        st(o0, i0 * 3 + 2, ld(a0, i0 * 3 + 2) - x2)

in which LLVM finds vector loads and stores with shuffles.  Where the planes of an image are made of its pixels, the
short loop is the one around; written out, it reads all pixels once.
"""

from __future__ import annotations

import dataclasses

from xjit import numerics
from xjit.codegen.accesses import RegionAccesses
from xjit.codegen.schedule import Loop, Schedule
from xjit.fusion import cost
from xjit.fusion.plan import Region, Unit
from xjit.fusion.tiny import parts


def short_loop(region: Region, plan: Schedule, accesses: RegionAccesses) -> Loop | None:
    """The loop that is to be written out: the innermost one, or one around it that some operand is interleaved along.

    That is: nothing is reduced, a longer loop is there, its elements fill no vector, and the kernel stays short.
    """
    plain = all(unit.is_plain or unit.is_check for unit in region.units)
    if not plain or region.reduced or plan.nested or len(plan.kept) < 2:
        return None
    *outer, inner = plan.kept
    if inner.extent <= numerics.TINY:
        return inner if outer[-1].extent > numerics.TINY and _is_worth_it(region, inner, accesses) else None
    found = (loop for loop in outer if _interleaves(accesses, loop, inner) and _is_worth_it(region, loop, accesses))
    return next(found, None)


def _is_worth_it(region: Region, loop: Loop, accesses: RegionAccesses) -> bool:
    operations = sum(map(len, accesses.walks)) * loop.extent
    is_short = loop.extent <= numerics.TINY and loop.extent * _widest(region) < cost.VECTOR_BYTES
    return is_short and operations <= cost.WRITTEN_OUT_OPERATIONS


def _interleaves(accesses: RegionAccesses, loop: Loop, inner: Loop) -> bool:
    """Whether an operand has the elements of the loop side by side between those of the innermost one."""
    moves = (tuple(abs(access.moves[one.axes[-1]]) for one in (loop, inner)) for access in accesses.reads.values())
    return any(0 < across < along <= numerics.TINY for across, along in moves)


def _widest(region: Region) -> int:
    """The size in bytes of the largest elements that are stored."""
    return max(unit.values[0].node.aval.dtype.itemsize for unit in region.units)


def written_out(region: Region, loop: Loop) -> Region:
    """The region with every unit that runs along the loop replaced by one for each of its positions."""
    units: list[Unit] = []
    axes: list[dict[int, int]] = []
    for unit, places in zip(region.units, region.axes, strict=True):
        chosen = [axis for axis, place in places.items() if place in loop.axes and unit.dims[axis] != 1]
        made = list(parts(unit, chosen)) if chosen else [unit]
        units += made
        axes += [places] * len(made)
    dims = tuple(1 if axis in loop.axes else size for axis, size in enumerate(region.dims))
    return dataclasses.replace(region, dims=dims, units=tuple(units), axes=tuple(axes))
