"""``numpy.lib.stride_tricks.sliding_window_view``: windows are read in place, whatever is computed of them."""

from __future__ import annotations

from typing import Any

from numpy.lib.array_utils import normalize_axis_tuple

from xjit.errors import ArgumentError, CaptureError
from xjit.numpy.arrays.creation import full
from xjit.numpy.arrays.shaping import as_array
from xjit.numpy.rules.promotion import concrete_integer
from xjit.numpy.rules.values import Shape, as_value, as_view, numpy_errors, refuse, shape_of
from xjit.ops.define.core import Operand, dtype_of
from xjit.ops.windows.window_view import window_view

NAME = "lib.stride_tricks.sliding_window_view"


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: Any = False, writeable: Any = False
) -> Any:
    """Every window of an array, one step apart, its elements along further axes behind all others.

    Any element type. Reductions over these axes are computed as those of windows are, long ones at a cost that does
    not depend on the window. Raises ArgumentError where NumPy raises ValueError, for windows that do not fit the axes
    or the array, and CaptureError for windows that one could write to.

    >>> import numpy as np
    >>> sliding_window_view(np.array([1, 2, 3, 4]), 3)
    array([[1, 2, 3],
           [2, 3, 4]])
    """
    if writeable:
        raise CaptureError(f"numpy.{NAME}: writeable: windows that share their elements cannot be written to")
    refuse(NAME, subok=subok or None)
    value: Operand = as_array(as_value(x, NAME))
    window = tuple(concrete_integer(size, f"numpy.{NAME}: window_shape") for size in _as_tuple(window_shape))
    axes = _axes(axis, len(window), len(shape_of(value)))
    dims = _checked_dims(shape_of(value), window, axes)
    if 0 in window:
        return full(dims, 0, dtype_of(value))
    if len(set(axes)) == len(axes):
        return as_view(window_view(value, window, axes=axes, outer=False))
    for place, size in zip(axes, window, strict=True):
        value = window_view(value, (size,), axes=(place,), outer=False)
    return as_view(value)


def _checked_dims(shape: Shape, window: Shape, axes: tuple[int, ...]) -> Shape:
    """The dimensions of the result."""
    if any(size < 0 for size in window):
        raise ArgumentError(f"numpy.{NAME}: `window_shape` cannot contain negative values")
    left = list(shape)
    for axis, size in zip(axes, window, strict=True):
        if left[axis] < size:
            raise ArgumentError(f"numpy.{NAME}: window shape cannot be larger than input array shape")
        left[axis] -= size - 1
    return (*left, *window)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _axes(axis: Any, count: int, rank: int) -> tuple[int, ...]:
    if axis is None:
        if count != rank:
            raise ArgumentError(
                f"numpy.{NAME}: since axis is None, must provide window_shape for all dimensions of `x`; "
                f"got {count} window_shape elements and `x.ndim` is {rank}"
            )
        return tuple(range(rank))
    with numpy_errors(NAME):
        found: tuple[int, ...] = normalize_axis_tuple(axis, rank, allow_duplicate=True)
    if len(found) != count:
        raise ArgumentError(
            f"numpy.{NAME}: must provide matching length window_shape and axis; got {count} and {axis}"
        )
    return found
