"""Python's integers that might leave 64 bits: the run looks, and Python does the call if one does.

    a + b      r = a + b at 64 bits        demands that not both signs differ from that of r
    a * b      r = a * b                   demands that r is near to the product of floats
    3 * b      r = 3 * b                   demands that b lies between the least and the largest third

What does not fit differs from what 64 bits make of it by 2**64 or more, and a product of floats from the true one by
much less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.tracers.demands import can_demand, demand
from xjit.capture.tracers.numpy_call import call_method, call_ufunc
from xjit.ir.current import current
from xjit.types import FLOAT64

_HALF = 2.0**63
_LEAST = np.int64(-(2**63))
_ZERO = np.int64(0)


def checked(ufunc: Any, operands: tuple[Any, ...], result: Any) -> bool:
    """Demand that integers of 64 bits hold a result of Python's; return whether that can be done here."""
    if ufunc not in _HOLDS or not can_demand(current()):
        return False
    demand(_HOLDS[ufunc](*operands, result), goes_on=True)
    return True


def fitting(ufunc: Any, operands: tuple[Any, ...], result: Any) -> Any:
    """The truth value that 64 bits hold a result of Python's; None where they do in any case."""
    return _HOLDS[ufunc](*operands, result) if ufunc in _HOLDS else None


def within(value: Any, most: int) -> bool:
    """Demand that an integer is this far from zero at most; return whether that can be done here."""
    if not can_demand(current()):
        return False
    demand(_between(value, -most, most), goes_on=True)
    return True


def _between(value: Any, least: int, most: int) -> Any:
    low, high = (_call(one, value, np.int64(end)) for one, end in ((np.greater_equal, least), (np.less_equal, most)))
    return _call(np.logical_and, low, high)


def products_of(factor: int) -> tuple[int, int]:
    """The least and the largest integer whose product with another one fits, as far as 64 bits hold them.

    >>> products_of(3), products_of(-1)
    ((-3074457345618258602, 3074457345618258602), (-9223372036854775807, 9223372036854775807))
    """
    ends = (int(_LEAST), ~int(_LEAST)) if factor > 0 else (~int(_LEAST), int(_LEAST))
    least, most = -(-ends[0] // factor), ends[1] // factor
    return max(least, int(_LEAST)), min(most, ~int(_LEAST))


def bounds_that_fit(ufunc: Any, operands: tuple[Any, ...]) -> tuple[int, int] | None:
    """Between which numbers a result lies that was checked to fit; None where all that fit are possible."""
    factors = [int(one) for one in operands if isinstance(one, np.integer)]
    if ufunc is not np.multiply or len(factors) != 1 or not factors[0]:
        return None
    ends = sorted(end * factors[0] for end in products_of(factors[0]))
    return ends[0], ends[1]


def _call(ufunc: Any, *operands: Any) -> Any:
    return call_ufunc(ufunc, "__call__", operands, {})


def _of_sum(a: Any, b: Any, result: Any) -> Any:
    both = _call(np.bitwise_and, _call(np.bitwise_xor, a, result), _call(np.bitwise_xor, b, result))
    return _call(np.greater_equal, both, _ZERO)


def _of_difference(a: Any, b: Any, result: Any) -> Any:
    both = _call(np.bitwise_and, _call(np.bitwise_xor, a, b), _call(np.bitwise_xor, a, result))
    return _call(np.greater_equal, both, _ZERO)


def _of_product(a: Any, b: Any, result: Any) -> Any:
    for factor, value in ((a, b), (b, a)):
        if isinstance(factor, np.integer) and factor != 0:
            return _between(value, *products_of(int(factor)))
    return _near(_call(np.multiply, _float(a), _float(b)), result)


def _of_power(a: Any, exponent: Any, result: Any) -> Any:
    return _near(_call(np.power, _float(a), _float(exponent)), result)


def _of_shift(a: Any, by: Any, result: Any) -> Any:
    power = np.float64(2.0) ** int(by) if isinstance(by, np.generic) else _call(np.exp2, _float(by))
    return _near(_call(np.multiply, _float(a), power), result)


def _of_sign(a: Any, result: Any) -> Any:
    return _call(np.not_equal, a, _LEAST)


def _of_quotient(a: Any, b: Any, result: Any) -> Any:
    return _call(np.logical_or, _call(np.not_equal, a, _LEAST), _call(np.not_equal, b, np.int64(-1)))


def _near(expected: Any, result: Any) -> Any:
    apart = _call(np.absolute, _call(np.subtract, expected, _float(result)))
    return _call(np.less, apart, np.float64(_HALF))


def _float(value: Any) -> Any:
    return np.float64(value) if isinstance(value, np.generic) else call_method("astype", value, (FLOAT64,), {})


_HOLDS: dict[Any, Callable[..., Any]] = {
    np.add: _of_sum,
    np.subtract: _of_difference,
    np.multiply: _of_product,
    np.power: _of_power,
    np.floor_divide: _of_quotient,
    np.left_shift: _of_shift,
    np.negative: _of_sign,
    np.absolute: _of_sign,
}
