"""Positions and elements that conditions of the run choose: ``nonzero``, ``argwhere``, ``compress`` and their kin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, IndexOutOfBoundsError
from xjit.numpy import dispatch
from xjit.numpy.arrays.shaping import ravel
from xjit.numpy.limited.arrays import LimitedArray, at_bounds, made, number_of, sizes_of, value_of
from xjit.numpy.limited.masked_elements import (
    chosen_by,
    chosen_in,
    coordinates,
    elements_in,
    positions_in,
    rows_in,
)
from xjit.numpy.limited.run_time_integers import Integer, integer, is_same
from xjit.numpy.rules.data_dependent import FILL, depends
from xjit.numpy.rules.values import as_value, shape_of
from xjit.numpy.selecting import indexing
from xjit.ops.define.core import Operand
from xjit.ops.dynamic.limited_windows import Range, limited_window
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import BOOL, INT64


def _truths(a: Any) -> Any:
    """The array as truth values: which elements are not zero."""
    value = a if isinstance(a, LimitedArray) else as_value(a, "nonzero")
    if value.dtype == BOOL:
        return value
    found = dispatch.call_ufunc(np.not_equal, "__call__", (value_of(value), 0), {})
    return made(found, sizes_of(value))


def nonzero(a: Any) -> tuple[Any, ...]:
    """The positions of what is not zero, along each axis.

    Any element type. ArgumentError for an array without axes, as NumPy has it.
    """
    mask = _truths(a)
    dims = sizes_of(mask)
    if not dims:
        message = "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead."
        raise ArgumentError(message)
    if len(dims) == 1:
        return (positions_in(chosen_in(mask)),)
    if isinstance(mask, LimitedArray):
        depends("numpy.nonzero: an array of several axes whose size only the run knows", "its shape", FILL)
    return coordinates(positions_in(chosen_by(mask)), shape_of(mask))


def flatnonzero(a: Any) -> Any:
    """The positions of what is not zero in the flattened array."""
    mask = _truths(a)
    if isinstance(mask, LimitedArray):
        return nonzero(mask)[0]
    return positions_in(chosen_by(ravel(mask)))


def argwhere(a: Any) -> Any:
    """The positions of what is not zero, a row for each element."""
    mask = _truths(a)
    shape = shape_of(value_of(mask))
    if not shape:
        depends("numpy.argwhere of an array without axes", "the shape of the result", FILL)
    if isinstance(mask, LimitedArray) and len(shape) > 1:
        depends("numpy.argwhere: an array of several axes whose size only the run knows", "its shape", FILL)
    places = positions_in(chosen_in(mask))
    flat, rank = value_of(places), len(shape)
    steps = [math.prod(shape[axis + 1 :]) or 1 for axis in range(rank)]
    dims = (rank, *shape_of(flat))

    def along(numbers: list[int]) -> Any:
        return ops.broadcast_in_dim(ops.constant(np.array(numbers), dtype=INT64), dims, (0,))

    quotient = ops.div(ops.broadcast_in_dim(flat, dims, (1,)), along(steps))
    found = ops.transpose(ops.remainder(quotient, along([max(size, 1) for size in shape])), (1, 0))
    return made(found, (*sizes_of(places), integer(rank)))


def chosen_along(condition: Any, value: Operand, axis: int | None, name: str) -> Any:
    """``numpy.compress`` for a condition of the run: of the flattened array without an axis."""
    mask = _truths(condition)
    if isinstance(mask, LimitedArray) or len(shape_of(mask)) != 1:
        depends(f"numpy.{name}: condition", "the shape of the result", FILL)
    if axis is None:
        value, axis = ravel(value), 0
    size, own = shape_of(value)[axis], shape_of(mask)[0]
    if own > size:
        depends(f"numpy.{name}: a condition that is longer than the axis", "the shape of the result", FILL)
    if own < size:
        value = indexing.getitem(value, (*(slice(None),) * axis, slice(own)))
    chosen = chosen_by(mask)
    if len(shape_of(value)) == 1:
        return elements_in(value, chosen)
    return rows_in(value, chosen, axis, 1, found_first=False)


def masked(value: Any, mask: Any) -> Any:
    """``value[mask]`` for a mask of rank 1 where one of both has a size that only the run knows."""
    own, (size,) = sizes_of(value), sizes_of(mask)
    if not own:
        raise IndexOutOfBoundsError("too many indices for array: array is 0-dimensional, but 1 were indexed")
    size = _same_size(own[0], size)
    chosen = chosen_by(value_of(mask), size)
    if len(own) > 1:
        found = rows_in(value_of(value), chosen, 0, 1)
        return made(value_of(found), (*sizes_of(found)[:1], *own[1:]))
    flat, bound = at_bounds(value), shape_of(chosen.mask)[0]
    if shape_of(flat)[0] != bound:
        flat = limited_window(flat, [Range(0, 1, number_of(size), bound)])
    return elements_in(flat, chosen)


def masked_places(value: Any, mask: Any) -> Any:
    """The positions that a mask of rank 1, of the size of the first axis of a value, chooses along that."""
    (size,) = sizes_of(mask)
    return positions_in(chosen_by(value_of(mask), _same_size(sizes_of(value)[0], size)))


def _same_size(own: Integer, size: Integer) -> Integer:
    """The size of a mask, which has to be that of what it chooses of."""
    if own.equals(size):
        return size
    message = "boolean index did not match indexed array along axis 0"
    if own.known is not None and size.known is not None:
        raise IndexOutOfBoundsError(f"{message}; size of axis is {own.known} but mask has {size.known}")
    held = require(number_of(size), is_same(own, size), "index", message)
    return integer(held).within(0, min(own.high, size.high))
