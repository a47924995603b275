"""Index arrays: ``x[rows]``, ``take`` and ``take_along_axis``.

Positions are checked when they are known, and by a step of the program when only data tells; negative ones count
from the end.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import DTypeError, IndexOutOfBoundsError, ShapeError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.element_spans import element_span
from xjit.ir.spans import span_of
from xjit.numpy.arrays.shaping import ravel
from xjit.numpy.rules.broadcasting import broadcast_to_shape, common_shape
from xjit.numpy.rules.data_dependent import FILL, depends
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import as_scalar, as_value, holds_no_array, refuse, shape_of, whole_number
from xjit.ops.define.core import Operand, dtype_of
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import BOOL, INT64, dtype_class

MODES = ("raise", "wrap", "clip")
_NO_POSITIONS = "arrays used as indices must be of integer (or boolean) type"


def is_index_array(entry: Any) -> bool:
    """Return whether an index entry is an array of positions: an array, traced or not, or a sequence.

    >>> is_index_array([0, 1]), is_index_array(np.array([0])), is_index_array(2), is_index_array(None)
    (True, True, False, False)
    """
    if isinstance(entry, TracedValue):
        return entry.weak in (None, int)
    return isinstance(entry, list | tuple | range) or (isinstance(entry, np.ndarray) and entry.ndim > 0)


def positions(index: Any, size: int, axis: int, name: str, mode: str = "raise", truths: bool = False) -> Any:
    """The index as valid s64 positions along an axis of ``size`` elements.

    Raises IndexOutOfBoundsError for a position out of range, at the run if only data tells; ``wrap`` takes it modulo
    the size, ``clip`` takes the nearest. With ``truths``
    truth values are the positions 0 and 1; else DataDependentError for them, as they are masks.
    """
    if isinstance(index, range):
        index = np.arange(index.start, index.stop, index.step)
    try:
        value = as_value(index, name)
    except DTypeError:
        raise IndexOutOfBoundsError(_NO_POSITIONS) from None
    if dtype_of(value) == BOOL and not truths:
        depends("numpy.ndarray.__getitem__: boolean mask", "the shape of the result", FILL)
    if dtype_class(dtype_of(value)) not in "PI":
        if isinstance(index, list | tuple) and 0 in shape_of(value):  # without elements there is no type
            value = cast(value, INT64)
        else:
            raise IndexOutOfBoundsError(_NO_POSITIONS)
    if not isinstance(value, TracedValue):
        return _known(np.asarray(value), size, axis, mode)
    if size == 0 and 0 not in shape_of(value):
        raise IndexOutOfBoundsError(f"{name}: cannot take from an axis of 0 elements")
    return _traced(cast(value, INT64), size, axis, name, mode)


def out_of_bounds(position: int, axis: int, size: int) -> IndexOutOfBoundsError:
    """The error about a position that an axis does not have."""
    fix = (
        f"positions along axis {axis} go from {-size} to {size - 1}" if size else "the array is empty: check its size"
    )
    return IndexOutOfBoundsError(f"index {position} is out of bounds for axis {axis} with size {size}", fix=fix)


def _known(index: np.ndarray[Any, Any], size: int, axis: int, mode: str) -> Any:
    if mode == "raise" and index.size:
        for extreme in (int(index.max()), int(index.min())):
            if not -size <= extreme < size:
                raise out_of_bounds(extreme, axis, size)
    wide = index.astype(INT64)
    if mode == "clip":
        return np.clip(wide, 0, size - 1)
    return wide % size if size else wide


def _traced(index: Any, size: int, axis: int, name: str, mode: str) -> Any:
    def like(number: int) -> Any:
        return broadcast_to_shape(np.asarray(number, INT64), shape_of(index))

    if mode == "clip":
        return ops.clamp(np.asarray(0, INT64), index, np.asarray(size - 1, INT64))
    if mode == "wrap":
        return ops.remainder(index, like(size))
    low, high = span_of(index.node, current())
    if low < 0 or high >= size:
        low, high = element_span(index.node, current())
    wrapped = index
    if low < 0:
        from_end = ops.add(index, like(size))
        wrapped = from_end if high < 0 else ops.select(ops.lt(index, like(0)), from_end, index)
    tests = [ops.ge(index, like(-size))] if low < -size else []
    tests += [ops.lt(index, like(size))] if high >= size else []
    if not tests:
        return wrapped
    inside = tests[0] if len(tests) == 1 else ops.logical_and(*tests)
    safe = ops.select(inside, wrapped, like(0))  # kernels read there before the program raises
    return require(safe, inside, "index", f"{name}: an index is out of bounds for axis {axis} with size {size}")


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """``numpy.take``: the elements at ``indices`` along an axis, of the flat array without one.

    The dimensions of ``indices`` stand in place of the axis. Any element type. Raises IndexOutOfBoundsError, at the
    run if only data tells, ValueError for an unknown mode, CaptureError for ``out=``.

    >>> take(np.array([10, 20, 30]), [2, 0])
    array([30, 10])
    """
    refuse("take", out=out)
    if mode not in MODES:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")
    value = as_value(a, "take")
    if axis is None:
        value, axis = ravel(value), 0
    elif not shape_of(value):
        value = ravel(value)
    axis = _axis(axis, len(shape_of(value)))
    empty = holds_no_array(indices) and not np.size(indices)  # of a list without numbers nobody asks the type
    index = np.asarray(indices, INT64) if empty else as_value(indices, "take", "indices")
    if dtype_class(dtype_of(index)) in "FC":
        raise DTypeError(f"numpy.take: indices: integers are required; got {dtype_of(index)}")
    found = positions(cast(index, INT64), shape_of(value)[axis], axis, "numpy.take", mode, truths=True)
    return as_scalar(ops.look_up(value, (found,), (axis,), axis))


def _axis(axis: Any, rank: int) -> int:
    place = whole_number(axis)
    if not -rank <= place < rank:
        raise np.exceptions.AxisError(place, rank)
    return place % rank


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """``numpy.take_along_axis``: an element for every index, at the index's own place along the other axes.

    Both arrays have the same rank and sizes that broadcast along the other axes. Any element type. Raises
    IndexOutOfBoundsError, at the run if only data tells, ShapeError.

    >>> take_along_axis(np.array([[3, 1, 2]]), np.array([[1, 2, 0]]), 1)
    array([[1, 2, 3]])
    """
    value, index = as_value(arr, "take_along_axis"), as_value(indices, "take_along_axis")
    if dtype_class(dtype_of(index)) != "I":
        raise IndexOutOfBoundsError("`indices` must be an integer array")
    if axis is None:
        value, axis = ravel(value), 0
    rank = len(shape_of(value))
    if len(shape_of(index)) != rank:
        raise ShapeError("numpy.take_along_axis: `indices` and `arr` must have the same number of dimensions")
    axis = _axis(operator.index(axis), rank)
    found = positions(index, shape_of(value)[axis], axis, "numpy.take_along_axis")
    sizes = list(shape_of(value))
    sizes[axis] = shape_of(found)[axis]
    shape = common_shape("take_along_axis", [tuple(sizes), shape_of(found)])
    places = [broadcast_to_shape(found, shape) if k == axis else _own_places(shape, sizes, k) for k in range(rank)]
    return ops.look_up(value, tuple(places), tuple(range(rank)), 0)


def _own_places(shape: tuple[int, ...], sizes: list[int], axis: int) -> Any:
    own = ops.iota(f"s64[{','.join(map(str, shape))}]", axis)
    return own if sizes[axis] != 1 else ops.mul(own, broadcast_to_shape(np.asarray(0, INT64), shape))


def pick(value: Operand, entries: list[Any], neighbours: bool) -> Any:
    """``value[entries]`` with one entry per axis, each a full slice or an index array, as NumPy places the result.

    Index arrays broadcast together. Their dimensions replace the axes if they stand side by side, else come first.
    """
    axes = tuple(axis for axis, entry in enumerate(entries) if not isinstance(entry, slice))
    sizes = shape_of(value)
    found = [positions(entries[axis], sizes[axis], axis, "indexing") for axis in axes]
    try:
        shape = common_shape("indexing", [shape_of(one) for one in found])
    except ShapeError:
        shapes = " ".join(str(shape_of(one)) for one in found)
        message = f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}"
        raise IndexOutOfBoundsError(message) from None
    places = tuple(broadcast_to_shape(one, shape) for one in found)
    return ops.look_up(value, places, axes, axes[0] if neighbours else 0, positions_first=True)
