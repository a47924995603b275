"""Evenly spaced numbers: arange, linspace, eye, from positions, with NumPy's own order of rounding."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import CaptureError
from xjit.ir.context import CONSTANT, TracedValue
from xjit.numpy.broadcasting import broadcast_to_shape
from xjit.numpy.compositions import full_like
from xjit.numpy.creation import filled
from xjit.numpy.promotion import cast, requested, supported, weak_type
from xjit.numpy.reductions import any as any_of
from xjit.numpy.shaping import moveaxis
from xjit.numpy.ufuncs import call
from xjit.numpy.values import Shape, as_value, constant, fresh, numpy_errors, order_letter, shape_of, with_order
from xjit.ops._core import Array, Operand, aval_of, dtype_of
from xjit.ops._core import Shape as OpsShape
from xjit.types import BOOL, FLOAT32, FLOAT64, INT64, NARROW_FLOATS, DType, dtype_class


def positions(shape: Shape, axis: int, dtype: DType = INT64) -> Any:
    """The position of each element along one axis."""
    return ops.iota(OpsShape(shape, dtype), axis)


def known(value: Any, name: str) -> Any:
    """The number behind an argument that has to be known while tracing; CaptureError if it is not."""
    if not isinstance(value, TracedValue):
        return value
    if value.node.op is CONSTANT and not value.shape:
        return value.node.param("value").item()
    number: Any = value  # a traced Python number knows itself, and makes its value a guard
    try:
        return operator.index(number) if value.weak is int else float(number)
    except TypeError as error:
        raise CaptureError(f"numpy.{name}: the bounds must be known while tracing") from error


def arange(*bounds: Any, dtype: Any = None, device: Any = None, like: Any = None, **named: Any) -> Any:
    """Evenly spaced numbers below a limit: ``arange(stop)`` or ``arange(start, stop, step)``.

    The bounds have to be known while tracing. The elements are ``start + i * step``, rounded as NumPy rounds them.

    >>> arange(1, 2, 0.25)
    array([1.  , 1.25, 1.5 , 1.75])
    """
    start, stop, step = _bounds(bounds, named)
    with numpy_errors("arange"):
        size = _length(start, stop, step)
        wanted = requested(dtype, "arange")
        found = wanted or supported(
            np.result_type(np.arange(start, start, step), np.arange(stop, stop, step)), "arange"
        )
    if found == BOOL or size < 2:
        return constant(np.arange(start, stop, step, dtype=found))
    return progression(_element(start, found), _element(start + step, found), size)


def _bounds(bounds: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any, Any]:
    names = ("start", "stop", "step")
    given = dict(zip(names, bounds, strict=False)) | named
    if not given or not set(given) <= set(names) or len(bounds) > len(names):
        raise TypeError("arange() requires stop to be specified, and no more than start, stop and step")
    if given.get("stop") is None:
        given = {**given, "start": 0, "stop": given["start"]}
    values = [given.get("start", 0), given["stop"], given.get("step", 1)]
    start, stop, step = (known(value, "arange") for value in values)
    return start, stop, 1 if step is None else step


def _length(start: Any, stop: Any, step: Any) -> int:
    distance = stop - start
    count = distance / step
    if isinstance(count, complex):
        return max(0, min(math.ceil(count.real), math.ceil(count.imag)))
    if count == 0 and distance != 0:  # the quotient underflowed
        return 0 if math.copysign(1, count) < 0 else 1
    if not math.isfinite(count):
        raise ValueError("arange: cannot compute length" if math.isnan(count) else "Maximum allowed size exceeded")
    whole: int = math.ceil(count)
    return max(0, whole)


def _element(value: Any, dtype: DType) -> Array:
    cell = np.empty((), dtype)
    with np.errstate(all="ignore"):
        cell[()] = value  # with the rules and errors of an assignment
    return cell


def progression(first: Array, second: Array, size: int) -> Any:
    """``first + i * (second - first)`` for i below ``size``, the first two elements exactly as given."""
    dtype = first.dtype
    if dtype_class(dtype) == "C":
        parts = (progression(a, b, size) for a, b in ((first.real, second.real), (first.imag, second.imag)))
        return ops.complex(*parts)
    wide = FLOAT32 if dtype in NARROW_FLOATS else dtype
    start, index = first.astype(wide), positions((size,), 0, wide)
    with np.errstate(all="ignore"):
        delta = np.asarray(second.astype(wide) - start)
        exact = np.asarray(start + delta).astype(dtype) == second and np.isfinite(delta)
    values = ops.add(ops.mul(index, full_like(index, delta)), full_like(index, start))
    result = cast(values, dtype)
    if exact:
        return result
    where = positions((size,), 0)
    for place, value in enumerate((first, second)):
        result = ops.select(ops.eq(where, full_like(where, place)), full_like(result, value), result)
    return result


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """``num`` evenly spaced numbers from start to stop, along a new axis if the bounds are arrays.

    The bounds may be traced, and broadcast. Raises ValueError for a negative count, AxisError, ShapeError.
    """
    count = operator.index(known(num, "linspace"))
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    low, high = (as_value(bound, "linspace") for bound in (start, stop))
    working = _inexact(start, stop)
    values, step = _line(cast(low, working), cast(high, working), count, endpoint)
    if axis != 0:
        values = fresh(moveaxis(values, 0, axis))
    target = requested(dtype, "linspace") or working
    if dtype_class(target) == "I":
        values = call(np.floor, values)
    result = cast(values, target)
    return (result, step) if retstep else result


def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Powers of a base with exponents from ``linspace``; as this one, and CaptureError for an array of bases."""
    if not isinstance(base, int | float) and shape_of(as_value(base, "logspace", "base")):
        raise CaptureError("numpy.logspace: base: a number is required; got an array", fix="use base ** linspace")
    powers = call(np.power, base, linspace(start, stop, num, endpoint, axis=axis))
    target = requested(dtype, "logspace")
    return powers if target is None else cast(powers, target)


