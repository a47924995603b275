"""np.pad: its arguments, and borders that are computed, axis after axis, so that later axes decide the corners."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, CaptureError, DTypeError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.borders import REPEATING, Border, filled, repeated
from xjit.numpy.arrays.sequences import positions
from xjit.numpy.arrays.shaping import as_array
from xjit.numpy.reducing import axis_reductions, moments, order_statistics
from xjit.numpy.rules.bounds import holds_in, required
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast, result_type
from xjit.numpy.rules.static import static_array
from xjit.numpy.rules.values import as_value, numpy_errors, shape_of
from xjit.numpy.rules.view_strides import column_or_row_major
from xjit.numpy.selecting.picking import Run, own, picked
from xjit.numpy.selecting.selection import round as rounded
from xjit.numpy.selecting.selection import where
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import DType, dtype_class

Pair = tuple[Any, Any]
Sides = tuple[Any, Any]

_OPTIONS = {
    "constant": "constant_values",
    "linear_ramp": "end_values",
    "maximum": "stat_length",
    "mean": "stat_length",
    "minimum": "stat_length",
    "median": "stat_length",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    "edge": "",
    "empty": "",
    "wrap": "",
}
_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": axis_reductions.max,
    "minimum": axis_reductions.min,
    "mean": moments.mean,
    "median": order_statistics.median,
}


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """The array with a border of the given widths before and after each axis.

    Any element type, which is that of the result. Modes: constant, edge, linear_ramp, maximum, mean, minimum,
    reflect, symmetric, wrap, and empty, whose border is zero. Raises ArgumentError for modes and options that NumPy
    does not know, negative widths and axes without elements, DTypeError for widths that are no integers, CaptureError
    for functions as modes and for widths that are not known while tracing.

    >>> pad(np.array([1, 2, 3]), (2, 1), "reflect")
    array([3, 2, 1, 2, 3, 2])
    """
    value = as_array(as_value(array, "pad"))
    option = _checked_mode(mode, kwargs)
    rank = len(shape_of(value))
    widths = _widths(pad_width, rank)
    extras = _extras(mode, kwargs.get(option), rank, dtype_of(value))
    borders = [Border(k, *widths[k], extras[k]) for k in range(rank)]
    _check_elements(value, mode, borders)
    order = column_or_row_major(value)
    if mode in ("constant", "empty"):
        return filled(value, borders, order)
    if 0 in shape_of(value):  # nor has the result elements
        nothing = _extras("empty", None, rank, dtype_of(value))
        return filled(value, [Border(k, *widths[k], nothing[k]) for k in range(rank)], order)
    if mode in REPEATING and kwargs.get("reflect_type", "even") != "odd":
        return repeated(value, borders, mode, order)
    result = value
    for border in borders:
        if border.before or border.after:
            result = _COMPUTED[mode](result, border)
    return own(result, value, order)


def _checked_mode(mode: Any, kwargs: dict[str, Any]) -> str:
    if callable(mode):
        raise CaptureError("numpy.pad: mode: a function that writes into the border is not supported")
    option = _OPTIONS.get(mode) if isinstance(mode, str) else None
    if option is None:
        raise ArgumentError(f"numpy.pad: mode '{mode}' is not supported")
    unknown = set(kwargs) - {option}
    if unknown:
        raise ArgumentError(f"numpy.pad: unsupported keyword arguments for mode '{mode}': {unknown}")
    return option


def _widths(pad_width: Any, rank: int) -> list[Pair]:
    if isinstance(pad_width, dict):
        found = np.zeros((rank, 2), np.int64)
        for axis, width in pad_width.items():
            found[axis] = static_array(width, "pad", "pad_width")
    else:
        found = static_array(pad_width, "pad", "pad_width")
    if found.dtype.kind != "i":
        raise DTypeError(f"numpy.pad: `pad_width` must be of integral type.; got {found.dtype}")
    if found.size and found.min() < 0:
        raise ArgumentError("numpy.pad: index can't contain negative values")
    with numpy_errors("pad", ArgumentError):
        pairs = np.broadcast_to(_flattened(found), (rank, 2))
    return [(int(before), int(after)) for before, after in pairs]


def _flattened(found: Any) -> Any:
    """NumPy takes one number for all borders and two numbers for all axes, however they are nested."""
    one, two = found.size == 1, found.size == 2 and found.shape != (2, 1)
    return found.reshape(-1) if found.ndim < 3 and (one or two) else found


def _extras(mode: str, given: Any, rank: int, dtype: DType) -> list[Pair]:
    """The option's pair of values for each axis; numbers for a border are put into an array of this element type."""
    if mode == "empty":
        return [(np.zeros(()), np.zeros(()))] * rank
    if mode in ("reflect", "symmetric") or (given is None and mode not in ("constant", "linear_ramp")):
        return [(None, None)] * rank
    if mode not in ("constant", "linear_ramp"):
        return [(int(a), int(b)) for a, b in _lengths(given, rank)]
    values = as_value(0 if given is None else given, "pad", _OPTIONS[mode])
    if not isinstance(values, np.ndarray):
        if shape_of(values):
            raise CaptureError(f"numpy.pad: {_OPTIONS[mode]}: traced values of rank 1 or more are not supported")
        fits = _fits(values, dtype) if mode == "constant" else None
        if fits is not None:
            values = required(values, fits, "number", f"numpy.pad: a number is out of bounds for {dtype}")
        return [(values, values)] * rank
    with numpy_errors("pad", ArgumentError):
        pairs = np.broadcast_to(_flattened(values), (rank, 2))
    if mode == "linear_ramp":
        return [(before, after) for before, after in pairs]
    numbers = pairs if _flattened(values).ndim == 1 else pairs.tolist()
    return [(_placed(before, dtype), _placed(after, dtype)) for before, after in numbers]


