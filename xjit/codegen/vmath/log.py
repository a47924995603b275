"""Logarithms: ``log``, ``log2`` and ``log1p``.

``x = 2**k * m`` with ``sqrt(1/2) <= m < sqrt(2)``; subnormal x is scaled up first.  With ``a = m - 1``

* f32: ``log(m) = a + a**2 * (-1/2 + a * tail(a))``;
* f64: ``log(m) = a - s * (a - s**2 * ratio(s**2))`` with ``s = a / (2 + a)``, from ``log(m) = 2 atanh(s)`` and
  ``2 s = a - s a``.

``k * log(2)`` is added in two parts, the low one to the small terms.

``log1p(x)`` is the logarithm of ``u = 1 + x`` with what that addition rounded away put back into ``a``.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.inline_functions import inline
from xjit.codegen.intrinsics import (
    as_f32,
    as_f64,
    as_i32,
    as_i64,
    as_u32,
    as_u64,
    ashr,
    copysign,
    f32,
    fma,
    i32,
    i64,
    select,
    shl,
    u32,
    u64,
)
from xjit.codegen.vmath.coefficients import exponential, logarithm
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.record import everywhere

log_tail_f32 = polynomial("log_tail_f32", "f32", logarithm.LOG_TAIL_F32)
log_ratio_f64 = polynomial("log_ratio_f64", "f64", logarithm.LOG_RATIO_F64)

LN2_HIGH_F32, LN2_LOW_F32 = exponential.LN2_F32
LN2_HIGH_F64, LN2_LOW_F64 = exponential.LN2_F64

LOG2_E_HIGH_F32, LOG2_E_LOW_F32 = exponential.LOG2_E_F32
LOG2_E_HIGH_F64, LOG2_E_LOW_F64 = exponential.LOG2_E_F64

INFINITY = math.inf
NEGATIVE_INFINITY = -math.inf

SMALLEST_NORMAL_F32 = 2.0**-126
SMALLEST_NORMAL_F64 = 2.0**-1022
# Bit patterns: sqrt(1/2), the fraction, one less than infinity.
ROOT_HALF_F32, FRACTION_F32, FINITE_F32 = 0x3F3504F3, 0x007FFFFF, 0x7F7FFFFF
ROOT_HALF_F64, FRACTION_F64, FINITE_F64 = 0x3FE6A09E667F3BCD, 0x000FFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF

# Adding the bits of 1.5 * 2**52 to an integer makes a float of it that is too large by that number.
ROUNDER_F64 = 1.5 * 2.0**52
ROUNDER_BITS_F64 = 0x4338000000000000


# Numbers above 2**60 are not changed by adding one.
ONE_COUNTS_BELOW = 2.0**60
ONE_BITS_F32, ONE_BITS_F64 = 127 << 23, 1023 << 52


@inline("f32(f32)")
def without_subnormals_f32(x: Any) -> Any:
    """x, or where it is subnormal x * 2**23."""
    return select(x < f32(SMALLEST_NORMAL_F32), x * f32(2.0**23), x)


@inline("f64(f64)")
def without_subnormals_f64(x: Any) -> Any:
    """x, or where it is subnormal x * 2**54."""
    return select(x < SMALLEST_NORMAL_F64, x * 2.0**54, x)


@inline("f32(f32)")
def fraction_f32(v: Any) -> Any:
    """m of v = 2**k * m."""
    return as_f32(((as_u32(v) - u32(ROOT_HALF_F32)) & u32(FRACTION_F32)) + u32(ROOT_HALF_F32))


@inline("f64(f64)")
def fraction_f64(v: Any) -> Any:
    """m of v = 2**k * m."""
    return as_f64(((as_u64(v) - u64(ROOT_HALF_F64)) & u64(FRACTION_F64)) + u64(ROOT_HALF_F64))


@inline("f32(f32)")
def exponent_f32(x: Any) -> Any:
    """k of x = 2**k * m, also for subnormal x."""
    k = ashr(as_i32(as_u32(without_subnormals_f32(x)) - u32(ROOT_HALF_F32)), i32(23))
    return f32(k - select(x < f32(SMALLEST_NORMAL_F32), i32(23), i32(0)))


@inline("f64(f64)")
def exponent_f64(x: Any) -> Any:
    """k of x = 2**k * m, also for subnormal x."""
    k = ashr(as_i64(as_u64(without_subnormals_f64(x)) - u64(ROOT_HALF_F64)), i64(52))
    rounder = select(x < SMALLEST_NORMAL_F64, u64(ROUNDER_BITS_F64 - 54), u64(ROUNDER_BITS_F64))
    return as_f64(as_u64(k) + rounder) - ROUNDER_F64


@inline("f32(f32)")
def curve_f32(a: Any) -> Any:
    """log(1 + a) - a."""
    return a * a * fma(a, log_tail_f32(a), f32(-0.5))


@inline("f64(f64,f64)")
def curve_f64(a: Any, a_plus_two: Any) -> Any:
    """a - log(1 + a)."""
    s = a / a_plus_two
    square = s * s
    return s * fma(-square, log_ratio_f64(square), a)


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
    k = exponent_f32(x)
    a = fraction_f32(without_subnormals_f32(x)) - f32(1.0)
    small = fma(k, f32(LN2_LOW_F32), curve_f32(a))
    return with_special_f32(x, fma(k, f32(LN2_HIGH_F32), a + small))


@inline("f64(f64)")
def log_f64(x: Any) -> Any:
    """Natural logarithm of x."""
    k = exponent_f64(x)
    m = fraction_f64(without_subnormals_f64(x))
    a = m - 1.0
    small = fma(k, -LN2_LOW_F64, curve_f64(a, m + 1.0))
    return with_special_f64(x, fma(k, LN2_HIGH_F64, a - small))


@inline("f32(f32)")
def log2_f32(x: Any) -> Any:
    """Logarithm of x to base 2."""
    a = fraction_f32(without_subnormals_f32(x)) - f32(1.0)
    small = fma(curve_f32(a), f32(LOG2_E_HIGH_F32), a * f32(LOG2_E_LOW_F32))
    return with_special_f32(x, exponent_f32(x) + fma(a, f32(LOG2_E_HIGH_F32), small))


@inline("f64(f64)")
def log2_f64(x: Any) -> Any:
    """Logarithm of x to base 2."""
    m = fraction_f64(without_subnormals_f64(x))
    a = m - 1.0
    small = fma(curve_f64(a, m + 1.0), -LOG2_E_HIGH_F64, a * LOG2_E_LOW_F64)
    return with_special_f64(x, exponent_f64(x) + fma(a, LOG2_E_HIGH_F64, small))


@inline("f32(f32)")
def log1p_f32(x: Any) -> Any:
    """Natural logarithm of 1 + x."""
    u = f32(1.0) + x
    k = ashr(as_i32(as_u32(u) - u32(ROOT_HALF_F32)), i32(23))
    # What u lacks, in the scale of m.
    back = u - f32(1.0)
    lacking = (f32(1.0) - (u - back)) + (x - back)
    scale = as_f32(u32(ONE_BITS_F32) - shl(u32(k), u32(23)))
    lacking = lacking * select(x < f32(ONE_COUNTS_BELOW), scale, f32(0.0))
    b = fraction_f32(u) - f32(1.0)
    a = b + lacking
    rest = lacking - (a - b)
    n = f32(k)
    small = fma(n, f32(LN2_LOW_F32), curve_f32(a) + rest)
    return copysign(with_special_f32(u, fma(n, f32(LN2_HIGH_F32), a + small)), x)


@inline("f64(f64)")
def log1p_f64(x: Any) -> Any:
    """Natural logarithm of 1 + x."""
    u = 1.0 + x
    k = ashr(as_i64(as_u64(u) - u64(ROOT_HALF_F64)), i64(52))
    back = u - 1.0
    lacking = (1.0 - (u - back)) + (x - back)
    scale = as_f64(u64(ONE_BITS_F64) - shl(u64(k), u64(52)))
    lacking = lacking * select(x < ONE_COUNTS_BELOW, scale, 0.0)
    b = fraction_f64(u) - 1.0
    a = b + lacking
    rest = lacking - (a - b)
    n = exponent_f64(u)
    small = fma(n, -LN2_LOW_F64, curve_f64(a, a + 2.0) - rest)
    return copysign(with_special_f64(u, fma(n, LN2_HIGH_F64, a - small)), x)


FUNCTIONS = (
    everywhere("log_f32", 0.95),
    everywhere("log_f64", 1.0),
    everywhere("log2_f32", 1.1),
    everywhere("log2_f64", 1.2),
    everywhere("log1p_f32", 1.02),
    everywhere("log1p_f64", 1.1),
)
