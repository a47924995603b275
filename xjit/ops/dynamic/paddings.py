"""Padding by position: which elements lie in front of a size, and values that are moved along a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.ops.define.core import Shape, aval_of, constant
from xjit.ops.elements.compare import lt
from xjit.ops.elements.elementwise import add, and_
from xjit.ops.elements.select import clamp
from xjit.ops.whole_arrays.index import look_up
from xjit.ops.whole_arrays.shape import expanded, iota
from xjit.types import INT32


def scalar(value: int) -> Any:
    """A number of elements."""
    return constant(np.array(value, INT32))


def filled(value: Any, dims: Sequence[int]) -> Any:
    """A scalar at every index."""
    return expanded(value, tuple(dims), ())


def before_size(dims: Sequence[int], sizes: Sequence[tuple[int, Any]]) -> Any:
    """PRED: which indices lie in front of the sizes of some dimensions."""
    result = None
    for axis, size in sizes:
        inside = lt(iota(Shape(tuple(dims), INT32), axis), filled(size, dims))
        result = inside if result is None else and_(result, inside)
    return result


def looked_up(value: Any, axis: int, ahead: Any) -> Any:
    """The elements so many places further along a dimension; at the ends the last ones there are."""
    extent = aval_of(value).shape[axis]
    if not extent:
        return value
    places = add(iota(Shape((extent,), INT32), 0), filled(ahead, (extent,)))
    return look_up(value, (clamp(np.int32(0), places, np.int32(extent - 1)),), (axis,), axis)
