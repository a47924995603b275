"""Reductions over axes, in the element types and with the errors of NumPy."""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from xjit import ops
from xjit.errors import ArgumentError, CaptureError, DTypeError
from xjit.numpy import compositions as c
from xjit.numpy.broadcasting import broadcast_to_shape
from xjit.numpy.promotion import cast, nonzero, requested, stored, supported
from xjit.numpy.ufuncs import call
from xjit.numpy.values import (
    AxisError,
    as_scalar,
    as_value,
    copied,
    given,
    numpy_errors,
    operand,
    refuse,
    shape_of,
    with_order,
)
from xjit.ops._core import Operand, aval_of, constant, dtype_of
from xjit.ops.reduce import arg_extreme, reduction
from xjit.types import FLOAT32, FLOAT64, DType, c_order, dtype_class

Axes = tuple[int, ...]


def axes_of(axis: Any, rank: int, name: str) -> Axes:
    """The axes that an ``axis`` argument names; all of them for None.

    Raises AxisError for one outside the rank, ArgumentError for one that is named twice.
    """
    if axis is None:
        return tuple(range(rank))
    if rank == 0 and axis in (0, -1):
        return ()
    with numpy_errors(name, ArgumentError):
        return tuple(sorted(normalize_axis_tuple(axis, rank)))


def reduced(value: Operand, reducer: str, axes: Axes, keepdims: bool) -> Any:
    """One reduction; a result of rank 0 is a NumPy scalar."""
    if not axes:
        result = copied(value)
    elif reducer in _COMPLEX:
        result = _complex_extreme(value, reducer, axes)
    else:
        result = reduction(value, reducer, axes)
    return as_scalar(kept(result, value, axes) if keepdims else result)


# Complex numbers are ordered by real, then by imaginary part: an exact fold, from the far end of that order.
_COMPLEX: dict[str, tuple[Any, complex]] = {
    "complex max": (c.maximum, complex(-np.inf, -np.inf)),
    "complex min": (c.minimum, complex(np.inf, np.inf)),
}


def _complex_extreme(value: Operand, reducer: str, axes: Axes) -> Any:
    combine, start = _COMPLEX[reducer]
    return ops.reduce(value, np.asarray(start, dtype_of(value)), combine, axes)


def kept(result: Any, value: Operand, axes: Axes) -> Any:
    """The result with axes of size one in the places of the reduced axes."""
    sizes = tuple(1 if axis in axes else size for axis, size in enumerate(shape_of(value)))
    return ops.reshape(result, sizes)


def keep(keepdims: Any) -> bool:
    """Whether keepdims was asked for."""
    return given(keepdims) and bool(keepdims)


def reduction_type(ufunc: np.ufunc, value: Operand, dtype: Any, name: str) -> DType:
    """The element type that NumPy accumulates in, which is that of the result."""
    signature = (requested(dtype, name), None, None)
    given_types = (None, dtype_of(value), None)
    try:
        found = ufunc.resolve_dtypes(given_types, signature=signature, reduction=True, casting="unsafe")
    except TypeError as error:
        raise DTypeError(f"numpy.{name}: {error}") from error
    return supported(found[2], name)


def _accumulate(
    name: str, ufunc: np.ufunc, reducer: str, a: Any, axis: Any, dtype: Any, keepdims: Any, initial: Any
) -> Any:
    value = as_value(a, name)
    axes = axes_of(axis, len(shape_of(value)), name)
    value = cast(value, reduction_type(ufunc, value, dtype, name))
    return started(ufunc, reduced(value, reducer, axes, keep(keepdims)), initial)


def started(ufunc: np.ufunc, result: Any, initial: Any) -> Any:
    """The result combined with an initial value, which takes the result's type."""
    if not given(initial) or initial is None:
        return result
    return call(ufunc, stored(operand(initial, ufunc.__name__, "initial"), dtype_of(result)), result)


