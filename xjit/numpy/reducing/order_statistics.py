"""Medians and quantiles: a partition, which NumPy runs, and what is computed of the elements in place then."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from xjit import ops
from xjit.errors import ArgumentError, CaptureError, DTypeError
from xjit.ir.context import CONSTANT, TracedValue
from xjit.numpy.arrays.shaping import as_array, moveaxis, ravel, reshape
from xjit.numpy.reducing import moments, nans
from xjit.numpy.rules import compositions as c
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.signatures import like_quantile
from xjit.numpy.rules.static import static_array
from xjit.numpy.rules.values import as_scalar, as_value, given, numpy_errors, refuse, shape_of, with_order
from xjit.numpy.selecting import gathering
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Array, Operand, apply, aval_of, dtype_of
from xjit.ops.define.library_op import run_quietly, sample, type_of_result
from xjit.ops.for_numpy import numpy_sorting, numpy_statistics
from xjit.ops.for_numpy.quantiles import Places, places_of
from xjit.types import ArrayType, dtype_class

_NONE = np._NoValue
# NumPy takes lines of this length apart one by one, which gives another memory order.
_LONG = 600


def _expected(name: str, value: Operand, axis: Any, compute: Callable[[Array], Any]) -> ArrayType:
    """The type that NumPy's function has for a few elements of this layout, with its errors."""
    shape = shape_of(value)
    with numpy_errors(name, ArgumentError):
        places = () if axis is None else normalize_axis_tuple(axis, len(shape))
        most = _LONG if len(places) == 1 else 2
        sizes = tuple(min(size, most if k in places else 2) for k, size in enumerate(shape))
        return type_of_result(run_quietly(compute, sample(aval_of(value), sizes)))


def _lines(value: Operand, axis: Any) -> tuple[Any, int]:
    """The array with all axes of a statistic as one, and which that is."""
    if axis is None:
        return ravel(as_array(value)), 0
    rank = len(shape_of(value))
    places = normalize_axis_tuple(axis, rank)
    if len(places) == 1:
        return value, places[0]
    kept = [k for k in range(rank) if k not in places]
    moved = moveaxis(value, kept, range(len(kept)))
    rest, together = shape_of(moved)[: len(kept)], shape_of(moved)[len(kept) :]
    return reshape(moved, (*rest, math.prod(together))), len(kept)


def _finished(result: Any, expected: ArrayType, value: Operand, axis: Any, keepdims: Any, count: int) -> Any:
    """In NumPy's type and memory order, with axes of one element if asked for, behind the ``count`` axes of q.

    With these, results are arrays even of rank 0.
    """
    shape, rank = shape_of(result), len(shape_of(value))
    if not (given(keepdims) and keepdims):
        return as_scalar(with_order(cast(result, expected.dtype), expected.order))
    places = tuple(range(rank)) if axis is None else normalize_axis_tuple(axis, rank)
    rest = tuple(1 if k in places else size for k, size in enumerate(shape_of(value)))
    result = ops.reshape(result, (*shape[:count], *rest))
    return with_order(cast(result, expected.dtype), expected.order)


def _partitioned(value: Operand, kth: Any, axis: int) -> Any:
    size = shape_of(value)[axis]
    places = sorted({int(place) % size for place in np.ravel(kth)} | ({size - 1} if _has_nans(value) else set()))
    return apply(numpy_sorting.PARTITION, value, kth=tuple(places), axis=axis)


def _has_nans(value: Operand) -> bool:
    return dtype_class(dtype_of(value)) in "FC"


def _slice(value: Operand, first: int, last: int, axis: int) -> Any:
    shape = shape_of(value)
    starts = tuple(first if k == axis else 0 for k in range(len(shape)))
    ends = tuple(last if k == axis else size for k, size in enumerate(shape))
    return ops.slice(value, starts, ends)


def _at(value: Operand, place: int, axis: int) -> Any:
    """One element of each line."""
    shape = shape_of(value)
    return ops.reshape(_slice(value, place, place + 1, axis), (*shape[:axis], *shape[axis + 1 :]))


