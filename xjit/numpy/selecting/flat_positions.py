"""Positions in an array as numbers of its elements in order, and back: unravel_index, ravel_multi_index."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, CaptureError
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.static import miniatures
from xjit.numpy.rules.values import as_scalar, as_value, numpy_errors, shape_of
from xjit.numpy.ufuncs import call
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import INT64


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """The positions along each axis of an array of this shape of its elements with these numbers.

    ``indices`` are of any integer type; the results are s64 in their memory order. Numbers out of range raise
    ArgumentError, at the run if only data tells, what is no integer DTypeError, a shape without axes CaptureError.

    >>> unravel_index(np.array([1, 5]), (2, 3))
    (array([0, 1]), array([1, 2]))
    """
    index = as_value(indices, "unravel_index", "indices")
    judge: Any = np.unravel_index
    with numpy_errors("unravel_index", ArgumentError):
        judge(np.zeros_like(miniatures(index)[0]), np.maximum(shape, 1), order)
    dims = tuple(map(int, np.atleast_1d(np.asarray(shape))))
    if not dims:
        raise CaptureError(
            "numpy.unravel_index: an array without axes is not supported", fix="its one position is ()"
        )
    size, wide = math.prod(dims), cast(index, INT64)
    inside = call(np.logical_and, call(np.greater_equal, wide, 0), call(np.less, wide, size))
    left = require(
        ops.select(inside, wide, _zeros(wide)),
        inside,
        "value",
        f"numpy.unravel_index: an index is out of bounds for array with size {size}",
    )
    found = []
    for dim in dims if order == "F" else reversed(dims):
        found.append(as_scalar(call(np.remainder, left, max(dim, 1))))
        left = call(np.floor_divide, left, max(dim, 1))
    return tuple(found if order == "F" else reversed(found))


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """The numbers of the elements at these positions, one array of them for each axis, in an array of these extents.

    Positions out of range raise ArgumentError, at the run if only data tells; ``mode``, one for all axes or one for
    each, may be "wrap" or "clip" instead. DTypeError for what is no integer.

    >>> ravel_multi_index((np.array([0, 1]), np.array([1, 2])), (2, 3))
    array([1, 5])
    """
    along = [as_value(one, "ravel_multi_index", "multi_index") for one in multi_index]
    zeros = [np.zeros_like(one) for one in miniatures(*along)]
    judge: Any = np.ravel_multi_index
    with numpy_errors("ravel_multi_index", ArgumentError):
        judge(tuple(zeros), tuple(dims), mode, order)
    extents = tuple(map(int, dims))
    modes = (mode,) * len(extents) if isinstance(mode, str) else tuple(mode)
    if 0 in np.broadcast_shapes(*map(shape_of, along)):  # no position is looked at
        modes = ("clip",) * len(extents)
    places = range(len(extents)) if order == "F" else reversed(range(len(extents)))
    number: Any = 0
    step = 1
    for place in places:
        part = call(np.multiply, _inside(along[place], extents[place], modes[place]), step)
        number = call(np.add, number, part)
        step *= extents[place]
    return as_scalar(number)


def _inside(position: Any, extent: int, mode: str) -> Any:
    wide = cast(position, INT64)
    if mode in _ELSEWHERE:
        return _ELSEWHERE[mode](wide, extent)
    inside = call(np.logical_and, call(np.greater_equal, wide, 0), call(np.less, wide, extent))
    return require(
        ops.select(inside, wide, _zeros(wide)),
        inside,
        "value",
        "numpy.ravel_multi_index: invalid entry in coordinates array",
    )


_ELSEWHERE: dict[str, Callable[[Any, int], Any]] = {
    "wrap": lambda position, extent: call(np.remainder, position, extent),
    "clip": lambda position, extent: call(np.minimum, call(np.maximum, position, 0), extent - 1),
}


def _zeros(like: Any) -> Any:
    return broadcast_to_shape(np.asarray(0, INT64), shape_of(like))
