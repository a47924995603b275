"""True values from MPFR, one at a time: the last word on every error that is reported.

MPFR rounds every function of its own correctly; those composed here lose a few of the :data:`PRECISION` bits, never
so many that fewer than 100 are left.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import gmpy2
from gmpy2 import mpfr
from scipy import special

PRECISION = 180


@contextlib.contextmanager
def working_precision() -> Iterator[None]:
    """Arithmetic of gmpy2 with enough bits and a range of exponents far beyond that of floats."""
    with gmpy2.context(
        precision=PRECISION, emax=gmpy2.get_emax_max(), emin=gmpy2.get_emin_min(), allow_complex=False
    ):
        yield


def lgamma(x: mpfr) -> mpfr:
    """Logarithm of the absolute value of the gamma function."""
    return gmpy2.lgamma(x)[0]


def logistic(x: mpfr) -> mpfr:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + gmpy2.exp(-x))


def logit(x: mpfr) -> mpfr:
    """log(x / (1 - x)), near one half by 2 x - 1 and 1 - x, which are exact there."""
    return gmpy2.log1p((2 * x - 1) / (1 - x)) if 0.25 < x < 0.75 else gmpy2.log(x) - gmpy2.log1p(-x)


def softplus(x: mpfr) -> mpfr:
    """log(1 + exp(x))."""
    return gmpy2.log1p(gmpy2.exp(x))


def logaddexp(x: mpfr, y: mpfr) -> mpfr:
    """log(exp(x) + exp(y))."""
    return max(x, y) + gmpy2.log1p(gmpy2.exp(-abs(x - y)))


def logaddexp2(x: mpfr, y: mpfr) -> mpfr:
    """log2(2**x + 2**y)."""
    return max(x, y) + gmpy2.log1p(gmpy2.exp2(-abs(x - y))) / gmpy2.const_log2()


def remainder(x: mpfr, y: mpfr) -> mpfr:
    """x - floor(x / y) * y, which has the sign of y."""
    rest = gmpy2.fmod(x, y)
    return rest + y if rest != 0 and (rest < 0) != (y < 0) else rest


def floor_divide(x: mpfr, y: mpfr) -> mpfr:
    """The largest whole number that is not above x / y; a zero has the sign of the quotient."""
    if not (gmpy2.is_finite(x) and gmpy2.is_finite(y)) or y == 0:
        below = gmpy2.is_infinite(y) and gmpy2.is_finite(x) and x * y < 0
        return mpfr(-1) if below else gmpy2.floor(x / y)
    whole = gmpy2.mpq(x) // gmpy2.mpq(y)
    return mpfr(whole) if whole else mpfr(0) * gmpy2.sign(y) * gmpy2.sign(x)


def power(x: mpfr, y: mpfr) -> mpfr:
    """x to the power y."""
    return x**y


def erf_inv(x: mpfr) -> mpfr:
    """Inverse of the error function: SciPy's value and two steps of Newton's method, each doubling the digits."""
    start = float(special.erfinv(float(x)))
    if not math.isfinite(start) or start == 0.0:
        return mpfr(start)
    y, a = mpfr(abs(start)), abs(x)
    for _ in range(2):
        missing = gmpy2.erfc(y) - (1 - a) if a > 0.5 else a - gmpy2.erf(y)
        y += missing * gmpy2.exp(y * y) * gmpy2.sqrt(gmpy2.const_pi()) / 2
    return y if start > 0 else -y


def error_in_units(
    result: float, arguments: tuple[float, ...], function: Any, digits: int, largest: int, scale: float = 0.0
) -> float:
    """Distance of a result to the true value, in units of the last place of that value, or of ``scale`` if larger.

    ``digits`` is the number of significant bits of the type, ``2**largest`` the first power of two that it cannot
    hold; infinity counts as that power, so that overflow is judged like any rounding.
    """
    with working_precision():
        true = function(*(mpfr(argument) for argument in arguments))
        if not gmpy2.is_finite(true) or math.isnan(result):
            agrees = (math.isnan(result) and gmpy2.is_nan(true)) or result == true
            return 0.0 if agrees else math.inf
        top = gmpy2.exp2(mpfr(largest))
        true, value = (min(max(number, -top), top) for number in (true, mpfr(result)))
        size = max(abs(true), mpfr(scale)) if math.isfinite(scale) else abs(true)
        exponent = gmpy2.get_exp(size) - 1 if size != 0 else -largest
        exponent = max(min(exponent, largest - 1), 2 - largest)
        return float(abs(value - true) * gmpy2.exp2(mpfr(digits - 1 - exponent)))


def table() -> dict[str, Any]:
    """MPFR's functions and those above, by the name of the operation."""
    own = {
        "digamma": gmpy2.digamma,
        "rsqrt": gmpy2.rec_sqrt,
        "pow": power,
        "lgamma": lgamma,
        "logistic": logistic,
        "logit": logit,
        "softplus": softplus,
        "logaddexp": logaddexp,
        "logaddexp2": logaddexp2,
        "remainder": remainder,
        "floor_divide": floor_divide,
        "erf_inv": erf_inv,
    }
    plain = (
        "exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh"
        " erf erfc cbrt sqrt hypot fmod"
    )
    return {name: getattr(gmpy2, name) for name in plain.split()} | own
