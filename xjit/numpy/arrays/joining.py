"""Arrays put together: concatenate and the stacks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit import ops
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.numpy.arrays.shaping import atleast_1d, atleast_2d, atleast_3d, expand_dims, ravel
from xjit.numpy.rules.broadcasting import shape_text
from xjit.numpy.rules.promotion import cast, requested, result_type, typed
from xjit.numpy.rules.values import (
    Shape,
    as_value,
    numpy_errors,
    operand,
    pattern_of,
    refuse,
    shape_of,
    whole_number,
    with_order,
)
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import c_order, order_of

# Beyond this rank even the small patterns that tell memory orders would be large.
_LARGEST_PATTERN_RANK = 10


def concatenate(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Arrays one after the other along an axis; flattened ones if the axis is None.

    Raises ShapeError if other sizes differ, DTypeError if there is no common element type.
    """
    refuse("concatenate", out=out)
    return join("concatenate", elements(arrays, "concatenate"), axis, dtype, casting)


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Arrays of one shape along a new axis."""
    refuse("stack", out=out)
    parts = [as_value(part, "stack") for part in elements(arrays, "stack")]
    if not parts:
        raise ArgumentError("numpy.stack: need at least one array to stack")
    shapes = list(dict.fromkeys(map(shape_of, parts)))
    if len(shapes) != 1:
        found = " and ".join(map(shape_text, shapes[:2]))
        raise ShapeError(
            "numpy.stack: all input arrays must have the same shape",
            fix=f"there are the shapes {found}: slice or pad one, or use np.concatenate",
        )
    with numpy_errors("stack"):
        place = normalize_axis_index(axis, len(shape_of(parts[0])) + 1)
    return join("stack", [expand_dims(part, place) for part in parts], place, dtype, casting)


def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Arrays side by side: along the second axis, or the only one."""
    parts = _at_least(atleast_1d, elements(tup, "hstack"), "hstack")
    axis = 0 if parts and len(shape_of(parts[0])) == 1 else 1
    return join("hstack", parts, axis, dtype, casting)


def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Arrays on top of each other: rows along the first axis."""
    return join("vstack", _at_least(atleast_2d, elements(tup, "vstack"), "vstack"), 0, dtype, casting)


def column_stack(tup: Any) -> Any:
    """Arrays of rank 1 as columns, others side by side."""
    parts = [as_value(part, "column_stack") for part in elements(tup, "column_stack")]
    columns = [ops.reshape(p, (shape_of(p)[0], 1)) if len(shape_of(p)) == 1 else atleast_2d(p) for p in parts]
    return join("column_stack", columns, 1, None)


def dstack(tup: Any) -> Any:
    """Arrays behind each other: along the third axis.

    >>> dstack([np.array([1, 2]), np.array([3, 4])])
    array([[[1, 3],
            [2, 4]]])
    """
    return join("dstack", _at_least(atleast_3d, elements(tup, "dstack"), "dstack"), 2, None)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """The array and behind it the values, along an axis or flattened; element types as in ``concatenate``.

    >>> append(np.array([1, 2]), 3)
    array([1, 2, 3])
    """
    value, more = as_value(arr, "append"), as_value(values, "append", "values")
    if axis is None:
        value, more, axis = ravel(value), ravel(more), 0
    return join("append", [value, more], axis)


def _at_least(raised: Any, parts: list[Any], name: str) -> list[Any]:
    return [raised(as_value(part, name)) for part in parts]


def elements(arrays: Any, name: str) -> list[Any]:
    """The arrays of a sequence, or the rows of one array."""
    if isinstance(arrays, list | tuple):
        return [operand(part, name, f"array {place}") for place, part in enumerate(arrays)]
    value = as_value(arrays, name)
    if not shape_of(value):
        raise DTypeError(f"numpy.{name}: a sequence of arrays is required; got an array of rank 0")
    return rows(value)


def rows(value: Operand) -> list[Any]:
    """The entries of an array along its first axis."""
    shape = shape_of(value)
    low, high = (0,) * (len(shape) - 1), shape[1:]
    return [ops.reshape(ops.slice(value, (place, *low), (place + 1, *high)), high) for place in range(shape[0])]


def join(name: str, parts: list[Any], axis: Any, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Concatenation of arrays of one rank in their common element type; memory in NumPy's K order."""
    if not parts:
        raise ArgumentError(f"numpy.{name}: need at least one array to concatenate")
    found = requested(dtype, name) or result_type(*parts, name=name)
    for part in parts:
        own = dtype_of(as_value(part, name))
        if not np.can_cast(own, found, casting):
            raise DTypeError(f"numpy.{name}: cannot cast from {own} to {found} with casting {casting!r}")
    values: list[Any] = [typed(part, found) if _is_python(part) else part for part in parts]
    if axis is None:
        values, axis = [ravel(value) for value in values], 0
    place = _checked_axis(name, [shape_of(value) for value in values], axis)
    order = _order(values, place)
    return with_order(ops.concatenate([cast(value, found) for value in values], place), order)


def _is_python(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex)


def _checked_axis(name: str, shapes: list[Shape], axis: int) -> int:
    first = shapes[0]
    if any(not shape for shape in shapes):
        raise ShapeError(f"numpy.{name}: zero-dimensional arrays cannot be concatenated")
    with numpy_errors(name):
        place = normalize_axis_index(whole_number(axis), len(first))
    for index, shape in enumerate(shapes):
        if len(shape) != len(first):
            raise ShapeError(
                f"numpy.{name}: all the input arrays must have same number of dimensions, but the array at index 0 "
                f"has {len(first)} dimension(s) and the array at index {index} has {len(shape)} dimension(s)",
                fix="give all of them the same number of dimensions, with x[None] or np.atleast_2d",
            )
        for dim, (mine, other) in enumerate(zip(first, shape, strict=True)):
            if dim != place and mine != other:
                raise ShapeError(
                    f"numpy.{name}: all the input array dimensions except for the concatenation axis must match "
                    f"exactly, but along dimension {dim}, the array at index 0 has size {mine} and the array at "
                    f"index {index} has size {other}",
                    fix=f"slice or pad dimension {dim}, or join along it with axis={dim}",
                )
    return place


def _order(values: list[Operand], axis: int) -> tuple[int, ...]:
    rank = len(shape_of(values[0]))
    if rank > _LARGEST_PATTERN_RANK:
        return c_order(rank)
    joined = np.concatenate([pattern_of(value) for value in values], axis)
    return order_of(joined.shape, joined.strides)