def _inexact(*bounds: Any) -> DType:
    kinds: dict[Any, complex] = {int: 0.0, float: 0.0, complex: 0j}
    samples = [kinds.get(weak_type(bound)) for bound in bounds]
    parts = [
        dtype_of(as_value(bound, "linspace")) if sample is None else sample
        for bound, sample in zip(bounds, samples, strict=True)
    ]
    return supported(np.result_type(*parts, 0.0), "linspace")


def _line(low: Operand, high: Operand, count: int, endpoint: bool) -> tuple[Any, Any]:
    """The numbers along a first axis and their distance: multiples of the step, the last one the upper bound."""
    divisor = count - 1 if endpoint else count
    delta = call(np.subtract, high, low)
    shape = (count, *shape_of(delta))
    index = positions(shape, 0, dtype_of(delta))
    if divisor > 0:
        step = call(np.divide, delta, divisor)
        # A step that underflows to zero: divide first, then multiply.
        fine = ops.mul(ops.div(index, full_like(index, divisor)), broadcast_to_shape(delta, shape))
        usual = ops.mul(index, broadcast_to_shape(step, shape))
        values = ops.select(broadcast_to_shape(any_of(call(np.equal, step, 0)), shape), fine, usual)
    else:
        step, values = np.float64(np.nan), ops.mul(index, broadcast_to_shape(delta, shape))
    values = ops.add(values, broadcast_to_shape(low, shape))
    if endpoint and count > 1:
        last = ops.eq(positions(shape, 0), filled(shape, np.asarray(count - 1)))
        values = ops.select(last, broadcast_to_shape(high, shape), values)
    return with_order(values, (0, *(axis + 1 for axis in aval_of(delta).order))), step


def eye(
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Any = float,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """Ones on a diagonal, zeros elsewhere; ``k`` counts diagonals above the main one."""
    rows = operator.index(known(N, "eye"))
    columns = rows if M is None else operator.index(known(M, "eye"))
    row, column = (positions((rows, columns), axis) for axis in (0, 1))
    shift = full_like(row, operator.index(known(k, "eye")))
    ones = cast(ops.eq(ops.add(row, shift), column), requested(dtype, "eye") or FLOAT64)
    return with_order(ones, order_letter(ones, order, "eye"))


def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """The square matrix with ones on its main diagonal."""
    return eye(n, dtype=float if dtype is None else dtype)
