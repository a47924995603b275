"""Special functions of floats: error functions, gamma functions, and functions of probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import jobs
from xjit.ir.scalar_expr import prim, select
from xjit.ops.define.op_tables import ODD, function, unary
from xjit.ops.define.references import Array


def _scipy(name: str) -> Callable[..., Array]:
    """A function of SciPy, which is imported when it is called for the first time."""

    def reference(*arrays: Any) -> Array:
        function: Callable[..., Array] = getattr(jobs.module("scipy.special"), name)
        return function(*arrays)

    return reference


erf = function("erf", "F", _scipy("erf"), "np.float32([0, np.inf]) -> [0. 1.]", "Error function.", parity=ODD)
erfc = function(
    "erfc",
    "F",
    _scipy("erfc"),
    "np.float32([0, np.inf, -np.inf]) -> [1. 0. 2.]",
    "Complementary error function, 1 - erf(x), right where that cancels.",
)
erf_inv = function(
    "erf_inv",
    "F",
    _scipy("erfinv"),
    "np.float32([0, 1, 2]) -> [ 0. inf nan]",
    "Inverse of the error function; NaN outside [-1, 1].",
    parity=ODD,
)


def _lgamma(x: Array) -> Array:
    return np.where(x == -np.inf, np.inf, _scipy("gammaln")(x)).astype(x.dtype)


lgamma = function(
    "lgamma",
    "F",
    _lgamma,
    "np.float64([1, 4, 0]) -> [0.         1.79175947        inf]",
    "Logarithm of the absolute value of the gamma function; inf at its poles and for -inf.",
)


def _digamma(x: Array) -> Array:
    return np.where(x == 0, np.nan, _scipy("digamma")(x)).astype(x.dtype)


digamma = unary(
    "digamma",
    "Digamma",
    "F",
    _digamma,
    {"F": lambda x: select(x.equals(0), math.nan, prim("digamma", x))},
    example="np.float64([1, 0]) -> [-0.57721566         nan]",
    doc="Derivative of lgamma; NaN at zero and at negative integers.",
)
logit = function(
    "logit",
    "F",
    _scipy("logit"),
    "np.float32([0.5, 1]) -> [ 0. inf]",
    "log(x/(1-x)), the inverse of the logistic function; NaN outside [0, 1].",
    in_xla=False,
)
softplus = function(
    "softplus",
    "F",
    lambda x: np.logaddexp(x, x.dtype.type(0)),
    "np.float32([0, -np.inf]) -> [0.6931472 0.       ]",
    "log(1+exp(x)) without overflow.",
    in_xla=False,
)
