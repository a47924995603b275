"""The math module on traced numbers: its functions are NumPy's in float64, with Python's numbers as results.

    math.sqrt(x[0])         sqrt of a float, and it is expected that the result is no NaN unless x[0] is one
    math.floor(x.mean())    an integer of Python's
    math.gamma(x[0])        a step in Python

What ``math`` raises becomes a condition: where it does not hold, NumPy does the call, and raises. In loops and
branches of the graph nobody looks, and a number outside of the domain yields NaN or infinity.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.python_numbers.numbers import number_as, python_number
from xjit.capture.python_numbers.traced_floats import expect_or_refuse, is_error
from xjit.capture.splits.attempts import attempted
from xjit.capture.tracers.numpy_call import (
    call_method,
    call_ufunc,
    has_open_sizes,
    is_known,
    number_of,
    traced_leaves,
)
from xjit.capture.tracers.provenance import refuse
from xjit.capture.tracers.traced_scalar import TracedScalar
from xjit.dataclass import dataclass
from xjit.ir.context import TracedValue
from xjit.numpy.analysis import scipy_special
from xjit.ops.elements.special import erf, erfc
from xjit.types import FLOAT64, INT64


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of numbers: how many it takes, on which of NumPy it is, and whether ``math`` raises errors."""

    compute: Callable[..., Any]
    count: int = 1
    raises: bool = True


def _call(ufunc: Any, *operands: Any) -> Any:
    return call_ufunc(ufunc, "__call__", operands, {})


def _by(ufunc: np.ufunc) -> Callable[..., Any]:
    return functools.partial(_call, ufunc)


def _of_ufuncs(ufuncs: dict[Any, np.ufunc], **options: Any) -> dict[Any, _Function]:
    return {function: _Function(_by(ufunc), ufunc.nin, **options) for function, ufunc in ufuncs.items()}


_ON_FLOATS: dict[Any, _Function] = {
    **_of_ufuncs(
        {
            math.sqrt: np.sqrt,
            math.exp: np.exp,
            math.exp2: np.exp2,
            math.expm1: np.expm1,
            math.log: np.log,
            math.log2: np.log2,
            math.log10: np.log10,
            math.log1p: np.log1p,
            math.sin: np.sin,
            math.cos: np.cos,
            math.tan: np.tan,
            math.asin: np.arcsin,
            math.acos: np.arccos,
            math.sinh: np.sinh,
            math.cosh: np.cosh,
            math.acosh: np.arccosh,
            math.atanh: np.arctanh,
            math.pow: np.power,
            math.fmod: np.fmod,
        }
    ),
    **_of_ufuncs(
        {
            math.atan: np.arctan,
            math.atan2: np.arctan2,
            math.tanh: np.tanh,
            math.asinh: np.arcsinh,
            math.cbrt: np.cbrt,
            math.fabs: np.fabs,
            math.hypot: np.hypot,
            math.copysign: np.copysign,
            math.nextafter: np.nextafter,
            math.degrees: np.degrees,
            math.radians: np.radians,
            math.isnan: np.isnan,
            math.isinf: np.isinf,
            math.isfinite: np.isfinite,
        },
        raises=False,
    ),
    math.erf: _Function(erf, raises=False),
    math.erfc: _Function(erfc, raises=False),
    math.lgamma: _Function(scipy_special.gammaln),
}
"""Functions of floats that yield one, or a truth value."""


def traced_math(function: Any) -> Callable[..., Any] | None:
    """The traced version of a function of the math module, None for anything else."""
    return _TABLE.get(function)


def _wrapped(function: Any) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        leaves = [value for value in traced_leaves((args, kwargs)) if type(value) is not TracedScalar]
        if not leaves and not has_open_sizes((*args, *kwargs.values())):
            return function(*args, **kwargs)
        return attempted(lambda: _on_traced(function, args, kwargs, leaves), function, args, kwargs)

    return wrapper


