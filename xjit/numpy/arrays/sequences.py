"""Arrays made of positions: arange and eye, with NumPy's own order of rounding."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from xjit import ops
from xjit.ir.context import CONSTANT, TracedValue
from xjit.numpy.rules.compositions import full_like
from xjit.numpy.rules.data_dependent import depends
from xjit.numpy.rules.promotion import cast, requested, supported
from xjit.numpy.rules.values import Shape, constant, numpy_errors, order_letter, with_order
from xjit.ops.define.core import Array
from xjit.ops.define.core import Shape as OpsShape
from xjit.types import BOOL, FLOAT32, FLOAT64, INT64, NARROW_FLOATS, DType, dtype_class


def positions(shape: Shape, axis: int, dtype: DType = INT64) -> Any:
    """The position of each element along one axis."""
    return ops.iota(OpsShape(shape, dtype), axis)


def known(value: Any, name: str) -> Any:
    """The number behind an argument that decides a shape; DataDependentError if it is not known while tracing."""
    if not isinstance(value, TracedValue):
        return value
    if value.node.op is CONSTANT and not value.shape:
        return value.node.param("value").item()
    number: Any = value  # a traced Python number knows itself, and makes its value a guard
    try:
        return int(number) if _counts(value) else float(number)
    except TypeError:
        depends(f"numpy.{name}", "the shape of the result", "give numbers that are known while tracing")


def _counts(value: TracedValue) -> bool:
    """Return whether a number is a whole one to NumPy's sequences, which take numbers of uint64 for floats."""
    return value.weak is int or np.result_type(value.node.aval.dtype, INT64) == INT64


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
        made = (np.arange(2, dtype=wide) * delta + start).astype(dtype)
    exact = made.tobytes() == first.tobytes() + second.tobytes()  # signs of zeros included
    values = ops.add(ops.mul(index, full_like(index, delta)), full_like(index, start))
    result = cast(values, dtype)
    if exact:
        return result
    where = positions((size,), 0)
    for place, value in enumerate((first, second)):
        result = ops.select(ops.eq(where, full_like(where, place)), full_like(result, value), result)
    return result


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
