"""Hyperbolic tangent, an odd function: everything is computed for ``a = |x|`` and the sign put back.

* f32: below 0.7 ``a + a**3 * tail(a**2)``; above ``1 - 2 / (exp(2 a) + 1)``, where errors of the exponential
  shrink, because the second term is small.
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
from xjit.codegen.vmath.coefficients.exponential import LOG2_E
from xjit.codegen.vmath.exp import (
    ONE_BITS_F64,
    ROUNDER_F32,
    ROUNDER_F64,
    exp2_near_zero_f32,
    exp_tail_f64,
    without_powers_f64,
)
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.record import everywhere

tanh_tail_f32 = polynomial("tanh_tail_f32", "f32", hyperbolic.TANH_TAIL_F32)

# From here on the result rounds to one.
ONE_FROM_F32 = 9.02
ONE_FROM_F64 = 19.1
TAIL_BELOW_F32 = 0.7
TWICE_LOG2_E = 2.0 * LOG2_E


@inline("f32(f32)")
def tanh_f32(x: Any) -> Any:
    """Hyperbolic tangent of x."""
    a = fabs(x)
    v = select(a > f32(ONE_FROM_F32), f32(ONE_FROM_F32), a)
    shifted = fma(v, f32(TWICE_LOG2_E), f32(ROUNDER_F32))
    rest = fma(v, f32(TWICE_LOG2_E), f32(ROUNDER_F32) - shifted)
    power = as_f32(as_u32(exp2_near_zero_f32(rest)) + shl(as_u32(shifted), u32(23)))
    above = f32(1.0) - f32(2.0) / (power + f32(1.0))
    square = a * a
    below = fma(a * square, tanh_tail_f32(square), a)
    # The bits of some NaNs become those of a number on the way to the power.
    return select(x != x, x + x, copysign(select(a < f32(TAIL_BELOW_F32), below, above), x))


@inline("f64(f64)")
def tanh_f64(x: Any) -> Any:
    """Hyperbolic tangent of x."""
    a = fabs(x)
    v = select(a > ONE_FROM_F64, f64(ONE_FROM_F64), a)
    v = v + v
    shifted = fma(v, LOG2_E, ROUNDER_F64)
    r = without_powers_f64(v, shifted)
    curve = r * r * exp_tail_f64(r)
    p = r + curve
    p_rest = (r - p) + curve
    power = as_f64(shl(as_u64(shifted), u64(52)) + u64(ONE_BITS_F64))
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
    everywhere("tanh_f32", 1.17),
    everywhere("tanh_f64", 1.3),
)
