"""Different elements, and sets of them: ``unique``, ``union1d``, ``intersect1d``, ``setdiff1d``, ``setxor1d``.

sorted   1 1 2 5 5 5
begins   1 0 1 1 0 0      where an element differs from the one before it: these are chosen
ranks    0 0 1 2 2 2      the numbers of the different elements, which lie where the sort has taken elements from
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.ir.context import TracedValue
from xjit.numpy import dispatch
from xjit.numpy.arrays.creation import full
from xjit.numpy.arrays.shaping import ravel
from xjit.numpy.limited.arrays import LimitedArray, at_bounds, limited, made, number_of, sizes_of, value_of
from xjit.numpy.limited.finding import masked
from xjit.numpy.limited.joined_arrays import array_of, concatenate
from xjit.numpy.limited.limited_functions import call_function, call_ufunc
from xjit.numpy.limited.masked_elements import Chosen, between, chosen_by, elements_in, packed, positions_in
from xjit.numpy.limited.run_time_integers import Integer
from xjit.numpy.rules.data_dependent import FILL, depends
from xjit.numpy.rules.values import shape_of
from xjit.ops.dynamic.limited_places import store_at
from xjit.ops.whole_arrays.index import look_up
from xjit.ops.whole_arrays.shape import iota
from xjit.types import INT64, dtype_class


def _call(function: Any, *args: Any, **options: Any) -> Any:
    """A function of NumPy on arrays, limited or not."""
    limited_ones = any(isinstance(one, LimitedArray) for one in args)
    return (call_function if limited_ones else dispatch.call_function)(function, args, options)


def _compute(ufunc: np.ufunc, *args: Any) -> Any:
    limited_ones = any(isinstance(one, LimitedArray) for one in args)
    return (call_ufunc if limited_ones else dispatch.call_ufunc)(ufunc, "__call__", args, {})


def _line(ar: Any, name: str) -> Any:
    """The elements as a line, of a type that has an order."""
    value = array_of(ar, name)
    if dtype_class(value.dtype) == "C":
        depends(f"numpy.{name} of complex numbers", "the shape of the result", FILL)
    if len(sizes_of(value)) != 1:
        value = _call(np.ravel, value) if isinstance(value, LimitedArray) else ravel(value)
    return value


def _moved(line: Any, by: int) -> Any:
    """The elements so many places further along, at the ends those themselves; a value at its bound."""
    bound = shape_of(value_of(line))[0]
    places = ops.clamp(np.int64(0), ops.add(iota(f"s64[{bound}]", 0), full((bound,), by, INT64)), np.int64(bound - 1))
    return look_up(at_bounds(line), (_like(places, line),), (0,), 0)


def _like(value: Any, line: Any) -> Any:
    """A value of the bound of a line, which ends where that does."""
    return limited(value, sizes_of(line)) if isinstance(line, LimitedArray) else value


def _differs(line: Any, by: int, equal_nan: bool) -> Any:
    """The places where elements differ from those before or behind them, and the first, or the last, from nothing."""
    (size,) = sizes_of(line)
    own, other = value_of(line), _moved(line, by)
    found = dispatch.call_ufunc(np.not_equal, "__call__", (own, other), {})
    if equal_nan and dtype_class(line.dtype) == "F":
        both = (dispatch.call_ufunc(np.isnan, "__call__", (one,), {}) for one in (own, other))
        found = ops.logical_and(found, ops.logical_not(ops.logical_and(*both)))
    bound = shape_of(own)[0]
    end = full((bound,), 0, INT64) if by < 0 else ops.broadcast_in_dim(number_of(size - 1), (bound,), ())
    return made(ops.logical_or(found, ops.eq(_like(iota(f"s64[{bound}]", 0), line), end)), (size,))


def _chosen(line: Any, mask: Any) -> Chosen:
    return chosen_by(value_of(mask), sizes_of(line)[0])


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The different elements in ascending order; where each comes first, which one each element is, how many.

    Any element type with an order. Raises DataDependentError with an axis, and where the order would be NumPy's own.
    """
    if axis is not None or not sorted:
        depends("numpy.unique with an axis, or not sorted", "the shape of the result", FILL)
    line = _line(ar, "unique")
    if shape_of(value_of(line))[0] == 0:
        none, places = np.zeros(0, INT64), np.zeros(shape_of(value_of(array_of(ar, "unique"))), INT64)
        wanted = (return_index, none), (return_inverse, places), (return_counts, none)
        parts = [_call(np.sort, line), *(one for is_wanted, one in wanted if is_wanted)]  # an array of its own
        return tuple(parts) if len(parts) > 1 else parts[0]
    if return_inverse and isinstance(ar, LimitedArray) and ar.ndim > 1:
        depends("numpy.unique with the places of elements of several axes", "the shape of the result", FILL)
    order = None
    if return_index or return_inverse:
        order = _call(np.argsort, line, kind="mergesort" if return_index else None)
        line = getitem_at(line, order)
    else:
        line = _call(np.sort, line)
    mask = _differs(line, -1, equal_nan)
    chosen = _chosen(line, mask)
    found = [elements_in(at_bounds(line), chosen)]
    if return_index:
        found.append(elements_in(at_bounds(order), chosen))
    if return_inverse:
        found.append(_ranks(ar, order, mask))
    if return_counts:
        found.append(_lengths(chosen, sizes_of(line)[0]))
    return tuple(found) if len(found) > 1 else found[0]


