"""np.interp, and functions that NumPy composes of ufuncs: fix, sinc."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, CaptureError, DTypeError
from xjit.numpy.arrays.shaping import as_array
from xjit.numpy.rules import compositions as c
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import as_scalar, as_value, numpy_errors, refuse, shape_of, with_order
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.selecting.searching import searchsorted
from xjit.numpy.selecting.selection import where
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import COMPLEX128, FLOAT64, DType, c_order, dtype_class

MOST_POINTS = 32
"""The line between more points is not found by comparing with each, but by a search."""


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Values between points, on the straight lines that join them; beyond the ends the last ones, or those given.

    Element types: numbers; coordinates count as float64, values as float64 or complex128. The points have to
    increase. Raises ArgumentError for no points, other ranks than 1 and lengths that differ, CaptureError for a
    period with traced points, which would have to be sorted.

    >>> interp(np.array([0.5, 3.0]), [0, 1], [10, 20])
    array([15., 20.])
    """
    points, values = as_value(xp, "interp", "xp"), as_value(fp, "interp", "fp")
    at = as_array(as_value(x, "interp"))
    for name, one in (("x", at), ("xp", points)):
        if dtype_class(dtype_of(one)) == "C":
            raise DTypeError(f"numpy.interp: {name}: real numbers are required; got {dtype_of(one)}")
    at = cast(at, FLOAT64)
    _check_points(points, values)
    if shape_of(points) == (0,):
        return _without_points(at, values)
    if period is not None:
        at, points, values, left, right = *_periodic(at, points, values, period), None, None
    points = _in(points, FLOAT64)
    if dtype_class(dtype_of(values)) != "C":
        return as_scalar(_between(at, points, _in(values, FLOAT64), left, right, at))
    values = _in(values, COMPLEX128)
    known = isinstance(values, np.ndarray)
    parts = (values.real, values.imag) if known else (ops.real(values), ops.imag(values))
    found = []
    for part, of, unknown in zip(parts, (ops.real, ops.imag), (at, 0.0), strict=True):
        low, high = (None if end is None else of(cast(as_value(end, "interp"), COMPLEX128)) for end in (left, right))
        found.append(_between(at, points, part, low, high, unknown))
    return as_scalar(ops.complex(*found))


def _in(value: Operand, dtype: DType) -> Any:
    """In another element type; what is known while tracing stays so."""
    return value.astype(dtype) if isinstance(value, np.ndarray) else cast(value, dtype)


def _check_points(points: Operand, values: Operand) -> None:
    shapes = shape_of(points), shape_of(values)
    if any(len(shape) != 1 for shape in shapes):
        raise ArgumentError(f"numpy.interp: object too deep for desired array: rank 1 is required; got {shapes}")
    if shapes[0] != (0,) and shapes[0] != shapes[1]:
        raise ArgumentError(f"numpy.interp: fp and xp are not of the same length; got {shapes}")


def _without_points(at: Any, values: Operand) -> Any:
    """Answer as the installed NumPy does to no points at all: an error, since 2.5 only if a value is asked for."""
    with numpy_errors("interp", ArgumentError):
        empty = np.interp(np.zeros(shape_of(at)), [], np.zeros(shape_of(values)))
    dtype = COMPLEX128 if dtype_class(dtype_of(values)) == "C" else FLOAT64
    return broadcast_to_shape(np.zeros((), dtype), np.shape(empty))


def _periodic(at: Any, points: Any, values: Any, period: Any) -> tuple[Any, Any, Any]:
    """The points of one period in order, with one neighbour on either side."""
    if not isinstance(points, np.ndarray) or not isinstance(values, np.ndarray):
        raise CaptureError("numpy.interp: period= with traced points is not supported", fix="sort them outside")
    if period == 0:
        raise ArgumentError("numpy.interp: period must be a non-zero value")
    period = abs(period)
    inside = np.asarray(points, np.float64) % period
    order = np.argsort(inside)
    inside, values = inside[order], values[order]
    inside = np.concatenate((inside[-1:] - period, inside, inside[:1] + period))
    return call(np.remainder, at, period), inside, np.concatenate((values[-1:], values, values[:1]))


