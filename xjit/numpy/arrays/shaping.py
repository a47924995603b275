"""Shapes: what only moves elements. Whether NumPy would return a view is decided for operands that are packed."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from xjit import ops
from xjit.errors import ArgumentError, DTypeError, ShapeError
from xjit.ir.context import TracedValue
from xjit.numpy.rules.broadcasting import broadcast_to_shape, shape_text
from xjit.numpy.rules.values import (
    Shape,
    as_value,
    as_view,
    copied,
    fresh,
    is_scalar,
    loop_order,
    numpy_errors,
    order_letter,
    perhaps_view,
    scalar_like,
    shape_of,
    whole_number,
)
from xjit.numpy.rules.view_strides import has_gaps, memory_of
from xjit.ops.define.core import Operand, aval_of
from xjit.ops.define.memory_order import pack
from xjit.ops.whole_arrays.shape import view_strides
from xjit.types import c_order


def static_shape(shape: Any, name: str) -> Shape:
    """A shape argument: one integer or a sequence of them, all known while tracing."""
    parts = tuple(shape) if isinstance(shape, Sequence | np.ndarray) else (shape,)
    try:
        return tuple(map(whole_number, parts))
    except TypeError as error:
        raise DTypeError(f"numpy.{name}: shape: {error}") from error


def reshape(a: Any, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """The elements in another shape; one size may be -1.

    Raises ShapeError if the sizes do not multiply to the number of elements.

    >>> reshape(np.arange(6), (2, -1)).shape
    (2, 3)
    """
    value = as_value(a, "reshape")
    sizes = complete_shape(shape_of(value), static_shape(shape, "reshape"))
    if order is not None and not isinstance(order, str):
        raise DTypeError(f"numpy.reshape: order must be str, not {type(order).__name__}")
    if order not in ("C", "F", "A", "c", "f", "a"):
        raise ArgumentError(f"numpy.reshape: order: one of C, F, A is required; got {order!r}")
    if order in ("C", "c") or order_letter(value, order, "reshape") == tuple(range(len(shape_of(value)))) != (0,):
        return scalar_like(value, _rows(value, sizes, copy))
    backwards = _rows(ops.transpose(value, _reversed(shape_of(value))), sizes[::-1], copy)
    result = ops.transpose(backwards, _reversed(sizes))
    return scalar_like(value, as_view(result) if getattr(backwards, "is_view", False) else result)


def _reversed(shape: Shape) -> tuple[int, ...]:
    return tuple(reversed(range(len(shape))))


def _rows(value: Operand, sizes: Shape, copy: bool | None) -> Any:
    """A reshape in row-major order: a view where the operand's strides allow one."""
    if sizes == shape_of(value) and not copy:
        return as_view(value)
    memory, result = memory_of(value), ops.reshape(value, sizes)
    if memory is None and not copy:
        return perhaps_view(result)
    viewable = memory is not None and (
        memory.size == 0 or view_strides(memory.shape, memory.strides, sizes) is not None
    )
    if viewable and not copy:
        return as_view(result)
    if copy is False:
        raise ArgumentError("numpy.reshape: Unable to avoid creating a copy while reshaping.")
    return pack(result, c_order(len(sizes)))