def getitem_at(line: Any, order: Any) -> Any:
    """The elements of a line in an order that is known to be one."""
    return made(look_up(value_of(line), (value_of(order),), (0,), 0), sizes_of(line))


def _ranks(ar: Any, order: Any, mask: Any) -> Any:
    """The numbers of the different elements, in the places of the elements."""
    (size,), (bound,) = sizes_of(order), shape_of(value_of(order))
    ranks = value_of(_compute(np.subtract, _call(np.cumsum, mask), 1))
    counts = [size.known if size.known is not None else size.operand]
    stored = between(store_at(full((bound,), 0, INT64), ranks, [value_of(order)], counts), bound)
    if size.known is None:
        return packed(stored, (size,))
    return ops.reshape(stored, shape_of(ar)) if isinstance(ar, TracedValue) else stored


def _lengths(chosen: Chosen, size: Integer) -> Any:
    """The number of elements from each that is chosen to the next, or the end."""
    places = positions_in(chosen)
    (count,), (bound,) = sizes_of(places), shape_of(value_of(places))
    own = value_of(places)
    following = ops.add(iota(f"s64[{bound}]", 0), full((bound,), 1, INT64))
    is_last = ops.ge(following, ops.broadcast_in_dim(number_of(count), (bound,), ()))
    end = ops.broadcast_in_dim(number_of(size), (bound,), ())
    ends = ops.select(_like(is_last, places), _like(end, places), _moved(places, 1))
    return made(ops.sub(ends, own), (count,))


def union1d(ar1: Any, ar2: Any) -> Any:
    """The different elements of two arrays, in ascending order."""
    return unique(_both(_line(ar1, "union1d"), _line(ar2, "union1d")))


def _both(one: Any, other: Any) -> Any:
    if isinstance(one, LimitedArray) or isinstance(other, LimitedArray):
        return concatenate([one, other], 0)
    return dispatch.call_function(np.concatenate, ([one, other],), {})


def _sorted_pair(ar1: Any, ar2: Any, assume_unique: bool, name: str) -> Any:
    """The different elements of each of two arrays, in one order."""
    lines = [_line(one, name) for one in (ar1, ar2)]
    return _call(np.sort, _both(*(lines if assume_unique else map(unique, lines))))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The different elements that both arrays have, in ascending order."""
    if return_indices:
        depends("numpy.intersect1d with indices", "the shape of the result", FILL)
    line = _sorted_pair(ar1, ar2, assume_unique, "intersect1d")
    if shape_of(value_of(line))[0] == 0:
        return line
    same = _compute(np.logical_not, _differs(line, 1, False))
    return elements_in(at_bounds(line), _chosen(line, same))


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The different elements that one of two arrays has, in ascending order."""
    line = _sorted_pair(ar1, ar2, assume_unique, "setxor1d")
    if shape_of(value_of(line))[0] == 0:
        return line
    alone = _compute(np.logical_and, _differs(line, -1, False), _differs(line, 1, False))
    return elements_in(at_bounds(line), _chosen(line, alone))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The different elements that the first of two arrays has alone, in ascending order."""
    line = _line(ar1, "setdiff1d")
    line = line if assume_unique else unique(line)
    return masked(line, _call(np.isin, line, _line(ar2, "setdiff1d"), assume_unique=True, invert=True))


SETS: dict[Any, Any] = {
    np.unique: unique,
    np.union1d: union1d,
    np.intersect1d: intersect1d,
    np.setxor1d: setxor1d,
    np.setdiff1d: setdiff1d,
}
"""Functions of limited arrays, by NumPy's."""
