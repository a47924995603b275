"""``x[index] = value``: windows, positions and masks.

x[1:-1, 0] = v      the window of x holds v
x[rows] = v         scatter x rows v, in the order of the positions: the last of equal ones wins
x[x < 0] = v        select (x < 0) v x
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import ops
from xjit.capture.memory.buffer import BufferView
from xjit.capture.memory.views import link
from xjit.capture.memory.writes import DESTINATION, check_writable, fitting, store, stored_value, write
from xjit.capture.tracers.provenance import located, noted, refuse
from xjit.errors import DTypeError, IndexOutOfBoundsError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.numpy.reducing import scans
from xjit.numpy.rules.broadcasting import broadcast_to_shape, common_shape
from xjit.numpy.rules.values import numpy_errors
from xjit.numpy.selecting import gathering, indexing
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import BOOL, INT64

Entries = list[Any]
Combine = Callable[[Any, Any], Any]
"""The function that makes an element anew, of itself and a value."""


def setitem(target: BufferView, index: Any, value: Any) -> None:
    """``target[index] = value``; the index without numbers that are known while tracing.

    Raises what NumPy raises, before it writes.
    """
    check_writable(target, DESTINATION)
    entries = _entries(index)
    if getattr(type(value), "chooses", False):
        _store_chosen(target, entries, value)
        return
    with located((target, *(one for one in (*entries, value) if isinstance(one, TracedValue)))):
        if len(entries) == 1 and _is_traced_mask(entries[0]):
            _store_masked(target, entries[0], value)
            return
        behind = mask_of(entries, target)
        if behind is not None and not np.shape(plain_number(value)):
            _write_where(target, *behind, broadcast_to_shape(stored_value(value, target.dtype), target.shape))
            return
        if any(map(_is_traced_mask, entries)):
            refuse("a mask and other indices together say where is written", target, fix="use a mask alone")
        if indexing.has_positions(entries):
            _store_at(target, entries, value)
            return
        if len(entries) == target.ndim and all(map(_is_integer, entries)):
            check_one_number(value, np.zeros(1, target.dtype))
        store(_shown(target, entries), value)


def _entries(index: Any) -> Entries:
    """The entries of an index to store by, arrays of rank 0 as integers: only what is read by them is a copy."""
    return [as_integer(one) for one in (index if isinstance(index, tuple) else [index])]


def as_integer(entry: Any) -> Any:
    """The number of an array of rank 0 that says where is stored; another entry itself."""
    known = isinstance(entry, np.ndarray) and not entry.ndim and entry.dtype.kind in "iu"
    return entry[()] if known else entry


def _is_integer(entry: Any) -> bool:
    return type(entry) is not slice and _is_simple(entry)


def check_one_number(value: Any, places: Any) -> None:
    """ShapeError where NumPy stores no array of this shape as one element: arrays of rank 0, and of truth values.

    The places are an array of one element, or the iterator over it.
    """
    shape = np.shape(plain_number(value))
    if shape:
        with numpy_errors("indexing"), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            places[0] = np.zeros(shape)


def takes_chosen(target: BufferView, index: Any, chosen: Any) -> bool:
    """Return whether elements that a mask has chosen are stored where the same mask holds."""
    mask, axis = mask_of(index if isinstance(index, tuple) else [index], target) or (None, 0)
    return mask is not None and chosen.chosen_by(mask, axis) and chosen.values.ndim <= target.ndim


def _store_chosen(target: BufferView, entries: Entries, chosen: Any) -> None:
    """Stores elements that a mask has chosen where the same mask holds."""
    mask, axis = mask_of(entries, target) or (None, 0)
    assert mask is not None, "other elements are packed before they are stored"
    values = broadcast_to_shape(stored_value(chosen.values, target.dtype), target.shape)
    _write_where(target, mask, axis, values)


def _write_where(target: BufferView, mask: Any, axis: int, values: Any) -> None:
    every = ops.broadcast_in_dim(mask, target.shape, tuple(range(axis, axis + mask.ndim)))
    write(target, ops.select(every, values, unlinked(target)))


def mask_of(index: Any, array: Any) -> tuple[Any, int] | None:
    """The traced truth values that an index consists of, behind whole dimensions, and their place.

    None for other indices.
    """
    entries = list(index) if isinstance(index, list | tuple) else [index]
    *before, mask = entries or [None]
    if not _is_traced_mask(mask) or any(type(one) is not slice or one != slice(None) for one in before):
        return None
    axis = len(before)
    of_numbers = mask.weak is not None or mask.scalar or hasattr(mask, "known")
    fits = not of_numbers and mask.ndim > 0 and mask.shape == array.shape[axis : axis + mask.ndim]
    return (mask, axis) if fits else None


def beside_mask(index: Any, array: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """The basic index that shows what a mask and slices or integers beside it are about, and the mask as an index of
    that; None for other indices.
    """
    entries = list(index) if type(index) is tuple and len(index) > 1 else []
    masks = [place for place, one in enumerate(entries) if _is_traced_mask(one) and one.ndim]
    if len(masks) != 1 or not all(_is_simple(one) for place, one in enumerate(entries) if place != masks[0]):
        return None
    (place,), advanced = masks, [place for place, one in enumerate(entries) if type(one) is not slice]
    mask = entries[place]
    if len(advanced) != advanced[-1] - advanced[0] + 1 or mask.shape != array.shape[place : place + mask.ndim]:
        return None
    basic = (*entries[:place], *(slice(None),) * mask.ndim, *entries[place + 1 :])
    return basic, (*(slice(None) for one in entries[:place] if type(one) is slice), mask)


def _is_simple(entry: Any) -> bool:
    """Return whether an entry of an index is a slice, or an integer."""
    if isinstance(entry, TracedValue):
        return entry.weak is int
    return type(entry) is slice or (isinstance(entry, int | np.integer) and not isinstance(entry, bool))


def plain_number(value: Any) -> Any:
    """A number with the shape of a value, where it has one."""
    return np.zeros(value.shape, bool) if isinstance(value, TracedValue) else value


def _is_traced_mask(entry: Any) -> bool:
    return isinstance(entry, TracedValue) and entry.dtype == BOOL


# ---- positions


def _replaced(old: Any, new: Any) -> Any:
    return new


def _store_at(target: Any, entries: Entries, value: Any, combine: Combine = _replaced) -> None:
    """Combines values with those at index arrays; basic entries beside them show a window, which is written to."""
    found = indexing.split(target, entries)
    view, axes = link(found.view, (target,)), found.axes
    positions = [gathering.positions(found.entries[axis], view.shape[axis], axis, "indexing") for axis in axes]
    shape = common_shape(
        "indexing", [np.shape(one) if isinstance(one, np.ndarray) else one.shape for one in positions]
    )
    rest = [size for axis, size in enumerate(view.shape) if axis not in axes]
    first = axes[0] if found.neighbours else 0
    rank = len(shape)
    result = (*rest[:first], *shape, *rest[first:])
    updates = _fit(stored_value(value, view.dtype), result)
    order = (*range(first, first + rank), *range(first), *range(first + rank, len(result)))
    if order != tuple(range(len(result))):
        updates = ops.transpose(updates, order)
    write(view, scattered(view, axes, positions, shape, updates, combine))


def scattered(
    view: Any, axes: Sequence[int], positions: Sequence[Any], shape: tuple[int, ...], updates: Any, combine: Combine
) -> Any:
    """The view with values combined at these positions along axes, in row-major order of the positions."""
    vectors = [ops.reshape(broadcast_to_shape(one, shape), (*shape, 1)) for one in positions]
    indices = ops.concatenate(vectors, len(shape)) if len(vectors) > 1 else vectors[0]
    return ops.scatter(
        unlinked(view),
        indices,
        updates,
        combine,
        index_vector_dim=len(shape),
        update_window_dims=tuple(range(len(shape), len(updates.shape))),
        inserted_window_dims=tuple(axes),
        scatter_dims_to_operand_dims=tuple(axes),
    )


def unlinked(view: Any) -> Any:
    """The value that a view has now."""
    trace = current()
    assert trace is not None
    return trace.wrap(trace.adopt(view.node), trace)


def _fit(value: Any, shape: tuple[int, ...]) -> Any:
    message = "shape mismatch: value array of shape {} could not be broadcast to indexing result of shape {}"
    return broadcast_to_shape(fitting(value, shape, message), shape)


def combine_at(target: Any, index: Any, value: Any, combine: Combine) -> None:
    """Combines values with the elements at an index, in the order of the positions, each as often as it is named."""
    check_writable(target)
    entries = _entries(index)
    if any(map(_is_traced_mask, entries)):
        refuse("ufunc.at with a mask", target, fix="use np.where")
    if indexing.has_positions(entries):
        _store_at(target, entries, value, combine)
        return
    view = _shown(target, entries)
    write(view, combine(unlinked(view), _fit(value, view.shape)))


def _shown(target: Any, entries: Entries) -> Any:
    """The window of an index without positions; of integers alone an array of rank 0."""
    whole = entries if any(entry is Ellipsis for entry in entries) else [*entries, ...]
    return link(indexing.getitem(target, tuple(whole)), (target,))


# ---- masks


def _store_masked(target: BufferView, mask: Any, value: Any) -> None:
    sizes = target.shape[: mask.ndim]
    if mask.shape != sizes:
        axis = next((k for k, (a, b) in enumerate(zip(mask.shape, sizes, strict=False)) if a != b), len(sizes))
        if mask.ndim > target.ndim:
            text = f"too many indices for array: array is {target.ndim}-dimensional, but {mask.ndim} were indexed"
        else:
            text = (
                f"boolean index did not match indexed array along axis {axis}; size of axis is {sizes[axis]} but "
                f"size of corresponding boolean axis is {mask.shape[axis]}"
            )
        raise noted(IndexOutOfBoundsError(text), target, mask)
    found = stored_value(value, target.dtype)
    if mask.ndim == target.ndim > 0 and len(found.shape) > 1:
        text = f"assignment requires a 0 or 1-dimensional input, input has {len(found.shape)} dimensions"
        raise noted(DTypeError(f"NumPy boolean array indexing {text}", fix="assign its ravel()"), target, value)
    if isinstance(value, BufferView) and math.prod(value.shape) > 1 and value.buffer.shares(target.buffer):
        reason = "elements that a mask chooses are set to elements of the same array, one after the other"
        refuse(reason, target, fix="copy the value first")
    write(target, masked(target, mask, found))


def masked(target: Any, mask: Any, value: Any) -> Any:
    """An array with these values where a mask of its leading dimensions holds.

    Values are one for all, or one for each element that is chosen, in row-major order.
    """
    rest = target.shape[mask.ndim :]
    rank = len(rest)
    every = ops.broadcast_in_dim(mask, target.shape, tuple(range(mask.ndim)))
    own = value.shape[len(value.shape) - rank - 1] if len(value.shape) > rank else 1
    if own == 1:
        if len(value.shape) > rank:
            value = ops.reshape(value, value.shape[len(value.shape) - rank :])
        chosen = broadcast_to_shape(value, target.shape)
    else:
        chosen = _in_turn(mask, value, own, rest)
    return ops.select(every, chosen, unlinked(target))


def _in_turn(mask: Any, values: Any, count: int, rest: tuple[int, ...]) -> Any:
    """For each element of a mask the value of its turn among those that are chosen."""
    flat = ops.reshape(mask, (int(np.prod(mask.shape)),))
    numbers = scans.cumsum(flat)
    total = ops.reshape(ops.slice(numbers, (flat.shape[0] - 1,), (flat.shape[0],), (1,)), ()) if flat.shape[0] else 0
    places = ops.clamp(
        np.int64(0),
        ops.sub(numbers, broadcast_to_shape(np.asarray(1, INT64), flat.shape)),
        np.int64(max(count, 1) - 1),
    )
    # Without values there is nothing to look up, and nothing is chosen.
    values = broadcast_to_shape(values, (count, *rest)) if count else np.zeros((1, *rest), values.dtype)
    found = ops.look_up(values, (places,), (0,), 0, positions_first=True)
    message = (
        f"NumPy boolean array indexing assignment cannot assign {count} input values to another number of places"
    )
    found = require(found, ops.eq(total, np.asarray(count, INT64)), "shape", message)
    return ops.reshape(found, (*mask.shape, *rest))