def complete_shape(old: Shape, new: Shape) -> Shape:
    """The new shape with -1 replaced; ShapeError if the sizes do not fit."""
    size, unknown = math.prod(old), [axis for axis, n in enumerate(new) if n < 0]
    if len(unknown) > 1:
        raise ShapeError("numpy.reshape: can only specify one unknown dimension")
    known = math.prod(n for n in new if n >= 0)
    fits = size == known if not unknown else known != 0 and size % known == 0
    if not fits:
        text = shape_text(new).replace("-1", "newaxis")
        raise ShapeError(
            f"numpy.reshape: cannot reshape array of size {size} into shape {text}",
            fix=f"pass sizes whose product is {size}; one of them may be -1",
        )
    return tuple(size // known if n < 0 else n for n in new)


def ravel(a: Any, order: str = "C") -> Any:
    """All elements along one axis: a view of an array without gaps in this order, else a copy."""
    value = as_value(a, "ravel")
    result, gaps = _in_line(value, order), has_gaps(value)
    return perhaps_view(result) if gaps is None else copied(result) if gaps else result


def _in_line(value: Operand, order: str) -> Any:
    if order in ("K", "k"):
        value, order = ops.transpose(value, loop_order(value)), "C"
    return reshape(as_array(value), (aval_of(value).size,), order)


def as_array(value: Operand) -> Any:
    """A scalar as an array of rank 0; arrays themselves."""
    return fresh(value) if is_scalar(value) else value


def flatten(a: Any, order: str = "C") -> Any:
    """All elements along one axis, copied."""
    return copied(_in_line(as_value(a, "flatten"), order))


def transpose(a: Any, axes: Any = None) -> Any:
    """Axes in another order; reversed if none is given. A view.

    Raises ArgumentError unless ``axes`` is a permutation.
    """
    value = as_value(a, "transpose")
    rank = len(shape_of(value))
    if axes is None:
        places = _reversed(shape_of(value))
    else:
        with numpy_errors("transpose", ArgumentError):
            np.empty((0,) * rank).transpose(axes)
        places = tuple(operator.index(axis) % rank for axis in axes)
    return scalar_like(value, as_view(ops.transpose(value, places)))


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged. A view."""
    value = as_value(a, "swapaxes")
    rank = len(shape_of(value))
    with numpy_errors("swapaxes"):
        first, second = normalize_axis_index(axis1, rank, "axis1"), normalize_axis_index(axis2, rank, "axis2")
    places = list(range(rank))
    places[first], places[second] = second, first
    return as_view(ops.transpose(value, tuple(places)))


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to new places, the others kept in order. A view."""
    value = as_value(a, "moveaxis")
    rank = len(shape_of(value))
    with numpy_errors("moveaxis", ArgumentError):
        np.moveaxis(np.empty((0,) * rank), source, destination)
        origin = normalize_axis_tuple(source, rank, "source")
        target = normalize_axis_tuple(destination, rank, "destination")
    places = [axis for axis in range(rank) if axis not in origin]
    for place, axis in sorted(zip(target, origin, strict=True)):
        places.insert(place, axis)
    return as_view(ops.transpose(value, tuple(places)))


def squeeze(a: Any, axis: Any = None) -> Any:
    """Without the axes of size one, or without the given ones of them. A view; the array itself where it has none."""
    value = as_value(a, "squeeze")
    with numpy_errors("squeeze", ArgumentError):
        sizes = np.broadcast_to(np.empty(()), shape_of(value)).squeeze(axis).shape
    if len(sizes) == len(shape_of(value)):
        return value
    return scalar_like(value, as_view(ops.reshape(value, sizes)))


def expand_dims(a: Any, axis: Any) -> Any:
    """With new axes of size one at the given places of the result. A view."""
    value = as_value(a, "expand_dims")
    with numpy_errors("expand_dims", ArgumentError):
        sizes = np.expand_dims(np.broadcast_to(np.empty(()), shape_of(value)), axis).shape
    return as_view(ops.reshape(value, sizes))


def _atleast(rank: int, name: str) -> Any:
    widened = getattr(np, name)

    def raised(value: Operand) -> Any:
        if len(shape_of(value)) >= rank:
            return value
        sizes = widened(np.broadcast_to(np.empty(()), shape_of(value))).shape
        return as_view(ops.reshape(value, sizes))

    def function(*arys: Any) -> Any:
        results = tuple(raised(as_value(one, name)) for one in arys)
        return results[0] if len(results) == 1 else results

    function.__name__ = name
    function.__doc__ = f"Arrays of at least {rank} axes; those that have them already are returned themselves."
    return function


atleast_1d = _atleast(1, "atleast_1d")
atleast_2d = _atleast(2, "atleast_2d")
atleast_3d = _atleast(3, "atleast_3d")


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """The array repeated to a shape, without copies of its elements. A view.

    Raises ShapeError if the sizes do not fit.
    """
    value = as_array(as_value(array, "broadcast_to"))
    sizes = static_shape(shape, "broadcast_to")
    with numpy_errors("broadcast_to"):
        np.broadcast_to(np.broadcast_to(np.empty(()), shape_of(value)), sizes)
    result = as_view(broadcast_to_shape(value, sizes))
    if isinstance(result, TracedValue):
        result.frozen = True
    return result
