"""Arrays taken apart along an axis: split and its relatives, unstack. All parts are views."""

from __future__ import annotations

import itertools
from typing import Any

from xjit.errors import ArgumentError, IndexOutOfBoundsError
from xjit.numpy.arrays.shaping import moveaxis
from xjit.numpy.rules.static import static_array
from xjit.numpy.rules.values import as_value, shape_of
from xjit.numpy.selecting.indexing import getitem
from xjit.ops.define.core import Operand


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Equal parts along an axis, or the parts between positions.

    Any element type. Raises ArgumentError if a number of parts does not divide the size, IndexOutOfBoundsError for an
    axis out of range, CaptureError for positions that are not known while tracing.

    >>> import numpy as np
    >>> split(np.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    return _split("split", ary, indices_or_sections, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """As ``split``, but a number of parts need not divide the size: the first parts are longer by one."""
    return _split("array_split", ary, indices_or_sections, axis)


def _split(name: str, ary: Any, indices_or_sections: Any, axis: int) -> list[Any]:
    value = as_value(ary, name)
    shape = shape_of(value)
    if not -len(shape) <= axis < len(shape):
        raise IndexOutOfBoundsError(f"numpy.{name}: axis: tuple index out of range; got {axis} for {shape}")
    place = axis % len(shape)
    return [_part(value, place, low, high) for low, high in _bounds(name, shape[place], indices_or_sections)]


def _bounds(name: str, size: int, indices_or_sections: Any) -> list[tuple[Any, Any]]:
    found = static_array(indices_or_sections, name, "indices_or_sections")
    if found.ndim:
        cuts = [0, *found.tolist(), size]
        return list(itertools.pairwise(cuts))
    if name != "array_split" and size % found.item():
        raise ArgumentError(f"numpy.{name}: array split does not result in an equal division")
    count = int(found)
    if count <= 0:
        raise ArgumentError(f"numpy.{name}: number sections must be larger than 0.")
    each, extra = divmod(size, count)
    ends = [each * k + min(k, extra) for k in range(count + 1)]
    return list(itertools.pairwise(ends))


def _part(value: Operand, axis: int, low: Any, high: Any) -> Any:
    return getitem(value, (*(slice(None),) * axis, slice(low, high), Ellipsis))


def _split_by_rank(name: str, least: int, axis: int, text: str) -> Any:
    def function(ary: Any, indices_or_sections: Any) -> list[Any]:
        value = as_value(ary, name)
        if len(shape_of(value)) < least:
            raise ArgumentError(f"numpy.{name}: {name} only works on arrays of {least} or more dimensions")
        return _split(name, value, indices_or_sections, min(axis, len(shape_of(value)) - 1))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As ``split`` along the {text} axis; ArgumentError below rank {least}."
    return function


hsplit = _split_by_rank("hsplit", 1, 1, "second (or only)")
vsplit = _split_by_rank("vsplit", 2, 0, "first")
dsplit = _split_by_rank("dsplit", 3, 2, "third")


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The entries along an axis, as views; scalars of an array of rank 1.

    Any element type. Raises ArgumentError for rank 0, AxisError.

    >>> import numpy as np
    >>> unstack(np.array([[1, 2], [3, 4]]), axis=1)
    (array([1, 3]), array([2, 4]))
    """
    value = as_value(x, "unstack")
    if not shape_of(value):
        raise ArgumentError("numpy.unstack: Input array must be at least 1-d.")
    moved = moveaxis(value, axis, 0)
    return tuple(getitem(moved, place) for place in range(shape_of(moved)[0]))
