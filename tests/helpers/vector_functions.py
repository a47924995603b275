"""Tools of the tests of vector functions: running one, its true values, arguments worth trying."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gmpy2
import numpy as np
import pytest

from tests.helpers.vector_loops import Loop, loop, same_class, units
from tools.accuracy import libm, oracles
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.language.inline_functions import lookup
from xjit.codegen.language.scalar_types import KINDS
from xjit.codegen.vmath import VECTOR_FUNCTIONS

INF, NAN = math.inf, math.nan
Array = np.ndarray[Any, Any]

# How far the reference itself may be off, in f64: where long double is no wider, or has no such function.
SLACK = 0.0 if np.finfo(np.longdouble).nmant >= 63 else 1.0
SLACK_OF_ERF = 1.0


def _erf(x: Array) -> Array:
    return np.array([math.erf(value) for value in x])


def _erfc(x: Array) -> Array:
    # Those of C libraries are off by some units.
    return np.array([float(gmpy2.erfc(float(value))) for value in x])


def _logit(x: Array) -> Array:
    # The first form is exact near one half, the second elsewhere.
    result: Array = np.where(np.abs(x - 0.5) < 0.25, 2 * np.arctanh(2 * x - 1), np.log(x) - np.log1p(-x))
    return result


def _lgamma(x: Array) -> Array:
    result: Array = libm.lgamma(x).astype(x.dtype)
    return result


def _digamma(x: Array) -> Array:
    result: Array = oracles.digamma(x)
    # Wide arithmetic is exact enough away from the zero only.
    close = np.abs(x - 1.46) < 0.1
    with gmpy2.context(precision=200):
        values = [gmpy2.digamma(gmpy2.mpfr(float(value))) for value in x[close]]
        result[close] = [x.dtype.type(float(value)) + x.dtype.type(float(value - float(value))) for value in values]
    return result


ORACLES: dict[str, Callable[..., Any]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "erf": _erf,
    "erfc": _erfc,
    "erf_inv": oracles.erf_inv,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "logit": _logit,
    "digamma": _digamma,
    "lgamma": _lgamma,
    "pow": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "softplus": lambda x: np.logaddexp(0, x),
}
"""True values of what NumPy has no function of the same name for; arguments are of the next wider type."""

IN_LIBM = ("erf_inv", "lgamma")
"""Those whose true values come from the C library."""

EDGES = {"cosh": 0.75, "exp": 0.75, "exp2": 1.1, "expm1": 0.75, "logistic": 0.75, "sinh": 0.75, "softplus": 0.75}
"""Ends of the everyday range of arguments, as a part of the largest exponent; else it is 40."""

HALF_LINES = ("digamma", "lgamma", "log", "log10", "log2")
"""Operations that are tried with positive arguments only."""

WIDE_INSIDE = ("digamma", "lgamma", "erf_inv", "erfc", "sin", "cos", "hypot")
"""Operations whose f32 form computes in f64, and so may hold half as many elements in a vector."""

NEAR_EDGES = {"pow": (1.0, 1.0, NAN)}
"""Arguments, all alike where there are two, for which quick variants are right."""

REMAINDERS = ("floor_divide", "fmod", "remainder")
"""Operations that loop where a quotient is huge, so that only their quick variants are vector code."""

FAR_EDGES = dict.fromkeys(("digamma", "lgamma"), ((-INF, -1.5),)) | dict.fromkeys(
    REMAINDERS, ((INF, -INF, 1e30, -1e30), (1.0, -2.0, 0.5, 7.0))
)
"""Arguments for which quick variants are wrong; infinities unless said otherwise."""

UNIT_INTERVALS = ("acos", "asin", "atanh", "logit", "erf_inv")
"""Operations that are tried with sizes up to one only, but for a few arguments beyond."""


def parts(name: str) -> tuple[str, str]:
    """The NumPy function and the element type in a name such as exp_f64."""
    for variant in ("_near", "_rare", "_is_far"):
        name = name.removesuffix(variant)
    operation, _, kind = name.rpartition("_")
    return operation, kind


def compiled(name: str, processor: llvm_pipeline.Target | None = None, *, load: bool = True) -> Loop:
    """The loop that applies a function to every element, or pair of elements."""
    function = lookup(name)
    assert function is not None
    count = len(function.arguments)
    expression = f"{name}({', '.join('vw'[:count])})"
    return loop(expression, function.arguments[0], function.result, arguments=count, processor=processor, load=load)


def apply(name: str, *x: Array, processor: llvm_pipeline.Target | None = None) -> Array:
    """The function of every element, or pair of elements."""
    return compiled(name, processor)(*x)


def truth(name: str, *x: Array) -> Array:
    """The function in the next wider type."""
    operation, kind = parts(name)
    if operation in IN_LIBM and not libm.AVAILABLE:
        pytest.skip("the true values come from the long double of x86")
    wide = np.float64 if kind == "f32" else np.longdouble
    oracle = ORACLES.get(operation) or getattr(np, operation)
    with np.errstate(all="ignore"):
        result: Array = oracle(*(part.astype(wide) for part in x))
    return result


def slack(name: str) -> float:
    """Return the error that the true values may have."""
    return 0.0 if name.endswith("f32") else SLACK_OF_ERF if name.startswith("erf") else SLACK


def arguments(name: str, rng: np.random.Generator, count: int) -> tuple[Array, ...]:
    """Arguments of every exponent and sign, of the range of everyday, and near where functions are hard."""
    function = lookup(name)
    assert function is not None
    if len(function.arguments) == 1:
        return (_arguments(name, rng, count),)
    dtype = KINDS[parts(name)[1]].dtype
    first, second = _arguments(name, rng, count), _arguments(name, rng, count)
    second = rng.permutation(second)
    with np.errstate(over="ignore"):
        similar = (first * np.exp2(rng.uniform(-40, 40, first.size))).astype(dtype)
    zeros = np.zeros(100, dtype)
    edges = [first[:100], zeros, -zeros], [zeros, second[:100], -second[:100]]
    return np.concatenate([first, first, *edges[0]]), np.concatenate([second, similar, *edges[1]])


def _arguments(name: str, rng: np.random.Generator, count: int) -> Array:
    operation, kind = parts(name)
    dtype = KINDS[kind].dtype
    limits = np.finfo(dtype)
    exponents = rng.uniform(limits.minexp - limits.nmant, limits.maxexp, count)
    sizes = np.exp2(exponents.astype(np.longdouble)).astype(dtype)
    edge = -limits.minexp * EDGES[operation] if operation in EDGES else 40.0
    everyday = [rng.uniform(-edge, edge, count), rng.normal(size=count), 1.0 + rng.normal(size=count) * 2.0**-10]
    quarters = np.arange(-2000, 2001) * (np.pi / 2)
    near = np.concatenate([quarters, np.arange(-1100, 1100) * np.log(2.0) / 2, 2.0 ** np.arange(-60, 60)])
    hard = np.concatenate([near.astype(dtype), np.nextafter(near.astype(dtype), dtype.type(INF))])
    values = np.concatenate([sizes, -sizes, *(part.astype(dtype) for part in everyday), hard])
    if operation in UNIT_INTERVALS:
        ends = 1.0 - np.exp2(rng.uniform(-limits.nmant - 2, 0, count))
        inside = rng.uniform(-1.0, 1.0, count)
        return np.concatenate([values[np.abs(values) <= 1.0], values[::100], *((ends, -ends, inside))]).astype(dtype)
    return np.abs(values) if operation in HALF_LINES else values


def check_special_value(name: str, given: tuple[float, ...], expected: float) -> None:
    """Every bit of the result counts, but for NaN."""
    dtype = KINDS[parts(name)[1]].dtype
    result = apply(name, *(np.array([value], dtype) for value in given))
    if math.isnan(expected):
        assert np.isnan(result[0])
    else:
        assert result.tobytes() == np.array([expected], dtype).tobytes(), result[0]


def check_threshold(name: str, given: tuple[float, ...], expected: float) -> None:
    """The result is of the same class, zero only if it should be, and near."""
    dtype = KINDS[parts(name)[1]].dtype
    result = apply(name, *(np.array([value], dtype) for value in given))
    true = np.array([expected], np.float64)
    assert same_class(result, true).all()
    assert units(result, true)[0] <= 1.0
    assert (result[0] == 0.0) == (true[0] == 0.0)


def check_literal_value(name: str, given: tuple[float, ...], true: float) -> None:
    """The result is within the stated error of a value that was rounded once."""
    result = apply(name, *(np.array([value]) for value in given))
    error = units(result, np.array([true], np.longdouble))[0]
    assert error <= VECTOR_FUNCTIONS[name].error + 0.5, f"{result[0]!r} is {error} units from {true!r}"
