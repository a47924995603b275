"""Readers of a scan at other positions: they run in the walk that makes it, some steps behind.

In ``c = np.cumsum(x, axis=1)`` and ``(c[:, 20:] - c[:, :-20]) / 20`` an element needs the sums of its own position
and of the 20th after it, so that it is computed 20 steps later than the first of the two; what the scan gave at the
steps between is kept. The reader's elements are counted from where the walk begins: its loop starts at step 20.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xjit.fusion import cost
from xjit.fusion.reads import Walk
from xjit.fusion.statements import Check, Pull, Reduce, Scan, Statement
from xjit.fusion.units import owner
from xjit.ir.opdef import AxisMap


def behind(unit: Statement, found: Walk, others: Sequence[Statement], dims: tuple[int, ...]) -> Statement:
    """The unit so many steps behind the walk of other units over ``dims`` that all it reads of theirs is made.

    It is the unit itself where it does not read what a walk makes, where it is made there in every step, or where it
    would have to be behind by too much.
    """
    walked = {other.reduced for other in others if isinstance(other, Scan)}
    if len(walked) != 1 or not _is_alongside(unit, dims, *walked) or any(other.domain.nested for other in others):
        return unit
    ((axis,),) = walked
    reads = list(_reads(found, others, axis, unit.dims[axis]))
    if not reads or any(step is None for _, step in reads):
        return unit
    steps = [(made, step) for made, step in reads if step is not None]
    lag = max(step for _, step in steps)
    if (lag == 0 and unit.dims == dims) or any(pull.node.is_assembled for pull in found.visits):
        return unit
    longest = cost.LONGEST_HISTORY // sum(isinstance(other, Scan) for other in others)
    if any(step != lag and not (isinstance(made, Scan) and lag - step <= longest) for made, step in steps):
        return unit
    return unit.behind(axis, lag)


def _is_alongside(unit: Statement, dims: tuple[int, ...], walked: tuple[int, ...]) -> bool:
    """Whether the unit has the axes of the walk and runs over as much or less of the one walked along."""
    apart = unit.domain.nested or unit.domain.fixed or unit.chunk is not None
    if apart or isinstance(unit, Check) or unit.is_search or len(unit.dims) != len(dims):
        return False
    kept = [axis for axis in range(len(dims)) if axis not in walked]
    same = all(unit.dims[axis] == dims[axis] for axis in kept)
    return same and unit.dims[walked[0]] > 1 and unit.reduced in ((), walked)


def _reads(found: Walk, others: Sequence[Statement], axis: int, count: int) -> Iterator[tuple[Statement, int | None]]:
    """What so many elements of the unit read of the others, and how many steps ahead of themselves; None if at no
    such distance, or if others than these make some of it.
    """
    for pull in found.reads:
        for other in others:
            if other.target is owner(pull.node):
                yield other, _steps_ahead(pull, other, axis, count)


def _steps_ahead(pull: Pull, other: Statement, axis: int, count: int) -> int | None:
    if isinstance(other, Reduce) or not other.makes_target or len(pull.index) != len(other.dims):
        return None
    origin, along = other.domain.begin, pull.index[axis]
    for place, (map, size, first) in enumerate(zip(pull.index, other.dims, origin, strict=True)):
        if place != axis and map != (AxisMap(None, 1, first) if size == 1 else AxisMap(place, 1, first)):
            return None
    if (along.axis, along.scale, along.found) != (axis, 1, ()):
        return None
    made = origin[axis] + (other.domain.lag or 0)  # its first element: a part of a value begins later than that
    if not made <= along.offset <= made + other.dims[axis] - count:
        return None
    return along.offset - origin[axis]
