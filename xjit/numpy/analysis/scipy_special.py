"""SciPy's special functions of real arguments that kernels compute: one row each, as in :mod:`xjit.numpy.ufuncs`.

Those without a row, and loops on complex numbers, are library calls. SciPy is looked for among the modules that the
program has imported, and never imported here.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.numpy.rules.compositions import both, either, full_like, isnan
from xjit.numpy.rules.powers import power
from xjit.numpy.rules.promotion import cast
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import FLOAT64

Row = Callable[..., Any]


def in_double(formula: Row) -> Row:
    """A formula that float32 has no room for, computed in float64 and rounded once."""

    @functools.wraps(formula)
    def computed(*operands: Operand) -> Any:
        return cast(formula(*(cast(one, FLOAT64) for one in operands)), dtype_of(operands[0]))

    return computed


def gammaln(x: Operand) -> Any:
    """SciPy's value at -inf, which is -inf."""
    lowest = full_like(x, -np.inf)
    return ops.select(ops.eq(x, lowest), lowest, ops.lgamma(x))


def digamma(x: Operand) -> Any:
    """SciPy's value at the pole at zero: infinite, of the opposite sign."""
    return ops.select(_is(x, 0), ops.div(full_like(x, -1), x), ops.digamma(x))


def log_expit(x: Operand) -> Any:
    """log(1 / (1 + exp(-x))) = -log(1 + exp(-x))."""
    return ops.neg(ops.softplus(ops.neg(x)))


def exp10(x: Operand) -> Any:
    """10 to the power of x."""
    return power(full_like(x, 10), x, dtype_of(x))


@in_double
def exprel(x: Operand) -> Any:
    """(exp(x) - 1) / x; 1 at zero, and infinite where exp(x) is."""
    quotient, top = ops.div(ops.expm1(x), x), full_like(x, np.inf)
    return ops.select(_is(x, 0), full_like(x, 1), ops.select(ops.eq(x, top), top, quotient))


@in_double
def ndtr(x: Operand) -> Any:
    """The distribution function of the standard normal distribution, (1 + erf(x / sqrt(2))) / 2.

    Where that would cancel, erfc(-x / sqrt(2)) / 2; the tail makes much of the rounding of x / sqrt(2).
    """
    scaled = ops.mul(x, full_like(x, math.sqrt(0.5)))
    half, one = full_like(x, 0.5), full_like(x, 1)
    middle = ops.add(half, ops.mul(half, ops.erf(scaled)))
    tail = ops.mul(half, ops.erfc(ops.abs(scaled)))
    outside = ops.select(ops.gt(x, full_like(x, 0)), ops.sub(one, tail), tail)
    return ops.select(ops.lt(ops.abs(scaled), one), middle, outside)


def xlogy(x: Operand, y: Operand) -> Any:
    """x log(y); 0 where x is 0 and y a number."""
    return _unless_nothing(x, y, ops.log(y))


def xlog1py(x: Operand, y: Operand) -> Any:
    """x log(1 + y); 0 where x is 0 and y a number."""
    return _unless_nothing(x, y, ops.log1p(y))


def entr(x: Operand) -> Any:
    """-x log(x); 0 at zero and -inf for negative numbers."""
    product = ops.neg(ops.mul(x, ops.log(x)))
    return ops.select(ops.lt(x, full_like(x, 0)), full_like(x, -np.inf), ops.select(_is(x, 0), ops.abs(x), product))


def rel_entr(x: Operand, y: Operand) -> Any:
    """x log(x / y) of positive numbers; 0 for x = 0 <= y, infinite for others.

    The logarithm is that of 1 + (x - y) / y for numbers near each other, where the difference is exact, and a
    difference of logarithms where the quotient is out of range.
    """
    ratio, limits = ops.div(x, y), np.finfo(dtype_of(x))
    near = both(ops.gt(ratio, full_like(x, 0.5)), ops.lt(ratio, full_like(x, 2)))
    within = both(ops.gt(ratio, full_like(x, limits.tiny)), ops.lt(ratio, full_like(x, np.inf)))
    close = ops.log1p(ops.div(ops.sub(x, y), y))
    logarithm = ops.select(near, close, ops.select(within, ops.log(ratio), ops.sub(ops.log(x), ops.log(y))))
    return _of_distributions(x, y, ops.mul(x, logarithm), full_like(x, 0))


