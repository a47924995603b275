"""Differences along an axis, with NumPy's own order of operations: diff, ediff1d, gradient, trapezoid."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from xjit.errors import ArgumentError, DTypeError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.joining import join
from xjit.numpy.arrays.shaping import as_array, broadcast_to, ravel, reshape
from xjit.numpy.reducing import axis_reductions
from xjit.numpy.reducing.scans import cumsum
from xjit.numpy.rules.promotion import cast, is_inexact, result_type, spec_of
from xjit.numpy.rules.static import rank_of, static_integer
from xjit.numpy.rules.values import (
    as_value,
    converted,
    copied,
    given,
    numpy_errors,
    operand,
    order_letter,
    shape_of,
    with_order,
)
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.selecting.selection import where
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import BOOL, FLOAT64, DType, dtype_class

_PYTHON = (int, float, complex)


def diff(a: Any, n: Any = 1, axis: int = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    """The ``n``-th differences of neighbours along an axis; of truth values, whether they differ.

    Any element type, which is that of the result. ``prepend`` and ``append`` are put before and after the elements
    first. Raises ArgumentError for a negative ``n`` and rank 0, AxisError.

    >>> diff(np.array([1, 4, 9]))
    array([3, 5])
    """
    if n == 0:
        return a
    if n < 0:
        raise ArgumentError(f"numpy.diff: order must be non-negative but got {n!r}")
    value = as_value(a, "diff")
    if not shape_of(value):
        raise ArgumentError("numpy.diff: diff requires input that is at least one dimensional")
    with numpy_errors("diff"):
        place = normalize_axis_index(axis, len(shape_of(value)))
    parts = [*_rows(prepend, value, place), value, *_rows(append, value, place)]
    if len(parts) > 1:
        value = join("diff", parts, place)
    for _ in range(static_integer(n, "diff", "n")):
        ufunc = np.not_equal if dtype_of(value) == BOOL else np.subtract
        value = call(ufunc, _part(value, place, 1, None), _part(value, place, None, -1))
    return value


def _rows(border: Any, value: Operand, axis: int) -> list[Any]:
    if not given(border):
        return []
    found = as_array(as_value(border, "diff"))
    shape = shape_of(value)
    return [found if shape_of(found) else broadcast_to(found, (*shape[:axis], 1, *shape[axis + 1 :]))]


def _part(value: Operand, axis: int, low: int | None, high: int | None) -> Any:
    return getitem(value, (*(slice(None),) * axis, slice(low, high), Ellipsis))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours, flattened, with other numbers before and after them.

    Element types: numbers; that of the array is that of the result. Raises DTypeError for numbers of another kind.

    >>> ediff1d(np.array([1, 4, 9]), to_begin=0)
    array([0, 3, 5])
    """
    line = ravel(as_value(ary, "ediff1d"))
    middle = call(np.subtract, getitem(line, slice(1, None)), getitem(line, slice(None, -1)))
    before, after = _ends(to_begin, line, "to_begin"), _ends(to_end, line, "to_end")
    return join("ediff1d", [*before, middle, *after], 0) if before or after else middle


