"""Numbers between two bounds: linspace, logspace, geomspace, with NumPy's own order of rounding."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from xjit import ops
from xjit.numpy.arrays.creation import filled
from xjit.numpy.arrays.sequences import known, positions
from xjit.numpy.arrays.shaping import expand_dims, moveaxis
from xjit.numpy.reducing import axis_reductions
from xjit.numpy.rules.broadcasting import broadcast_to_shape, common_shape
from xjit.numpy.rules.promotion import cast, requested, spec_of, supported, weak_type
from xjit.numpy.rules.values import as_value, operand, shape_of, with_order
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, aval_of, dtype_of
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import DType, dtype_class


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
    *,
    device: Any = None,
) -> Any:
    """``num`` evenly spaced numbers from start to stop, along a new axis in front, or at ``axis``.

    Bounds of any shapes that broadcast; integers count as float64. ``num`` is known while tracing. With ``retstep``
    also the distance. Raises ValueError for a negative count, ShapeError, AxisError.

    >>> linspace(np.array([0, 1]), 2, 3, axis=1)
    array([[0. , 1. , 2. ],
           [1. , 1.5, 2. ]])
    """
    count = _count(num, "linspace")
    working = _inexact("linspace", start, stop)
    low, high = (cast(as_value(bound, "linspace"), working) for bound in (start, stop))
    values, step = _line(low, high, count, bool(endpoint))
    placed = _along(values, axis)
    target = requested(dtype, "linspace") or working
    if dtype_class(target) == "I":
        placed = call(np.floor, placed)
    result = cast(placed, target)
    return (result, step) if retstep else result


def _count(num: Any, name: str) -> int:
    count = operator.index(known(num, name))
    if count < 0:
        raise ValueError(f"numpy.{name}: Number of samples, {count}, must be non-negative.")
    return count


def _inexact(name: str, *bounds: Any) -> DType:
    """The element type to compute in: that of the bounds, or float64 for integers; Python numbers are weak."""
    kinds: dict[Any, complex] = {int: 0.0, float: 0.0, complex: 0j}
    parts = [kinds.get(weak_type(bound), spec_of(operand(bound, name))) for bound in bounds]
    return supported(np.result_type(*parts, 0.0), name)


def _along(values: Any, axis: Any) -> Any:
    """The numbers along another axis than the first one."""
    return values if axis == 0 else moveaxis(values, 0, axis)


def _line(low: Operand, high: Operand, count: int, endpoint: bool) -> tuple[Any, Any]:
    """The numbers and their distance: multiples of the step, the last one replaced by the upper bound."""
    divisor = count - 1 if endpoint else count
    delta = call(np.subtract, high, low)
    shape = (count, *shape_of(delta))
    index = positions((count, *(1,) * (len(shape) - 1)), 0, dtype_of(delta))
    if divisor > 0:
        step = call(np.divide, delta, divisor)
        # Should any step underflow to zero, all are divided first and multiplied then.
        vanishes = axis_reductions.any(call(np.equal, step, 0))
        fine = call(np.multiply, call(np.divide, index, divisor), delta)
        usual = call(np.multiply, index, step)
        values = with_order(ops.select(broadcast_to_shape(vanishes, shape), fine, usual), aval_of(usual).order)
    else:
        step, values = np.float64(np.nan), call(np.multiply, index, delta)
    values = call(np.add, values, low)
    return (_with_row(values, count - 1, high) if endpoint and count > 1 else values), step


def _with_row(values: Any, place: int, row: Operand) -> Any:
    """The array with another row at one place along the first axis."""
    shape = shape_of(values)
    here = ops.eq(positions(shape, 0), filled(shape, np.asarray(place)))
    return with_order(
        ops.select(here, broadcast_to_shape(cast(row, dtype_of(values)), shape), values), aval_of(values).order
    )


def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """The powers of ``base`` with the exponents of ``linspace``. A base that is an array broadcasts with the bounds.

    Raises as ``linspace``.

    >>> logspace(0, np.array([1.0, 2.0]), 2)
    array([[  1.,   1.],
           [ 10., 100.]])
    """
    number = operand(base, "logspace", "base")
    if shape_of(as_value(number, "logspace", "base")):
        bounds = [as_value(bound, "logspace") for bound in (start, stop, number)]
        rank = len(common_shape("logspace", [shape_of(bound) for bound in bounds]))
        start, stop, number = (_of_rank(bound, rank) for bound in bounds)
        number = expand_dims(number, axis)
    powers = call(np.power, number, linspace(start, stop, _count(num, "logspace"), endpoint, axis=axis))
    found = requested(dtype, "logspace")
    return powers if found is None else cast(powers, found)


def _of_rank(value: Operand, rank: int) -> Any:
    shape = shape_of(value)
    return ops.reshape(value, (1,) * (rank - len(shape)) + shape)


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0) -> Any:
    """``num`` numbers from start to stop, each a constant multiple of the one before; arguments as of ``linspace``.

    Raises as ``linspace``, and ArgumentError when the program runs for bounds that are zero.

    >>> geomspace(1, np.array([4.0]), 3)
    array([[1.],
           [2.],
           [4.]])
    """
    low, high = (as_value(bound, "geomspace") for bound in (start, stop))
    count, found = _count(num, "geomspace"), requested(dtype, "geomspace")
    working = supported(np.result_type(dtype_of(low), dtype_of(high), float(count), found or np.float64), "geomspace")
    low, high = (_not_zero(cast(bound, working)) for bound in (low, high))
    sign = call(np.sign, low)
    first, last = call(np.divide, low, sign), call(np.divide, high, sign)
    values = logspace(call(np.log10, first), call(np.log10, last), count, endpoint, dtype=working)
    if count > 0:
        values = _with_row(values, 0, first)
    if count > 1 and endpoint:
        values = _with_row(values, count - 1, last)
    result: Any = cast(_along(call(np.multiply, values, sign), axis), found or working)
    return result


def _not_zero(bound: Operand) -> Any:
    message = "numpy.geomspace: Geometric sequence cannot include zero"
    return require(bound, call(np.not_equal, bound, 0), "value", message)
