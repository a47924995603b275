"""Means and variances over axes, in NumPy's element types and order of operations.

>>> var(np.array([1.0, 3.0]))
np.float64(1.0)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import DTypeError
from xjit.numpy.reducing import axis_reductions
from xjit.numpy.reducing.axis_reductions import Axes, axes_of, keep, mask_of
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast, requested
from xjit.numpy.rules.signatures import like_var
from xjit.numpy.rules.values import AxisError, as_scalar, as_value, given, order_letter, refuse, shape_of, with_order
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, constant, dtype_of
from xjit.ops.dynamic.extents import dynamic_axes
from xjit.types import COMPLEX128, FLOAT32, FLOAT64, INT64, dtype_class


def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = np._NoValue,
    *,
    where: Any = np._NoValue,
) -> Any:
    """The arithmetic mean: integers in float64, float16 in float32 and rounded once; NaN of no elements.

    Raises AxisError, DTypeError, ShapeError for a mask that does not fit, and CaptureError for ``out``.

    >>> mean(np.array([1, 2]))
    np.float64(1.5)
    """
    refuse("mean", out=out)
    value = as_value(a, "mean")
    own, target = dtype_of(value), requested(dtype, "mean")
    if target is None and dtype_class(own) in "PI":
        target = FLOAT64
    narrow = target is None and own == np.dtype(np.float16)
    mask = mask_of(where, value, "mean")
    axes = _axes("mean", axis, value, mask)
    result = _mean(value, axes, FLOAT32 if narrow else target, keep(keepdims), mask)
    return as_scalar(cast(result, own) if narrow else result)


def _mean(value: Operand, axes: Axes, dtype: Any, keepdims: bool, mask: Any) -> Any:
    total = axis_reductions.sum(value, axis=axes, dtype=dtype, keepdims=keepdims, where=mask)
    return divided(total, count_of(value, axes, keepdims, mask))


def count_of(value: Operand, axes: Axes, keepdims: bool, mask: Any) -> Any:
    """Count the elements that are reduced to one: a number, or with a mask an array of them."""
    if mask is None and not dynamic_axes(value):
        return math.prod(shape_of(value)[axis] for axis in axes)
    if mask is None:  # every element, as many as there are in the run
        mask = call(np.logical_or, call(np.equal, value, value), True)
    return axis_reductions.sum(mask, axis=axes, dtype=INT64, keepdims=keepdims)


def _axes(name: str, axis: Any, value: Operand, mask: Any) -> Axes:
    """As axes_of, but without a mask an array of rank 0 has no axis at all."""
    rank = len(shape_of(value))
    if axis is not None and rank == 0 and axis != () and mask is None:
        raise AxisError(f"numpy.{name}: axis {axis} is out of bounds for array of dimension 0")
    return axes_of(axis, rank, name)


def divided(total: Operand, count: Any) -> Any:
    """A sum over a count, or an array of counts, in the sum's type, rounded as by a division in float64."""
    dtype = dtype_of(total)
    letter = dtype_class(dtype)
    working_type = COMPLEX128 if letter == "C" else FLOAT64
    if not isinstance(count, int | float):
        result = cast(call(np.divide, cast(total, working_type), cast(count, working_type)), dtype)
        return with_order(result, order_letter(total, "K", "mean"))
    wide = letter == "F" and float(np.asarray(count).astype(dtype)) == count
    working = total if wide else cast(total, working_type)
    # Not in the source of kernels: they serve rows of any length.
    divisor = constant(np.asarray(count, dtype_of(working)), by_reference=True)
    return cast(ops.div(working, broadcast_to_shape(divisor, shape_of(working))), dtype)


@like_var
def var(*arguments: Any) -> Any:
    """The mean of the squared distances from the mean, in two passes; ``ddof`` is taken off the count.

    Raises as ``mean``, and ArgumentError for both ``ddof`` and ``correction``.
    """
    return as_scalar(_variance("var", *arguments))


def _variance(name: str, a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, mean: Any) -> Any:
    value = as_value(a, name)
    own, target = dtype_of(value), requested(dtype, name)
    if target is None and dtype_class(own) in "PI":
        target = FLOAT64
    mask = mask_of(where, value, name)
    axes = _axes(name, axis, value, mask)
    center = as_value(mean, name) if given(mean) else _mean(value, axes, target, True, mask)
    squares = _squares(call(np.subtract, value, center))
    total = axis_reductions.sum(squares, axis=axes, dtype=target, keepdims=keep(keepdims), where=mask)
    return divided(total, less(count_of(value, axes, keep(keepdims), mask), ddof))


def less(count: Any, ddof: Any) -> Any:
    """The count without the degrees of freedom, at least zero."""
    if isinstance(count, int):
        return max(count - ddof, 0)
    return call(np.maximum, call(np.subtract, count, ddof), 0)


def _squares(distance: Any) -> Any:
    if dtype_class(dtype_of(distance)) != "C":
        return call(np.square, distance)
    parts = ops.real(distance), ops.imag(distance)
    return ops.add(*(ops.mul(part, part) for part in parts))


@like_var
def std(*arguments: Any) -> Any:
    """The square root of ``var``.

    Raises as ``var``, and DTypeError for arrays of integers: in these NumPy cannot put the roots in place.
    """
    variance = _variance("std", *arguments)
    dtype, root = dtype_of(variance), call(np.sqrt, variance)
    if dtype_class(dtype) not in "PI":
        return root
    if shape_of(variance):
        raise DTypeError(f"numpy.std: Cannot cast ufunc 'sqrt' output from {dtype_of(root)!r} to {dtype!r}")
    return as_scalar(cast(root, dtype))