def _ends(numbers: Any, line: Operand, argument: str) -> list[Any]:
    if numbers is None:
        return []
    value, dtype = as_value(numbers, "ediff1d", argument), dtype_of(line)
    if not np.can_cast(dtype_of(value), dtype, "same_kind"):
        raise DTypeError(
            f"numpy.ediff1d: dtype of `{argument}` must be compatible with input `ary` under the `same_kind` rule.; "
            f"got {dtype_of(value)} and {dtype}"
        )
    return [cast(ravel(value), dtype)]


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Slopes by central differences inside and one-sided ones at the ends, along each of the given axes.

    ``varargs`` are distances: none, one number, or for each axis a number or the coordinates. Element types: floats
    and complex numbers stay, integers become float64. Raises DTypeError for truth values and a wrong count of
    distances, AxisError, ArgumentError for too few elements, wrong coordinates and an ``edge_order`` above 2.

    >>> gradient(np.array([1.0, 4.0, 9.0]))
    array([3., 4., 5.])
    """
    value = as_array(as_value(f, "gradient"))
    rank = len(shape_of(value))
    with numpy_errors("gradient", ArgumentError):
        axes = tuple(range(rank)) if axis is None else normalize_axis_tuple(axis, rank)
    spacings = _spacings(value, varargs, axes)
    order = static_integer(edge_order, "gradient", "edge_order")
    if order > 2:
        raise ArgumentError("numpy.gradient: 'edge_order' greater than 2 not supported")
    dtype = dtype_of(value) if is_inexact(dtype_of(value)) else FLOAT64
    wide = value if dtype_class(dtype_of(value)) == "P" else converted(value, dtype)
    found = tuple(_slopes(wide, place, spacing, order, dtype) for place, spacing in zip(axes, spacings, strict=True))
    return found[0] if len(found) == 1 else found


def _spacings(value: Operand, varargs: tuple[Any, ...], axes: tuple[int, ...]) -> list[Any]:
    """For each axis a distance of rank 0 or the vector of distances."""
    if not varargs:
        return [1.0] * len(axes)
    numbers = [operand(one, "gradient", "varargs") for one in varargs]
    if len(numbers) == 1 and not rank_of(numbers[0]):
        return numbers * len(axes)
    if len(numbers) != len(axes):
        raise DTypeError(f"numpy.gradient: invalid number of arguments; got {len(numbers)} for {len(axes)} axes")
    sizes = [shape_of(value)[axis] for axis in axes]
    return [_distances(one, size) if rank_of(one) else one for one, size in zip(numbers, sizes, strict=True)]


def _distances(coordinates: Operand, size: int) -> Any:
    if len(shape_of(coordinates)) != 1:
        raise ArgumentError("numpy.gradient: distances must be either scalars or 1d")
    if shape_of(coordinates)[0] != size:
        raise ArgumentError("numpy.gradient: when 1d, distances must match the length of the corresponding dimension")
    integer = dtype_class(dtype_of(coordinates)) == "I"
    if isinstance(coordinates, TracedValue):
        return diff(cast(coordinates, FLOAT64) if integer else coordinates)
    steps = np.diff(coordinates.astype(FLOAT64) if integer else coordinates)
    return steps[:1].reshape(()) if (steps == steps[:1]).all() else steps


def _slopes(value: Operand, axis: int, spacing: Any, order: int, dtype: DType) -> Any:
    if shape_of(value)[axis] < order + 1:
        raise ArgumentError(
            "numpy.gradient: Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
            "elements are required."
        )
    if not rank_of(spacing):
        result = _joined(_even(value, axis, spacing, order), axis, dtype)
    elif isinstance(spacing, np.ndarray):
        result = _joined(_uneven(value, axis, spacing, order), axis, dtype)
    else:
        first = getitem(spacing, 0)
        even = axis_reductions.all(call(np.equal, spacing, first))  # then NumPy computes with a single distance
        results = _even(value, axis, first, order), _uneven(value, axis, spacing, order)
        pairs = zip(*(_alike(part, dtype) for part in results), strict=True)
        result = _joined([where(even, a, b) for a, b in pairs], axis, dtype)
    return with_order(result, order_letter(value, "K", "gradient"))


def _alike(parts: list[Any], dtype: DType) -> list[Any]:
    return [cast(part, dtype) for part in parts]


def _joined(parts: list[Any], axis: int, dtype: DType) -> Any:
    return join("gradient", [part for part in _alike(parts, dtype) if shape_of(part)[axis]], axis)


def _even(value: Operand, axis: int, step: Any, order: int) -> list[Any]:
    """The slopes at the start, inside and at the end for one distance."""
    inner = call(np.subtract, _part(value, axis, 2, None), _part(value, axis, None, -2))
    middle = call(np.divide, inner, _scaled(2.0, step))
    if order == 1:
        first, last = _simple(value, axis, step, step)
    else:
        first = _weighted(value, axis, [_over(number, step) for number in (-1.5, 2.0, -0.5)], 0)
        last = _weighted(value, axis, [_over(number, step) for number in (0.5, -2.0, 1.5)], -3)
    return [first, middle, last]


def _scaled(number: float, step: Any) -> Any:
    """The product; of Python numbers it is one, so that it promotes as one."""
    return number * step if spec_of(step) in _PYTHON else call(np.multiply, number, step)


def _over(number: float, step: Any) -> Any:
    """The quotient, of Python numbers a Python number."""
    return number / step if spec_of(step) in _PYTHON else call(np.divide, number, step)


def _simple(value: Operand, axis: int, first: Any, last: Any) -> tuple[Any, Any]:
    """Plain differences at both ends over these distances."""
    start = call(np.subtract, _part(value, axis, 1, 2), _part(value, axis, 0, 1))
    end = call(np.subtract, _part(value, axis, -1, None), _part(value, axis, -2, -1))
    return call(np.divide, start, first), call(np.divide, end, last)


def _weighted(value: Operand, axis: int, weights: list[Any], start: int) -> Any:
    """Three neighbours along an axis, from ``start`` on, times three weights."""
    size = shape_of(value)[axis]
    low = start % size
    terms = [call(np.multiply, weight, _part(value, axis, low + k, low + k + 1)) for k, weight in enumerate(weights)]
    return call(np.add, call(np.add, terms[0], terms[1]), terms[2])


def _uneven(value: Operand, axis: int, steps: Operand, order: int) -> list[Any]:
    """The slopes at the start, inside and at the end for a distance between each pair of neighbours."""
    rank = len(shape_of(value))
    before, after = getitem(steps, slice(None, -1)), getitem(steps, slice(1, None))
    total = call(np.add, before, after)
    weights = (
        call(np.divide, call(np.negative, after), call(np.multiply, before, total)),
        call(np.divide, call(np.subtract, after, before), call(np.multiply, before, after)),
        call(np.divide, before, call(np.multiply, after, total)),
    )
    shape = tuple(-1 if k == axis else 1 for k in range(rank))
    parts = _part(value, axis, None, -2), _part(value, axis, 1, -1), _part(value, axis, 2, None)
    terms = [call(np.multiply, reshape(w, shape), part) for w, part in zip(weights, parts, strict=True)]
    middle = call(np.add, call(np.add, terms[0], terms[1]), terms[2])
    if order == 1:
        first, last = _simple(value, axis, getitem(steps, 0), getitem(steps, -1))
    else:
        first = _weighted(value, axis, _start_weights(getitem(steps, 0), getitem(steps, 1)), 0)
        last = _weighted(value, axis, _end_weights(getitem(steps, -2), getitem(steps, -1)), -3)
    return [first, middle, last]


def _start_weights(one: Any, two: Any) -> list[Any]:
    both, double = call(np.add, one, two), call(np.add, call(np.multiply, 2.0, one), two)
    return [
        call(np.divide, call(np.negative, double), call(np.multiply, one, both)),
        call(np.divide, both, call(np.multiply, one, two)),
        call(np.divide, call(np.negative, one), call(np.multiply, two, both)),
    ]


def _end_weights(one: Any, two: Any) -> list[Any]:
    both, double = call(np.add, one, two), call(np.add, call(np.multiply, 2.0, two), one)
    return [
        call(np.divide, two, call(np.multiply, one, both)),
        call(np.divide, call(np.negative, call(np.add, two, one)), call(np.multiply, one, two)),
        call(np.divide, double, call(np.multiply, two, both)),
    ]


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule, over coordinates or with one distance.

    Element types: numbers. Raises ShapeError for coordinates that do not fit, IndexOutOfBoundsError for an axis out
    of range.

    >>> trapezoid(np.array([1.0, 2.0, 3.0]))
    np.float64(4.0)
    """
    value = as_array(as_value(y, "trapezoid"))
    rank = len(shape_of(value))
    distances = operand(dx, "trapezoid", "dx") if x is None else _steps(x, rank, axis)
    with numpy_errors("trapezoid"):
        place = [*range(rank)][axis]
    pairs = call(np.add, _part(value, place, 1, None), _part(value, place, None, -1))
    areas = call(np.divide, call(np.multiply, distances, pairs), 2.0)
    return axis_reductions.sum(areas, axis=axis)