def _on_traced(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[TracedValue]) -> Any:
    name = f"math.{function.__name__}"
    single = bool(leaves) and not any(leaf.ndim or leaf.dtype.kind == "c" for leaf in leaves)
    if not single and (function in _ON_FLOATS or function in _COMPOSED):
        refuse(f"{name} takes single real numbers; got an array", *leaves, fix="use NumPy's function of this name")
    if single and function in _ON_FLOATS and len(args) == _ON_FLOATS[function].count and not kwargs:
        return _on_floats(_ON_FLOATS[function], args)
    composed = _COMPOSED.get(function) if single else None
    found = None if composed is None else composed(*args, **kwargs)
    if found is not None:
        return found
    if single and all(map(is_known, leaves)):
        return function(*map(number_of, args), **{key: number_of(one) for key, one in kwargs.items()})
    refuse(f"{name} is not supported on traced values", *leaves, fix="use NumPy's functions")


def _on_floats(function: _Function, args: tuple[Any, ...]) -> Any:
    operands = tuple(map(_as_double, args))
    result = function.compute(*operands)
    if function.raises:
        expect_or_refuse(_call(np.logical_not, is_error(operands, result)))
    return python_number(result)


def _as_double(value: Any) -> Any:
    """math computes in float64, whatever comes in."""
    if isinstance(value, TracedValue) and type(value) is not TracedScalar and value.dtype != FLOAT64:
        array: Any = value
        return array.astype(FLOAT64)
    return value


# Functions that take or yield other numbers; None where the arguments are no such numbers.


def _rounded(ufunc: np.ufunc) -> Callable[[Any], Any]:
    def rounded(value: Any) -> Any:
        return number_as(int, value if value.dtype.kind in "iub" else _call(ufunc, _as_double(value)))

    return rounded


def _gcd(*values: Any) -> Any:
    if len(values) < 2 or any(_kind(value) not in "iub" for value in values):
        return None
    result = functools.reduce(_by(np.gcd), map(_wide, values))
    expect_or_refuse(_call(np.greater_equal, result, np.int64(0)))  # the least integer has no opposite
    return python_number(result)


def _kind(value: Any) -> str:
    return str(value.dtype.kind) if isinstance(value, TracedValue) else np.result_type(value).kind


def _wide(value: Any) -> Any:
    known = type(value) is TracedScalar or not isinstance(value, TracedValue)
    return np.int64(int(value)) if known else call_method("astype", value, (INT64,), {})


def _log(value: Any, base: Any) -> Any:
    found, divisor = (_on_floats(_ON_FLOATS[math.log], (one,)) for one in (value, base))
    expect_or_refuse(_call(np.not_equal, divisor, 0.0))
    return found / divisor


def _modf(value: Any) -> Any:
    return tuple(map(python_number, _call(np.modf, _as_double(value))))


def _frexp(value: Any) -> Any:
    part, exponent = _call(np.frexp, _as_double(value))
    return python_number(part), number_as(int, exponent)


def _ldexp(value: Any, exponent: Any) -> Any:
    if type(exponent) is not int or abs(exponent) > 4096:
        return None
    operand = _as_double(value)
    result = _call(np.ldexp, operand, np.int32(exponent))
    expect_or_refuse(_call(np.logical_not, is_error((operand,), result)))
    return python_number(result)


def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if any(isinstance(one, TracedValue) or one < 0.0 for one in (rel_tol, abs_tol)):
        return None
    a, b = (_as_double(one) if isinstance(one, TracedValue) else float(one) for one in (a, b))
    apart = _call(np.absolute, _call(np.subtract, b, a))
    bounds = [_call(np.absolute, _call(np.multiply, float(rel_tol), one)) for one in (b, a)]
    near = functools.reduce(_by(np.logical_or), [_call(np.less_equal, apart, one) for one in (*bounds, abs_tol)])
    near = functools.reduce(_by(np.logical_and), [near, *(_call(np.isfinite, one) for one in (a, b))])
    return python_number(_call(np.logical_or, near, _call(np.equal, a, b)))


_COMPOSED: dict[Any, Callable[..., Any]] = {
    math.floor: _rounded(np.floor),
    math.ceil: _rounded(np.ceil),
    math.trunc: _rounded(np.trunc),
    math.gcd: _gcd,
    math.log: _log,
    math.modf: _modf,
    math.frexp: _frexp,
    math.ldexp: _ldexp,
    math.isclose: _isclose,
}


_TABLE = {value: _wrapped(value) for value in vars(math).values() if isinstance(value, types.BuiltinFunctionType)}