def _fits(number: Operand, dtype: DType) -> Any:
    """The condition that a traced number is one that NumPy assigns to a place; None where it assigns any."""
    if not isinstance(number, TracedValue) or dtype.kind != "i" or dtype_class(number.dtype) != "I":
        return None
    return holds_in(number, dtype)


def _placed(number: Any, dtype: DType) -> Any:
    """Return the content of an array after a number was assigned to one place; NumPy raises if the number does not
    fit.
    """
    place = np.empty(1, dtype)
    with numpy_errors("pad", ArgumentError), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of imaginary parts that are left out
        place[...] = number
    return place[0]


def _lengths(given: Any, rank: int) -> Any:
    found = np.round(static_array(given, "pad", "stat_length")).astype(np.int64)
    if found.size and found.min() < 0:
        raise ArgumentError("numpy.pad: index can't contain negative values")
    with numpy_errors("pad", ArgumentError):
        return np.broadcast_to(_flattened(found), (rank, 2))


def _check_elements(value: Operand, mode: str, borders: list[Border]) -> None:
    if mode in ("constant", "empty") or 0 not in shape_of(value):
        return
    for border in borders:
        if shape_of(value)[border.axis] == 0 and (border.before or border.after):
            raise ArgumentError(
                f"numpy.pad: can't extend empty axis {border.axis} using modes other than 'constant' or 'empty'"
            )


def _part(value: Operand, axis: int, low: int, high: int, step: int = 1) -> Any:
    """The elements low to high along an axis, backwards from high - 1 if the step is -1."""
    return picked(value, Run(low if step > 0 else high - 1, step, high - low), axis)


def _around(before: Any, value: Operand, after: Any, axis: int) -> Any:
    parts = [part for part in (before, value, after) if shape_of(part)[axis]]
    return ops.concatenate(parts, axis) if len(parts) > 1 else value


def _wide(edge: Operand, axis: int, width: int) -> Any:
    shape = shape_of(edge)
    return broadcast_to_shape(edge, (*shape[:axis], width, *shape[axis + 1 :]))


def _edges(value: Operand, axis: int) -> Sides:
    size = shape_of(value)[axis]
    return _part(value, axis, 0, 1), _part(value, axis, size - 1, size)


