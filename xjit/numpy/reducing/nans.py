"""Reductions that leave NaN out, in NumPy's element types and order of operations.

>>> nansum(np.array([1.0, np.nan])), nanmax(np.array([1.0, np.nan]))
(np.float64(1.0), np.float64(1.0))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import DTypeError
from xjit.numpy.reducing import axis_reductions, moments
from xjit.numpy.reducing.axis_reductions import fold, keep, without_nan
from xjit.numpy.reducing.moments import divided
from xjit.numpy.rules import compositions as c
from xjit.numpy.rules.promotion import cast, requested
from xjit.numpy.rules.signatures import like_max, like_sum, like_var
from xjit.numpy.rules.values import as_scalar, as_value, given, order_letter, refuse, shape_of, with_order
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, aval_of, dtype_of
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import INT64, dtype_class

_NONE = np._NoValue


def replaced(value: Operand, number: Any) -> Any:
    """The operand with another number in the places of NaN; its memory order stays."""
    if dtype_class(dtype_of(value)) not in "FC":
        return value
    known = ops.select(c.isnan(value), c.full_like(value, number), value)
    return with_order(known, order_letter(value, "K", "isnan"))


@like_sum
def nansum(a: Any, *options: Any) -> Any:
    """``sum`` with NaN as zero."""
    return fold("nansum", np.add, replaced(as_value(a, "nansum"), 0), *options)


@like_sum
def nanprod(a: Any, *options: Any) -> Any:
    """``prod`` with NaN as one."""
    return fold("nanprod", np.multiply, replaced(as_value(a, "nanprod"), 1), *options)


@like_max
def nanmax(*arguments: Any) -> Any:
    """The largest number that is no NaN; NaN if there is no other. Raises as ``max``."""
    return fold("nanmax", np.fmax, *arguments)


@like_max
def nanmin(*arguments: Any) -> Any:
    """The smallest number that is no NaN; NaN if there is no other. Raises as ``min``."""
    return fold("nanmin", np.fmin, *arguments)


def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = _NONE) -> Any:
    """The position of the first largest number that is no NaN.

    Raises as ``argmax``, and ArgumentError when it runs over nothing but NaN.

    >>> nanargmax(np.array([np.nan, 1.0]))
    np.int64(1)
    """
    refuse("nanargmax", out=out)
    return _position("nanargmax", axis_reductions.argmax, "max", a, axis, keepdims)


def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = _NONE) -> Any:
    """The position of the first smallest number that is no NaN. Raises as ``nanargmax``."""
    refuse("nanargmin", out=out)
    return _position("nanargmin", axis_reductions.argmin, "min", a, axis, keepdims)


def _position(name: str, search: Any, which: str, a: Any, axis: Any, keepdims: Any) -> Any:
    value = as_value(a, name)
    letter = dtype_class(dtype_of(value))
    if letter not in "FC":
        return search(value, axis=axis, keepdims=keepdims)
    without = without_nan(value, which) if letter == "F" else replaced(value, np.inf if which == "min" else -np.inf)
    found = search(without, axis=axis, keepdims=keepdims)
    known = axis_reductions.any(ops.not_(c.isnan(value)), axis=axis)
    return as_scalar(require(found, known, "value", f"numpy.{name}: All-NaN slice encountered"))


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = _NONE, *, where: Any = _NONE
) -> Any:
    """The mean of the numbers that are no NaN; NaN if there is no other.

    Element types as in ``mean``, but float16 sums stay float16. Raises as ``mean``, and DTypeError for integers as
    the type of a floating mean.

    >>> nanmean(np.array([1.0, 3.0, np.nan]))
    np.float64(2.0)
    """
    refuse("nanmean", out=out)
    value = as_value(a, "nanmean")
    if dtype_class(dtype_of(value)) not in "FC":
        return moments.mean(value, axis, dtype, None, keepdims, where=where)
    _check_inexact("nanmean", dtype)
    return as_scalar(_mean("nanmean", value, axis, dtype, keepdims, where))


def _check_inexact(name: str, dtype: Any) -> None:
    found = requested(dtype, name)
    if found is not None and dtype_class(found) not in "FC":
        raise DTypeError(f"numpy.{name}: dtype: If a is inexact, then dtype must be inexact; got {found}")


def _mean(name: str, value: Operand, axis: Any, dtype: Any, keepdims: Any, where: Any) -> Any:
    total = fold(name, np.add, replaced(value, 0), axis, dtype, keepdims, where=where)
    return divided(total, _count(name, value, axis, keepdims, where))


def _count(name: str, value: Operand, axis: Any, keepdims: Any, where: Any) -> Any:
    known = ops.not_(c.isnan(value))
    return fold(name, np.add, known, axis, INT64, keepdims, where=where)


@like_var
def nanvar(*arguments: Any) -> Any:
    """The variance of the numbers that are no NaN; NaN unless there are more of them than ``ddof``.

    Element types and errors as in ``nanmean``; ArgumentError for both ``ddof`` and ``correction``.
    """
    return _variance("nanvar", *arguments)


def _variance(name: str, a: Any, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, mean: Any) -> Any:
    value = as_value(a, name)
    if dtype_class(dtype_of(value)) not in "FC":
        return moments.var(value, axis, dtype, None, ddof, keepdims, where=where, mean=mean)
    _check_inexact(name, dtype)
    center = as_value(mean, name) if given(mean) else _mean(name, value, axis, dtype, True, where)
    known = replaced(value, 0)
    distance = cast(call(np.subtract, known, center), dtype_of(value))
    distance = with_order(ops.select(c.isnan(value), c.full_like(value, 0), distance), aval_of(known).order)
    total = fold(name, np.add, _squares(distance), axis, dtype, keepdims, where=where)
    count = _count(name, value, axis, True, where)
    freedom = call(np.subtract, count if keep(keepdims) else ops.reshape(count, shape_of(total)), ddof)
    result = divided(total, freedom)
    undefined = call(np.less_equal, freedom, 0)
    found = ops.select(undefined, c.full_like(result, np.nan), result)
    return as_scalar(with_order(found, aval_of(result).order))


def _squares(distance: Any) -> Any:
    product = call(np.multiply, distance, call(np.conjugate, distance))
    return ops.real(product) if dtype_class(dtype_of(distance)) == "C" else product


@like_var
def nanstd(*arguments: Any) -> Any:
    """The square root of ``nanvar``."""
    found = _variance("nanstd", *arguments)
    return cast_scalar(call(np.sqrt, found), dtype_of(found))


def cast_scalar(value: Any, dtype: Any) -> Any:
    """The value in another element type; rank 0 as a scalar."""
    return as_scalar(cast(value, dtype))
