"""Indexing: integers, slices with any step, None and the ellipsis as slices, reversals and reshapes; index arrays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from xjit import ops
from xjit.dataclass import dataclass
from xjit.errors import ArgumentError, CaptureError, IndexOutOfBoundsError
from xjit.ir.context import TracedValue
from xjit.numpy.rules.values import Shape, as_scalar, as_value, as_view, copied, fresh, holds_no_array, shape_of
from xjit.numpy.selecting import gathering
from xjit.ops.define.core import Operand, dtype_of
from xjit.ops.regions.strided_slices import slice_from
from xjit.types import BOOL, dtype_class

_KINDS = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
    "valid indices"
)


@dataclass(frozen=True, slots=True)
class Region:
    """Region that a basic index picks: per operand axis the first element, the step and the count, then the result's
    shape.

    ``scalar`` says that NumPy hands out an element, not an array.
    """

    first: tuple[int, ...]
    step: tuple[int, ...]
    count: tuple[int, ...]
    shape: Shape
    scalar: bool


def getitem(x: Any, index: Any) -> Any:
    """``x[index]``: a view, a scalar if every axis is indexed by an integer, a fresh array for index arrays.

    Masks of truth values have to be known while tracing, as they decide the shape. Raises IndexOutOfBoundsError as
    NumPy's IndexError, CaptureError for traced masks.

    >>> getitem(np.arange(6).reshape(2, 3), (1, slice(None, None, -1)))
    array([5, 4, 3])
    """
    value = as_value(x, "getitem")
    entries = list(index) if isinstance(index, tuple) else [index]
    if has_positions(entries):
        return _gathered(value, entries)
    if any(map(is_traced_integer, entries)):
        return _window(value, entries)
    region = parse(shape_of(value), index)
    picked = take(value, region)
    if region.scalar:
        return as_scalar(fresh(picked))
    # NumPy copies what an integer picks that lies in an array of rank 0.
    return copied(picked) if any(isinstance(entry, np.ndarray) for entry in entries) else as_view(picked)


@dataclass(frozen=True, slots=True)
class _Axis:
    """A truth value alone as an index: a new axis, of which it takes all or nothing."""

    positions: list[int]


def _is_mask(entry: Any) -> bool:
    """Return whether an index entry is truth values that are known: one, an array, or a list."""
    if isinstance(entry, bool | np.bool_):
        return True
    is_array = isinstance(entry, np.ndarray) or (isinstance(entry, list | tuple) and holds_no_array(entry))
    return is_array and np.asarray(entry).dtype == BOOL


def _without_masks(shape: Shape, entries: list[Any]) -> list[Any]:
    """The entries with the positions of what is true, one array for each axis of a mask, in its place."""
    masks = [np.asarray(entry) if _is_mask(entry) else entry for entry in entries]
    axes = [_axes_of_entry(entry) for entry in masks]
    result: list[Any] = []
    axis = 0
    for entry, count in zip(masks, axes, strict=True):
        if not _is_mask(entry):
            result.append(entry)
        elif entry.ndim == 0:
            result.append(_Axis([0] if entry else []))
        else:
            _check_mask(entry, shape[axis : axis + count], axis)
            result.extend(np.nonzero(entry))
        axis += max(len(shape) - sum(axes), 0) if entry is Ellipsis else count
    return result


def _axes_of_entry(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    return entry.ndim if _is_mask(entry) else 1


def _check_mask(mask: Any, sizes: Shape, axis: int) -> None:
    for k, (size, own) in enumerate(zip(sizes, mask.shape, strict=False)):
        if size != own:
            raise IndexOutOfBoundsError(
                f"boolean index did not match indexed array along axis {axis + k}; "
                f"size of axis is {size} but size of corresponding boolean axis is {own}"
            )


def is_traced_integer(entry: Any) -> bool:
    """Return whether an index entry is one integer that only the run will tell: a basic index, as Python's are."""
    single = isinstance(entry, TracedValue) and (entry.scalar or entry.weak is int) and entry.weak is not bool
    return single and dtype_class(dtype_of(entry)) == "I"


def has_positions(entries: list[Any]) -> bool:
    """Return whether an index has arrays of positions or masks in it, so that it copies."""
    return any(_is_mask(one) or (gathering.is_index_array(one) and not is_traced_integer(one)) for one in entries)


def _window(value: Operand, entries: list[Any]) -> Any:
    """The view of which integers that only the run will tell are parts; of integers alone an element."""
    scalar = len(entries) == len(shape_of(value)) and all(
        is_traced_integer(one) or _is_integer(one) for one in entries
    )
    entries = expanded(shape_of(value), entries)
    basic = [slice(None) if is_traced_integer(entry) else entry for entry in entries]
    view = take(value, parse(shape_of(value), tuple(basic)))
    kept = [entry for entry in entries if entry is None or not _is_integer_known(entry)]
    axes = tuple(axis for axis, entry in enumerate(kept) if is_traced_integer(entry))
    sizes = shape_of(view)
    places = [
        gathering.positions(kept[axis], sizes[axis], _axis_of(entries, kept[axis]), "indexing") for axis in axes
    ]
    inside = tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
    moving = [k for k, axis in enumerate(axes) if sizes[axis] != 1]
    if moving:
        starts = [as_scalar(places[k]) for k in moving]
        found = dict(zip((axes[k] for k in moving), starts, strict=True))
        view = slice_from(view, [found.get(axis, 0) for axis in range(len(sizes))], inside)
    picked = ops.reshape(view, tuple(size for axis, size in enumerate(sizes) if axis not in axes))
    return as_scalar(fresh(picked)) if scalar else as_view(picked)


