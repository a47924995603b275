"""Elements picked along an axis by positions known while tracing: delete, insert, compress, extract.

A few runs of evenly spaced positions become slices, which are put together again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit import ops
from xjit.dataclass import dataclass
from xjit.errors import ArgumentError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.shaping import as_array, moveaxis, ravel
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.data_dependent import FILL, is_unknown, known_array
from xjit.numpy.rules.promotion import assigned
from xjit.numpy.rules.static import hollow, order_by, static_array
from xjit.numpy.rules.values import as_value, fresh, numpy_errors, operand, refuse, shape_of, with_order
from xjit.numpy.rules.view_strides import column_or_row_major
from xjit.ops.define.core import Array, Operand, dtype_of
from xjit.ops.define.memory_order import pack
from xjit.types import INT64, c_order

MOST_RUNS = 8
"""Parts are loops of their own: of more than these, elements are looked up one by one."""


@dataclass(frozen=True, slots=True)
class Run:
    """Evenly spaced positions: the first one, the step (which may be zero or negative) and their number."""

    first: int
    step: int
    count: int


def runs_of(positions: Array) -> Iterator[Run]:
    """The positions as few runs, in order.

    >>> list(runs_of(np.array([4, 3, 2, 2, 2])))
    [Run(first=4, step=-1, count=3), Run(first=2, step=0, count=2)]
    """
    steps, start = np.diff(positions), 0
    turns = np.flatnonzero(np.diff(steps)) + 1
    while start < len(positions):
        if start == len(positions) - 1:
            yield Run(int(positions[start]), 1, 1)
            return
        later = turns[np.searchsorted(turns, start, "right") :]
        end = int(later[0]) if len(later) else len(steps)
        yield Run(int(positions[start]), int(steps[start]), end - start + 1)
        start = end + 1


def along(value: Operand, positions: Array, axis: int) -> Any:
    """The elements at these positions of one axis, in this order."""
    runs = list(itertools.islice(runs_of(positions), MOST_RUNS + 1))
    if len(runs) > MOST_RUNS:
        return ops.look_up(value, (positions.astype(INT64),), (axis,), axis)
    return joined([picked(value, run, axis) for run in runs], value, axis)


def joined(parts: list[Any], like: Operand, axis: int) -> Any:
    """Parts of an array behind each other along an axis; without any, as much as nothing of the array."""
    if not parts:
        return picked(like, Run(0, 1, 0), axis)
    return parts[0] if len(parts) == 1 else ops.concatenate(parts, axis)


def picked(value: Operand, run: Run, axis: int) -> Any:
    """The elements of one run."""
    shape = shape_of(value)
    if run.step == 0:
        cell = _sliced(value, run.first, run.first + 1, 1, axis)
        return broadcast_to_shape(cell, (*shape[:axis], run.count, *shape[axis + 1 :]))
    last = run.first + (run.count - 1) * run.step
    low = min(run.first, last) if run.count else 0
    part = _sliced(value, low, max(run.first, last) + 1 if run.count else 0, abs(run.step), axis)
    return ops.rev(part, (axis,)) if run.step < 0 and run.count > 1 else part


def _sliced(value: Operand, low: int, high: int, step: int, axis: int) -> Any:
    shape = shape_of(value)
    if (low, high, step) == (0, shape[axis], 1):
        return value
    rank = len(shape)
    starts = tuple(low if k == axis else 0 for k in range(rank))
    ends = tuple(high if k == axis else n for k, n in enumerate(shape))
    return ops.slice(value, starts, ends, tuple(step if k == axis else 1 for k in range(rank)))


def _line(arr: Any, axis: Any, name: str) -> tuple[Operand, int]:
    """The operand and the axis that is meant; without an axis the flattened operand."""
    value = as_array(as_value(arr, name))
    if axis is not None:
        with numpy_errors(name):
            return value, normalize_axis_index(axis, len(shape_of(value)))
    return (value if len(shape_of(value)) == 1 else ravel(value)), 0


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """Without the entries at some positions of an axis, or of the flattened array.

    ``obj`` is an integer, a slice, or a list of integers or truth values, known while tracing. Any element type.
    Raises IndexOutOfBoundsError, AxisError, CaptureError for unknown positions.

    >>> delete(np.arange(5), [0, 3])
    array([1, 2, 4])
    """
    value, place = _line(arr, axis, "delete")
    gone = obj if isinstance(obj, slice) else _positions(obj, "delete")
    size = shape_of(value)[place]
    with numpy_errors("delete", ArgumentError):
        rest = np.delete(np.arange(size), gone)
    one = isinstance(gone, slice) or (np.size(gone) == 1 and np.asarray(gone).dtype != bool)
    if one or len(shape_of(value)) < 2:
        order = column_or_row_major(value)
    else:
        order = order_by(lambda array: np.delete(array, gone, place), value, whole=(place,))
    return own(along(value, rest, place), value, order)


def own(result: Any, value: Operand, order: tuple[int, ...]) -> Any:
    """A result in memory of its own, packed in this order: never the operand itself, nor a view of it.

    What index operations alone lead to would be taken for a view as soon as somebody takes a view of it.
    """
    indexed = isinstance(result, TracedValue) and result.node.op.access is not None
    return pack(result, order) if result is value or indexed else with_order(fresh(result), order)


def _positions(obj: Any, name: str) -> Any:
    """The argument as NumPy takes it: integers stay integers, empty lists stay lists."""
    if isinstance(obj, int | np.integer) or (isinstance(obj, list | tuple) and not obj):
        return obj
    return static_array(obj, name, "obj")


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """With values put in before some positions of an axis, or of the flattened array.

    ``obj`` as in ``delete``; the values broadcast and take the array's element type. Raises IndexOutOfBoundsError,
    AxisError, ArgumentError for shapes that do not fit, CaptureError for unknown positions.

    >>> insert(np.array([1, 2, 3]), 1, 9)
    array([1, 9, 2, 3])
    """
    value, place = _line(arr, axis, "insert")
    shape = shape_of(value)
    spots = np.arange(shape[place])[obj] if isinstance(obj, slice) else _positions(obj, "insert")
    new = assigned(operand(values, "insert", "values"), dtype_of(value), "insert")
    count = -1
    if np.size(spots) == 1:
        new = ops.reshape(new, (1,) * (len(shape) - len(shape_of(new))) + shape_of(new))
        new = moveaxis(new, 0, place) if np.ndim(spots) == 0 else new
        count = shape_of(new)[place]
    with numpy_errors("insert", ArgumentError):
        mixed = _mixed(shape[place], spots, count)
        wanted = (*shape[:place], int((mixed < 0).sum()), *shape[place + 1 :])
        np.broadcast_to(hollow(new), wanted)
    return _merged(value, broadcast_to_shape(new, wanted), mixed, place)


def _mixed(size: int, spots: Any, count: int) -> Array:
    """Positions in the array where elements stay, and -1, -2, ... for the inserted ones."""
    if count >= 0:
        return np.insert(np.arange(size), spots, -1 - np.arange(count))
    length = len(np.insert(np.arange(size), spots, 0)) - size
    return np.insert(np.arange(size), spots, -1 - np.arange(length))


def _merged(value: Operand, new: Operand, mixed: Array, axis: int) -> Any:
    cuts = np.flatnonzero(np.diff(mixed < 0)) + 1
    if len(cuts) < MOST_RUNS:
        parts = [
            along(new, -1 - part, axis) if part[0] < 0 else along(value, part, axis)
            for part in np.split(mixed, cuts)
            if part.size
        ]
        result = joined(parts, value, axis)
    else:
        both = ops.concatenate((value, new), axis)
        result = along(both, np.where(mixed < 0, shape_of(value)[axis] - 1 - mixed, mixed), axis)
    return own(result, value, column_or_row_major(value))


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """The entries along an axis, or of the flattened array, where a condition is true.

    Any element type. Raises IndexOutOfBoundsError for a known condition that is true beyond the end.

    >>> compress([True, False, True], np.arange(3))
    array([0, 2])
    """
    refuse("compress", out=out)
    value = as_value(a, "compress")
    value, place = _line(value, None if not shape_of(value) and axis in (0, -1) else axis, "compress")
    if is_unknown(condition):
        from xjit.numpy.limited.finding import chosen_along

        return chosen_along(condition, value, place, "compress")
    mask = known_array(condition, "compress", "condition", FILL)
    with numpy_errors("compress", ArgumentError):
        positions = np.compress(mask, np.arange(shape_of(value)[place]))
    return own(along(value, positions, place), value, c_order(len(shape_of(value))))


def extract(condition: Any, arr: Any) -> Any:
    """The elements, flattened, where a condition is true.

    >>> extract([False, True], np.array([3, 4]))
    array([4])
    """
    value = ravel(as_value(arr, "extract"))
    if is_unknown(condition):
        from xjit.numpy.limited.finding import chosen_along

        return chosen_along(ravel(condition), value, None, "extract")
    mask = known_array(condition, "extract", "condition", FILL)
    with numpy_errors("extract", ArgumentError):
        positions = np.extract(mask, np.arange(shape_of(value)[0]))
    return own(along(value, positions, 0), value, (0,))
