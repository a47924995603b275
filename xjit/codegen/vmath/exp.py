"""Exponential function.

``exp(x) = 2**n * exp(r)`` with ``n`` the integer nearest to ``x / log(2)`` and ``r = x - n * log(2)``, so that
``|r| <= log(2) / 2``; ``exp(r) = 1 + (r + r**2 * tail(r))`` with a polynomial tail.  Adding ``1.5 * 2**52``
(``1.5 * 2**23``) rounds to an integer and leaves it in the low bits, from where a shift makes it an exponent.

The power of two is applied in two factors: the first holds 2**(n - 1), or 2**(n + many) where the result may be
subnormal, the second makes up for it, so that large results overflow, and subnormal results round, once.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.inline_functions import inline
from xjit.codegen.intrinsics import as_f32, as_f64, as_u32, as_u64, f32, f64, fma, select, shl, u32, u64
from xjit.codegen.vmath import coefficients
from xjit.codegen.vmath.coefficients import LOG2_E
from xjit.codegen.vmath.polynomial import polynomial

exp_tail_f32 = polynomial("exp_tail_f32", "f32", coefficients.EXP_TAIL_F32)
exp_tail_f64 = polynomial("exp_tail_f64", "f64", coefficients.EXP_TAIL_F64)

LN2_HIGH_F32, LN2_LOW_F32 = coefficients.LN2_F32
LN2_HIGH_F64, LN2_LOW_F64 = coefficients.LN2_F64

# Beyond these the result is infinite or zero whatever x is.
HIGHEST_F32, LOWEST_F32 = 89.0, -104.0
HIGHEST_F64, LOWEST_F64 = 710.0, -746.0
# Below these the result may be subnormal.
SMALL_F32, SMALL_F64 = -80.0, -700.0

ROUNDER_F32 = 1.5 * 2.0**23
ROUNDER_F64 = 1.5 * 2.0**52

EXPONENT_F32 = (127 - 1) << 23
EXPONENT_F64 = (1023 - 1) << 52
SMALL_EXPONENT_F32 = (127 + 64) << 23
SMALL_EXPONENT_F64 = (1023 + 128) << 52
SMALL_FACTOR_F32 = 2.0**-64
SMALL_FACTOR_F64 = 2.0**-128


@inline("f32(f32)")
def exp_f32(x: Any) -> Any:
    """e to the power x."""
    # Written as comparisons so that NaN stays.
    v = select(x > f32(HIGHEST_F32), f32(HIGHEST_F32), x)
    v = select(v < f32(LOWEST_F32), f32(LOWEST_F32), v)
    shifted = fma(v, f32(LOG2_E), f32(ROUNDER_F32))
    n = shifted - f32(ROUNDER_F32)
    r = fma(n, f32(-LN2_HIGH_F32), v)
    r = fma(n, f32(-LN2_LOW_F32), r)
    p = f32(1.0) + fma(r * r, exp_tail_f32(r), r)
    small = v < f32(SMALL_F32)
    exponent = select(small, u32(SMALL_EXPONENT_F32), u32(EXPONENT_F32))
    power = as_f32(shl(as_u32(shifted), u32(23)) + exponent)
    return p * power * select(small, f32(SMALL_FACTOR_F32), f32(2.0))


@inline("f64(f64)")
def exp_f64(x: Any) -> Any:
    """e to the power x."""
    v = select(x > HIGHEST_F64, f64(HIGHEST_F64), x)
    v = select(v < LOWEST_F64, f64(LOWEST_F64), v)
    shifted = fma(v, LOG2_E, ROUNDER_F64)
    n = shifted - ROUNDER_F64
    r = fma(n, -LN2_HIGH_F64, v)
    r = fma(n, -LN2_LOW_F64, r)
    p = 1.0 + fma(r * r, exp_tail_f64(r), r)
    small = v < SMALL_F64
    exponent = select(small, u64(SMALL_EXPONENT_F64), u64(EXPONENT_F64))
    power = as_f64(shl(as_u64(shifted), u64(52)) + exponent)
    return p * power * select(small, SMALL_FACTOR_F64, 2.0)
