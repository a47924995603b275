"""Reductions that leave NaN out, in NumPy's element types and order of operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import DTypeError
from xjit.numpy import compositions as c
from xjit.numpy import moments, reductions
from xjit.numpy.moments import degrees, divided
from xjit.numpy.promotion import cast, requested
from xjit.numpy.reductions import fold, keep
from xjit.numpy.ufuncs import call
from xjit.numpy.values import as_scalar, as_value, given, order_letter, refuse, shape_of, with_order
from xjit.ops._core import Operand, dtype_of
from xjit.ops.require import require
from xjit.types import INT64, dtype_class

_NONE = np._NoValue


def _replaced(value: Operand, number: Any) -> Any:
    """The operand with another number in the places of NaN; its memory order stays."""
    if dtype_class(dtype_of(value)) not in "FC":
        return value
    known = ops.select(c.isnan(value), c.full_like(value, number), value)
    return with_order(known, order_letter(value, "K", "isnan"))


def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = _NONE,
    initial: Any = _NONE,
    where: Any = _NONE,
) -> Any:
    """``sum`` with NaN as zero.

    >>> nansum(np.array([1.0, np.nan]))
    np.float64(1.0)
    """
    refuse("nansum", out=out)
    return fold("nansum", np.add, _replaced(as_value(a, "nansum"), 0), axis, dtype, keepdims, initial, where)


def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = _NONE,
    initial: Any = _NONE,
    where: Any = _NONE,
) -> Any:
    """``prod`` with NaN as one."""
    refuse("nanprod", out=out)
    return fold("nanprod", np.multiply, _replaced(as_value(a, "nanprod"), 1), axis, dtype, keepdims, initial, where)


def nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = _NONE, initial: Any = _NONE, where: Any = _NONE
) -> Any:
    """The largest number that is no NaN; NaN if there is no other. Raises as ``max``.

    >>> nanmax(np.array([1.0, np.nan]))
    np.float64(1.0)
    """
    refuse("nanmax", out=out)
    return fold("nanmax", np.fmax, a, axis, None, keepdims, initial, where)


def nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = _NONE, initial: Any = _NONE, where: Any = _NONE
) -> Any:
    """The smallest number that is no NaN; NaN if there is no other. Raises as ``min``."""
    refuse("nanmin", out=out)
    return fold("nanmin", np.fmin, a, axis, None, keepdims, initial, where)


def nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = _NONE) -> Any:
    """The position of the first largest number that is no NaN.

    Raises as ``argmax``, and ArgumentError when it runs over nothing but NaN.

    >>> nanargmax(np.array([np.nan, 1.0]))
    np.int64(1)
    """
    refuse("nanargmax", out=out)
    return _position("nanargmax", reductions.argmax, -np.inf, a, axis, keepdims)


def nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = _NONE) -> Any:
    """The position of the first smallest number that is no NaN. Raises as ``nanargmax``."""
    refuse("nanargmin", out=out)
    return _position("nanargmin", reductions.argmin, np.inf, a, axis, keepdims)


def _position(name: str, search: Any, worst: float, a: Any, axis: Any, keepdims: Any) -> Any:
    value = as_value(a, name)
    found = search(_replaced(value, worst), axis=axis, keepdims=keepdims)
    if dtype_class(dtype_of(value)) != "F":
        return found
    unknown = reductions.any(reductions.all(c.isnan(value), axis=axis))
    return as_scalar(require(found, ops.not_(unknown), "value", f"numpy.{name}: All-NaN slice encountered"))


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
    total = fold(name, np.add, _replaced(value, 0), axis, dtype, keepdims, where=where)
    return divided(total, _count(name, value, axis, keepdims, where))


def _count(name: str, value: Operand, axis: Any, keepdims: Any, where: Any) -> Any:
    known = ops.not_(c.isnan(value))
    return fold(name, np.add, known, axis, INT64, keepdims, where=where)


def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = _NONE,
    *,
    where: Any = _NONE,
    mean: Any = _NONE,
    correction: Any = _NONE,
) -> Any:
    """The variance of the numbers that are no NaN; NaN unless there are more of them than ``ddof``.

    Element types and errors as in ``nanmean``; ArgumentError for both ``ddof`` and ``correction``.
    """
    refuse("nanvar", out=out)
    value = as_value(a, "nanvar")
    if dtype_class(dtype_of(value)) not in "FC":
        return moments.var(value, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    _check_inexact("nanvar", dtype)
    ddof = degrees("nanvar", ddof, correction)
    center = as_value(mean, "nanvar") if given(mean) else _mean("nanvar", value, axis, dtype, True, where)
    distance = cast(call(np.subtract, _replaced(value, 0), center), dtype_of(value))
    distance = ops.select(c.isnan(value), c.full_like(value, 0), distance)
    total = fold("nanvar", np.add, _squares(distance), axis, dtype, keepdims, where=where)
    count = _count("nanvar", value, axis, True, where)
    freedom = call(np.subtract, count if keep(keepdims) else ops.reshape(count, shape_of(total)), ddof)
    result = divided(total, freedom)
    undefined = call(np.less_equal, freedom, 0)
    return as_scalar(ops.select(undefined, c.full_like(result, np.nan), result))


def _squares(distance: Any) -> Any:
    product = call(np.multiply, distance, call(np.conjugate, distance))
    return ops.real(product) if dtype_class(dtype_of(distance)) == "C" else product


def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = _NONE,
    *,
    where: Any = _NONE,
    mean: Any = _NONE,
    correction: Any = _NONE,
) -> Any:
    """The square root of ``nanvar``."""
    refuse("nanstd", out=out)
    found = nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return cast_scalar(call(np.sqrt, found), dtype_of(found))


def cast_scalar(value: Any, dtype: Any) -> Any:
    """The value in another element type; rank 0 as a scalar."""
    return as_scalar(cast(value, dtype))


FUNCTIONS: dict[Any, Any] = {
    np.nansum: nansum,
    np.nanprod: nanprod,
    np.nanmax: nanmax,
    np.nanmin: nanmin,
    np.nanargmax: nanargmax,
    np.nanargmin: nanargmin,
    np.nanmean: nanmean,
    np.nanvar: nanvar,
    np.nanstd: nanstd,
}
