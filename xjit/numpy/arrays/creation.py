"""Arrays from nothing, and from what is known while tracing: constants, positions, repeated numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, DTypeError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.shaping import atleast_1d, static_shape
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast, requested, result_type, stored, weak_type
from xjit.numpy.rules.values import (
    Shape,
    as_value,
    constant,
    copied,
    elements,
    fresh,
    holds_no_array,
    is_scalar,
    numpy_errors,
    operand,
    order_letter,
    perhaps_view,
    scalar_like,
    shape_of,
    with_order,
)
from xjit.numpy.rules.view_strides import has_gaps, is_contiguous
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import FLOAT64, DType, c_order


def filled(shape: Shape, value: Operand, order: str = "C") -> Any:
    """A value of rank 0, or one that broadcasts, in every place of an array of its own memory."""
    repeated = broadcast_to_shape(value, shape)
    return with_order(fresh(repeated), c_order(len(shape)) if order in ("C", "c") else c_order(len(shape))[::-1])


def zeros(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """An array of zeros."""
    return full(shape, 0, dtype or float, order)


def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """An array of ones."""
    return full(shape, 1, dtype or float, order)


def empty(shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """An array whose elements are to be written later; here they are zeros."""
    return full(shape, 0, dtype or float, order)


def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """One value, or an array that broadcasts, in every place.

    >>> full((2, 2), 1.5)
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    value = operand(fill_value, "full", "fill_value")
    found = requested(dtype, "full") or result_type(value)
    return filled(static_shape(shape, "full"), stored(value, found), order)


def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Zeros in the shape, type and memory order of another array."""
    return full_like(a, 0, dtype, order, subok, shape)


def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Ones in the shape, type and memory order of another array."""
    return full_like(a, 1, dtype, order, subok, shape)


def empty_like(
    prototype: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """An array like another one whose elements are to be written later; here they are zeros."""
    return full_like(prototype, 0, dtype, order, subok, shape)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """One value in the shape, type and memory order of another array."""
    value = as_value(a, "full_like")
    sizes = shape_of(value) if shape is None else static_shape(shape, "full_like")
    found = requested(dtype, "full_like") or dtype_of(value)
    axes = order_letter(value, order, "full_like")
    if len(sizes) != len(shape_of(value)):
        columns = order in ("F", "f") or (order in ("A", "a") and axes != c_order(len(axes)))
        axes = c_order(len(sizes))[::-1] if columns else c_order(len(sizes))
    fill = stored(operand(fill_value, "full_like"), found)
    return with_order(fresh(broadcast_to_shape(fill, sizes)), axes)


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str | None = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
) -> Any:
    """A new array of anything array-like; nested sequences may hold traced values."""
    result = _converted(object, dtype, order, copy=copy, name="array")
    missing = ndmin - len(shape_of(result))
    return result if missing <= 0 else ops.reshape(result, (1,) * missing + shape_of(result))


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> Any:
    """An array of anything array-like; an array that fits already is returned itself."""
    return _converted(a, dtype, order, copy=copy, name="asarray")


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """A row-major array of rank 1 or more; an array that is one already is returned itself."""
    return atleast_1d(_converted(a, dtype, "C", copy=None, name="ascontiguousarray"))


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """A column-major array of rank 1 or more; an array that is one already is returned itself."""
    return atleast_1d(_converted(a, dtype, "F", copy=None, name="asfortranarray"))


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """A new array with the same elements."""
    return _converted(a, None, order, copy=True, name="copy")


def _converted(a: Any, dtype: Any, order: str | None, *, copy: bool | None, name: str) -> Any:
    found = requested(dtype, name)
    value = _of_type(a, found, name) if found is not None and _has_numbers(a) else as_value(a, name)
    if order in ("A", "a") and not (copy and found in (None, dtype_of(value))):
        order = "K"  # where NumPy need not copy, or converts, it leaves columns and rows as they are
    result = cast(value, found or dtype_of(value))
    gaps = has_gaps(value) if result is value and order in ("C", "c", "F", "f") else False
    if gaps is None and not copy:
        return perhaps_view(value, order_letter(value, order, name))
    if result is value and not copy and is_contiguous(value, order):
        order = "K"
    if result is not value or order not in (None, "K", "k"):  # the operand as it is, broadcast axes included
        result = with_order(result, order_letter(value, order, name))
    if result is value and gaps:
        result = copied(value)
    if result is not a or is_scalar(a):
        if copy is False and isinstance(a, TracedValue | np.ndarray):
            raise ArgumentError(f"numpy.{name}: unable to avoid creating a copy")
        return constant(result) if isinstance(result, np.ndarray) else fresh(result)
    return copied(result) if copy else a


def _of_type(numbers: Any, dtype: DType, name: str) -> Operand:
    """Numbers converted one by one: unlike elements of an array they have to fit the type."""
    with numpy_errors(name, ArgumentError), np.errstate(all="ignore"):
        return np.asarray(numbers, dtype) if holds_no_array(numbers) else elements(numbers, dtype, name)


def _has_numbers(value: Any) -> bool:
    """Return whether a value is a number of Python's, or a sequence in which there may be some."""
    return isinstance(value, list | tuple) or holds_no_array(value) or weak_type(value) is not None


def astype(
    x: Any, dtype: Any, order: str = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    """The array in another element type.

    Floats beyond an integer type's range saturate. Raises DTypeError if the casting rule forbids the conversion.
    """
    value = as_value(x, "astype")
    found = requested(dtype, "astype")
    target = FLOAT64 if found is None else found
    if not np.can_cast(dtype_of(value), target, casting):
        raise DTypeError(
            f"numpy.astype: Cannot cast array data from {dtype_of(value)!r} to {target!r} according to the rule "
            f"{casting!r}"
        )
    if target == dtype_of(value) and not copy and order in ("K", "k"):
        return scalar_like(x, value) if is_scalar(x) else value
    result = with_order(cast(value, target), order_letter(value, order, "astype"))
    if result is not value:
        return scalar_like(x, result)
    return scalar_like(x, copied(result)) if copy or is_scalar(x) else value