def _unless_unknown(result: Any, line: Operand, axis: int, dtype: Any) -> Any:
    """The NaN at the end of partitioned lines that hold one, in place of their result."""
    result = cast(result, dtype)
    if not _has_nans(line):
        return result
    last = cast(_at(line, shape_of(line)[axis] - 1, axis), dtype)
    shape = shape_of(result)
    unknown = broadcast_to_shape(c.isnan(last), shape)
    return ops.select(unknown, broadcast_to_shape(last, shape), result)


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> Any:
    """The middle element of the sorted lines along axes, or the mean of the two in the middle; NaN if there is one.

    Element types: numbers and booleans; integers give float64. Raises AxisError, and CaptureError for ``out``.

    >>> median(np.array([4, 1, 3]))
    np.float64(3.0)
    """
    refuse("median", out=out)
    value = as_value(a, "median")
    expected = _expected("median", value, axis, lambda one: np.median(one, axis, keepdims=keepdims))
    lines, place = _lines(value, axis)
    size = shape_of(lines)[place]
    if size == 0:
        return _finished(moments.mean(lines, place), expected, value, axis, keepdims, 0)
    middle, odd = size // 2, size % 2
    part = _partitioned(lines, (middle,) if odd else (middle - 1, middle), place)
    found = moments.mean(_slice(part, middle - 1 + odd, middle + 1, place), place)
    found = _unless_unknown(found, part, place, expected.dtype)
    return _finished(found, expected, value, axis, keepdims, 0)


# ---- quantiles


@like_quantile
def quantile(*arguments: Any) -> Any:
    """The elements below which shares ``q`` of the sorted lines along axes lie, by one of NumPy's methods.

    Element types: real numbers; NaN in a line makes all of its quantiles NaN. Several ``q`` come first in the result.
    Raises AxisError, DTypeError, ArgumentError for methods and for ``q`` out of range, when the program runs if it is
    traced, and CaptureError for ``out``.

    >>> quantile(np.array([1, 2, 4]), 0.75)
    np.float64(3.0)
    """
    return _quantile("quantile", 1, *arguments)


@like_quantile
def percentile(*arguments: Any) -> Any:
    """``quantile`` of shares in percent."""
    return _quantile("percentile", 100, *arguments)


def _real(a: Any, name: str) -> Operand:
    value = as_value(a, name)
    if dtype_class(dtype_of(value)) == "C":
        raise DTypeError(f"numpy.{name}: a must be an array of real numbers; got {dtype_of(value)}")
    return value


def _shares(q: Any, name: str, whole: int) -> Operand:
    """The shares as an array, or as they are traced."""
    if isinstance(q, TracedValue) and q.node.op is not CONSTANT and not hasattr(q, "known"):
        value = as_value(q, name, "q")
        shares: Operand = call(np.true_divide, value, whole) if whole != 1 else value
        return shares
    found = static_array(q, name, "q")
    with numpy_errors(name, ArgumentError):  # percentages out of range are not to be called quantiles
        getattr(np, name)(np.zeros(1), found)
    return found if whole == 1 else np.asarray(np.true_divide(found, whole))


def _quantile(name: str, whole: int, a: Any, q: Any, axis: Any, method: Any, keepdims: Any, weights: Any) -> Any:
    value, weak = _real(a, name), type(q) in (int, float)
    q = _shares(q, name, whole)
    few = _few(q, weak)
    scales = None if weights is None else as_value(weights, name, "weights")

    def compute(one: Array) -> Any:
        return np.quantile(one, few, axis, method=method, keepdims=bool(given(keepdims) and keepdims))

    expected = _expected(name, value, axis, compute)
    if isinstance(q, TracedValue) or scales is not None:
        return _in_one_step(name, value, q, axis, method, keepdims, scales, expected)
    lines, place = _lines(value, axis)
    found = _between(lines, places_of(method, shape_of(lines)[place], q), place, weak, expected)
    return _finished(found, expected, value, axis, keepdims, q.ndim)


def _few(q: Operand, weak: bool) -> Any:
    """The shares for NumPy's answer on types; of traced ones nothing but their shape is known."""
    if isinstance(q, TracedValue):
        return np.zeros(q.shape, q.dtype)
    return q.item() if weak else q


def _between(lines: Operand, places: Places, axis: int, weak: bool, expected: ArrayType) -> Any:
    """From the elements on both sides, which a partition puts in place."""
    wanted = places.before if places.share is None else np.concatenate([places.before.ravel(), places.after.ravel()])
    part = _partitioned(lines, wanted, axis)
    before = _taken(part, places.before, axis)
    if places.share is None:
        return _unless_unknown(before, part, axis, expected.dtype)
    after, share = _taken(part, places.after, axis), places.share
    if weak:
        result = _mixed(before, after, float(share))
    else:
        spread = share.reshape(share.shape + (1,) * (len(shape_of(lines)) - 1))
        near, far = _mixed(before, after, spread, 0), _mixed(before, after, spread, 1)
        upper = np.broadcast_to(spread >= 0.5, shape_of(near))
        result = ops.select(upper, far, near)
    return _unless_unknown(result, part, axis, expected.dtype)


