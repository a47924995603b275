"""Numbers that are stored into arrays of integers, as NumPy takes them: by way of Python's integers.

    x[0] = number                  a number of NumPy's or a float of Python's, of which only the run knows
    x[0] = require number: it is no NaN, and the type of x holds it

NumPy converts arrays without a look, and numbers for unsigned integers, too. In turns of a loop the same is expected,
which leaves them independent of each other; NumPy does the call where it does not hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.capture.tracers.demands import expect
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.ir.spans import span_of
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import as_value
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import FLOAT64, DType, dtype_class

ARMS = ("then", "otherwise")
"""The names of traces of arms."""


def held(value: Any, dtype: DType) -> Any:
    """The value, which has to be one that an element type holds if it is a number for signed integers.

    Else NumberError, when the program runs if only that tells.
    """
    if dtype.kind != "i":
        return value
    if isinstance(value, np.generic):
        np.zeros((), dtype)[...] = value  # raises what NumPy raises
        return value
    if not isinstance(value, TracedValue) or not (value.weak is float or (value.scalar and value.weak is None)):
        return value
    limits = np.iinfo(dtype)
    if dtype_class(value.dtype) == "I":
        low, high = span_of(value.node, current())
        if limits.min <= low and high <= limits.max:
            return value
        number = as_value(value, "setitem", "value")
        least, most = max(low, int(limits.min)), min(high, int(limits.max))
        above, below = (_constant(one, number.dtype) for one in (least, most))
        return _require(number, ops.logical_and(ops.ge(number, above), ops.le(number, below)), dtype)
    if dtype_class(value.dtype) != "F":
        return value
    number = as_value(value, "setitem", "value")
    wide = number if number.dtype == FLOAT64 else cast(number, FLOAT64)
    return _require(number, _has_whole_part_between(wide, int(limits.min), int(limits.max)), dtype)


def _is_in_loop(trace: Trace | None) -> bool:
    """Return whether a trace is not of a function, or of an arm of a branch outside of loops."""
    while trace is not None and trace.parent is not None:
        if trace.name not in ARMS:
            return True
        trace = trace.parent
    return False


def _has_whole_part_between(wide: Any, low: int, high: int) -> Any:
    """Return whether the whole part of a number lies between two integers, which NaN's does not."""
    above = ops.ge(wide, _constant(low, FLOAT64)) if low < -(2**53) else ops.gt(wide, _constant(low - 1, FLOAT64))
    return ops.logical_and(above, ops.lt(wide, _constant(high + 1, FLOAT64)))


def _constant(number: int, dtype: DType) -> Any:
    return np.asarray(number, dtype)


def _require(number: Any, holds: Any, dtype: DType) -> Any:
    if _is_in_loop(current()) and expect(holds):
        return number
    return require(number, holds, "number", f"a number is NaN, or out of bounds for {dtype}")
