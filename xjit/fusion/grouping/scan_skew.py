"""Skewing: readers of a scan at other positions run in the loop that makes it, some steps behind.

In ``c = np.cumsum(x, axis=1)`` and ``(c[:, 20:] - c[:, :-20]) / 20`` an element needs the sums of its own position
and of the 20th after it, so that it is computed 20 steps later than the first of the two; what the scan gave at the
steps between is kept. The reader's elements are counted from where that loop begins: its loop starts at step 20.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xjit.fusion.regions.materialized import owner
from xjit.fusion.regions.reads import ProducerSlice
from xjit.fusion.statements import Check, IndexedValue, Reduce, Scan, Statement
from xjit.ir.opdef import AxisMap
from xjit.machine import Machine


def skewed(
    statement: Statement,
    found: ProducerSlice,
    others: Sequence[Statement],
    dims: tuple[int, ...],
    machine: Machine,
) -> Statement:
    """The statement so many steps behind the scans of others over ``dims`` that all it reads of theirs is made.

    It is the statement itself where it does not read what a scan makes, where it is made there in every step, or
    where it would have to be behind by too much.
    """
    walked = {other.reduced for other in others if isinstance(other, Scan)}
    nested = any(other.domain.nested for other in others)
    if len(walked) != 1 or nested or not _is_alongside(statement, dims, *walked):
        return statement
    ((axis,),) = walked
    reads = list(_reads(found, others, axis, statement.dims[axis]))
    if not reads or any(step is None for _, step in reads):
        return statement
    steps = [(made, step) for made, step in reads if step is not None]
    skew = max(step for _, step in steps)
    if (skew == 0 and statement.dims == dims) or any(indexed.node.is_assembled for indexed in found.visits):
        return statement
    if (skew and statement.sums is not None) or statement.domain.limits:
        return statement  # blocks of its sum begin at its own first element, not at that of the scan
    longest = machine.skew_steps // sum(isinstance(other, Scan) for other in others)
    if any(step != skew and not (isinstance(made, Scan) and skew - step <= longest) for made, step in steps):
        return statement
    return statement.skewed(axis, skew)


def _is_alongside(statement: Statement, dims: tuple[int, ...], walked: tuple[int, ...]) -> bool:
    """Return whether the statement has the axes of the scans and runs over as much or less of the one scanned
    along.
    """
    apart = statement.domain.nested or statement.domain.fixed or statement.chunk is not None
    if apart or isinstance(statement, Check) or statement.is_search or len(statement.dims) != len(dims):
        return False
    kept = [axis for axis in range(len(dims)) if axis not in walked]
    same = all(statement.dims[axis] == dims[axis] for axis in kept)
    return same and statement.dims[walked[0]] > 1 and statement.reduced in ((), walked)


def _reads(
    found: ProducerSlice, others: Sequence[Statement], axis: int, count: int
) -> Iterator[tuple[Statement, int | None]]:
    """The reads that so many elements of the statement make of the others, and the steps ahead of themselves; None
    if at no such distance, or if others than these make some of it.
    """
    for indexed in found.reads:
        for other in others:
            if other.target is owner(indexed.node):
                yield other, _steps_ahead(indexed, other, axis, count)


def _steps_ahead(indexed: IndexedValue, other: Statement, axis: int, count: int) -> int | None:
    is_line = axis < len(other.dims) == len(indexed.index)  # an element of each row stands at no step
    if isinstance(other, Reduce) or not other.makes_target or not is_line:
        return None
    origin, along = other.domain.begin, indexed.index[axis]
    for place, (map, size, first) in enumerate(zip(indexed.index, other.dims, origin, strict=True)):
        if place != axis and map != (AxisMap(None, 1, first) if size == 1 else AxisMap(place, 1, first)):
            return None
    if along != AxisMap(axis, 1, along.offset):
        return None
    made = origin[axis] + (other.domain.skew or 0)  # its first element: a part of a value begins later than that
    if not made <= along.offset <= made + other.dims[axis] - count:
        return None
    return along.offset - origin[axis]
