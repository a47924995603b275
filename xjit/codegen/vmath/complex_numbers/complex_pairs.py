"""Logarithm and angle of complex numbers in two floats each, good to 60 bits and more: what powers need.

With ``1 + a`` for ``x**2 + y**2`` brought next to one, and ``s = a / (2 + a)``, the logarithm of that is
``2 s + s**3 * (2/3 + 2/5 s**2 + ...)``, of which everything up to the cube is computed in two floats.

The angle of the smaller part b over the larger part a is that of the nearest quarter q, which is known, and of ``t =
(b - q a) / (a + q b)``, which is at most an eighth; of ``t - t**3 / 3 + ...`` the first term is in two floats.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import as_u64, copysign, cplx, f64, fabs, fma, im, re, rint, select, u64
from xjit.codegen.vmath.coefficients.exponential import LOG2_E
from xjit.codegen.vmath.complex_numbers.complex_logarithm import less_one_f64, log_power_f64, scaled_square_f64
from xjit.codegen.vmath.complex_numbers.complex_parts import (
    exponent_of_exp_f64,
    rounded_off_f64,
    scaled_power_f64,
    two_sum_f64,
)
from xjit.codegen.vmath.complex_numbers.complex_root import is_infinite_f64, scale_f64
from xjit.codegen.vmath.exponentials.exp import ROUNDER_F64, exp_tail_f64, without_powers_f64
from xjit.codegen.vmath.exponentials.log import LN2_HIGH_F64, LN2_LOW_F64, exponent_f64
from xjit.codegen.vmath.polynomial import polynomial

INFINITY, NEGATIVE_INFINITY = math.inf, -math.inf
TWO_THIRDS, TWO_THIRDS_REST = 0.6666666666666666, 3.700743415417188e-17
HALF_PI, HALF_PI_REST = 1.5707963267948966, 6.123233995736766e-17
# Angles whose tangents are quarters, in two parts.
ANGLE_1, ANGLE_1_REST = 0.24497866312686414, 1.0698755618734451e-17
ANGLE_2, ANGLE_2_REST = 0.4636476090008061, 2.2698777452961687e-17
ANGLE_3, ANGLE_3_REST = 0.6435011087932844, 1.5834785051444286e-17
ANGLE_4, ANGLE_4_REST = 0.7853981633974483, 3.061616997868383e-17
# Exponents beyond this give nothing finite, nor anything that is not zero.
LARGE_EXPONENT = 4096.0

# What follows the cube in the logarithm, and the first term in the arc tangent, over the next lower odd power.
log_series_f64 = polynomial("complex_log_series_f64", "f64", tuple(2.0 / (2 * k + 5) for k in range(10)))
arc_series_f64 = polynomial("complex_arc_series_f64", "f64", tuple((-1.0) ** (k + 1) / (2 * k + 3) for k in range(9)))


@inline("f64(f64,f64,f64)")
def left_over_f64(a: Any, b: Any, quotient: Any) -> Any:
    """a - quotient * b."""
    product = quotient * b
    return (a - product) - rounded_off_f64(quotient, b, product)


@inline("c128(f64,f64)")
def normal_pair_c128(high: Any, low: Any) -> Any:
    """The same sum with the first number rounded, for a second number that is smaller."""
    sum_ = high + low
    return cplx(sum_, low - (sum_ - high))


@inline("c128(f64,c128)")
def natural_pair_c128(n: Any, a: Any) -> Any:
    """n * log(2) + log(1 + a), in two floats, for a in two floats."""
    high, low = re(a), im(a)
    divisor = high + 2.0
    inverse = 1.0 / divisor
    s = high * inverse
    rest = left_over_f64(high, divisor, s) + low - s * (((2.0 - divisor) + high) + low)
    s_rest = rest * inverse
    z = s * s
    z_rest = fma(s + s, s_rest, rounded_off_f64(s, s, z))
    cubic = z * TWO_THIRDS
    tail = fma(z_rest, TWO_THIRDS, fma(z, TWO_THIRDS_REST, rounded_off_f64(z, f64(TWO_THIRDS), cubic)))
    tail = fma(z * z, log_series_f64(z), tail)
    g = 2.0 + cubic
    g_rest = (cubic - (g - 2.0)) + tail
    p = s * g
    p_rest = fma(s_rest, g, fma(s, g_rest, rounded_off_f64(s, g, p)))
    sum_ = two_sum_f64(n * LN2_HIGH_F64, p)
    return normal_pair_c128(re(sum_), im(sum_) + fma(n, LN2_LOW_F64, p_rest))


@inline("c128(c128)")
def log_pair_c128(z: Any) -> Any:
    """Logarithm of the modulus of z, in two floats."""
    x, y = re(z), im(z)
    m = scaled_square_f64(x, y, 0.0)
    n = exponent_f64(re(m)) + log_power_f64(x, y)
    pair = natural_pair_c128(n, less_one_f64(m))
    special = select(re(m) == 0.0, NEGATIVE_INFINITY, select(is_infinite_f64(x, y), INFINITY, re(m)))
    ordinary = (re(m) > 0.0) & (re(m) < INFINITY) & (re(m) == re(m))
    return cplx(select(ordinary, 0.5 * re(pair), special), select(ordinary, 0.5 * im(pair), 0.0))


@inline("c128(f64)")
def quarter_angle_c128(quarter: Any) -> Any:
    """The angle whose tangent is a quarter, two, three or four of them, or none; in two floats."""
    high = select(quarter > 0.3, f64(ANGLE_2), select(quarter > 0.1, f64(ANGLE_1), 0.0))
    low = select(quarter > 0.3, f64(ANGLE_2_REST), select(quarter > 0.1, f64(ANGLE_1_REST), 0.0))
    high = select(quarter > 0.6, select(quarter > 0.9, f64(ANGLE_4), f64(ANGLE_3)), high)
    return cplx(high, select(quarter > 0.6, select(quarter > 0.9, f64(ANGLE_4_REST), f64(ANGLE_3_REST)), low))


@inline("c128(f64,f64)")
def small_angle_c128(a: Any, b: Any) -> Any:
    """The angle of a + ib for a >= b >= 0 of ordinary size, in two floats; only their sum is right."""
    quarter = 0.25 * rint(4.0 * b / a)
    part, other = quarter * a, quarter * b
    above = two_sum_f64(b, -part)
    divisor = a + other
    above_rest = im(above) - rounded_off_f64(quarter, a, part)
    divisor_rest = (other - (divisor - a)) + rounded_off_f64(quarter, b, other)
    inverse = 1.0 / divisor
    t = re(above) * inverse
    t_rest = (left_over_f64(re(above), divisor, t) + above_rest - t * divisor_rest) * inverse
    z = t * t
    known = quarter_angle_c128(quarter)
    sum_ = two_sum_f64(re(known), t)
    return cplx(re(sum_), im(sum_) + (im(known) + fma(t * z, arc_series_f64(z), t_rest)))


@inline("f64(f64)")
def direction_f64(x: Any) -> Any:
    """A number next to which finite ones are nothing: one for infinity, zero for others, with the sign of x."""
    return select(x != x, x, copysign(select(fabs(x) == INFINITY, f64(1.0), 0.0), x))


@inline("c128(c128)")
def angle_pair_c128(z: Any) -> Any:
    """Angle of z in two floats."""
    infinite = is_infinite_f64(re(z), im(z))
    x, y = select(infinite, direction_f64(re(z)), re(z)), select(infinite, direction_f64(im(z)), im(z))
    scale = scale_f64(x, y)
    a, b = fabs(x * scale), fabs(y * scale)
    steep, left = b > a, as_u64(x) > u64(1 << 63) - u64(1)
    small = small_angle_c128(select(steep, b, a), select(steep, a, b))
    sign = select(steep == left, f64(1.0), -1.0)
    base = select(steep, f64(1.0), select(left, 2.0, 0.0))
    sum_ = two_sum_f64(base * HALF_PI, sign * re(small))
    low = im(sum_) + fma(base, HALF_PI_REST, sign * im(small))
    turn = copysign(f64(1.0), y)
    return normal_pair_c128(turn * re(sum_), turn * low)


@inline("c128(f64,c128,f64,c128)")
def cross_pair_c128(c: Any, first: Any, d: Any, second: Any) -> Any:
    """c * first + d * second in two floats."""
    one, two = c * re(first), d * re(second)
    sum_ = two_sum_f64(one, two)
    rest = rounded_off_f64(c, re(first), one) + rounded_off_f64(d, re(second), two)
    return cplx(re(sum_), im(sum_) + (rest + fma(c, im(first), d * im(second))))


@inline("f64(f64,f64)")
def exponential_of_pair_f64(x: Any, rest: Any) -> Any:
    """e to the power x + rest, but for its growth, twice."""
    v = exponent_of_exp_f64(x)
    shifted = fma(v, LOG2_E, ROUNDER_F64)
    r = without_powers_f64(v, shifted) + select(fabs(x) < LARGE_EXPONENT, rest, 0.0)
    return (1.0 + fma(r * r, exp_tail_f64(r), r)) * scaled_power_f64(shifted)
