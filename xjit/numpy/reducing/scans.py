"""Running reductions: cumsum, cumprod and ``ufunc.accumulate``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError
from xjit.ir.opdef import Reducer
from xjit.numpy.arrays.joining import concatenate
from xjit.numpy.arrays.shaping import ravel
from xjit.numpy.reducing.axis_reductions import axes_of, reduction_type, truths
from xjit.numpy.reducing.nans import replaced
from xjit.numpy.rules import compositions
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import as_scalar, as_value, copied, refuse, shape_of, with_order
from xjit.ops.define.core import aval_of, dtype_of
from xjit.ops.whole_arrays.scan import running, running_fold
from xjit.types import dtype_class

Compose = Callable[[Any, Any], Any]

RUNNING: dict[np.ufunc, str] = {
    np.add: "add",
    np.multiply: "mul",
    np.maximum: "max",
    np.minimum: "min",
    np.bitwise_and: "and",
    np.bitwise_or: "or",
    np.logical_and: "and",
    np.logical_or: "or",
}
"""Which reducer a ufunc accumulates with."""


def _reducer(name: str, identity: Any) -> Reducer:
    return Reducer(name, name, lambda dtype: np.asarray(identity, dtype)[()], reassociates=False)


# What no reducer does, with the element that leaves every other one as it is.
_FOLDED: dict[np.ufunc, tuple[Reducer, Compose]] = {
    np.fmax: (_reducer("fmax", np.nan), compositions.fmax),
    np.fmin: (_reducer("fmin", np.nan), compositions.fmin),
    np.logaddexp: (_reducer("logaddexp", -np.inf), compositions.logaddexp),
    np.logaddexp2: (_reducer("logaddexp2", -np.inf), compositions.logaddexp2),
    np.hypot: (_reducer("hypot", 0), ops.hypot),
    np.bitwise_xor: (_reducer("bitwise_xor", 0), ops.xor),
    np.logical_xor: (_reducer("logical_xor", False), ops.xor),
}
# Complex numbers are ordered by real, then by imaginary part.
_LEXICOGRAPHIC: dict[str, tuple[Reducer, Compose]] = {
    "max": (_reducer("maximum", complex(-np.inf, -np.inf)), compositions.maximum),
    "min": (_reducer("minimum", complex(np.inf, np.inf)), compositions.minimum),
}
ACCUMULATED: frozenset[np.ufunc] = frozenset((*RUNNING, *_FOLDED))
"""Ufuncs that kernels accumulate with."""
# The neutral element in front makes a change to the first one: hypot drops its sign, a logarithm that of a zero.
_CHANGES_THE_FIRST = frozenset({"hypot", "logaddexp", "logaddexp2"})


def accumulate(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.accumulate``: the results of folding more and more elements along an axis, in order.

    Of the ufuncs in ACCUMULATED. Element types as in ``ufunc.reduce``. Raises AxisError.

    >>> accumulate(np.maximum, np.array([1, 3, 2]))
    array([1, 3, 3])
    """
    name = f"{ufunc.__name__}.accumulate"
    refuse(name, out=out)
    value = as_value(array, name)
    if not shape_of(value):
        raise ArgumentError(f"numpy.{name}: cannot accumulate on a scalar")
    (place,) = axes_of(axis, len(shape_of(value)), name)
    if ufunc in (np.logical_and, np.logical_or, np.logical_xor):
        value = truths(value, dtype, name)
    else:
        value = cast(value, reduction_type(ufunc, value, dtype, name))
    return copied(value) if 0 in shape_of(value) else _along(ufunc, value, place, name)


def _along(ufunc: np.ufunc, value: Any, place: int, name: str) -> Any:
    reducer, letter = RUNNING.get(ufunc, ""), dtype_class(dtype_of(value))
    if letter == "P":
        reducer = {"add": "or", "max": "or", "mul": "and", "min": "and"}.get(reducer, reducer)
    if reducer and not (letter == "C" and reducer in _LEXICOGRAPHIC):
        return running(value, reducer, place, name, either_zero=True)
    if ufunc in (np.fmax, np.fmin) and letter in "PI":
        return accumulate(np.maximum if ufunc is np.fmax else np.minimum, value, place)
    found, combine = _LEXICOGRAPHIC[reducer] if reducer else _FOLDED[ufunc]
    result = running_fold(value, found, combine, place, name)
    if found.name not in _CHANGES_THE_FIRST:
        return result
    first = ops.iota(f"s64[{','.join(map(str, shape_of(value)))}]", place)
    whole = ops.select(ops.eq(first, compositions.full_like(first, 0)), value, result)
    return with_order(whole, aval_of(result).order)


def _flat(a: Any, axis: Any, name: str) -> tuple[Any, Any]:
    value = as_value(a, name)
    if axis is None:
        return ravel(value), 0
    return (ravel(value), axis) if not shape_of(value) else (value, axis)


def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """``numpy.cumsum``: running sums along an axis, of the flat array without one.

    Integers narrower than the platform's become s64 or u64. Raises AxisError, CaptureError for ``out=``.

    >>> cumsum(np.array([1, 2, 3]))
    array([1, 3, 6])
    """
    refuse("cumsum", out=out)
    value, place = _flat(a, axis, "cumsum")
    return accumulate(np.add, value, place, dtype)


def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """``numpy.cumprod``: running products, as :func:`cumsum`."""
    refuse("cumprod", out=out)
    value, place = _flat(a, axis, "cumprod")
    return accumulate(np.multiply, value, place, dtype)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """``numpy.nancumsum``: running sums in which NaN counts as zero."""
    refuse("nancumsum", out=out)
    value, place = _flat(a, axis, "nancumsum")
    return accumulate(np.add, replaced(value, 0), place, dtype)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """``numpy.nancumprod``: running products in which NaN counts as one."""
    refuse("nancumprod", out=out)
    value, place = _flat(a, axis, "nancumprod")
    return accumulate(np.multiply, replaced(value, 1), place, dtype)


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """``numpy.cumulative_sum``: the array API's name of cumsum, optionally with the empty sum first."""
    return _cumulative(cumsum, 0, "cumulative_sum", x, axis, dtype, out, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """``numpy.cumulative_prod``: the array API's name of cumprod, optionally with the empty product first."""
    return _cumulative(cumprod, 1, "cumulative_prod", x, axis, dtype, out, include_initial)


def _cumulative(
    function: Any, empty: int, name: str, x: Any, axis: Any, dtype: Any, out: Any, include_initial: bool
) -> Any:
    refuse(name, out=out)
    value = as_value(x, name)
    rank = len(shape_of(value))
    if axis is None:
        if rank > 1:
            raise ArgumentError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    result = function(value, axis, dtype)
    if not include_initial:
        return as_scalar(result)
    (place,) = axes_of(axis, max(rank, 1), name)
    sizes = tuple(1 if k == place else size for k, size in enumerate(shape_of(result)))
    return concatenate([np.full(sizes, empty, dtype_of(result)), result], place)
