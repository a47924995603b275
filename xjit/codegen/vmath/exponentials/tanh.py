"""Hyperbolic tangent, an odd function: everything is computed for ``a = |x|`` and the sign put back.

* f32: sixteen polynomials in ``r = a - c``, whose coefficients, and c, are looked up
  (:mod:`xjit.codegen.cpu.tables`), as some processors divide slowly.  The float ``1.65 a + 1`` says which: four
  intervals in each octave from 1 to 16. The numbers c are those whose tangents are close to floats; what is added to
  these is smaller, and next to zero all there is.
* f64: ``m / (m + 2)`` with ``m = exp(2 a) - 1``.  Every rounding of ``m``, of ``m + 2`` and of the quotient is
  kept as a second number and made up for in the last step, to stay near half a unit.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.cpu.tables import table
from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import as_f64, as_u64, copysign, f32, f64, fabs, fma, select, shl, u64
from xjit.codegen.vmath.coefficients import hyperbolic_tangent
from xjit.codegen.vmath.coefficients.exponential import LOG2_E
from xjit.codegen.vmath.exponentials.exp import BIASED_ROUNDER_F64, exp_tail_f64, less_powers_f64
from xjit.codegen.vmath.vector_function import everywhere

# The last two bits of the exponent and the first two of the fraction.
PLACE_F32 = 23 - 2
tanh_centre_f32 = table("tanh_centre_f32", hyperbolic_tangent.CENTRE_F32, PLACE_F32)
tanh_value_f32 = table("tanh_value_f32", hyperbolic_tangent.VALUE_F32, PLACE_F32)
tanh_slope0_f32 = table("tanh_slope0_f32", hyperbolic_tangent.SLOPE_0_F32, PLACE_F32)
tanh_slope1_f32 = table("tanh_slope1_f32", hyperbolic_tangent.SLOPE_1_F32, PLACE_F32)
tanh_slope2_f32 = table("tanh_slope2_f32", hyperbolic_tangent.SLOPE_2_F32, PLACE_F32)
tanh_slope3_f32 = table("tanh_slope3_f32", hyperbolic_tangent.SLOPE_3_F32, PLACE_F32)
tanh_slope4_f32 = table("tanh_slope4_f32", hyperbolic_tangent.SLOPE_4_F32, PLACE_F32)

PLACE_SCALE_F32 = hyperbolic_tangent.SCALE_F32
# From here on the result rounds to one.
ONE_FROM_F32, ONE_FROM_F64 = 9.08, 19.1


@inline("f32(f32)")
def tanh_f32(x: Any) -> Any:
    """Hyperbolic tangent of x."""
    a = fabs(x)
    v = select(a > f32(ONE_FROM_F32), f32(ONE_FROM_F32), a)
    place = fma(v, f32(PLACE_SCALE_F32), f32(1.0))
    r = v - tanh_centre_f32(place)
    curve = fma(tanh_slope4_f32(place), r, tanh_slope3_f32(place))
    curve = fma(fma(curve, r, tanh_slope2_f32(place)), r, tanh_slope1_f32(place))
    # Next to zero the product with the first slope, which is one, is exact.
    rest = fma(curve * r, r, r * tanh_slope0_f32(place))
    return copysign(tanh_value_f32(place) + rest, x)


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
    everywhere("tanh_f32", 0.87),
    everywhere("tanh_f64", 1.3),
)
