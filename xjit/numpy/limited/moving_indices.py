"""Indices with numbers of the run in them: ``x[:i]``, ``A[i, i + 1:]``, ``x[i]``; reading, and new versions of arrays
that are written there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ShapeError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.creation import full
from xjit.numpy.limited.arrays import (
    LimitedArray,
    PartAndSizes,
    Sizes,
    aligned,
    fitted,
    is_moving,
    made,
    part_at,
    picked,
    position,
    range_of,
    sizes_of,
    value_of,
)
from xjit.numpy.limited.finding import masked
from xjit.numpy.limited.positions_along import along, place_among
from xjit.numpy.limited.run_time_integers import Integer, check_slice, integer, is_same, steps_of
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import as_scalar, as_value, as_view, fresh, shape_of
from xjit.numpy.selecting.gathering import positions
from xjit.numpy.selecting.indexing import expanded
from xjit.ops.dynamic.limited_places import store_at
from xjit.ops.dynamic.limited_windows import Range, bound_of, number, store_window
from xjit.ops.whole_arrays.index import look_up
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import iota
from xjit.types import BOOL, INT64, dtype_class


def applies(value: Any, index: Any) -> bool:
    """Return whether an index says or asks what only the run knows: a basic one, positions, or a mask of rank 1."""
    if is_mask(value, index):
        return True
    entries = index if isinstance(index, tuple) else (index,)
    if are_arrays(index) and any(isinstance(one, LimitedArray) for one in (value, *entries)):
        return len(sizes_of(value)) >= len(entries)
    if isinstance(index, LimitedArray) or are_places(index):
        return False
    if isinstance(value, LimitedArray):
        return all(_is_basic(one) or _is_number(one) for one in entries)
    return any(is_moving(one) or _is_position(one) for one in entries) and is_basic(index)


def is_mask(value: Any, index: Any) -> bool:
    """Return whether an index is a mask of rank 1, and it or the value has a size that only the run knows."""
    if isinstance(index, LimitedArray):
        return index.ndim == 1 and index.dtype == BOOL
    return isinstance(value, LimitedArray) and is_traced_mask(index) and len(shape_of(index)) == 1


def are_arrays(index: Any) -> bool:
    """Return whether an index is one array of positions, or several, of any size."""
    entries = index if isinstance(index, tuple) else (index,)
    return bool(entries) and all(map(_is_array, entries))


def is_traced_mask(index: Any) -> bool:
    """Return whether an index is an array of truth values."""
    return isinstance(index, TracedValue | np.ndarray) and index.dtype == BOOL and bool(shape_of(index))


def _is_array(index: Any) -> bool:
    """Return whether an index is an array of positions."""
    if isinstance(index, LimitedArray):
        return dtype_class(index.dtype) == "I"
    if isinstance(index, TracedValue | np.ndarray):
        return dtype_class(index.dtype) == "I" and bool(shape_of(index))
    return isinstance(index, list)


def are_places(index: Any) -> bool:
    """Return whether an index is several arrays of positions whose number only the run knows."""
    return isinstance(index, tuple) and len(index) > 0 and all(isinstance(one, LimitedArray) for one in index)


def is_basic(index: Any) -> bool:
    """Return whether an index has no arrays."""
    return all(map(_is_basic, index if isinstance(index, tuple) else (index,)))


def is_window(index: Any) -> bool:
    """Return whether an index has no arrays and no truth values: slices, and integers of any kind."""
    return all(_is_basic(one) or _is_traced_integer(one) for one in (index if isinstance(index, tuple) else (index,)))


def _is_traced_integer(entry: Any) -> bool:
    return isinstance(entry, TracedValue) and not entry.node.aval.rank and entry.dtype.kind in "iu"


def _is_number(entry: Any) -> bool:
    """Return whether an entry is an integer of NumPy's that only the run knows, no array of rank 0."""
    return _is_traced_integer(entry) and entry.scalar


def _is_position(entry: Any) -> bool:
    """Return whether an entry is an integer of Python's that only the run knows."""
    return isinstance(entry, TracedValue) and entry.weak is int and entry.dtype == INT64 and not entry.node.aval.rank


def _is_basic(entry: Any) -> bool:
    if entry is None or entry is Ellipsis or _is_position(entry):
        return True
    if isinstance(entry, slice):
        return not isinstance(entry.step, TracedValue)
    return isinstance(entry, int | np.integer) and not isinstance(entry, bool | np.bool_)


