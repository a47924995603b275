"""Powers: ``pow(x, y) = 2**(y * log2(|x|))``, with the sign of x where y is an odd integer.

``|x| = 2**k * m`` with ``sqrt(1/2) <= m < sqrt(2)`` and ``log2(m) = 2 atanh(s) / log(2)`` for
``s = (m - 1) / (m + 1)``.  The exponent ``y * log2(|x|)`` may reach 1075, and what it is off by goes into the
result as a relative error.

Both are carried as a sum of two floats, good to nine bits (f64) or eight (f32) more than the result needs:
of ``2 atanh(s) / (s log(2)) = SCALE + CUBIC * s**2 + s**4 * tail(s**2)`` the two leading terms need both parts.
What a rounded sum or product lacks is found by asking for it with fused multiply-add; on processors without it
:func:`near_sum_f64` multiplies halves (Dekker 1971) and :func:`near_sum_f32` in f64.

``pow_f64_near`` leaves out what only negative, infinite, huge and tiny numbers need. Positive powers of zero are
among the usual ones: they are frequent, as in images.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import (
    as_f32,
    as_f64,
    as_u32,
    as_u64,
    b1,
    cplx,
    f32,
    f64,
    fabs,
    fma,
    im,
    lshr,
    re,
    select,
    shl,
    u32,
    u64,
)
from xjit.codegen.vmath.coefficients import power
from xjit.codegen.vmath.polynomial import balanced_polynomial, polynomial
from xjit.codegen.vmath.vector_function import reduced

log2_tail_pow_f32 = polynomial("log2_tail_pow_f32", "f32", (power.CUBIC_F32[1], *power.LOG2_TAIL_F32))
log2_tail_pow_f64 = balanced_polynomial("log2_tail_pow_f64", "f64", (power.CUBIC_F64[1], *power.LOG2_TAIL_F64))
exp2_pow_f32 = polynomial("exp2_pow_f32", "f32", power.EXP2_F32[2:])
exp2_pow_f64 = balanced_polynomial("exp2_pow_f64", "f64", power.EXP2_F64[2:])

SCALE_F32, SCALE_REST_F32 = power.SCALE_F32
SCALE_F64, SCALE_REST_F64 = power.SCALE_F64
CUBIC_F32, CUBIC_F64 = power.CUBIC_F32[0], power.CUBIC_F64[0]
# Of the line nearest to SCALE / (1 - z).
SLOPE_F64 = 1.025 * SCALE_F64
QUINTIC_F32, QUINTIC_F64 = power.LOG2_TAIL_F32[0], power.LOG2_TAIL_F64[0]
EXP2_SLOPE_F32, EXP2_SLOPE_F64 = power.EXP2_F32[1], power.EXP2_F64[1]

INFINITY, NEGATIVE_INFINITY, NAN = math.inf, -math.inf, math.nan
SMALLEST_NORMAL_F32, SMALLEST_NORMAL_F64 = 2.0**-126, 2.0**-1022
# Bit patterns: the sign, the fraction, sqrt(1/2), and what to add to get the exponent from there, moved up.
SIGN_F32, FRACTION_F32, ROOT_HALF_F32 = 1 << 31, (1 << 23) - 1, 0x3F3504F3
SIGN_F64, FRACTION_F64, ROOT_HALF_F64 = 1 << 63, (1 << 52) - 1, 0x3FE6A09E667F3BCD
MOVED_F32, MOVED_F64 = (128 << 23) - ROOT_HALF_F32, (1024 << 52) - ROOT_HALF_F64
# With these bits on top an integer is a float; how much larger than k that is.
INTEGER_BITS_F32, INTEGER_F32 = 0x4B000000, 2.0**23 + 128.0
INTEGER_BITS_F64, INTEGER_F64 = 0x4330000000000000, 2.0**52 + 1024.0
# Rounds to an integer and leaves it in the low bits, as the exponent field of a power of two.
ROUNDER_F32, ROUNDER_F64 = 1.5 * 2.0**23 + 127.0, 1.5 * 2.0**52 + 1023.0

# Exponents at which every power but that of one is infinite or zero.
LARGE_EXPONENT_F32, LARGE_EXPONENT_F64 = 2.0**40, 2.0**66
HIGHEST_F32, LOWEST_F32 = 128.5, -152.0
HIGHEST_F64, LOWEST_F64 = 1024.5, -1080.0
# Powers of two up to these are normal; they are applied in one step, all others in two.
NEAR_POWER_F32, NEAR_POWER_F64 = 98.0, 960.0
# What to add to exponent fields, and factors that make up for it.
SMALL_BITS_F32, LARGE_BITS_F32 = 64 << 23, (1 << 32) - (1 << 23)
SMALL_BITS_F64, LARGE_BITS_F64 = 128 << 52, (1 << 64) - (1 << 52)
SMALL_FACTOR_F32, SMALL_FACTOR_F64 = 2.0**-64, 2.0**-128
# All floats from here on are even integers when doubled; adding it rounds to an integer.
EVEN_F32, EVEN_F64 = 2.0**23, 2.0**52

SPLITTER = 2.0**27 + 1.0
PROBE = 1.0 + 2.0**-30
PROBE_SQUARE = 1.0 + 2.0**-29


@inline("f64(f64,f64,f64)")
def near_sum_f64(a: Any, b: Any, c: Any) -> Any:
    """a * b + c rounded once, for c near -a * b, and a and b far from the largest and the smallest numbers.

    Whether the processor has fused multiply-add is known when the probe is compiled, and one branch remains.
    """
    a_upper = a * SPLITTER - (a * SPLITTER - a)
    b_upper = b * SPLITTER - (b * SPLITTER - b)
    a_lower, b_lower = a - a_upper, b - b_upper
    product = a * b
    rest = (a_upper * b_upper - product) + a_upper * b_lower + a_lower * b_upper + a_lower * b_lower
    fused = fma(f64(PROBE), f64(PROBE), f64(-PROBE_SQUARE)) != 0.0
    return select(fused, fma(a, b, c), (product + c) + rest)


@inline("f64(u64)")
def exponent_pow_f64(moved: Any) -> Any:
    """k of the number 2**k * m whose bits, plus MOVED_F64, these are."""
    return as_f64(lshr(moved, u64(52)) | u64(INTEGER_BITS_F64)) - INTEGER_F64


@inline("f64(u64)")
def fraction_pow_f64(moved: Any) -> Any:
    """m of the number 2**k * m whose bits, plus MOVED_F64, these are."""
    return as_f64((moved & u64(FRACTION_F64)) + u64(ROOT_HALF_F64))


@inline("c128(f64,f64)")
def log2_pair_f64(m: Any, k: Any) -> Any:
    """k + log2(m) as a sum, for sqrt(1/2) <= m < sqrt(2) and integers k; the second part is below 2**-18."""
    a, d = m - 1.0, m + 1.0
    inverse = 1.0 / d
    # s and its rest: a - s * (m + 1), where m + 1 is a + 2 and a - 2 * s exact.
    s = a * inverse
    s_rest = near_sum_f64(-s, a, fma(s, -2.0, a)) * inverse
    z = s * s
    # Sums are rounded first and their rests asked for then.
    g = fma(z, fma(z, QUINTIC_F64, CUBIC_F64), SCALE_F64)
    g_rest = fma(near_sum_f64(s, s, -z), CUBIC_F64, near_sum_f64(z, f64(CUBIC_F64), SCALE_F64 - g)) + SCALE_REST_F64
    g_rest = fma(z, log2_tail_pow_f64(z), g_rest)
    high = fma(s, g, k)
    low = fma(s, g_rest, near_sum_f64(s, g, k - high))
    # SCALE_F64 + 3 * CUBIC_F64 * z is the slope.
    return cplx(high, fma(s_rest, fma(z, SLOPE_F64, SCALE_F64), low))


@inline("f64(f64,c128,f64)")
def exp2_product_f64(y: Any, logarithm: Any, shifted: Any) -> Any:
    """2**(y * logarithm - n) for the integer n = shifted - ROUNDER_F64 next to that product."""
    r = fma(y, im(logarithm), near_sum_f64(y, re(logarithm), ROUNDER_F64 - shifted))
    return fma(r, fma(r, exp2_pow_f64(r), EXP2_SLOPE_F64), 1.0)


@inline("f64(f64)")
def near_exponent_f64(x: Any) -> Any:
    """k of normal positive x = 2**k * m; infinity and NaN of those."""
    return select(x < INFINITY, exponent_pow_f64(as_u64(x) + u64(MOVED_F64)), x)


@inline("c128(f64)")
def near_log2_f64(x: Any) -> Any:
    """log2(x) in two parts for normal positive x, and for NaN."""
    return log2_pair_f64(fraction_pow_f64(as_u64(x) + u64(MOVED_F64)), near_exponent_f64(x))


@inline("b1(f64,f64)")
def is_power_of_zero_f64(x: Any, y: Any) -> Any:
    """Return whether x is zero, without a sign that the power might have as well, and y positive."""
    return (as_u64(x) == u64(0)) & (y > 0.0)


@inline("f64(f64,f64)")
def pow_f64_near(x: Any, y: Any) -> Any:
    """x to the power y, for x and results that are positive and far from the largest and smallest numbers."""
    logarithm = near_log2_f64(x)
    shifted = fma(y, re(logarithm), ROUNDER_F64)
    result = exp2_product_f64(y, logarithm, shifted) * as_f64(shl(as_u64(shifted), u64(52)))
    result = select(is_power_of_zero_f64(x, y), f64(0.0), result)
    return select((x == 1.0) | (y == 0.0), f64(1.0), result)


@inline("b1(f64,f64)")
def pow_f64_is_far(x: Any, y: Any) -> Any:
    """Return whether the near power may be wrong; what it shares with that is computed once."""
    # Infinite x makes n infinite, unless y is zero and the power one.
    n = fabs(ROUNDER_F64 - fma(y, re(near_log2_f64(x)), ROUNDER_F64))
    return ((x < SMALLEST_NORMAL_F64) | (n > NEAR_POWER_F64)) & (is_power_of_zero_f64(x, y) ^ b1(1))


@inline("f64(f64,f64)")
def pow_f64(x: Any, y: Any) -> Any:
    """x to the power y."""
    size = fabs(x)
    subnormal = size < SMALLEST_NORMAL_F64
    moved = as_u64(select(subnormal, size * 2.0**54, size)) + u64(MOVED_F64)
    k = exponent_pow_f64(moved) - select(subnormal, f64(54.0), f64(0.0))
    k = select(size < INFINITY, k, size)
    logarithm = log2_pair_f64(fraction_pow_f64(moved), k)
    n = select(y > LARGE_EXPONENT_F64, f64(LARGE_EXPONENT_F64), y)
    n = select(n < -LARGE_EXPONENT_F64, f64(-LARGE_EXPONENT_F64), n)
    shifted = fma(n, re(logarithm), ROUNDER_F64)
    p = exp2_product_f64(n, logarithm, shifted)
    high = select(size == 0.0, f64(NEGATIVE_INFINITY), re(logarithm))
    exponent = n * high
    small = exponent < -NEAR_POWER_F64
    factor = as_f64(shl(as_u64(shifted), u64(52)) + select(small, u64(SMALL_BITS_F64), u64(LARGE_BITS_F64)))
    result = p * factor * select(small, f64(SMALL_FACTOR_F64), f64(2.0))
    result = select(exponent > HIGHEST_F64, f64(INFINITY), result)
    result = select(exponent < LOWEST_F64, f64(0.0), result)
    result = select(exponent == exponent, result, exponent)
    return with_sign_pow_f64(x, n, result)


@inline("f64(f64,f64,f64)")
def with_sign_pow_f64(x: Any, y: Any, result: Any) -> Any:
    """The power of x from that of its magnitude; y has been made finite."""
    half = fabs(y) * 0.5
    half = select(half > EVEN_F64, f64(EVEN_F64), half)
    # Distance of half of y to the nearest integer: none if y is even, a half if it is odd.
    distance = fabs(half - ((half + EVEN_F64) - EVEN_F64))
    sign = as_u64(x) & u64(SIGN_F64)
    result = as_f64(as_u64(result) | select(distance == 0.5, sign, u64(0)))
    broken = ((distance != 0.0) & (distance != 0.5)) | (fabs(y) < 1.0)
    result = select((x < 0.0) & (x > NEGATIVE_INFINITY) & broken, f64(NAN), result)
    return select((x == 1.0) | (y == 0.0), f64(1.0), result)


@inline("f32(f32,f32,f32)")
def near_sum_f32(a: Any, b: Any, c: Any) -> Any:
    """a * b + c for c near -a * b; without fused multiply-add the product is exact in f64."""
    fused = fma(f64(PROBE), f64(PROBE), f64(-PROBE_SQUARE)) != 0.0
    return select(fused, fma(a, b, c), f32(f64(a) * f64(b) + f64(c)))


@inline("f32(u32)")
def exponent_pow_f32(moved: Any) -> Any:
    """k of the number 2**k * m whose bits, plus MOVED_F32, these are."""
    return as_f32(lshr(moved, u32(23)) | u32(INTEGER_BITS_F32)) - f32(INTEGER_F32)


@inline("f32(u32)")
def fraction_pow_f32(moved: Any) -> Any:
    """m of the number 2**k * m whose bits, plus MOVED_F32, these are."""
    return as_f32((moved & u32(FRACTION_F32)) + u32(ROOT_HALF_F32))


@inline("c64(f32,f32)")
def log2_pair_f32(m: Any, k: Any) -> Any:
    """k + log2(m) as a sum, as for f64, but what z was rounded by takes half a unit at most."""
    a, d = m - f32(1.0), m + f32(1.0)
    inverse = f32(1.0) / d
    s = a * inverse
    s_rest = near_sum_f32(-s, a, fma(s, f32(-2.0), a)) * inverse
    z = s * s
    g = fma(z, fma(z, f32(QUINTIC_F32), f32(CUBIC_F32)), f32(SCALE_F32))
    g_rest = near_sum_f32(z, f32(CUBIC_F32), f32(SCALE_F32) - g) + f32(SCALE_REST_F32)
    g_rest = fma(z, log2_tail_pow_f32(z), g_rest)
    high = fma(s, g, k)
    low = fma(s, g_rest, near_sum_f32(s, g, k - high))
    return cplx(high, fma(s_rest, fma(z, f32(SCALE_F32), f32(SCALE_F32)), low))


@inline("f32(f32,c64,f32)")
def exp2_product_f32(y: Any, logarithm: Any, shifted: Any) -> Any:
    """2**(y * logarithm - n) for the integer n = shifted - ROUNDER_F32 next to that product."""
    r = fma(y, im(logarithm), near_sum_f32(y, re(logarithm), f32(ROUNDER_F32) - shifted))
    return fma(r, fma(r, exp2_pow_f32(r), f32(EXP2_SLOPE_F32)), f32(1.0))


@inline("f32(f32)")
def near_exponent_f32(x: Any) -> Any:
    """k of normal positive x = 2**k * m; infinity and NaN of those."""
    return select(x < f32(INFINITY), exponent_pow_f32(as_u32(x) + u32(MOVED_F32)), x)


@inline("c64(f32)")
def near_log2_f32(x: Any) -> Any:
    """log2(x) in two parts for normal positive x, and for NaN."""
    return log2_pair_f32(fraction_pow_f32(as_u32(x) + u32(MOVED_F32)), near_exponent_f32(x))


@inline("b1(f32,f32)")
def is_power_of_zero_f32(x: Any, y: Any) -> Any:
    """Return whether x is zero, without a sign that the power might have as well, and y positive."""
    return (as_u32(x) == u32(0)) & (y > f32(0.0))


@inline("f32(f32,f32)")
def pow_f32_near(x: Any, y: Any) -> Any:
    """x to the power y, for x and results that are positive and far from the largest and smallest numbers."""
    logarithm = near_log2_f32(x)
    shifted = fma(y, re(logarithm), f32(ROUNDER_F32))
    power = as_f32(shl(as_u32(shifted), u32(23)))
    result = exp2_product_f32(y, logarithm, shifted) * power
    result = select(is_power_of_zero_f32(x, y), f32(0.0), result)
    return select((x == f32(1.0)) | (y == f32(0.0)), f32(1.0), result)


@inline("b1(f32,f32)")
def pow_f32_is_far(x: Any, y: Any) -> Any:
    """Return whether the near power may be wrong; what it shares with that is computed once."""
    # Infinite x makes n infinite, unless y is zero and the power one.
    n = fabs(f32(ROUNDER_F32) - fma(y, re(near_log2_f32(x)), f32(ROUNDER_F32)))
    return ((x < f32(SMALLEST_NORMAL_F32)) | (n > f32(NEAR_POWER_F32))) & (is_power_of_zero_f32(x, y) ^ b1(1))


@inline("f32(f32,f32)")
def pow_f32(x: Any, y: Any) -> Any:
    """x to the power y."""
    size = fabs(x)
    subnormal = size < f32(SMALLEST_NORMAL_F32)
    moved = as_u32(select(subnormal, size * f32(2.0**24), size)) + u32(MOVED_F32)
    k = exponent_pow_f32(moved) - select(subnormal, f32(24.0), f32(0.0))
    k = select(size < f32(INFINITY), k, size)
    logarithm = log2_pair_f32(fraction_pow_f32(moved), k)
    n = select(y > f32(LARGE_EXPONENT_F32), f32(LARGE_EXPONENT_F32), y)
    n = select(n < f32(-LARGE_EXPONENT_F32), f32(-LARGE_EXPONENT_F32), n)
    shifted = fma(n, re(logarithm), f32(ROUNDER_F32))
    p = exp2_product_f32(n, logarithm, shifted)
    high = select(size == f32(0.0), f32(NEGATIVE_INFINITY), re(logarithm))
    exponent = n * high
    small = exponent < f32(-NEAR_POWER_F32)
    factor = as_f32(shl(as_u32(shifted), u32(23)) + select(small, u32(SMALL_BITS_F32), u32(LARGE_BITS_F32)))
    result = p * factor * select(small, f32(SMALL_FACTOR_F32), f32(2.0))
    result = select(exponent > f32(HIGHEST_F32), f32(INFINITY), result)
    result = select(exponent < f32(LOWEST_F32), f32(0.0), result)
    result = select(exponent == exponent, result, exponent)
    return with_sign_pow_f32(x, n, result)


@inline("f32(f32,f32,f32)")
def with_sign_pow_f32(x: Any, y: Any, result: Any) -> Any:
    """The power of x from that of its magnitude; y has been made finite."""
    half = fabs(y) * f32(0.5)
    half = select(half > f32(EVEN_F32), f32(EVEN_F32), half)
    distance = fabs(half - ((half + f32(EVEN_F32)) - f32(EVEN_F32)))
    sign = as_u32(x) & u32(SIGN_F32)
    result = as_f32(as_u32(result) | select(distance == f32(0.5), sign, u32(0)))
    broken = ((distance != f32(0.0)) & (distance != f32(0.5))) | (fabs(y) < f32(1.0))
    result = select((x < f32(0.0)) & (x > f32(NEGATIVE_INFINITY)) & broken, f32(NAN), result)
    return select((x == f32(1.0)) | (y == f32(0.0)), f32(1.0), result)


FUNCTIONS = (
    reduced("pow_f32", 1.35, frequent=True),  # where a base is negative, more of them are
    reduced("pow_f64", 1.6, frequent=True),
)