def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = np._NoValue,
    initial: Any = np._NoValue,
    where: Any = np._NoValue,
) -> Any:
    """The sum of elements; integers narrower than 64 bits are summed in 64.

    Raises AxisError, DTypeError, and CaptureError for ``out`` and ``where``.

    >>> sum(np.int8([100, 100]))
    np.int64(200)
    """
    _refuse("sum", out, where)
    return _accumulate("sum", np.add, "add", a, axis, dtype, keepdims, initial)


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = np._NoValue,
    initial: Any = np._NoValue,
    where: Any = np._NoValue,
) -> Any:
    """The product of elements, in the element types of ``sum``."""
    _refuse("prod", out, where)
    return _accumulate("prod", np.multiply, "mul", a, axis, dtype, keepdims, initial)


def _refuse(name: str, out: Any, where: Any) -> None:
    refuse(name, out=out, where=None if where is True or not given(where) else "given")


def max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = np._NoValue,
    initial: Any = np._NoValue,
    where: Any = np._NoValue,
    dtype: Any = None,
) -> Any:
    """The largest element; NaN if there is one.

    Raises ArgumentError over no elements, unless there is an initial value.
    """
    _refuse("max", out, where)
    return _extreme("max", np.maximum, a, axis, keepdims, initial, dtype)


def min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = np._NoValue,
    initial: Any = np._NoValue,
    where: Any = np._NoValue,
    dtype: Any = None,
) -> Any:
    """The smallest element; NaN if there is one. Raises as ``max``."""
    _refuse("min", out, where)
    return _extreme("min", np.minimum, a, axis, keepdims, initial, dtype)


def _extreme(name: str, ufunc: np.ufunc, a: Any, axis: Any, keepdims: Any, initial: Any, dtype: Any) -> Any:
    value = as_value(a, name)
    value = cast(value, reduction_type(ufunc, value, dtype, name))
    shape = shape_of(value)
    axes = axes_of(axis, len(shape), name)
    absent = not given(initial) or initial is None
    if any_zero(shape, axes):
        if absent:
            raise ArgumentError(
                f"numpy.{name}: zero-size array to reduction operation {ufunc.__name__} which has no identity"
            )
        start = stored(operand(initial, name, "initial"), dtype_of(value))
        rest = tuple(n for k, n in enumerate(shape) if k not in axes)
        result = broadcast_to_shape(start, rest)
        return as_scalar(kept(result, value, axes) if keep(keepdims) else result)
    reducers = {"P": {"max": "or", "min": "and"}, "C": {"max": "complex max", "min": "complex min"}}
    reducer = reducers.get(dtype_class(dtype_of(value)), {}).get(name, name)
    return started(ufunc, reduced(value, reducer, axes, keep(keepdims)), initial)


def any_zero(shape: tuple[int, ...], axes: Axes) -> bool:
    """Whether there is nothing to reduce over."""
    return 0 in (shape[axis] for axis in axes)


def any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = np._NoValue, *, where: Any = np._NoValue) -> Any:
    """Whether an element is true; of no elements, no."""
    _refuse("any", out, where)
    return _truth("any", "or", a, axis, keepdims)


def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = np._NoValue, *, where: Any = np._NoValue) -> Any:
    """Whether all elements are true; of no elements, yes."""
    _refuse("all", out, where)
    return _truth("all", "and", a, axis, keepdims)


def _truth(name: str, reducer: str, a: Any, axis: Any, keepdims: Any) -> Any:
    value = as_value(a, name)
    axes = axes_of(axis, len(shape_of(value)), name)
    return reduced(nonzero(value), reducer, axes, keep(keepdims))


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = np._NoValue) -> Any:
    """The position of the first largest element, along an axis or in row-major order; NaN counts as the largest.

    Raises ArgumentError for no elements, CaptureError for complex numbers.
    """
    refuse("argmax", out=out)
    return _position("argmax", "max", a, axis, keepdims)


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = np._NoValue) -> Any:
    """The position of the first smallest element; as ``argmax``."""
    refuse("argmin", out=out)
    return _position("argmin", "min", a, axis, keepdims)