def getitem(value: Any, index: Any) -> Any:
    """``value[index]`` for an index that `applies`.

    Raises IndexOutOfBoundsError for a position outside, when the program runs if only that tells.
    """
    if is_mask(value, index):
        return masked(value, index)
    if are_arrays(index):
        return looked_up(value, index if isinstance(index, tuple) else (index,))
    place = place_among(value, index)
    if place is not None:
        return along(value, index, place, _places)
    entries = list(index) if isinstance(index, tuple) else [index]
    rank = len(sizes_of(value))
    found = picked(part_of(value, index))
    if isinstance(found, LimitedArray):
        return found
    return as_scalar(fresh(found)) if len(entries) == rank and _are_positions(entries) else as_view(found)


def looked_up(value: Any, index: Sequence[Any]) -> Any:
    """The elements of an array at positions along its first axes.

    Raises ShapeError for positions that do not fit each other, and IndexOutOfBoundsError, when the program runs.
    """
    own = sizes_of(value)
    source = value.value if isinstance(value, LimitedArray) else as_value(value, "getitem")
    several, sizes = _aligned(index)
    places = tuple(_places(one, own[axis], axis) for axis, one in enumerate(several))
    found = look_up(source, places, tuple(range(len(places))), 0, positions_first=True)
    return made(found, (*sizes, *own[len(places) :]))


def _aligned(index: Sequence[Any]) -> tuple[list[Any], Sizes]:
    """Arrays of positions at the bounds of all of them, and the sizes that they broadcast to."""
    several, sizes = aligned("indexing", index)
    bounds = tuple(map(max, zip(*map(shape_of, several), strict=True)))
    return [broadcast_to_shape(one, bounds) for one in several], sizes


def _places(index: Any, size: Integer, axis: int) -> Any:
    """Positions along an axis of some size, which have to be there."""
    if size.known is not None:
        return positions(index, size.known, axis, "indexing")
    dims, wide = shape_of(index), cast(as_value(index, "indexing"), INT64)
    count, zero = (ops.broadcast_in_dim(one, dims, ()) for one in (size.operand, ops.constant(0, dtype=INT64)))
    found = ops.select(ops.lt(wide, zero), ops.add(wide, count), wide)
    inside = ops.logical_and(ops.ge(found, zero), ops.lt(found, count))
    message = f"indexing: an index is out of bounds for axis {axis}"
    return require(ops.select(inside, found, zero), inside, "index", message)


def part_of(value: Any, index: Any) -> PartAndSizes:
    """The part of an array that an index picks, and its sizes."""
    entries = list(index) if isinstance(index, tuple) else [index]
    return part_at(value, expanded((0,) * len(sizes_of(value)), entries))


def _are_positions(entries: Sequence[Any]) -> bool:
    return not any(one is None or one is Ellipsis or isinstance(one, slice) for one in entries)


# ---- writing


def set_at(array: Any, index: Sequence[Any], value: Any, own: Sizes | None = None) -> Any:
    """The new version of an array in which ``array[index] = value`` has been done, by positions along its first axes.

    The array is a value at its bounds, of ``own`` sizes if these are others; those of its last axes, which are stored
    whole, are known. The stored value has the array's element type. Raises as ``looked_up``, and ShapeError for a
    value that does not fit.
    """
    own = sizes_of(array) if own is None else own
    several, sizes = _aligned(index)
    places = [_places(one, own[axis], axis) for axis, one in enumerate(several)]
    rest = shape_of(array)[len(places) :]
    if rest:
        first = shape_of(places[0])
        dims, rank = (*first, *rest), len(first)
        along = [iota(f"s64[{','.join(map(str, dims))}]", rank + axis) for axis in range(len(rest))]
        places = [*(ops.broadcast_in_dim(one, dims, tuple(range(rank))) for one in places), *along]
    return _stored_at(array, places, value, (*sizes, *map(integer, rest)))


def _stored_at(array: Any, places: Sequence[Any], value: Any, sizes: Sizes) -> Any:
    """The array with a value at places within it, of which there are so many."""
    counts = [size.operand if size.known is None else size.known for size in sizes]
    return store_at(array, repeated(value, sizes, shape_of(places[0])), places, counts)


def has_traced_step(array: Any, index: Any) -> bool:
    """Return whether an index is a slice of all of an array of rank 1 in steps that only the run knows."""
    is_slice = isinstance(index, slice) and isinstance(index.step, TracedValue)
    return is_slice and not isinstance(array, LimitedArray) and len(sizes_of(array)) == 1


