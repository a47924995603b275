"""Two rows at a time, where they share loads or have to wait for themselves.

The rows of a stencil read each other's neighbours, and of two scans one adds while the other waits for its sum::

    for i0 in 0 .. n:                             for i0 in 0 .. n by 2:
      for j0 in 0 .. m:                             i0_at = min(i0, n - 2)      # an odd last row is made twice
        x0 = a0[i0, j0]                             for j0 in 0 .. m:
        x1 = a0[i0 + 1, j0]                           x0 = a0[i0_at, j0]
        o0[i0, j0] = x0 + x1                          x1 = a0[i0_at + 1, j0]
                                                      o0[i0_at, j0] = x0 + x1
                                                      x1_1 = a0[i0_at + 2, j0]
                                                      o0[i0_at + 1, j0] = x1 + x1_1
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.record import Rewrite, found
from xjit.codegen.rewrites.unroll_and_jam import Tail, UnrollAndJam
from xjit.codegen.rewrites.values.share import Share
from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.codegen.scheduling.ideas.rare import overwrites
from xjit.codegen.scheduling.loop_order import Ordered
from xjit.codegen.scheduling.schedule import Loop
from xjit.fusion.plan import FusionGroup
from xjit.fusion.statements import IndexedValue, Scan, Statement, Store
from xjit.ir.index_map import changed
from xjit.ir.loops.nodes import Kernel
from xjit.ir.opdef import AxisMap
from xjit.types import dtype_class

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


def in_pairs(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what takes two rows at a time of the nests that are worth it."""
    for one in nests:
        rows = paired_loop(one.ordered)
        if rows is not None:
            (name,) = one.loops[rows.variable]
            _, loop = found(kernel, name)
            if overwrites(loop, nest.in_one_memory):
                continue  # an odd last row would be changed twice
            yield (UnrollAndJam(name, 2, Tail.OVERLAP),)
            yield (Share(name, "v"),)


def paired_loop(loops: Ordered) -> Loop | None:
    """The loop over rows that goes two steps at a time, if one should."""
    group, plan, accesses = loops.group, loops.plan, loops.accesses
    machine, rows = accesses.machine, plan.inner if plan.reduced else plan.inner[:-1]
    if not rows or loops.apart or group.limits or loops.transposition or plan.columns or plan.nested or group.chunk:
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
    times = 1 if plan.short is None else plan.short.extent
    is_short = 2 * times * len(visits) <= machine.written_out_operations and scans <= machine.paired_scans
    pays = _pays_for_scans(group, accesses) if scans else _shares_loads(group, accesses, axis)
    return rows[-1] if alike and is_short and pays else None


def _runs_along(statement: Statement, axes: dict[int, int], group: FusionGroup, axis: int) -> bool:
    """Return whether the statement makes something in every row, without which it can do in the others."""
    own = next((place for place, found in axes.items() if found == axis), None)
    return own is not None and statement.dims[own] == group.dims[axis] and isinstance(statement, Store | Scan)


def _pays_for_scans(group: FusionGroup, accesses: GroupAccesses) -> bool:
    """Return whether memory is read and written as fast in two places as in one, or scans wait longer than it
    takes.
    """
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
    """Return whether enough loads of a row are those of the next one, more where memory is far."""
    machine, reads = accesses.machine, accesses.reads.keys()
    shared = sum(1 for indexed in reads if _next(indexed, axis) != indexed and _next(indexed, axis) in reads)
    if group.reduced or not shared:
        return False
    arrays = {indexed.node for indexed in reads}.union(statement.target for statement in group.statements)
    touched = math.prod(group.dims) * sum(node.aval.dtype.itemsize for node in arrays)
    share = machine.paired_loads if touched <= machine.paired_near_bytes else machine.paired_far_loads
    return shared >= share * len(reads)


def _next(indexed: IndexedValue, axis: int) -> IndexedValue:
    return IndexedValue(indexed.node, changed(indexed.index, lambda own: AxisMap(own, 1, int(own == axis))))
