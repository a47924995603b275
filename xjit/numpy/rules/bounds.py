"""Numbers that an element type has to hold, where only the run knows them.

    x + n, x[i] = n      x int8, n a Python integer: require n: -128 <= n and n <= 127

Bounds that the graph tells make the question needless, or a part of it. In turns of a loop the same is expected,
which leaves them independent of each other; NumPy does the call where it does not hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.spans import span_of, type_span
from xjit.ops.elements.compare import ge, le
from xjit.ops.elements.elementwise import and_
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import DType


def in_bounds(value: TracedValue, dtype: DType) -> Any:
    """A Python integer, which has to be one that an element type holds; else OverflowError, when the program runs."""
    holds = holds_in(value, dtype)
    return value if holds is None else required(value, holds, "integer", f"Python integer out of bounds for {dtype}")


def holds_in(number: TracedValue, dtype: DType) -> Any:
    """The condition that an element type of integers holds an integer; None where it is known to hold."""
    least, most = type_span(dtype)
    low, high = span_of(number.node, current())
    above = None if least <= low else ge(number, np.asarray(least, number.dtype))
    below = None if high <= most else le(number, np.asarray(most, number.dtype))
    return and_(above, below) if above is not None and below is not None else below if above is None else above


def required(number: Any, holds: Any, error: str, message: str) -> Any:
    """The number, if a condition holds when it is computed; else the error of this word is raised."""
    trace = current()
    if trace is not None and trace.expects(holds):
        return number
    return require(number, holds, error, message)
