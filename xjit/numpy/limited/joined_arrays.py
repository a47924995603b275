"""Limited arrays behind and beside each other, and what only counts or moves their elements."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit import ops
from xjit.errors import DTypeError, ShapeError
from xjit.numpy import dispatch
from xjit.numpy.arrays.creation import full
from xjit.numpy.limited.arrays import (
    LimitedArray,
    Sizes,
    common_sizes,
    elements_of,
    fitted,
    limited,
    made,
    number_of,
    part_at,
    picked,
    sizes_of,
    value_of,
)
from xjit.numpy.limited.finding import nonzero
from xjit.numpy.limited.functions import REDUCTIONS, call_ufunc, refused
from xjit.numpy.limited.masked_elements import coordinates
from xjit.numpy.limited.moving_indices import getitem
from xjit.numpy.limited.repeats import repeat
from xjit.numpy.limited.run_time_integers import Integer, integer, is_same
from xjit.numpy.reducing.averages import OTHER_SHAPE, ZERO_WEIGHTS
from xjit.numpy.rules.promotion import cast, requested, result_type
from xjit.numpy.rules.values import as_scalar, as_value, given, shape_of
from xjit.numpy.rules.view_strides import memory_of
from xjit.ops.dynamic.limited_windows import Range, bound_of, store_window, whole
from xjit.ops.dynamic.uninitialized import uninitialized
from xjit.ops.whole_arrays.index import look_up
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import iota
from xjit.types import BOOL, dtype_class


def array_of(value: Any, name: str) -> Any:
    """An operand as an array, limited or not."""
    return value if isinstance(value, LimitedArray) else as_value(value, name)


def concatenate(arrays: Sequence[Any], axis: Any = 0, out: Any = None, dtype: Any = None, casting: Any = None) -> Any:
    """Arrays behind each other along an axis, of flattened ones without an axis."""
    if out is not None or casting is not None:
        raise refused("numpy.concatenate with out= or casting=")
    parts = [array_of(one, "concatenate") for one in arrays]
    if axis is None:
        parts, axis = [flat(one) for one in parts], 0
    sizes = [sizes_of(one) for one in parts]
    if len({len(one) for one in sizes}) != 1 or not sizes[0]:
        raise ShapeError("all the input array dimensions except for the concatenation axis must match exactly")
    axis = normalize_axis_index(axis, len(sizes[0]))
    kind = requested(dtype, "concatenate") or result_type(*map(value_of, parts), name="concatenate")
    for one in parts:
        _check_cast("concatenate", one, kind)
    rest = common_sizes("concatenate", [(*one[:axis], *one[axis + 1 :]) for one in sizes])
    return _joined(parts, sizes, rest, axis, kind)


def _joined(parts: Sequence[Any], several: Sequence[Sizes], rest: Sizes, axis: int, dtype: Any) -> Any:
    bounds = [shape_of(value_of(one))[axis] for one in parts]
    beside = [size.known if size.known is not None else bound_of(size.high) for size in rest]
    total = functools.reduce(lambda one, other: one + other, (sizes[axis] for sizes in several))
    most = total.known if total.known is not None else bound_of(sum(bounds))
    dims = (*beside[:axis], most, *beside[axis:])
    result, start = uninitialized(tuple(dims), dtype), integer(0)
    for part, sizes, bound in zip(parts, several, bounds, strict=True):
        wanted = (*rest[:axis], sizes[axis], *rest[axis:])
        if sizes[axis].known != 0:
            own = (*beside[:axis], bound, *beside[axis:])
            value = fitted(cast(value_of(part), dtype), sizes, wanted, own)
            starts = [start if place == axis else integer(0) for place in range(len(own))]
            result = store_window(result, value, list(map(_range, starts, wanted, own)))
        start = start + sizes[axis]
    sizes = (*rest[:axis], total, *rest[axis:])
    return made(limited(result, sizes, dims), sizes)


def _range(start: Integer, size: Integer, bound: int) -> Range:
    if size.known is not None:
        return Range(start.operand, 1, size.known, size.known) if start.known != 0 else whole(size.known)
    return Range(start.operand, 1, size.operand, bound)


def with_axis(value: Any, place: int) -> Any:
    """The array with a new axis."""
    every: list[Any] = [slice(None)] * len(sizes_of(value))
    every.insert(place, None)
    return picked(part_at(value, every))


def _stack(arrays: Sequence[Any], axis: int = 0, out: Any = None) -> Any:
    parts = [array_of(one, "stack") for one in arrays]
    place = normalize_axis_index(axis, len(sizes_of(parts[0])) + 1)
    return concatenate([with_axis(one, place) for one in parts], place, out)


def _hstack(tup: Sequence[Any]) -> Any:
    parts = [array_of(one, "hstack") for one in tup]
    return concatenate(parts, 0 if len(sizes_of(parts[0])) == 1 else 1)


def _vstack(tup: Sequence[Any]) -> Any:
    parts = [array_of(one, "vstack") for one in tup]
    return concatenate([with_axis(one, 0) if len(sizes_of(one)) == 1 else one for one in parts], 0)


def _column_stack(tup: Sequence[Any]) -> Any:
    parts = [array_of(one, "column_stack") for one in tup]
    return concatenate([with_axis(one, 1) if len(sizes_of(one)) == 1 else one for one in parts], 1)


def _append(arr: Any, values: Any, axis: Any = None) -> Any:
    one = array_of(values, "append")
    if not sizes_of(one):
        one = ops.reshape(one, (1,))
    return concatenate([array_of(arr, "append"), one], axis)


def ix(*args: Any) -> tuple[Any, ...]:
    """Positions along each axis of a grid, or what truth values choose, with axes of one element for the others."""
    found = []
    for place, one in enumerate(args):
        line = array_of(one, "ix_")
        if len(sizes_of(line)) != 1:
            raise ShapeError("Cross index must be 1 dimensional")
        line = nonzero(line)[0] if line.dtype == BOOL else line
        shape = (*(None,) * place, slice(None), *(None,) * (len(args) - place - 1))
        found.append(picked(part_at(line, shape)) if len(args) > 1 else line)
    return tuple(found)


def flat(value: Any) -> Any:
    """The elements of an array in row-major order, of which the first axis alone may be limited."""
    sizes = sizes_of(value)
    if len(sizes) == 1:
        return value
    if any(size.known is None for size in sizes[1:]):
        raise refused("a flattened array of several axes")
    dims, size = shape_of(value_of(value)), elements_of(sizes)
    if size.known is not None:
        return ops.reshape(value_of(value), (size.known,))
    most = bound_of(int(np.prod(dims)))
    places = limited(iota(f"s64[{most}]", 0), (size,))
    found = look_up(value_of(value), tuple(map(value_of, coordinates(places, dims))), tuple(range(len(dims))), 0)
    return made(found, (size,))


def _ravel(a: Any, order: str = "C") -> Any:
    if order != "C":
        raise refused("numpy.ravel in another order")
    if len(sizes_of(a)) != 1:
        return flat(a)
    return picked(part_at(a, [slice(None)])) if _is_packed(a) else made(value_of(a), sizes_of(a))


def _is_packed(line: Any) -> bool:
    """Return whether the elements of an array of rank 1 are known to lie without gaps, in their order."""
    axis: int | None = 0
    while isinstance(line, LimitedArray) and line.part is not None and axis is not None:
        axis, part = line.part.places[axis], line.part
        if axis is None or part.ranges[axis].step != 1:
            return False
        line = part.source
    if axis is None or isinstance(line, LimitedArray):
        return axis == len(sizes_of(line)) - 1
    memory = memory_of(line)
    return memory is not None and memory.strides[axis] == memory.itemsize


def _reshape(a: Any, *shape: Any, **options: Any) -> Any:
    """The array with a first or last axis of one element, or flattened."""
    dims = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    if options or -1 not in dims:
        raise refused("numpy.reshape to other sizes than -1 and 1")
    line, place = flat(a), tuple(dims).index(-1)
    if any(type(one) is not int or one != 1 for number, one in enumerate(dims) if number != place):
        raise refused("numpy.reshape to other sizes than -1 and 1")
    index = (*(None,) * place, slice(None), *(None,) * (len(dims) - place - 1))
    return picked(part_at(line, index)) if len(dims) > 1 or line is a else line


def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    if len(sizes_of(a)) != 1:
        raise refused("numpy.diff of matrices")
    ends = [array_of(one, "diff") if given(one) else None for one in (prepend, append)]
    parts = [one if one is None or sizes_of(one) else ops.reshape(one, (1,)) for one in (ends[0], a, ends[1])]
    there = [one for one in parts if one is not None]
    a = concatenate(there, 0) if len(there) > 1 else a
    compute = np.not_equal if a.dtype == np.bool_ else np.subtract
    for _ in range(n):
        a = call_ufunc(compute, "__call__", (getitem(a, slice(1, None)), getitem(a, slice(None, -1))), {})
    return a


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    line = flat(ary)
    middle = call_ufunc(np.subtract, "__call__", (getitem(line, slice(1, None)), getitem(line, slice(None, -1))), {})
    ends = [None if one is None else array_of(one, "ediff1d") for one in (to_begin, to_end)]
    for one in ends:
        _check_cast("ediff1d", middle if one is None else one, middle.dtype)
    there = [
        one if sizes_of(one) else ops.reshape(one, (1,)) for one in (ends[0], middle, ends[1]) if one is not None
    ]
    return concatenate([flat(one) for one in there], 0, dtype=middle.dtype) if len(there) > 1 else middle


def _check_cast(name: str, value: Any, dtype: Any) -> None:
    """DTypeError for elements that NumPy does not convert by itself."""
    if not np.can_cast(value.dtype, dtype, "same_kind"):
        raise DTypeError(f"numpy.{name}: cannot cast from {value.dtype} to {dtype} with casting 'same_kind'")


def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    options = {"axis": axis, "keepdims": bool(given(keepdims) and keepdims)}
    high, low = (REDUCTIONS[one](a, **options) for one in (np.max, np.min))
    return dispatch.call_ufunc(np.subtract, "__call__", (high, low), {})


def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    if returned or axis is not None:
        raise refused("numpy.average with an axis or returned=")
    if weights is None:
        return REDUCTIONS[np.mean](a)
    own, other = array_of(a, "average"), array_of(weights, "average")
    if len(sizes_of(own)) != 1 or len(sizes_of(other)) != 1:
        raise refused("numpy.average of matrices")
    dtype = np.result_type(own.dtype, other.dtype, *([np.float64] if dtype_class(own.dtype) in "PI" else []))
    values = [made(cast(value_of(one), dtype), sizes_of(one)) for one in (own, other)]
    (size,), (of_weights,) = map(sizes_of, values)
    fits = size.equals(of_weights)
    if not fits:
        values = _cut(values, size, of_weights)
    total = REDUCTIONS[np.sum](call_ufunc(np.multiply, "__call__", values, {}))
    scale = REDUCTIONS[np.sum](values[1])
    found = dispatch.call_ufunc(np.true_divide, "__call__", (total, scale), {})
    if not fits:
        found = require(found, is_same(size, of_weights), "type", OTHER_SHAPE)
    some = dispatch.call_ufunc(np.not_equal, "__call__", (scale, 0.0), {})
    return as_scalar(require(found, some, "division", ZERO_WEIGHTS))


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    steps = dx if x is None else _diff(x)
    pairs = call_ufunc(np.add, "__call__", (getitem(y, slice(1, None)), getitem(y, slice(None, -1))), {})
    product = call_ufunc(np.multiply, "__call__", (steps, pairs), {})
    return REDUCTIONS[np.sum](call_ufunc(np.true_divide, "__call__", (product, 2.0), {}))


def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    kind = a.dtype if dtype is None else dtype
    sizes = sizes_of(a)
    return made(limited(full(shape_of(value_of(a)), fill_value, kind), sizes), sizes)


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    ones, others = sizes_of(a1), sizes_of(a2)
    if equal_nan or len(ones) != 1 or len(others) != 1:
        raise refused("numpy.array_equal of matrices, or with equal_nan=")
    (size,), (other,) = ones, others
    cut = _cut([a1, a2], size, other)
    same = REDUCTIONS[np.all](call_ufunc(np.equal, "__call__", cut, {}))
    both = (same, ops.eq(number_of(size), number_of(other)))
    found: Any = dispatch.call_ufunc(np.logical_and, "__call__", both, {})
    found.weak, found.scalar = bool, True
    return found


def _cut(values: list[Any], size: Integer, other: Integer) -> list[Any]:
    """Two lines of these sizes, of which the longer one has lost its end."""
    bound = max(shape_of(value_of(one))[0] for one in values)
    least = integer(ops.min(number_of(size), number_of(other))).within(0, bound)
    return [getitem(one, slice(None, _weak(least))) for one in values]


def _weak(size: Integer) -> Any:
    value: Any = size.operand
    if size.known is None:
        value.weak, value.scalar, value.bounds = int, True, (size.low, size.high)
    return value


JOINED: dict[Any, Callable[..., Any]] = {
    np.concatenate: concatenate,
    np.stack: _stack,
    np.hstack: _hstack,
    np.vstack: _vstack,
    np.column_stack: _column_stack,
    np.append: _append,
    np.ix_: ix,
    np.ravel: _ravel,
    np.reshape: _reshape,
    np.diff: _diff,
    np.ediff1d: _ediff1d,
    np.repeat: repeat,
    np.ptp: _ptp,
    np.average: _average,
    np.trapezoid: _trapezoid,
    np.full_like: _full_like,
    np.array_equal: _array_equal,
}
"""Functions of limited arrays, by NumPy's."""
