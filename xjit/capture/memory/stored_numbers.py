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
from xjit.ir.context import TracedValue
from xjit.numpy.rules.bounds import holds_in, required
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import as_value
from xjit.types import FLOAT64, DType, dtype_class


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
        holds = holds_in(value, dtype)
        return value if holds is None else required(value, holds, "number", _text(dtype))
    if dtype_class(value.dtype) != "F":
        return value
    number = as_value(value, "setitem", "value")
    wide = number if number.dtype == FLOAT64 else cast(number, FLOAT64)
    holds = _has_whole_part_between(wide, int(limits.min), int(limits.max))
    return required(number, holds, "number", _text(dtype))


def _has_whole_part_between(wide: Any, low: int, high: int) -> Any:
    """Return whether the whole part of a number lies between two integers, which NaN's does not."""
    above = ops.ge(wide, _constant(low, FLOAT64)) if low < -(2**53) else ops.gt(wide, _constant(low - 1, FLOAT64))
    return ops.logical_and(above, ops.lt(wide, _constant(high + 1, FLOAT64)))


def _text(dtype: DType) -> str:
    return f"a number is NaN, or out of bounds for {dtype}"


def _constant(number: int, dtype: DType) -> Any:
    return np.asarray(number, dtype)