def _ramps(value: Operand, border: Border) -> Any:
    edges, axis = _edges(value, border.axis), border.axis
    before = _ramp(border.extra[0], edges[0], axis, border.before)
    after = _ramp(border.extra[1], edges[1], axis, border.after)
    return _around(before, value, ops.rev(after, (axis,)), axis)


def _ramp(end: Any, edge: Operand, axis: int, width: int) -> Any:
    """Evenly spaced numbers from the outermost one, without the edge itself, rounded as linspace rounds."""
    dtype = dtype_of(edge)
    shape = (*shape_of(edge)[:axis], width, *shape_of(edge)[axis + 1 :])
    if width == 0:
        return _wide(edge, axis, 0)
    working = result_type(end, edge, 0.0, name="pad")
    start = cast(end, working)
    delta, index = call(np.subtract, cast(edge, working), start), cast(positions(shape, axis), working)
    step = call(np.divide, delta, width)
    vanishes = axis_reductions.any(call(np.equal, step, 0))
    fine = call(np.multiply, call(np.divide, index, width), delta)
    values = call(np.add, where(vanishes, fine, call(np.multiply, index, step)), start)
    return cast(call(np.floor, values) if dtype_class(dtype) == "I" else values, dtype)


def _statistic(name: str) -> Callable[[Operand, Border], Any]:
    def padded(value: Operand, border: Border) -> Any:
        axis, size = border.axis, shape_of(value)[border.axis]
        lengths = [size if length is None else min(length, size) for length in border.extra]
        if 0 in lengths and name in ("maximum", "minimum"):
            raise ArgumentError("numpy.pad: stat_length of 0 yields no value for padding")
        chunks = _part(value, axis, 0, lengths[0]), _part(value, axis, size - lengths[1], size)
        first, last = (_summary(name, chunk, axis) for chunk in chunks)
        return _around(_wide(first, axis, border.before), value, _wide(last, axis, border.after), axis)

    return padded


def _summary(name: str, chunk: Operand, axis: int) -> Any:
    dtype = dtype_of(chunk)
    found = _STATISTICS[name](chunk, axis=axis, keepdims=True)
    return cast(rounded(found) if dtype_class(dtype) == "I" else found, dtype)


def _reflections(*, includes_edge: bool) -> Callable[[Operand, Border], Any]:
    def padded(value: Operand, border: Border) -> Any:
        axis, period = border.axis, shape_of(value)[border.axis]
        if period == 1:
            return _around(_wide(value, axis, border.before), value, _wide(value, axis, border.after), axis)
        before, after = border.before, border.after
        while before or after:
            value, before, after = _reflected(value, axis, (before, after), period, includes_edge)
        return value

    return padded


def _reflected(
    value: Operand, axis: int, widths: tuple[int, int], period: int, includes_edge: bool
) -> tuple[Any, int, int]:
    """One more reflection of all that there is, as far as the border goes; what is left of the border."""
    size, skip = shape_of(value)[axis], 0 if includes_edge else 1
    span = period - skip
    length = (size - skip) // span * span
    before, after = (min(length, width) for width in widths)
    first = _part(value, axis, skip, skip + before, -1)
    last = _part(value, axis, size - skip - after, size - skip, -1)
    first, last = (_turned(edge, part) for edge, part in zip(_edges(value, axis), (first, last), strict=True))
    return _around(first, value, last, axis), widths[0] - before, widths[1] - after


def _turned(edge: Operand, part: Operand) -> Any:
    """Reflected at the edge in value, too."""
    return cast(call(np.subtract, call(np.multiply, 2, edge), part), dtype_of(part))


_COMPUTED: dict[str, Callable[[Operand, Border], Any]] = {
    "linear_ramp": _ramps,
    "maximum": _statistic("maximum"),
    "minimum": _statistic("minimum"),
    "mean": _statistic("mean"),
    "median": _statistic("median"),
    "reflect": _reflections(includes_edge=False),
    "symmetric": _reflections(includes_edge=True),
}
"""Modes whose borders are not elements of the array as they stand; reflections are odd here."""

FUNCTIONS: dict[Any, Any] = {np.pad: pad}
