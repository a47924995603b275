"""Questions about elements: near or equal arrays, real and complex numbers, infinities."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import CaptureError, DTypeError, ShapeError
from xjit.ir.context import TracedValue
from xjit.numpy import methods
from xjit.numpy.arrays.creation import filled
from xjit.numpy.reducing import axis_reductions
from xjit.numpy.rules import compositions as c
from xjit.numpy.rules.broadcasting import broadcast_to_shape, common_shape
from xjit.numpy.rules.promotion import cast, is_inexact, result_type, weak_type
from xjit.numpy.rules.values import (
    as_scalar,
    as_value,
    converted,
    copied,
    fresh,
    operand,
    order_letter,
    shape_of,
    with_order,
)
from xjit.numpy.rules.view_strides import column_or_row_major
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import aval_of, dtype_of
from xjit.types import FLOAT64, dtype_class

_NUMBERS = (bool, int, float, complex)


def isclose(a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: bool = False) -> Any:
    """Test where two numbers differ by no more than ``atol + rtol * abs(b)``, or are equal.

    Element types: any, promoted together; the second operand counts as a float. Infinities are near equal ones only,
    NaN is near nothing, or with ``equal_nan`` near NaN. Raises ShapeError for shapes that do not broadcast.

    >>> isclose(np.array([1.0, 2.0]), 1.0 + 1e-9)
    array([ True, False])
    """
    x, y, absolute, relative = (operand(value, "isclose") for value in (a, b, atol, rtol))
    if isinstance(y, int):
        y = float(y)
    elif weak_type(y) is int:
        y = _weakly(cast(y, FLOAT64), y)
    elif weak_type(y) is None:
        y = converted(y, result_type(y, 1.0))
    distance = _number(abs, np.absolute, _pair(operator.sub, np.subtract, x, y))
    size = _pair(operator.mul, np.multiply, relative, _number(abs, np.absolute, y))
    near = call(np.less_equal, distance, _pair(operator.add, np.add, absolute, size))
    found = call(np.logical_or, call(np.logical_and, near, call(np.isfinite, y)), call(np.equal, x, y))
    if equal_nan:
        both = call(np.logical_and, call(np.isnan, x), call(np.isnan, y))
        found = with_order(call(np.logical_or, found, both), aval_of(found).order)
    return found


def _number(python: Callable[..., Any], ufunc: np.ufunc, value: Any) -> Any:
    return python(value) if isinstance(value, _NUMBERS) else _weakly(call(ufunc, value), value)


def _pair(python: Callable[..., Any], ufunc: np.ufunc, x: Any, y: Any) -> Any:
    """Compute Python's result of two Python numbers, which promotes as a Python number."""
    both = isinstance(x, _NUMBERS) and isinstance(y, _NUMBERS)
    return python(x, y) if both else _weakly(call(ufunc, x, y), x, y)


def _weakly(result: Any, *operands: Any) -> Any:
    """A result; of numbers of Python's alone a float of Python's."""
    if any(weak_type(one) is None for one in operands):
        return result
    number = fresh(result)
    number.weak, number.scalar = float, True
    return number


def truth(value: Any) -> Any:
    """A truth value of rank 0 as the Python bool that NumPy returns here."""
    result = fresh(value)
    if not isinstance(result, TracedValue):
        return bool(result)
    result.weak, result.scalar = bool, True
    return result