def _axis_of(entries: list[Any], entry: Any) -> int:
    """The axis of the operand that an entry indexes."""
    place = next(k for k, one in enumerate(entries) if one is entry)
    return sum(one is not None for one in entries[:place])


def _is_integer_known(entry: Any) -> bool:
    return not isinstance(entry, TracedValue | slice) and _is_integer(entry)


@dataclass(frozen=True, slots=True)
class Selection:
    """An index with arrays of positions: the view that its basic entries show, and an entry for each axis of that.

    ``neighbours`` says that the arrays stand side by side, ``dots`` that there is an ellipsis.
    """

    view: Any
    entries: tuple[Any, ...]
    neighbours: bool
    dots: bool

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the view that positions are along."""
        return tuple(axis for axis, entry in enumerate(self.entries) if not isinstance(entry, slice))


def split(value: Operand, entries: list[Any]) -> Selection:
    """Basic entries first, as a view; integers count as index arrays beside these."""
    if any(map(_is_mask, entries)):
        entries = _without_masks(shape_of(value), entries)
    places = [k for k, entry in enumerate(entries) if _is_advanced(entry)]
    dots = any(entry is Ellipsis for entry in entries)  # with one, a single element is an array of rank 0
    neighbours = places == list(range(places[0], places[0] + len(places)))  # not around an ellipsis of no axes
    entries = expanded(shape_of(value), entries)
    basic = [None if isinstance(entry, _Axis) else slice(None) if _is_advanced(entry) else entry for entry in entries]
    view = as_view(take(value, parse(shape_of(value), tuple(basic))))
    advanced = [entry.positions if isinstance(entry, _Axis) else entry for entry in entries]
    wanted = [entry if _is_advanced(entry) else slice(None) for entry in advanced]
    return Selection(view, tuple(wanted), neighbours, dots)


def _gathered(value: Operand, entries: list[Any]) -> Any:
    found = split(value, entries)
    result = gathering.pick(found.view, list(found.entries), found.neighbours)
    return result if found.dots else as_scalar(result)


def _is_advanced(entry: Any) -> bool:
    return entry is not None and entry is not Ellipsis and not isinstance(entry, slice)


def take(value: Operand, region: Region) -> Any:
    """The elements of a region."""
    shape, result = shape_of(value), value
    low = tuple(map(_lowest, region.first, region.step, region.count))
    steps = tuple(abs(step) for step in region.step)
    ends = tuple(a + (n - 1) * s + 1 if n else a for a, s, n in zip(low, steps, region.count, strict=True))
    if region.count != shape:
        result = ops.slice(result, low, ends, steps)
    backwards = tuple(k for k, step in enumerate(region.step) if step < 0 and region.count[k] > 1)
    if backwards:
        result = ops.rev(result, backwards)
    return ops.reshape(result, region.shape) if region.shape != region.count else result


def _lowest(first: int, step: int, count: int) -> int:
    if count == 0:
        return 0
    return first if step > 0 else first + (count - 1) * step


def parse(shape: Shape, index: Any) -> Region:
    """The region of a basic index into an array of this shape."""
    entries = list(index) if isinstance(index, tuple) else [index]
    for entry in entries:
        _check_kind(entry)
    whole = len(entries) == len(shape) and all(_is_integer(entry) for entry in entries)
    return _region(shape, expanded(shape, entries), whole)


def expanded(shape: Shape, entries: list[Any]) -> list[Any]:
    """The entries with full slices for the ellipsis, or at the end, so that every axis has one.

    Raises IndexOutOfBoundsError for too many entries and a second ellipsis.
    """
    entries = list(entries)
    used = sum(not (entry is None or entry is Ellipsis or isinstance(entry, _Axis)) for entry in entries)
    if used > len(shape):
        raise IndexOutOfBoundsError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed",
            fix=f"use at most {len(shape)} indices",
        )
    dots = sum(entry is Ellipsis for entry in entries)
    if dots > 1:
        raise IndexOutOfBoundsError("an index can only have a single ellipsis ('...')")
    place = next((k for k, entry in enumerate(entries) if entry is Ellipsis), len(entries))
    entries[place : place + 1] = [slice(None)] * (len(shape) - used)
    return entries


def _check_kind(entry: Any) -> None:
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return
    if not _is_integer(entry):
        raise IndexOutOfBoundsError(_KINDS, fix="convert positions with int() or astype(int)")


def _is_integer(entry: Any) -> bool:
    try:
        operator.index(entry)
    except TypeError:
        return False
    return True


def _region(shape: Shape, entries: list[Any], scalar: bool) -> Region:
    first: list[int] = []
    step: list[int] = []
    count: list[int] = []
    result: list[int] = []
    for entry in entries:
        if entry is None:
            result.append(1)
            continue
        axis = len(first)
        if isinstance(entry, slice):
            start, stop, stride = _bounds(entry, shape[axis])
            size = len(range(start, stop, stride))
            result.append(size)
        else:
            start, stride, size = _position(entry, axis, shape[axis]), 1, 1
        first.append(start)
        step.append(stride)
        count.append(size)
    return Region(tuple(first), tuple(step), tuple(count), tuple(result), scalar)


def _bounds(entry: slice, size: int) -> tuple[int, int, int]:
    try:
        return entry.indices(size)
    except ValueError as error:
        raise ArgumentError(f"indexing: {error}") from None
    except TypeError:
        raise CaptureError("indexing: slice bounds that are known while tracing are required") from None


def _position(entry: Any, axis: int, size: int) -> int:
    position = operator.index(entry)
    if not -size <= position < size:
        raise gathering.out_of_bounds(position, axis, size)
    return position % size
