"""Numbers of the inverse error function: its quotient by the argument, as a function of w = -log(1 - x**2)."""

from __future__ import annotations

import functools

import mpmath as mp
from scipy import special

from tools.coefficients.fitting import Fit, Function, Real, Table

NEAR, MIDDLE, FAR = mp.mpf("3.125"), mp.mpf("3.25"), mp.mpf(5)
STEPS = 2


@functools.cache
def quotient(w: Real) -> Real:
    """erf_inv(x) / x: SciPy's value and steps of Newton's method, each of which doubles the digits."""
    square = -mp.expm1(-w)
    x = mp.sqrt(square)
    missing = mp.exp(-w) / (1 + x)
    y = mp.mpf(float(special.erfcinv(float(missing)) if x > 0.5 else special.erfinv(float(x))))
    for _ in range(STEPS):
        rest = mp.erfc(y) - missing if x > 0.5 else x - mp.erf(y)
        y += rest * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
    return y / x


def relative(function: Function) -> tuple[Function, Function]:
    """A function and the weight that makes its errors relative."""
    return function, lambda u: 1 / function(u)


def tables() -> list[Fit | Table]:
    """Polynomials near the quotient on three intervals."""
    near = relative(lambda u: quotient(u + NEAR))
    middle = relative(lambda u: quotient((u + MIDDLE) ** 2))
    far = relative(lambda u: quotient((u + FAR) ** 2))
    tiny = mp.mpf("1e-12")
    first = (tiny - NEAR, mp.mpf("6.26") - NEAR)
    second = (mp.mpf("2.499") - MIDDLE, mp.mpf("4.001") - MIDDLE)
    third = (mp.mpf("3.999") - FAR, mp.mpf("6.01") - FAR)
    return [
        Fit("ERF_INV_NEAR_F32", "quotient erf_inv(x) / x in w - 3.125, w up to 6.25", *near, *first, 12, 53),
        Fit("ERF_INV_NEAR_F64", "the same", *near, *first, 25, 53),
        Fit("ERF_INV_MIDDLE_F32", "the quotient in sqrt(w) - 3.25, sqrt(w) from 2.5 to 4", *middle, *second, 9, 53),
        Fit("ERF_INV_MIDDLE_F64", "the same", *middle, *second, 20, 53),
        Fit("ERF_INV_FAR_F64", "the quotient in sqrt(w) - 5, sqrt(w) from 4 to 6.01", *far, *third, 19, 53),
    ]