def allclose(a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: bool = False) -> Any:
    """Return whether all elements are near, as ``isclose`` says; a Python bool.

    >>> allclose(np.array([1.0, 2.0]), [1.0, 2.0 + 1e-9])
    True
    """
    return truth(axis_reductions.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Return whether shapes and all elements are equal; a Python bool. Any element types.

    >>> array_equal(np.array([1, 2]), [1, 2])
    True
    """
    x, y = as_value(a1, "array_equal"), as_value(a2, "array_equal")
    if shape_of(x) != shape_of(y):
        return False
    same = call(np.equal, x, y)
    if equal_nan and all(dtype_class(dtype_of(value)) in "FC" for value in (x, y)):
        same = call(np.logical_or, same, call(np.logical_and, call(np.isnan, x), call(np.isnan, y)))
    return truth(axis_reductions.all(same))


def array_equiv(a1: Any, a2: Any) -> Any:
    """Return whether shapes broadcast and all elements are equal then; a Python bool. Any element types."""
    x, y = as_value(a1, "array_equiv"), as_value(a2, "array_equiv")
    try:
        common_shape("array_equiv", [shape_of(x), shape_of(y)])
    except ShapeError:
        return False
    return truth(axis_reductions.all(call(np.equal, x, y)))


def isreal(x: Any) -> Any:
    """Test where the imaginary part is zero. Any element type.

    >>> isreal(np.array([1 + 0j, 1j]))
    array([ True, False])
    """
    value = as_value(x, "isreal")
    if dtype_class(dtype_of(value)) == "C":
        return call(np.equal, methods.imag(value), 0)
    every = filled(shape_of(value), np.ones((), np.bool_))
    return as_scalar(with_order(every, column_or_row_major(value)))


def iscomplex(x: Any) -> Any:
    """Test where the imaginary part is not zero. Any element type."""
    value = as_value(x, "iscomplex")
    if dtype_class(dtype_of(value)) == "C":
        return call(np.not_equal, methods.imag(value), 0)
    return as_scalar(filled(shape_of(value), np.zeros((), np.bool_)))


def isposinf(x: Any, out: Any = None) -> Any:
    """Test where there is positive infinity. Raises DTypeError for complex numbers, CaptureError for ``out``."""
    return _infinite("isposinf", x, out, negative=False)


def isneginf(x: Any, out: Any = None) -> Any:
    """Test where there is negative infinity. Raises DTypeError for complex numbers, CaptureError for ``out``."""
    return _infinite("isneginf", x, out, negative=True)


def _infinite(name: str, x: Any, out: Any, negative: bool) -> Any:
    value = as_value(x, name)
    if out is not None:
        raise CaptureError(f"numpy.{name}: out= is not supported; got {type(out).__name__}")
    if dtype_class(dtype_of(value)) == "C":
        reason = f"not supported for {dtype_of(value)} values because it would be ambiguous"
        raise DTypeError(f"numpy.{name}: This operation is {reason}.")
    if dtype_class(dtype_of(value)) in "PI":
        return call(np.isinf, value)
    return call(np.equal, value, -np.inf if negative else np.inf)


def real_if_close(a: Any, tol: Any = 100) -> Any:
    """Real arrays themselves; refused for complex ones, whose elements decide the element type of the result."""
    value = as_value(a, "real_if_close")
    if dtype_class(dtype_of(value)) == "C":
        raise CaptureError(
            "numpy.real_if_close: the elements of a complex array decide the type of the result: not supported",
            fix="use numpy.real, or call it outside of the function",
        )
    return value


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in the places of NaN and of infinities: zero, and the largest and smallest ones, or those given.

    Element types: any; integers have none of them, complex numbers are treated part by part. Raises CaptureError for
    ``copy=False``, which would write to the operand.

    >>> nan_to_num(np.array([np.nan, np.inf]), posinf=9)
    array([0., 9.])
    """
    value = as_value(x, "nan_to_num")
    letter = dtype_class(dtype_of(value)) if is_inexact(dtype_of(value)) else ""
    if not copy and isinstance(x, TracedValue | np.ndarray):
        if not letter or letter not in "FC":
            return x
        raise CaptureError("numpy.nan_to_num: copy=False is not supported", fix="use its result")
    if letter == "C":
        parts = (_finite(part, nan, posinf, neginf) for part in (ops.real(value), ops.imag(value)))
        return as_scalar(with_order(ops.complex(*parts), order_letter(value, "K", "nan_to_num")))
    result = _finite(value, nan, posinf, neginf) if letter == "F" else copied(value)
    return as_scalar(with_order(result, order_letter(value, "K", "nan_to_num")))


def _finite(value: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    info = np.finfo(dtype_of(value))
    high, low = info.max if posinf is None else posinf, info.min if neginf is None else neginf
    cases = ((c.isnan(value), nan), (_is(value, np.inf), high), (_is(value, -np.inf), low))
    result = value
    for place, number in cases:
        result = ops.select(place, _stored(number, value), result)
    return result


def _is(value: Any, number: float) -> Any:
    return ops.eq(value, c.full_like(value, number))


def _stored(number: Any, value: Any) -> Any:
    found, dtype = as_value(number, "nan_to_num"), dtype_of(value)
    if not np.can_cast(dtype_of(found), dtype, "same_kind"):
        raise DTypeError(
            f"numpy.nan_to_num: Cannot cast array data from {dtype_of(found)!r} to {dtype!r} according to the rule "
            "'same_kind'"
        )
    common_shape("nan_to_num", [shape_of(found), shape_of(value)])
    return broadcast_to_shape(cast(found, dtype), shape_of(value))
