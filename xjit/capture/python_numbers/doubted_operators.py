"""Operators on numbers of which only the run tells if they are Python's, whose operators raise where NumPy's do not.

    s = 0.0                        s / n      it is expected that n is not zero, or that s is NumPy's
    for v in x[:n]: s += v         k * k      it is expected that 64 bits hold the product, or that k is NumPy's

NumPy does the call where this does not hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.capture.python_numbers.scalar_powers import base_of_power
from xjit.capture.python_numbers.traced_floats import expect_or_refuse, is_error
from xjit.capture.tracers.doubts import doubt_of
from xjit.capture.tracers.numpy_call import call_method, call_ufunc
from xjit.capture.tracers.operators import COMPARISONS
from xjit.capture.tracers.overflow import fitting
from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.types import FLOAT64, INT64

_DIVISIONS = frozenset({np.true_divide, np.floor_divide, np.remainder, np.divmod})
_LOGICAL = frozenset({np.bitwise_and, np.bitwise_or, np.bitwise_xor})
_EXACT_IN_FLOATS = np.int64(2**53)


def call_operator(ufunc: Any, operands: tuple[Any, ...], short: Any = None) -> Any:
    """The result of an operator, of a ``short`` form of it on the first operand if there is one."""
    if ufunc is np.power:
        operands = base_of_power(*operands), operands[1]
    if short is not None:
        result = call_ufunc(short, "__call__", operands[:1], {})
    else:
        result = call_ufunc(ufunc, "__call__", operands, {})
    doubt = doubt_of(result[0] if isinstance(result, tuple) else result)
    if doubt is not None and ufunc not in COMPARISONS:
        _expect_as_pythons(ufunc, operands, result, doubt[0])
    return result


def _expect_as_pythons(ufunc: Any, operands: tuple[Any, ...], result: Any, pythons: TracedValue) -> None:
    """Expect that Python's operator computes the same, where all operands are Python's."""
    kinds = {_kind(one) for one in operands}
    if kinds == {"b"} and ufunc not in (_LOGICAL | _DIVISIONS):
        refuse("only the run tells if a truth value is Python's, which is an integer there", *operands)
    conditions = _of_divisor(ufunc, operands)
    if kinds <= {"b", "i"}:
        conditions += _of_integers(ufunc, tuple(map(_as_integer, operands)), result)
    elif ufunc is np.power and "c" not in kinds:
        plain = tuple(map(_as_float, operands))
        conditions.append(_call(np.logical_not, is_error(plain, _undoubted(result))))
    for holds in conditions:
        expect_or_refuse(_call(np.logical_or, _call(np.logical_not, pythons), holds))


def _of_divisor(ufunc: Any, operands: tuple[Any, ...]) -> list[Any]:
    if ufunc not in _DIVISIONS:
        return []
    divisor = operands[1]
    if isinstance(divisor, TracedValue):
        return [_call(np.not_equal, _undoubted(divisor), 0)]
    return [] if divisor else [np.False_]


def _of_integers(ufunc: Any, operands: tuple[Any, ...], result: Any) -> list[Any]:
    """The conditions of integers that Python has, and 64 bits or floats hold."""
    if ufunc is np.true_divide:
        traced = [one for one in operands if isinstance(one, TracedValue)]
        return [_call(np.less_equal, _call(np.absolute, one), _EXACT_IN_FLOATS) for one in traced]
    if ufunc is np.left_shift and isinstance(operands[1], TracedValue):
        refuse("only the run tells if a shifted integer is Python's", *operands, fix="shift by a known number")
    found = fitting(ufunc, operands, _undoubted(result[0] if isinstance(result, tuple) else result))
    return [] if found is None else [found]


def _kind(value: Any) -> str:
    """The letter of the type of a number: integers have one, whatever their signs."""
    letter = value.dtype.kind if isinstance(value, TracedValue) else np.asarray(value).dtype.kind
    return "i" if letter == "u" else letter


def _as_integer(value: Any) -> Any:
    """The number as one of NumPy's of 64 bits."""
    if not isinstance(value, TracedValue):
        return np.int64(value)
    plain = _undoubted(value)
    return plain if plain.dtype == INT64 else call_method("astype", plain, (INT64,), {})


def _as_float(value: Any) -> Any:
    if not isinstance(value, TracedValue):
        return np.float64(value)
    plain = _undoubted(value)
    return plain if plain.dtype == FLOAT64 else call_method("astype", plain, (FLOAT64,), {})


def _undoubted(value: Any) -> Any:
    """The same number as one of NumPy's."""
    trace = current()
    if not isinstance(value, TracedValue) or trace is None:
        return value
    same = trace.wrap(trace.adopt(value.node), trace)
    same.scalar = True
    return same


def _call(ufunc: Any, *operands: Any) -> Any:
    return call_ufunc(ufunc, "__call__", operands, {})