@in_double
def kl_div(x: Operand, y: Operand) -> Any:
    """x log(x / y) - x + y of positive numbers; y for x = 0 <= y, infinite for others."""
    difference = ops.add(ops.sub(ops.mul(x, ops.log(ops.div(x, y))), x), y)
    return _of_distributions(x, y, difference, y)


def huber(delta: Operand, r: Operand) -> Any:
    """r**2 / 2 up to |r| = delta, from there delta (|r| - delta / 2); infinite for negative delta."""
    half, size = full_like(r, 0.5), ops.abs(r)
    square = ops.mul(ops.mul(half, r), r)
    line = ops.mul(delta, ops.sub(size, ops.mul(half, delta)))
    value = ops.select(ops.le(size, delta), square, line)
    return ops.select(ops.lt(delta, full_like(r, 0)), full_like(r, np.inf), value)


def pseudo_huber(delta: Operand, r: Operand) -> Any:
    """delta**2 (sqrt(1 + (r / delta)**2) - 1), 0 where delta or r is; infinite for negative delta."""
    ratio, half = ops.div(r, delta), full_like(r, 0.5)
    growth = ops.expm1(ops.mul(half, ops.log1p(ops.mul(ratio, ratio))))  # of the root, without cancelling
    value = ops.mul(ops.mul(delta, delta), growth)
    value = ops.select(either(_is(delta, 0), _is(r, 0)), full_like(r, 0), value)
    return ops.select(ops.lt(delta, full_like(r, 0)), full_like(r, np.inf), value)


def _is(x: Operand, number: float) -> Any:
    return ops.eq(x, full_like(x, number))


def _unless_nothing(x: Operand, y: Operand, logarithm: Operand) -> Any:
    """The product of x and the logarithm; 0 where x is 0 and y a number."""
    nothing = both(_is(x, 0), ops.not_(isnan(y)))
    return ops.select(nothing, full_like(x, 0), ops.mul(x, logarithm))


def _of_distributions(x: Operand, y: Operand, inside: Operand, at_zero: Operand) -> Any:
    """A function of two densities: inside their domain, where the first one is zero, and infinity elsewhere."""
    zero = full_like(x, 0)
    positive = both(ops.gt(x, zero), ops.gt(y, zero))
    none = both(ops.eq(x, zero), ops.ge(y, zero))
    value = ops.select(positive, inside, ops.select(none, at_zero, full_like(x, np.inf)))
    return ops.select(either(isnan(x), isnan(y)), full_like(x, np.nan), value)


ROWS: dict[str, Row] = {
    "cbrt": ops.cbrt,
    "digamma": digamma,
    "entr": entr,
    "erf": ops.erf,
    "erfc": ops.erfc,
    "erfinv": ops.erf_inv,
    "exp10": exp10,
    "exp2": ops.exp2,
    "expit": ops.logistic,
    "expm1": ops.expm1,
    "exprel": exprel,
    "gammaln": gammaln,
    "huber": huber,
    "kl_div": kl_div,
    "log1p": ops.log1p,
    "log_expit": log_expit,
    "logit": ops.logit,
    "ndtr": ndtr,
    "pseudo_huber": pseudo_huber,
    "psi": digamma,
    "rel_entr": rel_entr,
    "xlog1py": xlog1py,
    "xlogy": xlogy,
}


def row_of(ufunc: np.ufunc, kind: str = "F") -> Row | None:
    """The row of a ufunc of ``scipy.special`` for a class of element types; None for all others.

    >>> row_of(np.exp) is None
    True
    """
    module = sys.modules.get("scipy.special")
    known = module is not None and getattr(module, ufunc.__name__, None) is ufunc
    return ROWS.get(ufunc.__name__) if known and kind == "F" else None
