"""Exponential functions: ``exp``, ``exp2`` and ``expm1``.

``exp(x) = 2**n * exp(r)`` with ``n`` the integer nearest to ``x / log(2)`` and ``r = x - n * log(2)``, so that
``|r| <= log(2) / 2``; ``exp(r) = 1 + (r + r**2 * tail(r))`` with a polynomial tail.  Adding ``1.5 * 2**52``
(``1.5 * 2**23``) rounds to an integer and leaves it in the low bits, from where a shift makes it an exponent.

The power of two is applied in two factors: the first holds 2**(n - 1), or 2**(n + many) where the result may be
subnormal, the second makes up for it, so that large results overflow, and subnormal results round, once.

``expm1(x) = 2**n * (r + r**2 * tail(r)) + (2**n - 1)``.  Where the two terms cancel, for n of plus and minus one, it
pays to round ``n`` up from 0.585 on in place of one half: there ``exp(r) - 1`` goes from 1/2 to -1/4, and its last
place never counts more than that of the result.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.cpu import wide_forms
from xjit.codegen.language.inline_functions import inline, register
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
from xjit.codegen.vmath.coefficients import exponential
from xjit.codegen.vmath.coefficients.exponential import LOG2_E
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.vector_function import everywhere

exp_tail_f32 = polynomial("exp_tail_f32", "f32", exponential.EXP_TAIL_F32)
exp_tail_f64 = polynomial("exp_tail_f64", "f64", exponential.EXP_TAIL_F64)
expm1_tail_f32 = polynomial("expm1_tail_f32", "f32", exponential.EXPM1_TAIL_F32)
expm1_tail_f64 = polynomial("expm1_tail_f64", "f64", exponential.EXPM1_TAIL_F64)
exp2_near_zero_f32 = polynomial("exp2_near_zero_f32", "f32", exponential.EXP2_F32)
exp2_near_zero_f64 = polynomial("exp2_near_zero_f64", "f64", exponential.EXP2_F64)

LN2_HIGH_F32, LN2_LOW_F32 = exponential.LN2_F32
LN2_HIGH_F64, LN2_LOW_F64 = exponential.LN2_F64

# Beyond these the result is infinite or zero (or minus one) whatever x is.
HIGHEST_F32, LOWEST_F32 = 89.0, -104.0
HIGHEST_F64, LOWEST_F64 = 710.0, -746.0
HIGHEST_EXP2_F32, LOWEST_EXP2_F32 = 129.0, -151.0
HIGHEST_EXP2_F64, LOWEST_EXP2_F64 = 1025.0, -1076.0
LOWEST_EXPM1_F32, LOWEST_EXPM1_F64 = -20.0, -40.0
# Powers of two below these get the exponent field of small results.
SMALL_POWER_F32, SMALL_POWER_F64 = -110.0, -1000.0
# Added to n before expm1 rounds it, and below what size expm1 is x.
ROUND_DOWN = -0.085
ITSELF_BELOW_F32, ITSELF_BELOW_F64 = 2.0**-26, 2.0**-55

ROUNDER_F32 = 1.5 * 2.0**23
ROUNDER_F64 = 1.5 * 2.0**52
# These leave the exponent field of 2**n in the low bits; biased once less, that of 2**(n - 1).
BIASED_ROUNDER_F32 = ROUNDER_F32 + 127.0
BIASED_ROUNDER_F64 = ROUNDER_F64 + 1023.0
HALVING_ROUNDER_F32 = ROUNDER_F32 + 126.0
HALVING_ROUNDER_F64 = ROUNDER_F64 + 1022.0

EXPONENT_F32, EXPONENT_F64 = (127 - 1) << 23, (1023 - 1) << 52
SMALL_EXPONENT_F32, SMALL_EXPONENT_F64 = (127 + 64) << 23, (1023 + 128) << 52
SMALL_FACTOR_F32, SMALL_FACTOR_F64 = 2.0**-64, 2.0**-128
ONE_BITS_F32, ONE_BITS_F64 = 127 << 23, 1023 << 52


@inline("f32(f32,f32)", wide=wide_forms.SCALE)
def times_power_f32(p: Any, shifted: Any) -> Any:
    """p * 2**n for n = shifted - ROUNDER_F32, rounded once; p is near one, n within 151 of zero."""
    small = shifted < f32(ROUNDER_F32 + SMALL_POWER_F32)
    exponent = select(small, u32(SMALL_EXPONENT_F32), u32(EXPONENT_F32))
    power = as_f32(shl(as_u32(shifted), u32(23)) + exponent)
    return p * power * select(small, f32(SMALL_FACTOR_F32), f32(2.0))


@inline("f64(f64,f64)", wide=wide_forms.SCALE)
def times_power_f64(p: Any, shifted: Any) -> Any:
    """p * 2**n for n = shifted - ROUNDER_F64, rounded once; p is near one, n within 1076 of zero."""
    small = shifted < ROUNDER_F64 + SMALL_POWER_F64
    exponent = select(small, u64(SMALL_EXPONENT_F64), u64(EXPONENT_F64))
    power = as_f64(shl(as_u64(shifted), u64(52)) + exponent)
    return p * power * select(small, SMALL_FACTOR_F64, 2.0)


# The same for plain texts, as no function with a form may call another one.
scaled_f32 = register("scaled_f32", times_power_f32.function, times_power_f32.signature)
scaled_f64 = register("scaled_f64", times_power_f64.function, times_power_f64.signature)


@inline("f32(f32)")
def within_powers_f32(x: Any) -> Any:
    """x, or the nearest number whose power of two is as infinite, or as much zero."""
    # Written as comparisons so that NaN stays.
    v = select(x > f32(HIGHEST_EXP2_F32), f32(HIGHEST_EXP2_F32), x)
    return select(v < f32(LOWEST_EXP2_F32), f32(LOWEST_EXP2_F32), v)


@inline("f32(f32)", wide=wide_forms.REST)
def rest_of_power_f32(x: Any) -> Any:
    """x less the nearest integer, or any number as small where 2**x is infinite or zero."""
    v = within_powers_f32(x)
    return v - ((v + f32(ROUNDER_F32)) - f32(ROUNDER_F32))


@inline("f32(f32,f32)", wide=wide_forms.SCALE_BY_NEAREST)
def times_nearest_power_f32(p: Any, x: Any) -> Any:
    """p * 2**n for the integer n nearest to x, rounded once; p is near one."""
    return scaled_f32(p, within_powers_f32(x) + f32(ROUNDER_F32))


@inline("f64(f64)")
def within_powers_f64(x: Any) -> Any:
    """x, or the nearest number whose power of two is as infinite, or as much zero."""
    # Written as comparisons so that NaN stays.
    v = select(x > HIGHEST_EXP2_F64, f64(HIGHEST_EXP2_F64), x)
    return select(v < LOWEST_EXP2_F64, f64(LOWEST_EXP2_F64), v)


@inline("f64(f64)", wide=wide_forms.REST)
def rest_of_power_f64(x: Any) -> Any:
    """x less the nearest integer, or any number as small where 2**x is infinite or zero."""
    v = within_powers_f64(x)
    return v - ((v + ROUNDER_F64) - ROUNDER_F64)


@inline("f64(f64,f64)", wide=wide_forms.SCALE_BY_NEAREST)
def times_nearest_power_f64(p: Any, x: Any) -> Any:
    """p * 2**n for the integer n nearest to x, rounded once; p is near one."""
    return scaled_f64(p, within_powers_f64(x) + ROUNDER_F64)


@inline("f32(f32,f32)")
def less_powers_f32(x: Any, n: Any) -> Any:
    """x - n * log(2)."""
    return fma(n, f32(-LN2_LOW_F32), fma(n, f32(-LN2_HIGH_F32), x))


@inline("f64(f64,f64)")
def less_powers_f64(x: Any, n: Any) -> Any:
    """x - n * log(2)."""
    return fma(n, -LN2_LOW_F64, fma(n, -LN2_HIGH_F64, x))


@inline("f32(f32,f32)")
def without_powers_f32(x: Any, shifted: Any) -> Any:
    """x - n * log(2) for n = shifted - ROUNDER_F32."""
    return less_powers_f32(x, shifted - f32(ROUNDER_F32))


@inline("f64(f64,f64)")
def without_powers_f64(x: Any, shifted: Any) -> Any:
    """x - n * log(2) for n = shifted - ROUNDER_F64."""
    return less_powers_f64(x, shifted - ROUNDER_F64)


@inline("f32(f32)")
def exp_f32(x: Any) -> Any:
    """e to the power x."""
    # Written as comparisons so that NaN stays.
    v = select(x > f32(HIGHEST_F32), f32(HIGHEST_F32), x)
    v = select(v < f32(LOWEST_F32), f32(LOWEST_F32), v)
    shifted = fma(v, f32(LOG2_E), f32(ROUNDER_F32))
    r = without_powers_f32(v, shifted)
    # Nested, because the sum of r and the rest, rounded on its own, would cost another quarter of a unit.
    return times_power_f32(fma(r, fma(r, exp_tail_f32(r), f32(1.0)), f32(1.0)), shifted)


@inline("f64(f64)")
def exp_f64(x: Any) -> Any:
    """e to the power x."""
    v = select(x > HIGHEST_F64, f64(HIGHEST_F64), x)
    v = select(v < LOWEST_F64, f64(LOWEST_F64), v)
    shifted = fma(v, LOG2_E, ROUNDER_F64)
    r = without_powers_f64(v, shifted)
    return times_power_f64(1.0 + fma(r * r, exp_tail_f64(r), r), shifted)


@inline("f32(f32)")
def exp2_f32(x: Any) -> Any:
    """2 to the power x."""
    return times_nearest_power_f32(exp2_near_zero_f32(rest_of_power_f32(x)), x)


@inline("f64(f64)")
def exp2_f64(x: Any) -> Any:
    """2 to the power x."""
    return times_nearest_power_f64(exp2_near_zero_f64(rest_of_power_f64(x)), x)


@inline("f32(f32)")
def expm1_f32(x: Any) -> Any:
    """e to the power x, minus one."""
    v = select(x > f32(HIGHEST_F32), f32(HIGHEST_F32), x)
    v = select(v < f32(LOWEST_EXPM1_F32), f32(LOWEST_EXPM1_F32), v)
    shifted = fma(v, f32(LOG2_E), f32(ROUND_DOWN)) + f32(HALVING_ROUNDER_F32)
    r = less_powers_f32(v, shifted - f32(HALVING_ROUNDER_F32))
    # Half the result, as the power of the largest results would overflow.
    power = as_f32(shl(as_u32(shifted), u32(23)))
    half = fma(power, fma(r * r, expm1_tail_f32(r), r), power - f32(0.5))
    return select(fabs(x) < f32(ITSELF_BELOW_F32), x, half + half)


@inline("f64(f64)")
def expm1_f64(x: Any) -> Any:
    """e to the power x, minus one."""
    v = select(x > HIGHEST_F64, f64(HIGHEST_F64), x)
    v = select(v < LOWEST_EXPM1_F64, f64(LOWEST_EXPM1_F64), v)
    shifted = fma(v, LOG2_E, ROUND_DOWN) + HALVING_ROUNDER_F64
    r = less_powers_f64(v, shifted - HALVING_ROUNDER_F64)
    power = as_f64(shl(as_u64(shifted), u64(52)))
    curve = r * r * expm1_tail_f64(r)
    p = r + curve
    # Next to a quarter the difference is half as large as its terms: what p has lost counts.
    half = fma(power, p, power - 0.5) + power * ((r - p) + curve)
    return select(fabs(x) < ITSELF_BELOW_F64, x, half + half)


FUNCTIONS = (
    everywhere("exp_f32", 0.9),
    everywhere("exp_f64", 1.1),
    everywhere("exp2_f32", 0.9),
    everywhere("exp2_f64", 0.9),
    everywhere("expm1_f32", 1.4),
    everywhere("expm1_f64", 1.7),
)
