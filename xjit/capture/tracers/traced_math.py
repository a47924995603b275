"""The math module on traced values: on rank-0 arrays its functions are NumPy's, on Python numbers Python's own.

Where ``math`` raises ValueError for an operand outside of its domain, the traced function yields NaN or infinity.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.tracers.numpy_call import call_ufunc, is_known, number_of, traced_leaves
from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import TracedValue

_UFUNCS: dict[Any, np.ufunc] = {
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
    math.atan: np.arctan,
    math.atan2: np.arctan2,
    math.sinh: np.sinh,
    math.cosh: np.cosh,
    math.tanh: np.tanh,
    math.asinh: np.arcsinh,
    math.acosh: np.arccosh,
    math.atanh: np.arctanh,
    math.fabs: np.fabs,
    math.hypot: np.hypot,
    math.pow: np.power,
    math.fmod: np.fmod,
    math.copysign: np.copysign,
    math.degrees: np.degrees,
    math.radians: np.radians,
    math.isnan: np.isnan,
    math.isinf: np.isinf,
    math.isfinite: np.isfinite,
}
"""Functions of floats; those that yield a Python int (floor, ceil, trunc) need the value and are left out."""


def traced_math(function: Any) -> Callable[..., Any] | None:
    """The traced version of a function of the math module, None for anything else."""
    return _TABLE.get(function)


def _wrapped(function: Any) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        arrays = [value for value in traced_leaves((args, kwargs)) if value.weak is None]
        return _on_arrays(function, args, arrays) if arrays else function(*args, **kwargs)

    return wrapper


def _on_arrays(function: Any, args: tuple[Any, ...], arrays: list[TracedValue]) -> Any:
    name = f"math.{function.__name__}"
    if any(array.ndim or array.dtype.kind == "c" for array in arrays):
        refuse(f"{name} takes single real numbers; got an array", *arrays, fix="use NumPy's function of this name")
    ufunc = _UFUNCS.get(function)
    if ufunc is None and all(map(is_known, arrays)):
        return function(*map(number_of, args))
    if ufunc is None or len(args) != ufunc.nin:
        refuse(f"{name} is not supported on traced values", *arrays, fix="use NumPy's functions")
    result = call_ufunc(ufunc, "__call__", tuple(map(_as_double, args)), {})
    result.weak = bool if result.dtype == np.bool_ else float  # math yields Python numbers
    return result


def _as_double(value: Any) -> Any:
    """math computes in float64, whatever comes in."""
    if isinstance(value, TracedValue) and value.weak is None and value.dtype != np.float64:
        array: Any = value
        return array.astype(np.float64)
    return value


_TABLE = {value: _wrapped(value) for value in vars(math).values() if isinstance(value, types.BuiltinFunctionType)}
