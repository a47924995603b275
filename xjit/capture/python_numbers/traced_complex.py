"""Python's complex numbers that only the run will tell: which operators are Python's, and what these raise.

    z = 0j
    for v in x: z = z + v        a complex of Python's, as a float64 is a float to it
    v + z                        a complex128 of NumPy's

It is expected that Python divides by no zero, and takes no power of it that divides. NumPy does the call where this
does not hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.capture.python_numbers.traced_floats import expect_or_refuse
from xjit.capture.splits.attempts import attempted
from xjit.capture.tracers.doubts import as_numpys
from xjit.capture.tracers.numpy_call import call_attribute, call_method, call_ufunc
from xjit.capture.tracers.operators import COMPARISONS, PYTHON
from xjit.ir.context import TracedValue

PARTS = frozenset({"real", "imag", "conjugate"})
"""Attributes of Python's numbers that are numbers, or make one."""


def is_pythons(left: Any, right: Any) -> bool:
    """Return whether Python's complex numbers compute with two operands, at least one of which is traced.

    NumPy does where it makes the first operand, or the second one that is no float64.
    """
    first, second = _kind(left), _kind(right)
    if first is complex:
        return second in (bool, int, float, complex) or _is_float64(right)
    return second is complex and first in (bool, int, float)


def binary(ufunc: Any, left: Any, right: Any) -> Any:
    """Apply Python's operator to two numbers, at least one of which is complex, and one not known."""
    return attempted(lambda: _computed(ufunc, left, right), PYTHON[ufunc], (left, right), {})


def part(number: Any, name: str) -> Any:
    """An attribute of a number of Python's that is among PARTS."""
    if number.weak in (bool, int):
        return 0 if name == "imag" else +number if name == "real" else lambda: +number
    if name == "conjugate":
        return lambda: _marked(call_method(name, number, (), {}), number.weak)
    return _marked(call_attribute(name, number), float)


def _computed(ufunc: Any, left: Any, right: Any) -> Any:
    if ufunc is np.true_divide:
        if not isinstance(right, TracedValue) and right == 0:
            return 1j / right  # which raises
        expect_or_refuse(call_ufunc(np.not_equal, "__call__", (right, 0), {}))
    if ufunc is np.power and (isinstance(right, TracedValue | complex) or right < 0):
        expect_or_refuse(call_ufunc(np.not_equal, "__call__", (left, 0), {}))
    result = call_ufunc(ufunc, "__call__", (left, right), {})
    return _marked(result, bool if ufunc in COMPARISONS else complex)


def _marked(result: Any, kind: type) -> Any:
    """A result as a number of Python's."""
    if not isinstance(result, TracedValue):
        return kind(result)
    marked: Any = as_numpys(result, ())  # of no doubt, whichever number of two kinds it is made of
    marked.weak = kind
    return marked


def _kind(value: Any) -> Any:
    """The type of Python's that a number has, or stands for; None of one of NumPy's."""
    if isinstance(value, TracedValue):
        return value.weak
    return type(value) if type(value) in (bool, int, float, complex) else None


def _is_float64(value: Any) -> bool:
    if isinstance(value, TracedValue):
        return value.weak is None and value.scalar and value.dtype == np.float64
    return type(value) is np.float64
