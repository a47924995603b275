"""Logarithms: ``log``, ``log2``, ``log10`` and ``log1p``.

``x = 2**k * m`` with ``sqrt(1/2) <= m < sqrt(2)`` (``3/4 <= m < 3/2`` where that is as good, since processors with
AVX-512 find it faster); subnormal x is scaled up first.  With ``a = m - 1`` and
``s = a / (2 + a)``, from ``log(m) = 2 atanh(s)`` and ``2 s = a - s a``::

    log(m) = a - s * (a - s**2 * ratio(s**2))

where everything after the exact ``a`` is small.  ``k * log(2)`` is added in two parts in f64, the low one to the
small terms; in f32 the nearest float to log(2) is good enough.  Other bases: ``a`` times the first part of the
factor enters the last addition unrounded, so that powers of ten come out exact.

In f32 ``log2`` and ``log10`` divide by nothing, since some processors divide slowly: four bits of ``m`` say a number
c near 1 / m and its logarithm (:mod:`xjit.codegen.cpu.tables`), and ``r = c * m - 1`` is at most 1/16.  These numbers
are chosen such that the logarithm needs few bits, so that its sum with that of ``2**k`` is exact; next to one c is
one.

In f32 the exponent makes the logarithms of zero and infinity infinite, and that of a negative number NaN.  There are
no quick variants without zeros, negative numbers and such: logarithms of those are too common to run twice.

``log1p(x)`` takes k from ``u = 1 + x``, where rounding does not matter, and ``a = 2**-k * x + (2**-k - 1)``.  With
``3/4 <= m < 3/2`` that sum is exact: its terms are within a factor of two of each other, unless k is zero.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.cpu import wide_forms
from xjit.codegen.cpu.tables import table
from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import (
    as_f32,
    as_f64,
    as_i32,
    as_i64,
    as_u32,
    as_u64,
    ashr,
    copysign,
    exact_fma,
    f32,
    fma,
    i32,
    i64,
    select,
    u32,
    u64,
)
from xjit.codegen.vmath.coefficients import exponential, logarithm
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.vector_function import everywhere

log_ratio_f32 = polynomial("log_ratio_f32", "f32", logarithm.LOG_RATIO_F32)
log2_curve_f32 = polynomial("log2_curve_f32", "f32", (logarithm.LOG2_E_F32[1], *logarithm.LOG2_CURVE_F32))
log10_curve_f32 = polynomial("log10_curve_f32", "f32", logarithm.LOG10_CURVE_F32)
log2_ratio_f64 = polynomial("log2_ratio_f64", "f64", logarithm.LOG2_RATIO_F64)
log10_ratio_f64 = polynomial("log10_ratio_f64", "f64", logarithm.LOG10_RATIO_F64)
wide_ratio_f32 = polynomial("wide_ratio_f32", "f32", logarithm.WIDE_RATIO_F32)
wide_ratio_f64 = polynomial("wide_ratio_f64", "f64", logarithm.WIDE_RATIO_F64)
log_ratio_f64 = polynomial("log_ratio_f64", "f64", logarithm.LOG_RATIO_F64)

LN2_F32 = logarithm.LN2_NEAREST_F32
LN2_F64, LN10_F64 = logarithm.LN2_NEAREST_F64, logarithm.LN10_NEAREST_F64
LN2_HIGH_F64, LN2_LOW_F64 = exponential.LN2_F64

LOG2_E_HIGH_F32 = logarithm.LOG2_E_F32[0]
LOG2_E_HIGH_F64, LOG2_E_LOW_F64 = exponential.LOG2_E_F64
LOG10_E_NEAREST_F32 = logarithm.LOG10_E_NEAREST_F32
LOG10_E_HIGH_F64, LOG10_E_LOW_F64 = logarithm.LOG10_E_F64
LOG10_2_HIGH_F32, LOG10_2_LOW_F32 = logarithm.LOG10_2_F32
LOG10_2_HIGH_F64, LOG10_2_LOW_F64 = logarithm.LOG10_2_F64

INFINITY = math.inf
NEGATIVE_INFINITY = -math.inf
NAN = math.nan

# The first four bits of a fraction.
FIRST_BITS_F32 = 23 - 4
log2_inverse_f32 = table("log2_inverse_f32", logarithm.LOG2_INVERSE_F32, FIRST_BITS_F32)
log2_part_f32 = table("log2_part_f32", logarithm.LOG2_PART_F32, FIRST_BITS_F32)
log10_inverse_f32 = table("log10_inverse_f32", logarithm.LOG10_INVERSE_F32, FIRST_BITS_F32)
log10_part_f32 = table("log10_part_f32", logarithm.LOG10_PART_F32, FIRST_BITS_F32)

SMALLEST_NORMAL_F32 = 2.0**-126
SMALLEST_NORMAL_F64 = 2.0**-1022
# Bit patterns: sqrt(1/2), fraction, sign and exponent, one less than infinity, one, 3/4, two.
ROOT_HALF_F32, FRACTION_F32, EXPONENT_F32, FINITE_F32 = 0x3F3504F3, 0x007FFFFF, 0xFF800000, 0x7F7FFFFF
ROOT_HALF_F64, EXPONENT_F64, FINITE_F64 = 0x3FE6A09E667F3BCD, 0xFFF0000000000000, 0x7FEFFFFFFFFFFFFF
ONE_F32 = 0x3F800000
THREE_QUARTERS_F32, THREE_QUARTERS_F64 = 0x3F400000, 0x3FE8000000000000
TWO_BITS_F32, TWO_BITS_F64 = 128 << 23, 1024 << 52

# Adding the bits of 1.5 * 2**52 to an integer makes a float of it that is too large by that number.
ROUNDER_F64 = 1.5 * 2.0**52
ROUNDER_BITS_F64 = 0x4338000000000000


@inline("f32(f32)")
def without_subnormals_f32(x: Any) -> Any:
    """x, or where it is subnormal x * 2**23."""
    return select(x < f32(SMALLEST_NORMAL_F32), x * f32(2.0**23), x)


@inline("f64(f64)")
def without_subnormals_f64(x: Any) -> Any:
    """x, or where it is subnormal x * 2**54."""
    return select(x < SMALLEST_NORMAL_F64, x * 2.0**54, x)


@inline("u64(f64)")
def power_bits_f64(v: Any) -> Any:
    """k of v = 2**k * m where a float has its exponent: what to subtract from the bits of v to get those of m."""
    return (as_u64(v) - u64(ROOT_HALF_F64)) & u64(EXPONENT_F64)


@inline("u32(f32,u32)")
def place_f32(x: Any, least: Any) -> Any:
    """The bits of x less those of the least fraction: k where a float has its exponent, also for subnormal x."""
    # As an integer subnormal x is larger by 2**149; converting it takes no multiplier.
    scaled = as_u32(f32(as_i32(x))) - u32(149 << 23)
    return select(x < f32(SMALLEST_NORMAL_F32), scaled, as_u32(x)) - least


@inline("f32(f32,u32)")
def fraction_f32(x: Any, least: Any) -> Any:
    """m of x = 2**k * m."""
    return as_f32((place_f32(x, least) & u32(FRACTION_F32)) + least)


@inline("f32(f32,u32)")
def exponent_f32(x: Any, least: Any) -> Any:
    """k of x = 2**k * m; where the logarithm is infinite or NaN that."""
    k = select(x >= f32(0.0), f32(ashr(as_i32(place_f32(x, least)), i32(23))), f32(NAN))
    return select(x < f32(INFINITY), select(x == f32(0.0), f32(NEGATIVE_INFINITY), k), x)


@inline("f64(f64)")
def fraction_f64(v: Any) -> Any:
    """m of v = 2**k * m."""
    return as_f64(as_u64(v) - power_bits_f64(v))


@inline("f64(f64,f64)")
def normal_exponent_f64(v: Any, rounder: Any) -> Any:
    """k of v = 2**k * m for v that is not subnormal, too large by what ``rounder`` is less than ROUNDER_F64."""
    k = ashr(as_i64(as_u64(v) - u64(ROOT_HALF_F64)), i64(52))
    return as_f64(as_u64(k) + u64(ROUNDER_BITS_F64)) - rounder


@inline("f64(f64)")
def exponent_f64(x: Any) -> Any:
    """k of x = 2**k * m, also for subnormal x."""
    rounder = select(x < SMALLEST_NORMAL_F64, ROUNDER_F64 + 54.0, ROUNDER_F64)
    return normal_exponent_f64(without_subnormals_f64(x), rounder)


@inline("f64(f64,f64)")
def curve_f64(a: Any, a_plus_two: Any) -> Any:
    """a - log(1 + a)."""
    s = a / a_plus_two
    square = s * s
    return s * fma(-square, log_ratio_f64(square), a)


# Of numbers that have no k and m the exponent is infinite as the logarithm is, or one of the two is NaN as it is.


@inline("f32(f32)", wide=wide_forms.ROOT_EXPONENT)
def root_exponent_f32(x: Any) -> Any:
    """k of x = 2**k * m with sqrt(1/2) <= m < sqrt(2)."""
    return exponent_f32(x, u32(ROOT_HALF_F32))


@inline("f32(f32)", wide=wide_forms.ROOT_FRACTION)
def root_fraction_f32(x: Any) -> Any:
    """m of x = 2**k * m with sqrt(1/2) <= m < sqrt(2)."""
    return fraction_f32(x, u32(ROOT_HALF_F32))


@inline("f32(f32)", wide=wide_forms.QUARTERS_EXPONENT)
def quarters_exponent_f32(x: Any) -> Any:
    """k of x = 2**k * m with 3/4 <= m < 3/2."""
    return exponent_f32(x, u32(THREE_QUARTERS_F32))


@inline("f32(f32)", wide=wide_forms.QUARTERS_FRACTION)
def quarters_fraction_f32(x: Any) -> Any:
    """m of x = 2**k * m with 3/4 <= m < 3/2."""
    return fraction_f32(x, u32(THREE_QUARTERS_F32))


@inline("f32(f32)", wide=wide_forms.WHOLE_EXPONENT)
def whole_exponent_f32(x: Any) -> Any:
    """k of x = 2**k * m with 1 <= m < 2."""
    return exponent_f32(x, u32(ONE_F32))


@inline("f32(f32,f32)")
def with_special_f32(x: Any, result: Any) -> Any:
    """The result where 0 < x < infinity, else the logarithm of what x is."""
    # One comparison finds everything else.
    ordinary = as_u32(x) - u32(1) < u32(FINITE_F32)
    # Infinity and NaN stay, a negative number gives infinity - infinity.
    special = select(x == f32(0.0), f32(NEGATIVE_INFINITY), fma(x, f32(INFINITY), f32(INFINITY)))
    return select(ordinary, result, special)


@inline("f64(f64,f64)")
def with_special_f64(x: Any, result: Any) -> Any:
    """The result where 0 < x < infinity, else the logarithm of what x is."""
    ordinary = as_u64(x) - u64(1) < u64(FINITE_F64)
    special = select(x == 0.0, NEGATIVE_INFINITY, fma(x, INFINITY, INFINITY))
    return select(ordinary, result, special)


@inline("f32(f32)")
def log_f32(x: Any) -> Any:
    """Natural logarithm of x."""
    m = root_fraction_f32(x)
    a = m - f32(1.0)
    s = a / (m + f32(1.0))
    square = s * s
    near_one = fma(-s, fma(-square, log_ratio_f32(square), a), a)
    return fma(root_exponent_f32(x), f32(LN2_F32), near_one)


@inline("f64(f64)")
def log_f64(x: Any) -> Any:
    """Natural logarithm of x."""
    k = exponent_f64(x)
    m = fraction_f64(without_subnormals_f64(x))
    a = m - 1.0
    s = a / (m + 1.0)
    square = s * s
    small = fma(-s, fma(-square, log_ratio_f64(square), a), k * LN2_LOW_F64)
    return with_special_f64(x, fma(k, LN2_HIGH_F64, a + small))


@inline("f32(f32)")
def log2_f32(x: Any) -> Any:
    """Logarithm of x to base 2."""
    m = quarters_fraction_f32(x)
    r = exact_fma(m, log2_inverse_f32(m), f32(-1.0))
    # What is halved of fractions from 3/2 on is part of what the table has.
    near_one = fma(r, f32(LOG2_E_HIGH_F32), r * log2_curve_f32(r))
    return (whole_exponent_f32(x) + log2_part_f32(m)) + near_one


@inline("f64(f64)")
def log2_f64(x: Any) -> Any:
    """Logarithm of x to base 2."""
    m = fraction_f64(without_subnormals_f64(x))
    a = m - 1.0
    s = a / fma(m, LN2_F64, LN2_F64)
    square = s * s
    small = fma(-s, fma(-square, log2_ratio_f64(square), a), a * LOG2_E_LOW_F64)
    return with_special_f64(x, exponent_f64(x) + fma(a, LOG2_E_HIGH_F64, small))


@inline("f32(f32)")
def log10_f32(x: Any) -> Any:
    """Logarithm of x to base 10."""
    k, m = quarters_exponent_f32(x), quarters_fraction_f32(x)
    r = exact_fma(m, log10_inverse_f32(m), f32(-LOG10_E_NEAREST_F32))
    near_one = fma(r, log10_curve_f32(r), fma(k, f32(LOG10_2_LOW_F32), r))
    return fma(k, f32(LOG10_2_HIGH_F32), log10_part_f32(m)) + near_one


@inline("f64(f64)")
def log10_f64(x: Any) -> Any:
    """Logarithm of x to base 10."""
    k = exponent_f64(x)
    m = fraction_f64(without_subnormals_f64(x))
    a = m - 1.0
    s = a / fma(m, LN10_F64, LN10_F64)
    square = s * s
    rest = fma(k, LOG10_2_LOW_F64, a * LOG10_E_LOW_F64)
    small = fma(-s, fma(-square, log10_ratio_f64(square), a), rest)
    return with_special_f64(x, fma(k, LOG10_2_HIGH_F64, fma(a, LOG10_E_HIGH_F64, small)))


@inline("u32(f32)")
def sum_power_bits_f32(u: Any) -> Any:
    """k of u = 2**k * m with 3/4 <= m < 3/2, where a float has its exponent."""
    return (as_u32(u) - u32(THREE_QUARTERS_F32)) & u32(EXPONENT_F32)


@inline("u64(f64)")
def sum_power_bits_f64(u: Any) -> Any:
    """k of u = 2**k * m with 3/4 <= m < 3/2, where a float has its exponent."""
    return (as_u64(u) - u64(THREE_QUARTERS_F64)) & u64(EXPONENT_F64)


@inline("f32(f32,u32)")
def beyond_one_f32(x: Any, power: Any) -> Any:
    """(1 + x) / 2**k - 1, exact."""
    # Half the double of 2**-k, whose exponent is within bounds for every k.
    below = fma(as_f32(u32(TWO_BITS_F32) - power), f32(0.5), f32(-1.0))
    return as_f32(as_u32(x) - power) + below


@inline("f64(f64,u64)")
def beyond_one_f64(x: Any, power: Any) -> Any:
    """(1 + x) / 2**k - 1, exact."""
    below = fma(as_f64(u64(TWO_BITS_F64) - power), 0.5, -1.0)
    return as_f64(as_u64(x) - power) + below


@inline("f32(f32)")
def sum_exponent_f32(u: Any) -> Any:
    """k of u = 2**k * m with 3/4 <= m < 3/2."""
    return f32(ashr(as_i32(as_u32(u) - u32(THREE_QUARTERS_F32)), i32(23)))


@inline("f64(f64,f64)")
def sum_exponent_f64(u: Any, rounder: Any) -> Any:
    """k of u = 2**k * m with 3/4 <= m < 3/2, too large by what ``rounder`` is less than ROUNDER_F64."""
    k = ashr(as_i64(as_u64(u) - u64(THREE_QUARTERS_F64)), i64(52))
    return as_f64(as_u64(k) + u64(ROUNDER_BITS_F64)) - rounder


@inline("f32(f32,f32)")
def log1p_times_power_f32(x: Any, n: Any) -> Any:
    """log((1 + x) * 2**n), with log(0) and so on where x is -1 and so on."""
    u = f32(1.0) + x
    a = beyond_one_f32(x, sum_power_bits_f32(u))
    s = a / (a + f32(2.0))
    square = s * s
    near_one = fma(-s, fma(-square, wide_ratio_f32(square), a), a)
    return with_special_f32(u, fma(sum_exponent_f32(u) + n, f32(LN2_F32), near_one))


@inline("f64(f64,f64)")
def log1p_times_power_f64(x: Any, rounder: Any) -> Any:
    """log((1 + x) * 2**(ROUNDER_F64 - rounder)), with log(0) and so on where x is -1 and so on."""
    u = 1.0 + x
    a = beyond_one_f64(x, sum_power_bits_f64(u))
    k = sum_exponent_f64(u, rounder)
    s = a / (a + 2.0)
    square = s * s
    small = fma(-s, fma(-square, wide_ratio_f64(square), a), k * LN2_LOW_F64)
    return with_special_f64(u, fma(k, LN2_HIGH_F64, a + small))


@inline("f32(f32,f32,f32)")
def log1p_of_sum_f32(x: Any, rest: Any, n: Any) -> Any:
    """log((1 + x + rest) * 2**n) for a rest that x was rounded by."""
    u = f32(1.0) + x
    power = sum_power_bits_f32(u)
    a = beyond_one_f32(x, power)
    s = a / (a + f32(2.0))
    square = s * s
    rest = rest * (as_f32(u32(TWO_BITS_F32) - power) * f32(0.5))
    small = fma(-s, fma(-square, wide_ratio_f32(square), a), rest)
    return with_special_f32(u, fma(sum_exponent_f32(u) + n, f32(LN2_F32), a + small))


@inline("f64(f64,f64,f64)")
def log1p_of_sum_f64(x: Any, rest: Any, rounder: Any) -> Any:
    """log((1 + x + rest) * 2**(ROUNDER_F64 - rounder)) for a rest that x was rounded by."""
    u = 1.0 + x
    power = sum_power_bits_f64(u)
    a = beyond_one_f64(x, power)
    k = sum_exponent_f64(u, rounder)
    s = a / (a + 2.0)
    square = s * s
    rest = rest * (as_f64(u64(TWO_BITS_F64) - power) * 0.5)
    small = fma(-s, fma(-square, wide_ratio_f64(square), a), fma(k, LN2_LOW_F64, rest))
    return with_special_f64(u, fma(k, LN2_HIGH_F64, a + small))


@inline("f32(f32)")
def log1p_f32(x: Any) -> Any:
    """Natural logarithm of 1 + x."""
    # Adding -0 is nothing; the sign is that of x down to that of zero.
    return copysign(log1p_times_power_f32(x, f32(-0.0)), x)


@inline("f64(f64)")
def log1p_f64(x: Any) -> Any:
    """Natural logarithm of 1 + x."""
    return copysign(log1p_times_power_f64(x, ROUNDER_F64), x)


FUNCTIONS = (
    everywhere("log_f32", 0.97),
    everywhere("log_f64", 0.97),
    everywhere("log2_f32", 0.98),
    everywhere("log2_f64", 1.03),
    everywhere("log10_f32", 1.5),
    everywhere("log10_f64", 1.03),
    everywhere("log1p_f32", 0.98),
    everywhere("log1p_f64", 1.03),
)
