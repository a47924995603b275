"""Natural logarithm.

``x = 2**k * m`` with ``sqrt(1/2) <= m < sqrt(2)``; subnormal x is scaled up first.  With ``a = m - 1``

* f32: ``log(m) = a + a**2 * (-1/2 + a * tail(a))``;
* f64: ``log(m) = a - s * (a - s**2 * ratio(s**2))`` with ``s = a / (2 + a)``, from ``log(m) = 2 atanh(s)`` and
  ``2 s = a - s a``.

``k * log(2)`` is added in two parts, the low one to the small terms.
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
    f32,
    fma,
    i32,
    i64,
    select,
    u32,
    u64,
)
from xjit.codegen.vmath import coefficients
from xjit.codegen.vmath.polynomial import polynomial

log_tail_f32 = polynomial("log_tail_f32", "f32", coefficients.LOG_TAIL_F32)
log_ratio_f64 = polynomial("log_ratio_f64", "f64", coefficients.LOG_RATIO_F64)

LN2_HIGH_F32, LN2_LOW_F32 = coefficients.LN2_F32
LN2_HIGH_F64, LN2_LOW_F64 = coefficients.LN2_F64

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


@inline("f32(f32)")
def log_f32(x: Any) -> Any:
    """Natural logarithm of x."""
    subnormal = x < f32(SMALLEST_NORMAL_F32)
    v = select(subnormal, x * f32(2.0**23), x)
    offset = as_u32(v) - u32(ROOT_HALF_F32)
    k = f32(ashr(as_i32(offset), i32(23)) - select(subnormal, i32(23), i32(0)))
    a = as_f32((offset & u32(FRACTION_F32)) + u32(ROOT_HALF_F32)) - f32(1.0)
    tail = fma(a, log_tail_f32(a), f32(-0.5))
    result = fma(k, f32(LN2_HIGH_F32), a + fma(k, f32(LN2_LOW_F32), a * a * tail))
    # One comparison finds everything but 0 < x < infinity.
    ordinary = as_u32(x) - u32(1) < u32(FINITE_F32)
    # Infinity and NaN stay, a negative number gives infinity - infinity.
    special = select(x == f32(0.0), f32(NEGATIVE_INFINITY), fma(x, f32(INFINITY), f32(INFINITY)))
    return select(ordinary, result, special)


@inline("f64(f64)")
def log_f64(x: Any) -> Any:
    """Natural logarithm of x."""
    subnormal = x < SMALLEST_NORMAL_F64
    v = select(subnormal, x * 2.0**54, x)
    offset = as_u64(v) - u64(ROOT_HALF_F64)
    rounder = select(subnormal, u64(ROUNDER_BITS_F64 - 54), u64(ROUNDER_BITS_F64))
    k = as_f64(as_u64(ashr(as_i64(offset), i64(52))) + rounder) - ROUNDER_F64
    m = as_f64((offset & u64(FRACTION_F64)) + u64(ROOT_HALF_F64))
    a = m - 1.0
    s = a / (m + 1.0)
    square = s * s
    small = fma(s, fma(-square, log_ratio_f64(square), a), k * -LN2_LOW_F64)
    result = fma(k, LN2_HIGH_F64, a - small)
    ordinary = as_u64(x) - u64(1) < u64(FINITE_F64)
    special = select(x == 0.0, NEGATIVE_INFINITY, fma(x, INFINITY, INFINITY))
    return select(ordinary, result, special)
