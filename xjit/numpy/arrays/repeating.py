"""Arrays repeated: tile, repeat, resize."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit import ops
from xjit.errors import ArgumentError
from xjit.numpy.arrays.creation import array as new_array
from xjit.numpy.arrays.creation import filled
from xjit.numpy.arrays.shaping import as_array, ravel, static_shape
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.data_dependent import known_array
from xjit.numpy.rules.static import static_array
from xjit.numpy.rules.values import Shape, as_value, numpy_errors, shape_of
from xjit.numpy.selecting.picking import along, own
from xjit.ops.define.core import Operand, aval_of, dtype_of
from xjit.types import BOOL, INT64, c_order


def tile(A: Any, reps: Any) -> Any:
    """The whole array repeated along each axis; with more numbers than axes, along new leading axes too.

    Any element type; the result is row-major, a mere copy keeps its memory order. Raises ArgumentError for negative
    numbers, DTypeError for others than integers.

    >>> tile(np.array([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    numbers = np.atleast_1d(static_array(reps, "tile", "reps"))
    counts = static_shape(numbers.astype(INT64) if numbers.dtype == BOOL else numbers, "tile")
    value = as_array(as_value(A, "tile"))
    rank = max(len(counts), len(shape_of(value)))
    counts, shape = _padded(counts, rank), _padded(shape_of(value), rank)
    if any(count < 0 and (size or aval_of(value).size) for count, size in zip(counts, shape, strict=True)):
        raise ArgumentError(f"numpy.tile: reps: negative dimensions are not allowed; got {counts}")
    counts = tuple(max(count, 0) for count in counts)
    if all(count == 1 for count in counts):
        return new_array(value, ndmin=rank)
    paired = tuple(size for pair in zip(counts, shape, strict=True) for size in pair)
    rows = ops.reshape(value, tuple(size for n in shape for size in (1, n)))
    result = ops.reshape(broadcast_to_shape(rows, paired), tuple(map(math.prod, zip(counts, shape, strict=True))))
    return own(result, value, c_order(rank))


def _padded(sizes: Shape, rank: int) -> Shape:
    return (1,) * (rank - len(sizes)) + sizes


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Each element repeated along an axis, or flattened without one; ``repeats`` is one number or one per element.

    Any element type; the result is row-major. Raises AxisError, ArgumentError for negative or misfit numbers,
    DataDependentError for numbers that are not known while tracing.

    >>> repeat(np.array([1, 2]), [2, 1])
    array([1, 1, 2])
    """
    value = as_array(as_value(a, "repeat"))
    if axis is None or not shape_of(value):
        value = ravel(value)
    with numpy_errors("repeat", ArgumentError):
        place = normalize_axis_index(0 if axis is None else axis, len(shape_of(value)))
        counts = known_array(repeats, "repeat", "repeats", "give numbers known while tracing")
        size = shape_of(value)[place]
        if counts.size == 1 and counts.ndim < 2:
            np.repeat(np.zeros(min(size, 1), np.bool_), counts)
            result = _each(value, max(int(counts.reshape(-1)[0]), 0), place)
        else:
            result = along(value, np.repeat(np.arange(size), counts), place)
    return own(result, value, c_order(len(shape_of(value))))


def _each(value: Operand, count: int, axis: int) -> Any:
    shape = shape_of(value)
    before, size, after = shape[:axis], shape[axis], shape[axis + 1 :]
    cells = broadcast_to_shape(ops.reshape(value, (*before, size, 1, *after)), (*before, size, count, *after))
    return ops.reshape(cells, (*before, size * count, *after))


def resize(a: Any, new_shape: Any) -> Any:
    """The elements in row-major order, over and over, in an array of another shape; zeros if there are none.

    Any element type. Raises ArgumentError for negative sizes.

    >>> resize(np.array([1, 2, 3]), (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    value = ravel(a)
    sizes = static_shape(new_shape, "resize")
    if any(size < 0 for size in sizes):
        raise ArgumentError(f"numpy.resize: all elements of `new_shape` must be non-negative; got {sizes}")
    count, wanted = aval_of(value).size, math.prod(sizes)
    if count == 0 or wanted == 0:
        return filled(sizes, np.zeros((), dtype_of(value)))
    rows = -(-wanted // count)
    repeated = ops.reshape(broadcast_to_shape(value, (rows, count)), (rows * count,))
    return own(ops.reshape(ops.slice(repeated, (0,), (wanted,)), sizes), value, c_order(len(sizes)))
