"""Hyperbolic sine, odd, and cosine, even: everything is computed for ``a = |x|``.

With ``a = n * log(2) + r`` and halves of powers of two, ``s = (2**n - 2**-n) / 2`` and ``c = (2**n + 2**-n) / 2``,
the addition theorems give ``sinh(a) = s * cosh(r) + c * sinh(r)`` and ``cosh(a) = c * cosh(r) + s * sinh(r)``; sine
and cosine of r are polynomials without their leading terms.  All is halved once more, so that only the last addition
overflows.

For the sine, n = 1 takes over where the result is one half, above which ``s * cosh(r)`` and a negative
``c * sinh(r)`` take little from each other.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import (
    as_f32,
    as_f64,
    as_i32,
    as_i64,
    copysign,
    f32,
    f64,
    fabs,
    fma,
    fmax,
    i32,
    i64,
    select,
    shl,
)
from xjit.codegen.vmath.coefficients import hyperbolic
from xjit.codegen.vmath.coefficients.exponential import LOG2_E
from xjit.codegen.vmath.exponentials.exp import ROUNDER_F32, ROUNDER_F64, less_powers_f32, less_powers_f64
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.vector_function import everywhere

sinh_tail_f32 = polynomial("sinh_tail_f32", "f32", hyperbolic.SINH_TAIL_F32)
sinh_tail_f64 = polynomial("sinh_tail_f64", "f64", hyperbolic.SINH_TAIL_F64)
cosh_tail_f32 = polynomial("cosh_tail_f32", "f32", hyperbolic.COSH_TAIL_F32)
short_sinh_tail_f32 = polynomial("short_sinh_tail_f32", "f32", hyperbolic.SHORT_SINH_TAIL_F32)
short_sinh_tail_f64 = polynomial("short_sinh_tail_f64", "f64", hyperbolic.SHORT_SINH_TAIL_F64)
short_cosh_tail_f32 = polynomial("short_cosh_tail_f32", "f32", hyperbolic.SHORT_COSH_TAIL_F32)
short_cosh_tail_f64 = polynomial("short_cosh_tail_f64", "f64", hyperbolic.SHORT_COSH_TAIL_F64)
cosh_tail_f64 = polynomial("cosh_tail_f64", "f64", hyperbolic.COSH_TAIL_F64)

# Beyond these the result is infinite; at these n is 129 or 1025.
HIGHEST_F32, HIGHEST_F64 = 89.5, 710.6
# Added to n before it is rounded, for the sine.
ROUND_DOWN = -0.194
# Below these the sine is its argument.
ITSELF_BELOW_F32, ITSELF_BELOW_F64 = 2.0**-13, 2.0**-28
# What leaves the exponent field of a quarter of 2**n in the low bits, and fields of 2**n / 4 and 2**-n / 4 together.
QUARTER_ROUNDER_F32, QUARTER_ROUNDER_F64 = ROUNDER_F32 + 125.0, ROUNDER_F64 + 1021.0
BOTH_FIELDS_F32, BOTH_FIELDS_F64 = 250 << 23, 2042 << 52


@inline("f32(f32)")
def quarter_power_f32(shifted: Any) -> Any:
    """2**n / 4 for n = shifted - QUARTER_ROUNDER_F32."""
    return as_f32(shl(as_i32(shifted), i32(23)))


@inline("f64(f64)")
def quarter_power_f64(shifted: Any) -> Any:
    """2**n / 4 for n = shifted - QUARTER_ROUNDER_F64."""
    return as_f64(shl(as_i64(shifted), i64(52)))


@inline("f32(f32)")
def opposite_power_f32(power: Any) -> Any:
    """2**-n / 4 for power = 2**n / 4, n not negative; zero where it would be subnormal."""
    return as_f32(fmax(i32(i32(BOTH_FIELDS_F32) - as_i32(power)), i32(0)))


@inline("f64(f64)")
def opposite_power_f64(power: Any) -> Any:
    """2**-n / 4 for power = 2**n / 4, n not negative; zero where it would be subnormal."""
    return as_f64(fmax(i64(BOTH_FIELDS_F64) - as_i64(power), i64(0)))


@inline("f32(f32)")
def sinh_f32(x: Any) -> Any:
    """Hyperbolic sine of x."""
    a = fabs(x)
    v = select(a > f32(HIGHEST_F32), f32(HIGHEST_F32), a)
    shifted = fma(v, f32(LOG2_E), f32(ROUND_DOWN)) + f32(QUARTER_ROUNDER_F32)
    r = less_powers_f32(v, shifted - f32(QUARTER_ROUNDER_F32))
    power = quarter_power_f32(shifted)
    opposite = opposite_power_f32(power)
    s, c = power - opposite, power + opposite
    square = r * r
    sine = fma(r * square, sinh_tail_f32(square), r)
    half = s + fma(square * cosh_tail_f32(square), s, sine * c)
    return select(a < f32(ITSELF_BELOW_F32), x, copysign(half + half, x))


@inline("f64(f64)")
def sinh_f64(x: Any) -> Any:
    """Hyperbolic sine of x."""
    a = fabs(x)
    v = select(a > HIGHEST_F64, f64(HIGHEST_F64), a)
    shifted = fma(v, LOG2_E, ROUND_DOWN) + QUARTER_ROUNDER_F64
    r = less_powers_f64(v, shifted - QUARTER_ROUNDER_F64)
    power = quarter_power_f64(shifted)
    opposite = opposite_power_f64(power)
    s, c = power - opposite, power + opposite
    square = r * r
    sine = fma(r * square, sinh_tail_f64(square), r)
    half = s + fma(square * cosh_tail_f64(square), s, sine * c)
    return select(a < ITSELF_BELOW_F64, x, copysign(half + half, x))


@inline("f32(f32)")
def cosh_f32(x: Any) -> Any:
    """Hyperbolic cosine of x."""
    a = fabs(x)
    v = select(a > f32(HIGHEST_F32), f32(HIGHEST_F32), a)
    shifted = fma(v, f32(LOG2_E), f32(QUARTER_ROUNDER_F32))
    r = less_powers_f32(v, shifted - f32(QUARTER_ROUNDER_F32))
    power = quarter_power_f32(shifted)
    opposite = opposite_power_f32(power)
    s, c = power - opposite, power + opposite
    square = r * r
    sine = fma(r * square, short_sinh_tail_f32(square), r)
    # Not added to c, which is rounded where 2**-n is beyond the last place of 2**n.
    half = power + fma(sine, s, fma(square * short_cosh_tail_f32(square), c, opposite))
    return half + half


@inline("f64(f64)")
def cosh_f64(x: Any) -> Any:
    """Hyperbolic cosine of x."""
    a = fabs(x)
    v = select(a > HIGHEST_F64, f64(HIGHEST_F64), a)
    shifted = fma(v, LOG2_E, QUARTER_ROUNDER_F64)
    r = less_powers_f64(v, shifted - QUARTER_ROUNDER_F64)
    power = quarter_power_f64(shifted)
    opposite = opposite_power_f64(power)
    s, c = power - opposite, power + opposite
    square = r * r
    sine = fma(r * square, short_sinh_tail_f64(square), r)
    # Not added to c, which is rounded where 2**-n is beyond the last place of 2**n.
    half = power + fma(sine, s, fma(square * short_cosh_tail_f64(square), c, opposite))
    return half + half


FUNCTIONS = (
    everywhere("sinh_f32", 1.35),
    everywhere("sinh_f64", 1.5),
    everywhere("cosh_f32", 1.4),
    everywhere("cosh_f64", 1.4),
)