def _position(name: str, which: str, a: Any, axis: Any, keepdims: Any) -> Any:
    value = as_value(a, name)
    shape = shape_of(value)
    if dtype_class(dtype_of(value)) == "C":
        raise CaptureError(f"numpy.{name}: complex numbers are not supported")
    if axis is not None:
        with numpy_errors(name):
            place = normalize_axis_index(operator.index(axis), builtins.max(len(shape), 1))
    if axis is None or not shape:
        value, place = ops.reshape(value, (aval_of(value).size,)), 0
    if shape_of(value)[place] == 0:
        raise ArgumentError(f"numpy.{name}: attempt to get {name} of an empty sequence")
    result = arg_extreme(value, place, which)
    if keep(keepdims):
        axes = tuple(range(len(shape))) if axis is None else (place,)[: len(shape)]
        sizes = tuple(1 if k in axes else n for k, n in enumerate(shape))
        result = ops.reshape(result, sizes)
    return as_scalar(with_order(result, c_order(len(shape_of(result)))))


def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = np._NoValue,
    *,
    where: Any = np._NoValue,
) -> Any:
    """The arithmetic mean: integers in float64, float16 in float32 and rounded once; NaN of no elements."""
    _refuse("mean", out, where)
    value = as_value(a, "mean")
    own, target = dtype_of(value), requested(dtype, "mean")
    if target is None and dtype_class(own) in "PI":
        target = FLOAT64
    narrow = target is None and own == np.dtype(np.float16)
    total, count = _sum_and_count(value, axis, FLOAT32 if narrow else target, keep(keepdims), "mean")
    result = divided(total, count)
    return as_scalar(cast(result, own) if narrow else result)


def _sum_and_count(value: Operand, axis: Any, dtype: Any, keepdims: bool, name: str) -> tuple[Any, int]:
    shape = shape_of(value)
    axes = strict_axes(axis, len(shape), name)
    total = sum(value, axis=axes, dtype=dtype, keepdims=keepdims)
    return total, math.prod(shape[k] for k in axes)


def strict_axes(axis: Any, rank: int, name: str) -> Axes:
    """As axes_of, but an array of rank 0 has no axis at all."""
    if axis is not None and rank == 0 and axis != ():
        raise AxisError(f"numpy.{name}: axis {axis} is out of bounds for array of dimension 0")
    return axes_of(axis, rank, name)


def divided(total: Operand, count: int | float) -> Any:
    """A sum over a count in the sum's type, rounded as by a division in float64."""
    dtype = dtype_of(total)
    letter = dtype_class(dtype)
    if letter == "C":
        return ops.complex(divided(ops.real(total), count), divided(ops.imag(total), count))
    wide = letter == "F" and float(np.asarray(count).astype(dtype)) == count
    working = total if wide else cast(total, FLOAT64)
    # Not in the source of kernels: they serve rows of any length.
    divisor = constant(np.asarray(count, dtype_of(working)), by_reference=True)
    return cast(ops.div(working, broadcast_to_shape(divisor, shape_of(working))), dtype)


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = np._NoValue,
    *,
    where: Any = np._NoValue,
    mean: Any = np._NoValue,
    correction: Any = np._NoValue,
) -> Any:
    """The mean of the squared distances from the mean, in two passes; ``ddof`` is taken off the count."""
    _refuse("var", out, where)
    if given(correction):
        if ddof != 0:
            raise ArgumentError("numpy.var: ddof and correction can't be provided simultaneously.")
        ddof = correction
    value = as_value(a, "var")
    own, target = dtype_of(value), requested(dtype, "var")
    if target is None and dtype_class(own) in "PI":
        target = FLOAT64
    center = as_value(mean, "var") if given(mean) else _center(value, axis, target)
    squares = _squares(call(np.subtract, value, center), own)
    total, count = _sum_and_count(squares, axis, target, keep(keepdims), "var")
    return as_scalar(divided(total, builtins.max(count - ddof, 0)))


def _center(value: Operand, axis: Any, dtype: Any) -> Any:
    total, count = _sum_and_count(value, axis, dtype, True, "var")
    return divided(total, count)


def _squares(distance: Any, own: DType) -> Any:
    if dtype_class(dtype_of(distance)) != "C":
        return call(np.square, distance)
    parts = ops.real(distance), ops.imag(distance)
    return ops.add(*(ops.mul(part, part) for part in parts))


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = np._NoValue,
    *,
    where: Any = np._NoValue,
    mean: Any = np._NoValue,
    correction: Any = np._NoValue,
) -> Any:
    """The square root of ``var``."""
    _refuse("std", out, where)
    found = var(a, axis, dtype, None, ddof, keepdims, mean=mean, correction=correction)
    return call(np.sqrt, found)
