"""Hyperbolic tangent, an odd function: everything is computed for ``a = |x|`` and the sign put back.

* f32: below 0.8 ``a + a**3 * tail(a**2)``; above ``(d - 2) / d`` with ``d = exp(2 a) + 1``, where errors
  of the exponential shrink.
* f64: ``m / (m + 2)`` with ``m = exp(2 a) - 1``.  Every rounding of ``m``, of ``m + 2`` and of the quotient is
  kept as a second number and made up for in the last step, to stay near half a unit.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.inline_functions import inline
from xjit.codegen.intrinsics import (
    as_f32,
    as_f64,
    as_u32,
    as_u64,
    copysign,
    f32,
    f64,
    fabs,
    fma,
    select,
    shl,
    u32,
    u64,
)
from xjit.codegen.vmath.coefficients import hyperbolic
from xjit.codegen.vmath.coefficients.exponential import EXP2_F32, LOG2_E
from xjit.codegen.vmath.exp import (
    BIASED_ROUNDER_F32,
    BIASED_ROUNDER_F64,
    exp_tail_f64,
    less_powers_f64,
)
from xjit.codegen.vmath.polynomial_pair import polynomial_pair
from xjit.codegen.vmath.record import everywhere

tanh_slope_f32 = polynomial_pair("tanh_slope_f32", "f32", hyperbolic.TANH_TAIL_F32, EXP2_F32[1:])

# From here on the result is one but for less than a unit, and the difference to two may be no float.
ONE_FROM_F32 = 8.664339
# From here on the result rounds to one.
ONE_FROM_F64 = 19.1
TAIL_BELOW_F32 = 0.8
TWICE_LOG2_E = 2.0 * LOG2_E


@inline("f32(f32)")
def tanh_f32(x: Any) -> Any:
    """Hyperbolic tangent of x."""
    a = fabs(x)
    shifted = fma(a, f32(TWICE_LOG2_E), f32(BIASED_ROUNDER_F32))
    r = fma(a, f32(TWICE_LOG2_E), f32(BIASED_ROUNDER_F32) - shifted)
    power = as_f32(shl(as_u32(shifted), u32(23)))
    square = a * a
    small = a < f32(TAIL_BELOW_F32)
    slope = tanh_slope_f32(small, select(small, square, r))
    below = fma(a * square, slope, a)
    # exp(2 a) + 1: the sum of the powers, their product with r and the difference to two are exact.
    sum_ = fma(power * r, slope, power + f32(1.0))
    above = (sum_ - f32(2.0)) / sum_
    return copysign(select(small, below, select(a > f32(ONE_FROM_F32), f32(1.0), above)), x)


@inline("f64(f64)")
def tanh_f64(x: Any) -> Any:
    """Hyperbolic tangent of x."""
    a = fabs(x)
    v = select(a > ONE_FROM_F64, f64(ONE_FROM_F64), a)
    v = v + v
    shifted = fma(v, LOG2_E, BIASED_ROUNDER_F64)
    r = less_powers_f64(v, shifted - BIASED_ROUNDER_F64)
    curve = r * r * exp_tail_f64(r)
    p = r + curve
    p_rest = (r - p) + curve
    power = as_f64(shl(as_u64(shifted), u64(52)))
    above_one = power - 1.0
    m = fma(power, p, above_one)
    m_rest = fma(power, p_rest, fma(power, p, above_one - m))
    sum_ = m + 2.0
    sum_rest = m - (sum_ - 2.0) + m_rest
    inverse = 1.0 / sum_
    quotient = m * inverse
    residue = fma(-quotient, sum_, m) + fma(-quotient, sum_rest, m_rest)
    return copysign(fma(residue, inverse, quotient), x)


FUNCTIONS = (
    everywhere("tanh_f32", 1.0),
    everywhere("tanh_f64", 1.3),
)
