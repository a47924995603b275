"""Python's floats that only the run will tell: what Python's operators raise, and where powers are no floats.

    1.0 / v        it is expected that v is not zero
    v ** 0.5       it is demanded that v is not negative, as Python's power is complex then

NumPy does the call where this does not hold. Behind effects that happen once the operator is a step in Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.capture.python_numbers.scalar_powers import base_of_power
from xjit.capture.splits.attempts import attempted
from xjit.capture.tracers.demands import demand, expect
from xjit.capture.tracers.numpy_call import call_ufunc
from xjit.capture.tracers.operators import PYTHON
from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import TracedValue

_DIVISIONS = frozenset({np.true_divide, np.floor_divide, np.remainder, np.divmod})

OPERATORS = _DIVISIONS | {np.power}
"""Operators that raise errors, or of which the results may be no floats."""


def binary(ufunc: Any, left: Any, right: Any) -> Any:
    """Apply Python's operator to two numbers, at least one of which is a float that is not known."""
    known = not isinstance(right, TracedValue)
    if ufunc in _DIVISIONS and known:
        return PYTHON[ufunc](1.0, right) if right == 0 else _call(ufunc, left, right)  # the first one raises
    return attempted(lambda: _checked(ufunc, left, right), PYTHON[ufunc], (left, right), {})


def _checked(ufunc: Any, left: Any, right: Any) -> Any:
    if ufunc in _DIVISIONS:
        expect_or_refuse(_call(np.not_equal, right, 0))
        return _call(ufunc, left, right)
    _demand_real(left, right)
    result = _call(ufunc, base_of_power(left, right), right)
    expect_or_refuse(_call(np.logical_not, is_error((left, right), result)))
    return result


def expect_or_refuse(holds: Any) -> None:
    """Expect that a truth value of the graph holds; CaptureError where that cannot be done."""
    if not expect(holds):
        refuse("an error of Python's may be raised, as only the run tells, behind effects that happen once")


def is_error(operands: tuple[Any, ...], result: Any) -> Any:
    """Return whether Python raises: a result is NaN for numbers, or infinite for finite ones."""
    finite, missing = _combined(np.logical_and, np.isfinite, operands), _combined(np.logical_or, np.isnan, operands)
    no_number = _call(np.logical_and, _call(np.isnan, result), _call(np.logical_not, missing))
    return _call(np.logical_or, no_number, _call(np.logical_and, _call(np.isinf, result), finite))


def _demand_real(base: Any, exponent: Any) -> None:
    """Demand that a power is no complex number: of a base that is not negative, or with a whole exponent."""
    known = not isinstance(exponent, TracedValue)
    if (known and exponent == int(exponent)) or (not isinstance(base, TracedValue) and base >= 0):
        return
    holds = _call(np.logical_not, _call(np.less, base, 0))
    if not known:
        holds = _call(np.logical_or, holds, _call(np.equal, exponent, _call(np.floor, exponent)))
    demand(holds)


def _call(ufunc: Any, *operands: Any) -> Any:
    return call_ufunc(ufunc, "__call__", operands, {})


def _combined(ufunc: Any, test: Any, operands: tuple[Any, ...]) -> Any:
    """The tests of all operands as one."""
    first, *others = [_call(test, one) for one in operands]
    for other in others:
        first = _call(ufunc, first, other)
    return first
