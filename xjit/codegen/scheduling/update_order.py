"""The order of the loops of updates: axes along which elements may meet in the order of their updates, others where
memory wants them.

Rows of ``y`` added to those of ``x`` that ``rows`` names meet along the rows of ``y`` only:

    for i in rows of y:
      for j in columns:
        x[rows[i], j] += y[i, j]
"""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.codegen.scheduling.schedule import Loop, Schedule
from xjit.fusion.plan import FusionGroup
from xjit.fusion.statements import Update
from xjit.ir.index_map import Index, axes_of, relabel
from xjit.machine import Machine


def place_of(group: FusionGroup) -> Index:
    """The place of the updates of a group, which is the same for all of its statements."""
    first, axes = group.statements[0], group.axes[0]
    assert isinstance(first, Update)
    return relabel(first.place, axes)


def apart(place: Index) -> frozenset[int]:
    """The axes along which two updates never meet in one element, whatever the data."""
    found: set[int] = set()
    while True:
        more = {
            map.axis
            for map in place
            if map.axis is not None
            and not map.also
            and map.axis not in found
            and all(axes_of(one.axes) <= found for one in map.found)
        }
        if not more:
            return frozenset(found)
        found |= more


def update_loops(group: FusionGroup, accesses: GroupAccesses) -> Schedule:
    """The loops of a group of updates; the outermost one is shared if updates do not meet along it."""
    place, dims = place_of(group), group.dims
    strides = accesses.layouts.strides(group.statements[0].updated[0])
    distances: dict[int, int] = {}
    for map, stride in zip(place, strides, strict=True):
        for axis in axes_of((map,)):
            distances[axis] = max(distances.get(axis, 0), abs(stride))
    free, long = apart(place), [axis for axis, size in enumerate(dims) if size != 1]
    meeting = [axis for axis in long if axis not in free]
    slowest = max((distances.get(axis, 0) for axis in meeting), default=0)
    others = sorted((axis for axis in long if axis in free), key=lambda axis: -distances[axis])
    outer = [axis for axis in others if distances[axis] > slowest]
    axes = [*outer, *meeting, *others[len(outer) :]]
    loops = tuple(Loop(f"i{number}", (axis,), dims[axis]) for number, axis in enumerate(axes))
    shared = 0 if axes and axes[0] in free else None
    return Schedule(loops, (), shared, False, None)


def parted_axis(group: FusionGroup, machine: Machine) -> int | None:
    """The axis of the target along which threads get a part each: the longest one along which updates never meet, and
    whose positions are those of a loop; None if parts would be a few lines of memory only.
    """
    place = place_of(group)
    free, item = apart(place), group.statements[0].updated[0].aval.dtype.itemsize
    own = {
        axis: group.dims[map.axis]
        for axis, map in enumerate(place)
        if map.axis is not None and map.axis in free and not map.found and map.scale == 1
    }
    axis = max(own, key=lambda one: own[one], default=None)
    fewest = machine.update_parts * machine.shared_lines * machine.line_bytes
    return axis if axis is not None and own[axis] * item >= fewest else None


def needed_loops(place: Index, loops: Sequence[Loop]) -> list[int]:
    """For each axis of the target the number of loops that are open where the position along it is known."""
    depth = {axis: number + 1 for number, loop in enumerate(loops) for axis in loop.axes}
    return [max((depth.get(axis, 0) for axis in axes_of((map,))), default=0) for map in place]