def set_steps(array: Any, index: slice, value: Any) -> Any:
    """The new version of an array in which ``array[index] = value`` has been done, where an index `has_traced_step`.

    Raises ShapeError for a value that does not fit, and ArgumentError for a step of zero, when the program runs;
    DTypeError for numbers that are no integers.
    """
    check_slice(index)
    (size,) = sizes_of(array)
    start, step, count = steps_of(index, size)
    if size.known == 0:
        _fitting_sizes(value, (count,))
        return array
    bounds = (bound_of(size.high),)
    far = [full(bounds, one.operand, INT64) for one in (start, step)]
    place = ops.add(far[0], ops.mul(far[1], iota(f"s64[{bounds[0]}]", 0)))
    return _stored_at(array, [place], value, (count,))


def set_window(array: Any, index: Any, value: Any, sizes: Sizes | None = None) -> Any:
    """The new version of an array in which ``array[index] = value`` has been done, for an index that `applies`.

    The array is a value at its bounds, of ``sizes`` if these are others. The stored value has the array's element
    type. Raises ShapeError for a value that does not fit, and IndexOutOfBoundsError for a position outside, when the
    program runs if only that tells.
    """
    entries = list(index) if isinstance(index, tuple) else [index]
    bounds, sizes = shape_of(array), sizes_of(array) if sizes is None else sizes
    ranges: list[Range] = []
    region: list[Integer] = []
    for entry in expanded(bounds, entries):
        axis = len(ranges)
        if isinstance(entry, slice):
            one, count = range_of(entry, sizes[axis], bounds[axis])
            region.append(count)
            ranges.append(one)
        elif entry is not None:
            ranges.append(Range(position(entry, axis, sizes[axis]).operand, 1, 1, 1))
    if any(count.known == 0 for count in region):
        _fitting_sizes(value, tuple(region))
        return array
    dims = [one.bound for one in ranges]
    long = [one.bound for one, entry in zip(ranges, _own(bounds, entries), strict=True) if isinstance(entry, slice)]
    update = ops.reshape(repeated(value, tuple(region), long), tuple(dims))
    return store_window(array, update, ranges)


def _own(bounds: Sequence[int], entries: list[Any]) -> list[Any]:
    """The entries of an index that are about axes of the array."""
    return [entry for entry in expanded(tuple(bounds), entries) if entry is not None]


def repeated(value: Any, region: Sizes, bounds: Sequence[int]) -> Any:
    """The value at every position of a region of these sizes and bounds; ShapeError if it does not fit."""
    sizes, checked = _fitting_sizes(value, region)
    found = as_value(value_of(value), "setitem", "value")
    found = ops.reshape(found, shape_of(found)[len(shape_of(found)) - len(sizes) :])
    fitted_value = fitted(found, sizes, checked, _last(bounds, len(sizes)))
    mapping = tuple(range(len(region) - len(sizes), len(region)))
    return ops.broadcast_in_dim(fitted_value, tuple(bounds), mapping)


def _fitting_sizes(value: Any, region: Sizes) -> tuple[Sizes, Sizes]:
    """The sizes of a value, without leading ones that a region lacks, and those that they are repeated to.

    Raises ShapeError if one does not fit, when the program runs if only that tells.
    """
    sizes = sizes_of(value)
    while len(sizes) > len(region) and sizes[0].known == 1:
        sizes = sizes[1:]
    pairs = zip(sizes, _last(region, len(sizes)), strict=True)
    return sizes, tuple([_checked(size, wanted, sizes, region) for size, wanted in pairs])


def _last(several: Sequence[Any], count: int) -> Any:
    if count > len(several):
        raise ShapeError("could not broadcast input array into a region of fewer dimensions")
    return several[len(several) - count :]


def _checked(size: Integer, wanted: Integer, sizes: Sizes, region: Sizes) -> Integer:
    """The size of a region along an axis, to which that of the value has to be equal unless it is one."""
    if size.known == 1 or size.equals(wanted):
        return wanted
    texts = [",".join("?" if one.known is None else str(one.known) for one in several) for several in (sizes, region)]
    message = f"could not broadcast input array from shape ({texts[0]}) into shape ({texts[1]})"
    if size.known is not None and wanted.known is not None:
        raise ShapeError(message)
    fits = ops.logical_or(is_same(size, wanted), is_same(size, 1))
    operand = wanted.operand
    held = require(number(operand) if isinstance(operand, int) else operand, fits, "shape", message)
    return integer(held).within(wanted.low, wanted.high)
