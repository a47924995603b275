"""``np.repeat``: by numbers that are known while tracing, and by numbers of the run, whose sum is the length."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit import ops
from xjit.errors import ArgumentError
from xjit.ir.current import current
from xjit.ir.spans import span_of
from xjit.numpy.arrays import repeating
from xjit.numpy.arrays.creation import full
from xjit.numpy.arrays.shaping import as_array, ravel
from xjit.numpy.limited.arrays import (
    LimitedArray,
    at_bounds,
    elements_of,
    limited,
    made,
    number_of,
    sizes_of,
    value_of,
)
from xjit.numpy.limited.functions import refused
from xjit.numpy.limited.rooms import expect_room, room_for
from xjit.numpy.limited.run_time_integers import Integer, integer, is_same
from xjit.numpy.reducing import scans
from xjit.numpy.rules.data_dependent import is_unknown
from xjit.numpy.rules.static import only_run_tells
from xjit.numpy.rules.values import as_value, fresh, numpy_errors, shape_of
from xjit.ops.dynamic.limited_windows import Range, limited_window, number
from xjit.ops.dynamic.repetition import repeat_each
from xjit.ops.elements.elementwise import add
from xjit.ops.elements.elementwise import max as larger
from xjit.ops.elements.elementwise import min as smaller
from xjit.ops.whole_arrays.index import look_up
from xjit.ops.whole_arrays.reduce import reduce
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import iota
from xjit.types import INT64, dtype_class

_USUAL, _MANY = 16, 2**22
"""Repetitions of an element that are guessed, and the number of elements from which on fewer are."""


def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Each element repeated along an axis, or flattened without one; ``repeats`` is one number or one per element.

    Any element type; the result is row-major. Raises AxisError, ArgumentError for misfit numbers and, when the
    program runs if only that tells, for negative ones.

    >>> repeat(np.array([1, 2]), [2, 1])
    array([1, 1, 2])
    """
    if not isinstance(a, LimitedArray) and not isinstance(repeats, LimitedArray) and not is_unknown(repeats):
        return repeating.repeat(a, repeats, axis)
    if isinstance(a, LimitedArray) and a.ndim != 1:
        raise refused("numpy.repeat of several axes")
    is_open = isinstance(repeats, LimitedArray) or only_run_tells(repeats)
    if isinstance(a, LimitedArray) and not is_open and np.ndim(repeats) == 0:
        return _equally(a, repeats)
    value: Any = a if isinstance(a, LimitedArray) else as_array(as_value(a, "repeat"))
    if not isinstance(a, LimitedArray) and (axis is None or not shape_of(value)):
        value, axis = ravel(value), 0
    counts = repeats if isinstance(repeats, LimitedArray) else as_value(repeats, "repeat", "repeats")
    with numpy_errors("repeat", ArgumentError):
        place = normalize_axis_index(0 if axis is None else axis, len(sizes_of(value)))
        _check(value, counts, place)
    if len(sizes_of(value)) == 1:
        return _repeated(value, counts)
    size = shape_of(value)[place]
    places = _repeated(iota(f"s64[{size}]", 0), counts)
    found = look_up(value, (value_of(places),), (place,), place)
    sizes = tuple(sizes_of(places)[0] if one == place else integer(dim) for one, dim in enumerate(shape_of(value)))
    return made(found, sizes)


def _check(value: Any, counts: Any, axis: int) -> None:
    """Raises what NumPy raises of the types and the shapes; sizes that only the run knows are left to it."""
    size, numbers = sizes_of(value)[axis].known, sizes_of(counts)
    known = [one.known for one in numbers if one.known is not None]
    is_open = size is None or len(known) < len(numbers)
    few = np.broadcast_to(np.zeros((), counts.dtype), [1] * len(numbers) if is_open else known)
    np.repeat(np.zeros(1 if is_open or size is None else size, np.bool_), few)


def _equally(a: LimitedArray, repeats: Any) -> Any:
    """Each element of a line as often."""
    with numpy_errors("repeat", ArgumentError):
        np.repeat(np.zeros(1), repeats)
    count, (size,), (bound,) = int(repeats), a.sizes, a.bounds
    if not count:
        return np.zeros(0, a.dtype)
    total, dims = elements_of((size, integer(count))), (bound * count,)
    place = ops.div(iota(f"s64[{dims[0]}]", 0), full(dims, count, INT64))
    places = limited(place, (total,), dims)
    return made(look_up(a.value, (places,), (0,), 0), (total,))


def _repeated(value: Any, counts: Any) -> Any:
    """The elements of a line as often as numbers of the run say, of which there are as many, or one."""
    (size,), (bound,) = sizes_of(value), shape_of(value_of(value))
    if size.known == 0:
        return value
    room = room_for(_guess(bound), "numpy.repeat: repeats")
    numbers, size, fits = _numbers(counts, size, bound)
    total, least, most = (
        reduce(numbers, np.int64(init), fold, [0]) for init, fold in ((0, add), (0, smaller), (0, larger))
    )
    within = ops.logical_and(ops.le(most, number(room)), ops.le(total, number(room)))  # so the sum leaves no 64 bits
    fits = within if fits is None else ops.logical_and(fits, within)
    expect_room(fits)
    none_negative = ops.ge(least, number(0))
    holds = ops.logical_and(fits, none_negative)
    kept = ops.select(
        ops.broadcast_in_dim(holds, shape_of(numbers), ()), numbers, _limit(full((bound,), 0, INT64), size)
    )
    ends = scans.cumsum(kept)
    message = "numpy.repeat: repeats may not contain negative values."
    length = require(_last(ends, size), none_negative, "value", message)
    trace = current()
    assert trace is not None
    trace.spans[length.node] = (0, room)
    found = repeat_each(at_bounds(value), at_bounds(ends), number_of(size), room)
    if dtype_class(value.dtype) == "I":
        trace.spans[found.node] = span_of(value_of(value).node, trace)
    count = integer(length)
    return made(limited(fresh(found), (count,)), (count,))


def _last(ends: Any, size: Integer) -> Any:
    """The last end, none for no element."""
    place = number_of(size - 1)
    inside = place if size.low > 0 else ops.max(place, number(0))
    found = ops.reshape(limited_window(at_bounds(ends), [Range(inside, 1, 1, 1)]), ())
    return found if size.low > 0 else ops.select(ops.ge(place, number(0)), found, number(0))


def _guess(elements: int) -> int:
    """As many as an array among the arguments has, for many elements, else each of them several times."""
    trace = current()
    largest = 0 if trace is None or trace.lengths is None else trace.lengths.largest
    return max(min(_USUAL * elements, _MANY), elements, largest)


def _numbers(counts: Any, size: Integer, bound: int) -> tuple[Any, Integer, Any]:
    """A number for each element as S64, how many, and the condition that elements are as many, None if known."""
    own = sizes_of(counts)
    wide = ops.convert_element_type(value_of(counts), INT64)
    if not own or own[0].known == 1:
        one = ops.broadcast_in_dim(ops.reshape(wide, ()), (bound,), ())
        return _limit(one, size), size, None
    if own[0].equals(size):
        return wide if shape_of(wide) == (bound,) else limited(wide, (size,), (bound,)), size, None
    shorter = integer(ops.min(number_of(own[0]), number_of(size))).within(0, min(own[0].high, size.high))
    return limited(wide, (shorter,), (bound,)), shorter, is_same(own[0], size)


def _limit(value: Any, size: Integer) -> Any:
    return limited(value, (size,)) if size.known is None else value