def _mixed(before: Any, after: Any, share: Any, upper: Any = None) -> Any:
    """Between two elements, from the nearer one, as NumPy rounds it."""
    distance = call(np.subtract, after, before)
    if upper or (upper is None and share >= 0.5):
        return call(np.subtract, after, call(np.multiply, distance, 1 - share))
    return call(np.add, before, call(np.multiply, distance, share))


def _taken(part: Operand, places: Array, axis: int) -> Any:
    """The elements at some places of each line; the axes of the places come first."""
    if places.ndim == 0:
        return _at(part, int(places), axis)
    found = gathering.take(part, places, axis)
    return moveaxis(found, range(axis, axis + places.ndim), range(places.ndim))


def _in_one_step(
    name: str, value: Operand, q: Operand, axis: Any, method: str, keepdims: Any, weights: Any, expected: ArrayType
) -> Any:
    """Shares that the run tells, and weights, are NumPy's to deal with."""
    shape, rank = shape_of(value), len(shape_of(value))
    places = tuple(range(rank)) if axis is None else normalize_axis_tuple(axis, rank)
    kept = given(keepdims) and bool(keepdims)
    rest = tuple(1 if k in places else n for k, n in enumerate(shape) if kept or k not in places)
    operands = {"a": value, "q": q} | ({} if weights is None else {"weights": weights})
    if weights is not None and shape_of(weights) != shape:
        raise CaptureError(f"numpy.{name}: weights of another shape than the array are not supported")
    found = apply(
        numpy_statistics.QUANTILE,
        *operands.values(),
        names=tuple(operands),
        function=name,
        axis=None if axis is None else places,
        method=method,
        keepdims=kept,
        type=ArrayType(expected.dtype, (*shape_of(q), *rest), expected.order),
    )
    return found if kept or weights is not None else as_scalar(found)


# ---- without NaNs


def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = _NONE) -> Any:
    """``median`` of the elements that are no NaN; NaN where there is no other. Raises as ``median``."""
    refuse("nanmedian", out=out)
    value = as_value(a, "nanmedian")
    expected = _expected("nanmedian", value, axis, lambda one: np.nanmedian(one, axis, keepdims=keepdims))
    return _without_nans(numpy_statistics.NANMEDIAN, (), value, axis, keepdims, expected, {})


@like_quantile
def nanquantile(*arguments: Any) -> Any:
    """``quantile`` of the elements that are no NaN. Raises as ``quantile``, and CaptureError for ``weights``."""
    return _nanquantile("nanquantile", 1, *arguments)


@like_quantile
def nanpercentile(*arguments: Any) -> Any:
    """``nanquantile`` of shares in percent."""
    return _nanquantile("nanpercentile", 100, *arguments)


def _nanquantile(name: str, whole: int, a: Any, q: Any, axis: Any, method: Any, keepdims: Any, weights: Any) -> Any:
    refuse(name, weights=weights)
    value, weak = _real(a, name), type(q) in (int, float)
    q = _shares(q, name, whole)
    few = _few(q, weak)

    def compute(one: Array) -> Any:
        return np.nanquantile(one, few, axis, method=method, keepdims=keepdims)

    expected = _expected(name, value, axis, compute)
    params = {"method": method, "weak": weak, "function": name}
    return _without_nans(numpy_statistics.NANQUANTILE, (q,), value, axis, keepdims, expected, params)


def _without_nans(
    record: Any, extra: tuple[Any, ...], value: Operand, axis: Any, keepdims: Any, expected: ArrayType, params: Any
) -> Any:
    """One step over lines along the last axis."""
    if aval_of(value).size == 0:
        return nans.nanmean(value, axis, keepdims=keepdims)
    lines, place = _lines(value, axis)
    lines = moveaxis(lines, place, -1)
    leading = shape_of(extra[0]) if extra else ()
    dims = (*leading, *shape_of(lines)[:-1])
    type = ArrayType(expected.dtype, dims, tuple(range(len(dims))))
    found = apply(record, lines, *extra, type=type, **params)
    return _finished(found, expected, value, axis, keepdims, len(leading))
