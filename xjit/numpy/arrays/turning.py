"""Arrays turned: axes reversed, rotated and rolled. All but ``roll`` return views."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from xjit import ops
from xjit.errors import ArgumentError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.shaping import as_array, ravel, reshape
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.static import only_run_tells, permutation_by, static_array, static_integer
from xjit.numpy.rules.values import as_value, as_view, copied, fresh, numpy_errors, order_letter, shape_of, with_order
from xjit.numpy.selecting.indexing import getitem
from xjit.ops.define.core import Operand
from xjit.ops.whole_arrays.shape import iota
from xjit.types import INT64, dtype_class

_BACKWARDS = slice(None, None, -1)
_NESTED = "numpy.roll: 'shift' and 'axis' should be scalars or 1D sequences"


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """One axis moved back until it comes to lie before axis ``start``. A view.

    Any element type. Raises AxisError for axes out of range.

    >>> rollaxis(np.ones((3, 4, 5)), 2).shape
    (5, 3, 4)
    """
    value = as_value(a, "rollaxis")
    places = permutation_by("rollaxis", len(shape_of(value)), lambda array: np.rollaxis(array, axis, start))
    return as_view(ops.transpose(value, places))


def flip(m: Any, axis: Any = None) -> Any:
    """The elements in reverse order along the given axes, or along all of them. A view.

    Any element type. Raises AxisError, ArgumentError for an axis that is named twice.

    >>> flip(np.array([[1, 2], [3, 4]]), 0)
    array([[3, 4],
           [1, 2]])
    """
    value = as_value(m, "flip")
    rank = len(shape_of(value))
    with numpy_errors("flip", ArgumentError):
        axes = range(rank) if axis is None else normalize_axis_tuple(axis, rank)
    return getitem(value, tuple(_BACKWARDS if place in axes else slice(None) for place in range(rank)))


def fliplr(m: Any) -> Any:
    """The columns in reverse order: the second axis reversed. A view; ArgumentError below rank 2."""
    value = as_value(m, "fliplr")
    if len(shape_of(value)) < 2:
        raise ArgumentError("numpy.fliplr: Input must be >= 2-d.")
    return flip(value, 1)


def flipud(m: Any) -> Any:
    """The rows in reverse order: the first axis reversed. A view; ArgumentError for rank 0."""
    value = as_value(m, "flipud")
    if not shape_of(value):
        raise ArgumentError("numpy.flipud: Input must be >= 1-d.")
    return flip(value, 0)


def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    """Turned by ``k`` right angles in the plane of two axes, from the first towards the second. A view.

    Any element type. Raises ArgumentError for axes that are out of range or the same.

    >>> rot90(np.array([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])
    """
    value = as_value(m, "rot90")
    rank = len(shape_of(value))
    with numpy_errors("rot90", ArgumentError):
        np.rot90(np.empty((0,) * rank), k, axes)
        first, second = normalize_axis_tuple(axes, rank)
    places = list(range(rank))
    places[first], places[second] = second, first
    quarter = static_integer(k, "rot90", "k") % 4
    if quarter == 0:
        return getitem(value, slice(None))
    if quarter == 2:
        return flip(value, (first, second))
    if quarter == 1:
        return as_view(ops.transpose(flip(value, second), tuple(places)))
    return flip(as_view(ops.transpose(value, tuple(places))), second)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """The elements moved along axes, those that leave at one end entering at the other; without an axis, flattened.

    Any element type; shifts of one axis add up, and integers among them may be such that only the run tells. Raises
    AxisError, ArgumentError for nested shifts, CaptureError for other shifts that are not known while tracing.

    >>> roll(np.arange(5), 2)
    array([3, 4, 0, 1, 2])
    """
    value = as_array(as_value(a, "roll"))
    steps = _steps(shift)
    if axis is None:
        if steps.ndim > 1:
            raise ArgumentError(_NESTED)
        total = functools.reduce(_added, steps.reshape(-1), 0)
        return fresh(reshape(_rolled(ravel(value), {0: total}), shape_of(value)))
    shifts: dict[int, Any] = {}
    with numpy_errors("roll", ArgumentError):
        places = normalize_axis_tuple(axis, len(shape_of(value)), allow_duplicate=True)
        pairs = np.broadcast(steps, places)
        if pairs.ndim > 1:
            raise ArgumentError(_NESTED)
        for step, place in pairs:
            shifts[int(place)] = _added(shifts.get(int(place), 0), step)
    return _rolled(value, shifts)


def _steps(shift: Any) -> Any:
    """The shifts, an array of at most one axis: Python's integers, and values of type s64 that only the run tells."""
    if not only_run_tells(shift):
        known = static_array(shift, "roll", "shift")
        found = np.fromiter(map(int, known.reshape(-1)), object).reshape(known.shape)
    elif isinstance(shift, TracedValue) and dtype_class(shift.dtype) in "PI" and shift.dtype != np.uint64:
        length = shape_of(shift)
        if len(length) > 1:
            raise ArgumentError(_NESTED)
        found = np.empty(length, object)
        for place in np.ndindex(length):
            found[place] = ops.reshape(cast(getitem(shift, place) if length else shift, INT64), ())
    elif isinstance(shift, list | tuple):
        parts = [_steps(part) for part in shift]
        if any(part.ndim for part in parts):
            raise ArgumentError(_NESTED)
        found = np.empty(len(parts), object)
        for number, part in enumerate(parts):
            found[number] = part[()]
    else:
        found = static_array(shift, "roll", "shift")
    return found


def _added(one: Any, other: Any) -> Any:
    """The sum of two shifts."""
    if isinstance(one, TracedValue) or isinstance(other, TracedValue):
        left, right = (part if isinstance(part, TracedValue) else np.asarray(part, INT64) for part in (one, other))
        return ops.add(left, right)
    return one + other


def _rolled(value: Operand, shifts: dict[int, Any]) -> Any:
    """A copy in the operand's memory order."""
    result = value
    for axis, shift in shifts.items():
        size = shape_of(value)[axis]
        if isinstance(shift, TracedValue):
            result = _moved(result, axis, shift) if size else result
            continue
        offset = shift % (size or 1)
        if offset:
            parts = (_part(result, axis, size - offset, size), _part(result, axis, 0, size - offset))
            result = ops.concatenate(parts, axis)
    return copied(value) if result is value else with_order(result, order_letter(value, "K", "roll"))


def _moved(value: Operand, axis: int, shift: TracedValue) -> Any:
    """The elements moved along an axis by as many places as only the run tells."""
    size = shape_of(value)[axis]
    offset = ops.broadcast_in_dim(ops.remainder(shift, np.asarray(size, INT64)), (size,), ())
    places = ops.sub(iota(f"s64[{size}]", 0), offset)
    from_end = ops.add(places, np.full(size, size))
    found = ops.select(ops.lt(places, np.zeros(size, INT64)), from_end, places)
    return ops.look_up(value, (found,), (axis,), axis)


def _part(value: Operand, axis: int, low: int, high: int) -> Any:
    shape = shape_of(value)
    start = tuple(low if k == axis else 0 for k in range(len(shape)))
    return ops.slice(value, start, tuple(high if k == axis else n for k, n in enumerate(shape)))