def _steps(x: Any, rank: int, axis: int) -> Any:
    coordinates = as_array(as_value(x, "trapezoid", "x"))
    if len(shape_of(coordinates)) != 1:
        return diff(coordinates, axis=axis)
    with numpy_errors("trapezoid"):
        place = [*range(rank)][axis]
    return reshape(diff(coordinates), tuple(-1 if k == place else 1 for k in range(rank)))


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """Jumps of more than half a period along an axis taken back by whole periods.

    Element types: numbers, promoted with the period, which is known while tracing. Raises as ``diff``.

    >>> unwrap(np.array([0, 3, 0, 3]), period=4)
    array([ 0, -1,  0, -1])
    """
    value = as_array(as_value(p, "unwrap"))
    steps = diff(value, axis=axis)
    dtype = result_type(steps, period)
    if dtype_class(dtype) == "I":
        high, rest = divmod(period, 2)
    else:
        high, rest = period / 2, 0
    inside = call(np.add, call(np.remainder, call(np.subtract, steps, -high), period), -high)
    if rest == 0:
        lowest = call(np.logical_and, call(np.equal, inside, -high), call(np.greater, steps, 0))
        inside = where(lowest, high, inside)
    corrections = call(np.subtract, inside, steps)
    small = call(np.less, call(np.absolute, steps), period / 2 if discont is None else discont)
    corrections = where(small, 0, corrections)
    place = normalize_axis_index(axis, len(shape_of(value)))
    later = call(np.add, _part(value, place, 1, None), cumsum(corrections, axis))
    parts = [cast(part, dtype) for part in (_part(value, place, 0, 1), later) if shape_of(part)[place]]
    return with_order(
        join("unwrap", parts, place) if parts else copied(cast(value, dtype)), order_letter(value, "K", "unwrap")
    )
