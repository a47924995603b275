"""Logarithm of the magnitude of the gamma function, and digamma, the derivative of that logarithm.

``lgamma``, for x above -1/2.  With ``j`` the integer nearest to x (2 from 5/4 on) and ``a = x - j``

* below 4.5, ``log(gamma(2 + a)) = a (1 + a) P(a)``, which is as exact near the zeros 1 and 2 as elsewhere, and
  the recurrence adds or takes off the logarithm of one product of at most two factors;
* from 4.5 on, Stirling's series: ``(x - 1/2) (log(x) - 1) + STIRLING_CONSTANT + rest(1 / x**2) / x``.

Both need one logarithm, carried as a sum of two floats (:func:`log2_pair_f64`).

``digamma``, for positive x: between 1 and 5/2 ``(x - root) P(x - 7/4)``, with the zero of the function in two
parts; below 4 the recurrence ``digamma(x + 1) = digamma(x) + 1 / x`` leads there; from 4 on, ``log(x) - 1 / (2 x) -
rest(1 / x**2) / x**2``.

Other numbers are rare, and reflected: ``-log(|x| |p| S(p**2)) - lgamma(|x|)`` with p the distance of x to the
nearest integer and ``S(p**2) = sin(pi p) / (pi p)``, and ``digamma(1 + |x|) + pi / tan(pi |x|)``.  Between the poles
of these the functions have zeros, near which only the error relative to the terms that cancel is small; for
``lgamma`` the product and both terms are carried as sums of two floats.  For positive x ``lgamma`` and ``digamma``
are off by less than 2.6 units in the last place; for negative x ``lgamma`` by less than 1.6 units of the largest of
one, the result and ``lgamma(|x|)``, and ``digamma`` by less than 4 of the largest of one, the result and
``digamma(1 + |x|)``.

f32 functions compute in f64 and round once.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import as_u64, copysign, cplx, f32, f64, fabs, fma, im, re, select, u64
from xjit.codegen.vmath.angles.tan import near_high_f64, near_low_f64, near_quarters_f64, rise_and_run_f64
from xjit.codegen.vmath.coefficients import gamma
from xjit.codegen.vmath.exponentials.log import (
    LN2_HIGH_F64,
    LN2_LOW_F64,
    ROUNDER_F64,
    fraction_f64,
    log_f64,
    log_ratio_f64,
    normal_exponent_f64,
)
from xjit.codegen.vmath.exponentials.pow import (
    MOVED_F64,
    exponent_pow_f64,
    fraction_pow_f64,
    log2_pair_f64,
    near_sum_f64,
)
from xjit.codegen.vmath.polynomial import balanced_polynomial
from xjit.codegen.vmath.vector_function import reduced

lgamma_by_zeros_f64 = balanced_polynomial("lgamma_by_zeros_f64", "f64", gamma.LGAMMA_BY_ZEROS[1:])
sine_bend_f64 = balanced_polynomial("sine_bend_f64", "f64", gamma.SINE_BY_ANGLE[1:])
stirling_rest_f64 = balanced_polynomial("stirling_rest_f64", "f64", gamma.STIRLING_REST)
digamma_by_root_f64 = balanced_polynomial("digamma_by_root_f64", "f64", gamma.DIGAMMA_BY_ROOT[1:])
digamma_rest_f64 = balanced_polynomial("digamma_rest_f64", "f64", gamma.DIGAMMA_REST)

LN2, LN2_REST = gamma.LN2
PI, PI_REST = gamma.PI
STIRLING_CONSTANT = gamma.STIRLING_CONSTANT
# The leading coefficients are added last, so that the rounding of the others counts less.
BY_ZEROS, BY_ROOT = gamma.LGAMMA_BY_ZEROS[0], gamma.DIGAMMA_BY_ROOT[0]
ROOT, ROOT_REST = gamma.DIGAMMA_ROOT

INFINITY, NAN = math.inf, math.nan
SMALLEST_NORMAL = 2.0**-1022
ROUNDER = 2.0**52
# From here on Stirling's series and that of digamma are exact.
SERIES_LGAMMA, SERIES_DIGAMMA = 4.5, 4.0
NEAR_LGAMMA = -0.5
# Up from here the recurrence would cancel too much of what has been rounded.
DIRECT_FROM = 1.25
# What rounding takes from a product counts up to here, and beyond here the logarithm is infinite.
ROUNDING_COUNTS, INFINITE = 1e200, 1e306
INTEGERS_FROM = 2.0**52


@inline("c128(f64)")
def log_pair_f64(x: Any) -> Any:
    """Natural logarithm of positive x as a sum; some number for others."""
    subnormal = x < SMALLEST_NORMAL
    moved = as_u64(select(subnormal, x * 2.0**54, x)) + u64(MOVED_F64)
    k = exponent_pow_f64(moved) - select(subnormal, f64(54.0), f64(0.0))
    pair = log2_pair_f64(fraction_pow_f64(moved), k)
    high = re(pair) * LN2
    return cplx(high, fma(im(pair), LN2, fma(re(pair), LN2_REST, near_sum_f64(re(pair), f64(LN2), -high))))


@inline("c128(f64,c128)")
def stirling_f64(x: Any, logarithm: Any) -> Any:
    """lgamma of x from SERIES_LGAMMA on as a sum, from its logarithm."""
    factor, high = x - 0.5, re(logarithm) - 1.0
    less = high + im(logarithm)
    rest = (re(logarithm) - (high + 1.0)) + ((high - less) + im(logarithm))
    product = factor * less
    lost = fma(factor, rest, near_sum_f64(factor, less, -product))
    inverse = 1.0 / x
    small = fma(inverse, stirling_rest_f64(inverse * inverse), STIRLING_CONSTANT)
    return cplx(product, small + select(x < ROUNDING_COUNTS, lost, f64(0.0)))


@inline("c128(f64)")
def lgamma_pair_f64(x: Any) -> Any:
    """Logarithm of the magnitude of the gamma function of finite x from -1/2 on, as a sum; some number at zero."""
    j = select((x >= DIRECT_FROM) & (x < 2.0), f64(2.0), (fabs(x) + ROUNDER) - ROUNDER)
    a = x - j
    first = select(j < 2.0, fabs(x), select(j > 2.0, x - 1.0, f64(1.0)))
    second = select(j < 1.0, x + 1.0, select(j > 3.0, x - 2.0, f64(1.0)))
    logarithm = log_pair_f64(select(x < SERIES_LGAMMA, first * second, x))
    by_zeros = a * ((a + 1.0) * fma(a, lgamma_by_zeros_f64(a), BY_ZEROS))
    sign = select(j < 2.0, f64(-1.0), f64(1.0))
    high, low = sign * re(logarithm), sign * im(logarithm)
    total = high + by_zeros
    # The larger of the two first.
    swap = fabs(by_zeros) > fabs(high)
    larger, smaller = select(swap, by_zeros, high), select(swap, high, by_zeros)
    rest = (smaller - (total - larger)) + low
    series = stirling_f64(x, logarithm)
    below = x < SERIES_LGAMMA
    return cplx(select(below, total, re(series)), select(below, rest, im(series)))


@inline("f64(f64,c128)")
def with_infinities_f64(x: Any, pair: Any) -> Any:
    """The sum of lgamma_pair_f64 where it is finite, else lgamma of what x is."""
    result = select(x < INFINITE, re(pair) + im(pair), x * INFINITY)
    return select(x == 0.0, f64(INFINITY), result)


@inline("f64(f64)")
def lgamma_f64_near(x: Any) -> Any:
    """Logarithm of the magnitude of the gamma function of x, for x from -1/2 on."""
    return with_infinities_f64(x, lgamma_pair_f64(x))


@inline("f64(f64,f64,c128)")
def reflected_f64(size: Any, part: Any, right: Any) -> Any:
    """lgamma of -size for a size that is ``part`` from an integer, from that of size; some number at integers."""
    square = part * part
    bend = square * sine_bend_f64(square)
    sine = bend + 1.0
    product = size * part
    rest = fma(product, (1.0 - sine) + bend, near_sum_f64(size, part, -product) * sine)
    gauge = product * sine
    rest = (rest + near_sum_f64(product, sine, -gauge)) / gauge
    # The logarithm of what is now gauge * (1 + rest): the first two of its terms are exact.
    k = normal_exponent_f64(gauge, f64(ROUNDER_F64))
    m = fraction_f64(gauge)
    a = m - 1.0
    s = a / (m + 1.0)
    small = fma(-s, fma(-(s * s), log_ratio_f64(s * s), a), fma(k, LN2_LOW_F64, rest))
    high = k * LN2_HIGH_F64
    first = high + a
    total = first + re(right)
    # What rounding took from the second sum, whichever of its terms is the larger one.
    back = total - first
    lost = (first - (total - back)) + (re(right) - back)
    return -(total + (lost + (((high - first) + a) + (small + im(right)))))


@inline("f64(f64)")
def lgamma_f64(x: Any) -> Any:
    """Logarithm of the magnitude of the gamma function of x."""
    size = fabs(x)
    pair = lgamma_pair_f64(select(x < NEAR_LGAMMA, size, x))
    whole = (size + ROUNDER) - ROUNDER
    part = select(size < INTEGERS_FROM, fabs(size - whole), f64(0.0))
    reflected = select(part == 0.0, f64(INFINITY), reflected_f64(size, part, pair))
    return select(x < NEAR_LGAMMA, reflected, with_infinities_f64(x, pair))


@inline("b1(f64)")
def lgamma_f64_is_far(x: Any) -> Any:
    """Return whether x is left of where the quick variant is right."""
    return x < NEAR_LGAMMA


@inline("f64(f64)")
def digamma_f64_near(x: Any) -> Any:
    """Logarithmic derivative of the gamma function of x, for x from zero on."""
    lower = x < 1.0
    j = select(x < 2.5, f64(0.0), select(x < 3.5, f64(1.0), f64(2.0)))
    y = select(lower, x + 1.0, x - j)
    a = y - 1.75
    by_root = ((y - ROOT) - ROOT_REST) * fma(a, digamma_by_root_f64(a), BY_ROOT)
    # One or two terms of the recurrence in one division, and what its rounding takes.
    numerator = select(j > 1.0, y + (x - 1.0), select(lower, f64(-1.0), select(j > 0.0, f64(1.0), f64(0.0))))
    divisor = select(j > 1.0, y * (x - 1.0), select(lower, x, y))
    term = numerator / divisor
    lost = select(fabs(term) < 4.0, near_sum_f64(-term, divisor, numerator) / divisor, f64(0.0))
    shifted = term + (by_root + lost)
    inverse = 1.0 / x
    square = inverse * inverse
    small = fma(square, digamma_rest_f64(square), 0.5 * inverse)
    return select(x < SERIES_DIGAMMA, shifted, log_f64(x) - small)


@inline("f64(f64,f64)")
def plus_cotangent_f64(right: Any, part: Any) -> Any:
    """right + pi / tan(pi * part) for a part of at most a half in size."""
    size = fabs(part)
    angle = size * PI
    lost = fma(size, PI_REST, near_sum_f64(size, f64(PI), -angle))
    slope = rise_and_run_f64(near_high_f64(angle), near_low_f64(angle) + lost)
    # One quarter of a turn before it the cotangent is the tangent but for its sign.
    odd = as_u64(near_quarters_f64(angle)) & u64(1) != u64(0)
    numerator, divisor = select(odd, -re(slope), im(slope)), select(odd, im(slope), re(slope))
    inverse = 1.0 / divisor
    cotangent = numerator * inverse
    rest = near_sum_f64(-cotangent, divisor, numerator) * inverse
    rest = select(fabs(cotangent) < ROUNDING_COUNTS, rest, f64(0.0))
    rest = fma(cotangent, copysign(f64(PI_REST), part), rest * copysign(f64(PI), part))
    return fma(cotangent, copysign(f64(PI), part), right + rest)


@inline("f64(f64)")
def digamma_f64(x: Any) -> Any:
    """Logarithmic derivative of the gamma function of x."""
    size = fabs(x)
    right = digamma_f64_near(select(x < 0.0, size + 1.0, x))
    whole = (size + ROUNDER) - ROUNDER
    part = select(size < INTEGERS_FROM, size - whole, f64(0.0))
    reflected = plus_cotangent_f64(right, part)
    reflected = select((part == 0.0) | (size == INFINITY), f64(NAN), reflected)
    return select(x < 0.0, reflected, right)


@inline("b1(f64)")
def digamma_f64_is_far(x: Any) -> Any:
    """Return whether x is negative."""
    return x < 0.0


@inline("f32(f32)")
def lgamma_f32(x: Any) -> Any:
    """Logarithm of the magnitude of the gamma function of x."""
    return f32(lgamma_f64(f64(x)))


@inline("f32(f32)")
def lgamma_f32_near(x: Any) -> Any:
    """Logarithm of the magnitude of the gamma function of x, for x from -1/2 on."""
    return f32(lgamma_f64_near(f64(x)))


@inline("b1(f32)")
def lgamma_f32_is_far(x: Any) -> Any:
    """Return whether x is left of where the quick variant is right."""
    return x < f32(NEAR_LGAMMA)


@inline("f32(f32)")
def digamma_f32(x: Any) -> Any:
    """Logarithmic derivative of the gamma function of x."""
    return f32(digamma_f64(f64(x)))


@inline("f32(f32)")
def digamma_f32_near(x: Any) -> Any:
    """Logarithmic derivative of the gamma function of x, for x from zero on."""
    return f32(digamma_f64_near(f64(x)))


@inline("b1(f32)")
def digamma_f32_is_far(x: Any) -> Any:
    """Return whether x is negative."""
    return x < f32(0.0)


FUNCTIONS = (
    reduced("lgamma_f32", 0.51),
    reduced("lgamma_f64", 2.6),
    reduced("digamma_f32", 0.51),
    reduced("digamma_f64", 4.0),
)
