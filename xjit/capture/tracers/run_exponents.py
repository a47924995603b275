"""Powers and shifts of Python's integers by integers that only the run tells.

2 ** n       1 << n                     demands that 0 <= n, and n <= 62 so that 64 bits hold it
(-1) ** n    1 - 2 * (n & 1)            demands that 0 <= n
10 ** n      10 ** n                    demands that 0 <= n <= 18
a ** n       a ** n                     demands that 0 <= n <= 63; what the result demands is looked at besides
a >> n       a >> min(n, 63)            demands that 0 <= n

Python makes a float of a negative power, and raises for a negative shift: it does the call where a demand does not
hold. The program goes on to its end with numbers within the bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.numpy_call import call_ufunc
from xjit.ir.context import TracedValue

EXPONENTS = frozenset({np.power, np.left_shift, np.right_shift})
_WIDTH = 63
"""The bits of a positive integer."""


def exponent_of_run(ufunc: Any, base: Any, exponent: Any, bounds: tuple[int, int]) -> tuple[Any, tuple[int, int]]:
    """An exponent or a count of bits within what 64 bits hold, and its bounds; it is demanded that it is itself."""
    low, high = bounds
    if low < 0:
        # A negative power is a float of Python's, a shift by a negative count an error.
        demand(_call(np.greater_equal, exponent, np.int64(0)), goes_on=ufunc is np.power)
    if ufunc is np.power and not isinstance(base, TracedValue) and base == -1:
        return _call(np.bitwise_and, exponent, np.int64(1)), (0, 1)
    most = _largest(ufunc, base)
    if high > most and (ufunc is np.left_shift or not (ufunc is np.right_shift or _is_unit(base))):
        demand(_call(np.less_equal, exponent, np.int64(most)), goes_on=True)
    if low < 0:
        exponent = _call(np.maximum, exponent, np.int64(0))
    if high > most:
        exponent = _call(np.minimum, exponent, np.int64(most))
    return exponent, (min(max(low, 0), most), max(min(high, most), 0))


def _largest(ufunc: Any, base: Any) -> int:
    """The largest exponent that matters, or whose result 64 bits may hold."""
    if isinstance(base, TracedValue) or ufunc is np.right_shift:
        return _WIDTH
    if ufunc is np.left_shift:
        return _WIDTH - int(abs(base)).bit_length()
    return _WIDTH if _is_unit(base) else _largest_power(abs(base))


def _largest_power(base: int) -> int:
    """The largest exponent whose power of a base of two or more is below ``2 ** 63``.

    >>> _largest_power(2), _largest_power(10)
    (62, 18)
    """
    count = 0
    while base ** (count + 1) < 2**_WIDTH:
        count += 1
    return count


def _is_unit(base: Any) -> bool:
    return not isinstance(base, TracedValue) and abs(base) <= 1


def _call(ufunc: Any, *operands: Any) -> Any:
    return call_ufunc(ufunc, "__call__", operands, {})
