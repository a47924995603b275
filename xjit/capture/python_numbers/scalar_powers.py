"""Powers of two numbers, which the operator computes as C's pow does, and ``np.power`` in one place as a root.

np.float64(-0.0) ** 0.5        0.0, and np.power(-0.0, 0.5) is -0.0
np.float64(-np.inf) ** 0.5     inf, and np.power(-np.inf, 0.5) is nan
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.capture.tracers.doubts import doubt_of
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.numpy.rules.values import is_scalar
from xjit.ops.define.core import constant
from xjit.ops.elements.compare import eq
from xjit.ops.elements.elementwise import abs as absolute
from xjit.ops.elements.elementwise import add
from xjit.ops.elements.select import select


def base_of_power(base: Any, exponent: Any) -> Any:
    """The number of which ``np.power`` makes what the operator makes of a base.

    x ** 0.5      np.power(abs(x) if isinf(x) else x + 0.0, 0.5)
    x ** y        the same where y == 0.5
    """
    trace = current()
    if trace is None or not isinstance(base, TracedValue) or base.dtype.kind != "f" or base.ndim:
        return base
    if not is_scalar(base) or not is_scalar(exponent) or getattr(exponent, "dtype", base.dtype).kind not in "fiub":
        return base
    known = not isinstance(exponent, TracedValue)
    if known and exponent != 0.5:
        return base
    infinite = eq(absolute(base), _like(np.inf, base))
    found = select(infinite, absolute(base), add(base, _like(0.0, base)))
    if not known:
        if exponent.dtype.kind != "f":
            return base
        found = select(eq(exponent, _like(0.5, exponent)), found, base)
    number: Any = trace.wrap(trace.adopt(found.node), trace)
    number.weak, number.scalar = base.weak, base.scalar
    doubt = doubt_of(base)
    if doubt is not None:
        number.doubt = doubt
    return number


def _like(value: float, number: TracedValue) -> Any:
    """A constant of the type of a number."""
    return constant(np.asarray(value, number.dtype))
