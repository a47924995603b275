"""Complementary error function: for ``a = |x|`` it is ``exp(-a**2) * scaled(a)``, and 2 minus that for negative x.

``scaled(a) = s * p(s)`` with ``s = 3 / (a + 3)`` and a polynomial in the distance of s to a centre (a variable of
Shepherd and Laframboise 1981).

* f32 computes in f64, and is rounded once.
* f64: a square of 53 bits has errors that count in the exponential, so that of the upper half of a is taken, which is
  exact, and the rest goes into the reduced argument.  s is cut to 40 digits, so that it is exact for an argument near
  a; the difference of the two counts by the derivative, ``scaled' = 2 a scaled - 2 / sqrt(pi)``.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import as_f64, as_u64, f32, f64, fabs, fma, select, shl, u64
from xjit.codegen.vmath.coefficients import error_function, exponential
from xjit.codegen.vmath.coefficients.exponential import LOG2_E
from xjit.codegen.vmath.exponentials.exp import (
    BIASED_ROUNDER_F64,
    LN2_HIGH_F64,
    LN2_LOW_F64,
    ROUNDER_F64,
    exp_tail_f64,
    times_power_f64,
)
from xjit.codegen.vmath.polynomial import balanced_polynomial, polynomial
from xjit.codegen.vmath.vector_function import everywhere

erfc_scaled_f32 = balanced_polynomial("erfc_scaled_f32", "f64", error_function.ERFC_SCALED_F32)
erfc_scaled_even_f64 = polynomial("erfc_scaled_even_f64", "f64", error_function.ERFC_SCALED_F64[2::2])
erfc_scaled_odd_f64 = polynomial("erfc_scaled_odd_f64", "f64", error_function.ERFC_SCALED_F64[3::2])
exp_tail_of_f32 = balanced_polynomial("exp_tail_of_f32", "f64", exponential.EXP_TAIL_F64[:7])

# From here on the result is zero, or two.
ZERO_FROM_F32, ZERO_FROM_F64 = 10.25, 27.3
SCALED_START, SCALED_SLOPE = error_function.ERFC_SCALED_F64[:2]
SCALE, CENTRE = 3.0, 0.2578125
TWO_OVER_ROOT_PI = 1.1283791670955126
SHORT = ((1 << 64) - 1) ^ ((1 << 13) - 1)
UPPER_HALF = ((1 << 64) - 1) ^ ((1 << 27) - 1)


@inline("f32(f32)")
def erfc_f32(x: Any) -> Any:
    """One minus the error function of x."""
    wide = f64(x)
    a = fabs(wide)
    a = select(a > ZERO_FROM_F32, f64(ZERO_FROM_F32), a)
    s = SCALE / (a + SCALE)
    square = -a * a
    shifted = fma(square, LOG2_E, BIASED_ROUNDER_F64)
    r = fma(shifted - BIASED_ROUNDER_F64, -LN2_HIGH_F64, square)
    power = as_f64(shl(as_u64(shifted), u64(52)))
    tail = s * erfc_scaled_f32(CENTRE - s) * power * fma(r * r, exp_tail_of_f32(r), 1.0 + r)
    return f32(select(wide < 0.0, 2.0 - tail, tail))


@inline("f64(f64)")
def erfc_f64(x: Any) -> Any:
    """One minus the error function of x."""
    a = fabs(x)
    a = select(a > ZERO_FROM_F64, f64(ZERO_FROM_F64), a)
    # A divisor with few digits, and what it leaves out of a.
    s = as_f64(as_u64(SCALE / (a + SCALE)) & u64(SHORT))
    rest = fma(s, a, s * SCALE - SCALE) * (a + SCALE) * (1.0 / SCALE)
    c = CENTRE - s
    higher = fma(c, erfc_scaled_odd_f64(c * c), erfc_scaled_even_f64(c * c))
    slope = fma(c, higher, SCALED_SLOPE)
    factor = fma(c, slope, SCALED_START)
    # What the sum and the product were rounded by.
    lost = fma(c, slope, SCALED_START - factor)
    scaled = s * factor
    lost = fma(s, lost, fma(s, factor, -scaled))
    change = fma(rest, fma(a + a, scaled, -TWO_OVER_ROOT_PI), lost)
    upper = as_f64(as_u64(a) & u64(UPPER_HALF))
    square, lower = -upper * upper, (a - upper) * (a + upper)
    shifted = fma(square, LOG2_E, ROUNDER_F64)
    n = shifted - ROUNDER_F64
    r = fma(n, -LN2_HIGH_F64, square) - fma(n, LN2_LOW_F64, lower)
    growth = r * fma(r, exp_tail_f64(r), 1.0)
    tail = times_power_f64(scaled + fma(scaled, growth, fma(change, growth, change)), shifted)
    return select(x < 0.0, 2.0 - tail, tail)


FUNCTIONS = (
    everywhere("erfc_f32", 0.6),
    everywhere("erfc_f64", 2.0),
)