def _between(at: Any, points: Any, values: Any, left: Any, right: Any, unknown: Any) -> Any:
    """One line for each place: the last one that begins at or before it. ``unknown`` is for places that are NaN."""
    first, last = getitem(values, 0), getitem(values, -1)
    low, high = getitem(points, 0), getitem(points, -1)
    result = _on_line(at, points, values) if shape_of(points)[0] > 1 else broadcast_to_shape(first, shape_of(at))
    result = where(call(np.equal, at, high), last, result)
    result = where(call(np.less, at, low), first if left is None else _end(left), result)
    result = where(call(np.greater, at, high), last if right is None else _end(right), result)
    if shape_of(points)[0] > 1:
        result = where(c.isnan(at), unknown, result)
    return with_order(result, c_order(len(shape_of(at))))


def _end(value: Any) -> Any:
    found = cast(as_value(value, "interp"), FLOAT64)
    if shape_of(found):
        raise CaptureError("numpy.interp: left= and right= of rank 0 are required")
    return found


def _on_line(at: Any, points: Any, values: Any) -> Any:
    with np.errstate(all="ignore"):
        rise, run = _steps(values), _steps(points)
        known = isinstance(rise, np.ndarray) and isinstance(run, np.ndarray)
        slopes = rise / run if known else call(np.divide, rise, run)
    choose = _compared if shape_of(points)[0] <= MOST_POINTS else _searched
    start, base, slope, end, top = choose(at, points, values, slopes)
    near = call(np.add, call(np.multiply, slope, call(np.subtract, at, start)), base)
    far = call(np.add, call(np.multiply, slope, call(np.subtract, at, end)), top)
    far = where(call(np.logical_and, c.isnan(far), call(np.equal, base, top)), base, far)
    found = where(c.isnan(near), far, near)  # with infinite values the other end of the line may tell
    return where(call(np.equal, at, start), base, found)


def _steps(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values[1:] - values[:-1]
    return call(np.subtract, getitem(values, slice(1, None)), getitem(values, slice(None, -1)))


def _compared(at: Any, points: Any, values: Any, slopes: Any) -> list[Any]:
    """The line of each place, found by comparing with all points."""
    lines = [_line(place, points, values, slopes) for place in range(shape_of(points)[0] - 1)]
    chosen = [broadcast_to_shape(part, shape_of(at)) for part in lines[0]]
    for line in lines[1:]:
        here = ops.ge(at, broadcast_to_shape(line[0], shape_of(at)))
        chosen = [where(here, new, old) for new, old in zip(line, chosen, strict=True)]
    return chosen


def _searched(at: Any, points: Any, values: Any, slopes: Any) -> list[Any]:
    """The line of each place, found by a search and looked up."""
    last = shape_of(points)[0] - 2
    number = call(np.subtract, searchsorted(points, at, "right"), 1)
    first = as_array(call(np.minimum, call(np.maximum, number, 0), last))
    second = ops.add(first, c.full_like(first, 1))
    starts = [ops.look_up(one, (first,), (0,), 0) for one in (points, values, slopes)]
    return starts + [ops.look_up(one, (second,), (0,), 0) for one in (points, values)]


def _line(place: int, points: Any, values: Any, slopes: Any) -> list[Any]:
    """Return the start of a line, its value there, its slope, its end, and its value there."""
    starts = [getitem(one, place) for one in (points, values, slopes)]
    return starts + [getitem(one, place + 1) for one in (points, values)]


def fix(x: Any, out: Any = None) -> Any:
    """Rounded toward zero; integers stay as they are.

    >>> fix(np.array([-1.5, 1.5]))
    array([-1.,  1.])
    """
    refuse("fix", out=out)
    return call(np.trunc, x)


def sinc(x: Any) -> Any:
    """``sin(pi x) / (pi x)``, and one at zero. Element types: integers count as float64, complex numbers too.

    >>> sinc(np.array([0.0]))
    array([1.])
    """
    angle = call(np.multiply, np.pi, as_value(x, "sinc"))
    tiny = np.finfo(dtype_of(angle)).eps if dtype_class(dtype_of(angle)) == "F" else 1.0e-20
    divisor = where(angle, angle, tiny)
    return call(np.divide, call(np.sin, divisor), divisor)
