"""Logistic function ``1 / (1 + exp(-x))``.

With ``e = exp(-|x|)`` and ``q = e / (1 + e)`` it is ``1 - q`` for positive x and ``e - e * q`` for negative x, where
the errors of the quotient shrink.  ``e = 2**n * p`` is halved; where n is so small that the result may be subnormal,
``2**n`` is kept larger than it is, which the quotient is too small to show, and made up for at the end, so that the
result is rounded once.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import (
    as_f32,
    as_f64,
    as_u32,
    as_u64,
    f32,
    f64,
    fabs,
    fma,
    select,
    shl,
    u32,
    u64,
)
from xjit.codegen.vmath.coefficients.exponential import LOG2_E
from xjit.codegen.vmath.exponentials.exp import (
    EXPONENT_F32,
    EXPONENT_F64,
    ROUNDER_F32,
    ROUNDER_F64,
    SMALL_EXPONENT_F32,
    SMALL_EXPONENT_F64,
    SMALL_FACTOR_F32,
    SMALL_FACTOR_F64,
    SMALL_POWER_F32,
    SMALL_POWER_F64,
    exp_tail_f32,
    exp_tail_f64,
    without_powers_f32,
    without_powers_f64,
)
from xjit.codegen.vmath.vector_function import everywhere

# Beyond these the result is one, or zero.
HIGHEST_F32, LOWEST_F32 = 40.0, -104.0
HIGHEST_F64, LOWEST_F64 = 80.0, -746.0


@inline("f32(f32)")
def logistic_f32(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    v = select(x > f32(HIGHEST_F32), f32(HIGHEST_F32), x)
    v = select(v < f32(LOWEST_F32), f32(LOWEST_F32), v)
    a = -fabs(v)
    shifted = fma(a, f32(LOG2_E), f32(ROUNDER_F32))
    r = without_powers_f32(a, shifted)
    p = fma(r, fma(r, exp_tail_f32(r), f32(1.0)), f32(1.0))
    small = shifted < f32(ROUNDER_F32 + SMALL_POWER_F32)
    exponent = select(small, u32(SMALL_EXPONENT_F32), u32(EXPONENT_F32))
    half = p * as_f32(shl(as_u32(shifted), u32(23)) + exponent)
    whole = select(x < f32(0.0), half, f32(0.5))
    return fma(-whole, half / (half + f32(0.5)), whole) * select(small, f32(SMALL_FACTOR_F32), f32(2.0))


@inline("f64(f64)")
def logistic_f64(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    v = select(x > HIGHEST_F64, f64(HIGHEST_F64), x)
    v = select(v < LOWEST_F64, f64(LOWEST_F64), v)
    a = -fabs(v)
    shifted = fma(a, LOG2_E, ROUNDER_F64)
    r = without_powers_f64(a, shifted)
    p = fma(r, fma(r, exp_tail_f64(r), 1.0), 1.0)
    small = shifted < ROUNDER_F64 + SMALL_POWER_F64
    exponent = select(small, u64(SMALL_EXPONENT_F64), u64(EXPONENT_F64))
    half = p * as_f64(shl(as_u64(shifted), u64(52)) + exponent)
    whole = select(x < 0.0, half, 0.5)
    return fma(-whole, half / (half + 0.5), whole) * select(small, SMALL_FACTOR_F64, 2.0)


FUNCTIONS = (
    everywhere("logistic_f32", 1.7),
    everywhere("logistic_f64", 1.7),
)
