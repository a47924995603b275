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

from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.codegen.scheduling.schedule import Loop, Schedule
from xjit.fusion.plan import FusionGroup
from xjit.fusion.statements import IndexedValue, Scan, Statement, Store
from xjit.ir.index_map import changed
from xjit.ir.opdef import AxisMap
from xjit.types import dtype_class


def paired_loop(group: FusionGroup, plan: Schedule, accesses: GroupAccesses) -> Loop | None:
    """The loop over rows that goes two steps at a time, if one should."""
    machine, rows = accesses.machine, plan.kept if plan.reduced else plan.kept[:-1]
    if not rows or plan.columns or plan.nested or group.chunk is not None:
        return None
    if rows[-1].extent < machine.fewest_paired_rows:
        return None
    axis = rows[-1].axes[-1]
    visits = [indexed for visited in accesses.visits for indexed in visited]
    if axis in accesses.turned or any(indexed.node.is_assembled for indexed in visits):
        return None
    alike = all(
        _runs_along(statement, axes, group, axis)
        for statement, axes in zip(group.statements, group.axes, strict=True)
    )
    scans = sum(isinstance(statement, Scan) for statement in group.statements)
    is_short = 2 * len(visits) <= machine.written_out_operations and scans <= machine.paired_scans
    pays = _pays_for_scans(group, accesses) if scans else _shares_loads(group, accesses, axis)
    return rows[-1] if alike and is_short and pays else None


def _runs_along(statement: Statement, axes: dict[int, int], group: FusionGroup, axis: int) -> bool:
    """Whether the statement makes something in every row, without which it can do in the others."""
    own = next((place for place, found in axes.items() if found == axis), None)
    return own is not None and statement.dims[own] == group.dims[axis] and isinstance(statement, Store | Scan)


def _pays_for_scans(group: FusionGroup, accesses: GroupAccesses) -> bool:
    """Whether memory is read and written as fast in two places as in one, or scans wait longer than it takes."""
    machine = accesses.machine
    touched = [access.node.aval.dtype for access in (*accesses.reads.values(), *filter(None, accesses.writes))]
    if math.prod(group.dims) * sum(dtype.itemsize for dtype in touched) < machine.paired_bytes:
        return True
    scanned = [statement.target.aval.dtype for statement in group.statements if isinstance(statement, Scan)]
    row_bytes = math.prod(group.dims[axis] for axis in group.reduced) * max(dtype.itemsize for dtype in touched)
    is_narrow = all(dtype.itemsize <= machine.paired_item_bytes for dtype in touched)
    pays = is_narrow or row_bytes >= machine.paired_row_bytes
    return pays and any(dtype_class(dtype) in "FC" for dtype in scanned)


def _shares_loads(group: FusionGroup, accesses: GroupAccesses, axis: int) -> bool:
    reads = accesses.reads.keys()
    shared = sum(1 for indexed in reads if _next(indexed, axis) != indexed and _next(indexed, axis) in reads)
    return not group.reduced and shared > 0 and shared >= accesses.machine.paired_loads * len(reads)


def _next(indexed: IndexedValue, axis: int) -> IndexedValue:
    def at(map: AxisMap) -> AxisMap:
        return map._replace(offset=map.offset + map.scale) if map.axis == axis else map

    return IndexedValue(indexed.node, changed(indexed.index, at))


def paired(group: FusionGroup, loop: Loop) -> FusionGroup:
    """The group with every statement a second time, for the next row."""
    statements: list[Statement] = []
    for statement, axes in zip(group.statements, group.axes, strict=True):
        own = next(place for place, axis in axes.items() if axis == loop.axes[-1])
        statements += [statement, statement.moved(own, 1)]
    return dataclasses.replace(
        group, statements=tuple(statements), axes=tuple(axes for axes in group.axes for _ in range(2))
    )
