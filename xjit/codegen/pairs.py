"""Two rows at a time, where they share loads or have to wait for themselves.

The rows of a stencil read each other's neighbours, and of two scans one adds while the other waits for its sum::

    for k0 in range(lo, hi):
        i0 = min(2 * k0, n0)              # n0 is the last row but one: an odd one is made twice
        x0 = ld(a0, i0 * a0_s0 + j0)
        x1 = ld(a1, i0 * a0_s0 + j0)      # the row after it
        x2 = ld(a2, i0 * a0_s0 + j0)      # and the one after that
        st(o0, i0 * o0_s0 + j0, x0 + x1)
        st(o1, i0 * o0_s0 + j0, x1 + x2)
"""

from __future__ import annotations

import dataclasses
import math

from xjit.codegen.accesses import RegionAccesses
from xjit.codegen.schedule import Loop, Schedule
from xjit.fusion import cost
from xjit.fusion.plan import Pull, Region, Unit
from xjit.ir.index import changed
from xjit.ir.opdef import AxisMap
from xjit.types import dtype_class


def paired_loop(region: Region, plan: Schedule, accesses: RegionAccesses) -> Loop | None:
    """The loop over rows that goes two steps at a time, if one should."""
    machine, rows = accesses.machine, plan.kept if plan.reduced else plan.kept[:-1]
    if not rows or plan.columns or plan.nested or region.chunk is not None:
        return None
    if rows[-1].extent < machine.fewest_paired_rows:
        return None
    axis = rows[-1].axes[-1]
    visits = [pull for walked in accesses.walks for pull in walked]
    if axis in accesses.turned or any(pull.node.is_assembled for pull in visits):
        return None
    alike = all(_runs_along(unit, axes, region, axis) for unit, axes in zip(region.units, region.axes, strict=True))
    scans = sum(unit.is_scan for unit in region.units)
    is_short = 2 * len(visits) <= cost.WRITTEN_OUT_OPERATIONS and scans <= machine.paired_scans
    pays = _pays_for_scans(region, accesses) if scans else _shares_loads(region, accesses, axis)
    return rows[-1] if alike and is_short and pays else None


def _runs_along(unit: Unit, axes: dict[int, int], region: Region, axis: int) -> bool:
    """Whether the unit makes something in every row, without which it can do in the others."""
    own = next((place for place, found in axes.items() if found == axis), None)
    return own is not None and unit.dims[own] == region.dims[axis] and (unit.is_plain or unit.is_scan)


def _pays_for_scans(region: Region, accesses: RegionAccesses) -> bool:
    """Whether memory is read and written as fast in two places as in one, or scans wait longer than it takes."""
    machine = accesses.machine
    touched = [access.node.aval.dtype for access in (*accesses.reads.values(), *filter(None, accesses.writes))]
    if math.prod(region.dims) * sum(dtype.itemsize for dtype in touched) < machine.paired_bytes:
        return True
    scanned = [unit.target.aval.dtype for unit in region.units if unit.is_scan]
    row_bytes = math.prod(region.dims[axis] for axis in region.reduced) * max(dtype.itemsize for dtype in touched)
    is_narrow = all(dtype.itemsize <= machine.paired_item_bytes for dtype in touched)
    return any(dtype_class(dtype) in "FC" for dtype in scanned) and (
        is_narrow or row_bytes >= machine.paired_row_bytes
    )


def _shares_loads(region: Region, accesses: RegionAccesses, axis: int) -> bool:
    reads = accesses.reads.keys()
    shared = sum(1 for pull in reads if _next(pull, axis) != pull and _next(pull, axis) in reads)
    return not region.reduced and shared > 0 and shared >= accesses.machine.paired_loads * len(reads)


def _next(pull: Pull, axis: int) -> Pull:
    def at(map: AxisMap) -> AxisMap:
        return map._replace(offset=map.offset + map.scale) if map.axis == axis else map

    return Pull(pull.node, changed(pull.index, at))


def paired(region: Region, loop: Loop) -> Region:
    """The region with every unit a second time, for the next row."""
    units: list[Unit] = []
    for unit, axes in zip(region.units, region.axes, strict=True):
        own = next(place for place, axis in axes.items() if axis == loop.axes[-1])
        units += [unit, unit.moved(own, 1)]
    return dataclasses.replace(region, units=tuple(units), axes=tuple(axes for axes in region.axes for _ in range(2)))
