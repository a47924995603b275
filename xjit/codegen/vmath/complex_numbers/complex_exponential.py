"""Exponential functions of complex numbers: ``exp``, ``exp2``, ``expm1`` and ``logistic``.

``exp(x + iy) = exp(x) * (cos(y) + i sin(y))``.

``exp2`` multiplies the angle by log(2) in two parts; the sine of their sum is that of the first and, times the
cosine, the second.

``expm1`` is ``expm1(x) * cos(y) - (1 - cos(y)) + i exp(x) * sin(y)``, where ``1 - cos(y) = sin(y)**2 / (1 + cos(y))``
does not cancel.

``logistic``, with ``d = exp(-|x|)``, has the denominator ``|1 + d * exp(iy)|**2 = (1 - d)**2 + 2 d (1 + cos(y))``, in
which nothing cancels either.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import copysign, cplx, f64, fabs, fma, im, re, select
from xjit.codegen.vmath.complex_numbers.complex_parts import (
    Text,
    angular,
    exponential_f64,
    exponential_growth_f64,
    imaginary_is_far_c128,
    power_growth_f64,
    quotient_f64,
    register_angular,
    rounded_off_f64,
    scaled_power_f64,
)
from xjit.codegen.vmath.exponentials.exp import ROUNDER_F64, exp2_near_zero_f64, exp_f64, expm1_f64

INFINITY = math.inf
LN2, LN2_REST = 0.6931471805599453, 2.3190468138462996e-17
HIGHEST_EXP2, LOWEST_EXP2 = 2120.0, -1150.0
# Sines of angles below this are the angles; their product with log(2) may be subnormal.
SMALL_ANGLE = 2.0**-900
# From here on the angle is right to 53 bits only: its rest is no small number.
LARGE_ANGLE = 2.0**50


@inline("c128(f64,f64,f64,f64)")
def exp_special_c128(x: Any, y: Any, real: Any, imaginary: Any) -> Any:
    """The parts of exp(x + iy), right for infinite x as well; the imaginary part is y for zero y."""
    unsteady = (fabs(x) == INFINITY) & (real != real)
    falling = unsteady & (x < 0.0)
    real = select(unsteady, select(x < 0.0, 0.0, INFINITY), real)
    return cplx(real, select(falling, copysign(0.0, y), select(y == 0.0, y, imaginary)))


def _exp(sine: Text, cosine: Text) -> Text:
    def exp_c128(z: Any) -> Any:
        """e to the power z."""
        x, y = re(z), im(z)
        growth, size = exponential_growth_f64(x), exponential_f64(x)
        return exp_special_c128(x, y, cosine(y) * growth * size * growth, sine(y) * growth * size * growth)

    return exp_c128


def _exp2(sine: Text, cosine: Text) -> Text:
    def exp2_c128(z: Any) -> Any:
        """2 to the power z."""
        x, y = re(z), im(z)
        v = select(x > HIGHEST_EXP2, f64(HIGHEST_EXP2), x)
        v = select(v < LOWEST_EXP2, f64(LOWEST_EXP2), v)
        shifted = v + ROUNDER_F64
        growth = power_growth_f64(shifted)
        size = exp2_near_zero_f64(v - (shifted - ROUNDER_F64)) * scaled_power_f64(shifted)
        small = fabs(y) < SMALL_ANGLE
        angle = y * LN2
        rest = fma(y, LN2_REST, rounded_off_f64(y, f64(LN2), angle))
        rest = select(fabs(y) < LARGE_ANGLE, rest, 0.0)
        s, c = sine(angle), cosine(angle)
        turned = select(small, y * growth * (size * LN2), fma(rest, c, s) * growth * size)
        return exp_special_c128(x, y, fma(-rest, s, c) * growth * size * growth, turned * growth)

    return exp2_c128


@inline("f64(f64,f64)")
def versine_f64(sine: Any, cosine: Any) -> Any:
    """One minus the cosine."""
    return select(cosine > 0.5, sine * sine / (1.0 + fabs(cosine)), 1.0 - cosine)


def _expm1(sine: Text, cosine: Text) -> Text:
    def expm1_c128(z: Any) -> Any:
        """e to the power z, minus one."""
        x, y = re(z), im(z)
        s, c = sine(y), cosine(y)
        growth, size = exponential_growth_f64(x), exponential_f64(x)
        large = x > 80.0
        real = select(large, c * growth * size * growth, fma(expm1_f64(x), c, -versine_f64(s, c)))
        return cplx(real, s * growth * size * growth)

    return expm1_c128


def _logistic(sine: Text, cosine: Text) -> Text:
    def logistic_c128(z: Any) -> Any:
        """1 / (1 + exp(-z))."""
        x, y = re(z), im(z)
        s, c = sine(y), cosine(y)
        a = -fabs(x)
        d, less = exp_f64(a), expm1_f64(a)
        above = versine_f64(s, -c)
        square = less * less
        divisor = fma(d + d, above, square)
        rest = fma(less, less, -square) + fma(d + d, above, square - divisor)
        # Where d is small nothing cancels anyway.
        plain = d < 0.25
        divisor = select(plain, fma(d, c + c + d, f64(1.0)), divisor)
        rest = select(plain, 0.0, rest)
        inverse = 1.0 / divisor
        upper = x >= 0.0
        first = select(plain, fma(d, c, f64(1.0)), fma(d, above, -less))
        real = select(upper, first, select(plain, c + d, above + less) * d)
        product = s * d
        imaginary = quotient_f64(product, fma(s, d, -product), divisor, rest, inverse)
        real = quotient_f64(real, f64(0.0), divisor, rest, inverse)
        unsteady = (s != s) & (a == -INFINITY)
        real = select(unsteady, select(upper, f64(1.0), 0.0), real)
        return cplx(real, select(unsteady, copysign(0.0, y), imaginary))

    return logistic_c128


register_angular("exp", _exp, imaginary_is_far_c128)
register_angular("exp2", _exp2, imaginary_is_far_c128)
register_angular("expm1", _expm1, imaginary_is_far_c128)
register_angular("logistic", _logistic, imaginary_is_far_c128)

FUNCTIONS = (
    *angular("exp", 2.5),
    *angular("exp2", 3.0),
    *angular("expm1", 3.5),
    *angular("logistic", 4.0),
)
