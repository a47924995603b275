"""Exact functions of the parts of floats: ``nextafter``, ``spacing``, ``ldexp`` and the two halves of ``frexp``.

They move bits and multiply by powers of two; a result rounds once, where ``ldexp`` makes it subnormal.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import (
    as_f32,
    as_f64,
    as_i32,
    as_i64,
    as_u32,
    as_u64,
    copysign,
    f32,
    f64,
    fabs,
    i32,
    i64,
    lshr,
    select,
    shl,
    u32,
    u64,
)

INFINITY, NAN = math.inf, math.nan
SMALLEST_NORMAL_F32, SMALLEST_NORMAL_F64 = 2.0**-126, 2.0**-1022
# Bit patterns: the sign, all but the exponent, one, a half.
SIGN_F32, NOT_EXPONENT_F32, ONE_F32, HALF_F32 = 1 << 31, 0x807FFFFF, 127 << 23, 126 << 23
SIGN_F64, NOT_EXPONENT_F64, ONE_F64, HALF_F64 = 1 << 63, 0x800FFFFFFFFFFFFF, 1023 << 52, 1022 << 52

# No number stays finite and different from zero when it is moved by more.
MOST_F32, MOST_F64 = 300, 2200
# Exponents of results: from the first that is surely zero to the first that is surely infinite.
LOWEST_F32, HIGHEST_F32 = -152, 128
LOWEST_F64, HIGHEST_F64 = -1080, 1024
# Powers of two below these get there in two steps, the second of which rounds.
SMALL_F32, SMALL_F64 = -100, -1000
SMALL_FIELD_F32, LARGE_FIELD_F32 = 127 + 64, 127 - 1
SMALL_FIELD_F64, LARGE_FIELD_F64 = 1023 + 128, 1023 - 1
SMALL_FACTOR_F32, SMALL_FACTOR_F64 = 2.0**-64, 2.0**-128


@inline("i32(f32)")
def floor_log2_f32(x: Any) -> Any:
    """The exponent of the leading bit of finite x, also where it is subnormal; some small number for zero."""
    subnormal = fabs(x) < f32(SMALLEST_NORMAL_F32)
    bits = as_u32(fabs(select(subnormal, x * f32(2.0**24), x)))
    return i32(lshr(bits, u32(23))) - select(subnormal, i32(127 + 24), i32(127))


@inline("i64(f64)")
def floor_log2_f64(x: Any) -> Any:
    """The exponent of the leading bit of finite x, also where it is subnormal; some small number for zero."""
    subnormal = fabs(x) < SMALLEST_NORMAL_F64
    bits = as_u64(fabs(select(subnormal, x * 2.0**54, x)))
    return i64(lshr(bits, u64(52))) - select(subnormal, i64(1023 + 54), i64(1023))


@inline("b1(f32)")
def is_ordinary_f32(x: Any) -> Any:
    """Return whether x is neither zero nor infinite nor NaN."""
    return (fabs(x) > f32(0.0)) & (fabs(x) < f32(INFINITY))


@inline("b1(f64)")
def is_ordinary_f64(x: Any) -> Any:
    """Return whether x is neither zero nor infinite nor NaN."""
    return (fabs(x) > 0.0) & (fabs(x) < INFINITY)


@inline("f32(f32)")
def fraction_below_one_f32(x: Any) -> Any:
    """x times the power of two that brings it to half to one, for x neither zero nor infinite nor NaN."""
    subnormal = fabs(x) < f32(SMALLEST_NORMAL_F32)
    bits = as_u32(select(subnormal, x * f32(2.0**24), x))
    return as_f32((bits & u32(NOT_EXPONENT_F32)) | u32(HALF_F32))


@inline("f64(f64)")
def fraction_below_one_f64(x: Any) -> Any:
    """x times the power of two that brings it to half to one, for x neither zero nor infinite nor NaN."""
    subnormal = fabs(x) < SMALLEST_NORMAL_F64
    bits = as_u64(select(subnormal, x * 2.0**54, x))
    return as_f64((bits & u64(NOT_EXPONENT_F64)) | u64(HALF_F64))


@inline("f32(f32)")
def frexp_mantissa_f32(x: Any) -> Any:
    """m of x = m * 2**e with half <= |m| < 1; x itself where that is zero, infinite or NaN."""
    return select(is_ordinary_f32(x), fraction_below_one_f32(x), x)


@inline("f64(f64)")
def frexp_mantissa_f64(x: Any) -> Any:
    """m of x = m * 2**e with half <= |m| < 1; x itself where that is zero, infinite or NaN."""
    return select(is_ordinary_f64(x), fraction_below_one_f64(x), x)


@inline("i32(f32)")
def frexp_exponent_f32(x: Any) -> Any:
    """e of x = m * 2**e with half <= |m| < 1; zero where x is zero, infinite or NaN."""
    return select(is_ordinary_f32(x), floor_log2_f32(x) + i32(1), i32(0))


@inline("i32(f64)")
def frexp_exponent_f64(x: Any) -> Any:
    """e of x = m * 2**e with half <= |m| < 1; zero where x is zero, infinite or NaN."""
    return i32(select(is_ordinary_f64(x), floor_log2_f64(x) + i64(1), i64(0)))


@inline("f32(f32,i32)")
def ldexp_f32(x: Any, n: Any) -> Any:
    """x * 2**n, rounded once."""
    n = select(n > i32(MOST_F32), i32(MOST_F32), n)
    n = select(n < i32(-MOST_F32), i32(-MOST_F32), n)
    exponent = floor_log2_f32(x) + n + i32(1)
    exponent = select(exponent > i32(HIGHEST_F32 + 1), i32(HIGHEST_F32 + 1), exponent)
    exponent = select(exponent < i32(LOWEST_F32), i32(LOWEST_F32), exponent)
    small = exponent < i32(SMALL_F32)
    field = u32(exponent + select(small, i32(SMALL_FIELD_F32), i32(LARGE_FIELD_F32)))
    power = as_f32(shl(field, u32(23)))
    result = fraction_below_one_f32(x) * power * select(small, f32(SMALL_FACTOR_F32), f32(2.0))
    return select(is_ordinary_f32(x), result, x)


@inline("f64(f64,i64)")
def ldexp_long_f64(x: Any, n: Any) -> Any:
    """x * 2**n, rounded once."""
    n = select(n > i64(MOST_F64), i64(MOST_F64), n)
    n = select(n < i64(-MOST_F64), i64(-MOST_F64), n)
    exponent = floor_log2_f64(x) + n + i64(1)
    exponent = select(exponent > i64(HIGHEST_F64 + 1), i64(HIGHEST_F64 + 1), exponent)
    exponent = select(exponent < i64(LOWEST_F64), i64(LOWEST_F64), exponent)
    small = exponent < i64(SMALL_F64)
    field = u64(exponent + select(small, i64(SMALL_FIELD_F64), i64(LARGE_FIELD_F64)))
    power = as_f64(shl(field, u64(52)))
    result = fraction_below_one_f64(x) * power * select(small, f64(SMALL_FACTOR_F64), f64(2.0))
    return select(is_ordinary_f64(x), result, x)


@inline("f64(f64,i32)")
def ldexp_f64(x: Any, n: Any) -> Any:
    """x * 2**n, rounded once."""
    return ldexp_long_f64(x, i64(n))


@inline("f32(f32,i64)")
def ldexp_long_f32(x: Any, n: Any) -> Any:
    """x * 2**n, rounded once."""
    n = select(n > i64(MOST_F32), i64(MOST_F32), n)
    return ldexp_f32(x, i32(select(n < i64(-MOST_F32), i64(-MOST_F32), n)))


@inline("f32(f32,f32)")
def nextafter_f32(x: Any, y: Any) -> Any:
    """The float next to x on the way to y; y itself where they are equal, NaN where one is NaN."""
    bits = as_i32(x)
    away = select((x < y) == (x > f32(0.0)), i32(1), i32(-1))
    beside = as_f32(bits + away)
    first = copysign(as_f32(u32(1)), y)
    result = select(x == f32(0.0), first, beside)
    result = select(x == y, y, result)
    return select((x != x) | (y != y), f32(NAN), result)


@inline("f64(f64,f64)")
def nextafter_f64(x: Any, y: Any) -> Any:
    """The float next to x on the way to y; y itself where they are equal, NaN where one is NaN."""
    bits = as_i64(x)
    away = select((x < y) == (x > 0.0), i64(1), i64(-1))
    beside = as_f64(bits + away)
    first = copysign(as_f64(u64(1)), y)
    result = select(x == 0.0, first, beside)
    result = select(x == y, y, result)
    return select((x != x) | (y != y), f64(NAN), result)


@inline("f32(f32)")
def spacing_f32(x: Any) -> Any:
    """Distance from x to the next float away from zero, with the sign of x (zero has none); NaN of infinity."""
    size = fabs(x)
    beside = as_f32(as_u32(size) + u32(1))
    return select(size < f32(INFINITY), select(x < f32(0.0), size - beside, beside - size), f32(NAN))


@inline("f64(f64)")
def spacing_f64(x: Any) -> Any:
    """Distance from x to the next float away from zero, with the sign of x (zero has none); NaN of infinity."""
    size = fabs(x)
    beside = as_f64(as_u64(size) + u64(1))
    return select(size < INFINITY, select(x < 0.0, size - beside, beside - size), f64(NAN))
