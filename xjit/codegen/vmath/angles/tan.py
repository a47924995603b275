"""Tangent.

The angle is reduced to ``|r| <= pi/4``, a multiple n of pi/2 away, and r kept as a float and what that leaves.  The
nearest poles of the tangent, at pi/2 on both sides, go into a denominator; what remains is so smooth that a short
polynomial does::

    tan(r) = r * (1 + r**2 * tail(r**2)) / (1 - r**2 / (pi/2)**2)

For odd n the result is minus one over that, which is the same division the other way round.

Near, n times parts of pi/2 are exact and the differences cancel exactly (Cody and Waite 1980); far, digits of
``1 / pi`` are multiplied out (:mod:`xjit.codegen.vmath.angles.angle_reduction`).  The f32 function computes in f32 up
to ``NEAR_F32`` and reduces in f64 beyond.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import (
    as_f32,
    as_f64,
    as_i64,
    as_u32,
    as_u64,
    cplx,
    f32,
    f64,
    fabs,
    fma,
    im,
    lshr,
    re,
    select,
    shl,
    u32,
    u64,
)
from xjit.codegen.vmath.angles.angle_reduction import (
    NEAR_F64,
    far_turns_f32,
    far_turns_f64,
    finite_and_far_f32,
    finite_and_far_f64,
    funnel_u64,
    signed_fraction_f64,
    signed_fraction_rest_f64,
)
from xjit.codegen.vmath.coefficients import trigonometric
from xjit.codegen.vmath.coefficients.trigonometric import POLE_F32, POLE_F64
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.vector_function import reduced

NEAR_F32 = 2.0**12

tangent_tail_f32 = polynomial("tangent_tail_f32", "f32", trigonometric.TANGENT_TAIL_F32)
tangent_tail_f64 = polynomial("tangent_tail_f64", "f64", trigonometric.TANGENT_TAIL_F64)

ROUNDER_F32 = 1.5 * 2.0**23
ROUNDER_F64 = 1.5 * 2.0**52
QUARTERS = 2.0 * trigonometric.INVERSE_PI
A_F32, B_F32, C_F32, D_F32 = trigonometric.HALF_PI_PARTS_F32
A_F64, B_F64, C_F64, D_F64 = (part / 2.0 for part in trigonometric.PI_F64)
# For f32 from NEAR_F32 on, in f64.
A_MIDDLE, B_MIDDLE = (part / 2.0 for part in trigonometric.PI_F32)
HALF_PI, HALF_PI_REST = (part / 2.0 for part in trigonometric.PI_PAIR)
QUARTER_UNIT = math.ldexp(math.pi, -65)
HALF_QUARTER = 1 << 61
SIGN_F32, SIGN_F64 = 1 << 31, 1 << 63


@inline("f32(f32,u32,f32,f32)")
def tangent_f32(x: Any, quarter: Any, high: Any, low: Any) -> Any:
    """Tangent of an angle of ``high + low`` beside as many quarters of a turn, with the sign of x."""
    square = high * high
    run = fma(square, f32(-POLE_F32), f32(1.0))
    # What rounding took from the denominator goes into the numerator, where the small terms still are.
    low = fma(-high, fma(square, f32(-POLE_F32), f32(1.0) - run), low)
    rise = high + fma(high * square, tangent_tail_f32(square), low)
    odd = quarter & u32(1) != u32(0)
    ratio = select(odd, run, rise) / select(odd, rise, run)
    return as_f32(as_u32(ratio) ^ shl(quarter, u32(31)) ^ (as_u32(x) & u32(SIGN_F32)))


@inline("c128(f64,f64)")
def rise_and_run_f64(high: Any, low: Any) -> Any:
    """Two numbers whose quotient is the tangent of ``high + low``, up to pi/4 in size."""
    square = high * high
    run = fma(square, -POLE_F64, 1.0)
    # The same as in f32, with what the square itself is short of.
    square_low = fma(high + high, low, fma(high, high, -square))
    lost = fma(square_low, -POLE_F64, fma(square, -POLE_F64, 1.0 - run))
    low = fma(-high, lost, low)
    return cplx(high + fma(high * square, tangent_tail_f64(square), low), run)


@inline("f64(f64,u64,f64,f64)")
def tangent_f64(x: Any, quarter: Any, high: Any, low: Any) -> Any:
    """Tangent of an angle of ``high + low`` beside as many quarters of a turn, with the sign of x."""
    slope = rise_and_run_f64(high, low)
    rise, run = re(slope), im(slope)
    odd = quarter & u64(1) != u64(0)
    ratio = select(odd, run, rise) / select(odd, rise, run)
    return as_f64(as_u64(ratio) ^ shl(quarter, u64(63)) ^ (as_u64(x) & u64(SIGN_F64)))


@inline("f32(f32)")
def near_quarters_f32(x: Any) -> Any:
    """ROUNDER_F32 and the number of quarters in |x|."""
    return fma(fabs(x), f32(QUARTERS), f32(ROUNDER_F32))


@inline("f32(f32)")
def near_coarse_f32(x: Any) -> Any:
    """|x| without that many times the first two parts of pi/2: exact."""
    n = near_quarters_f32(x) - f32(ROUNDER_F32)
    return fma(n, f32(-B_F32), fma(n, f32(-A_F32), fabs(x)))


@inline("f32(f32)")
def near_high_f32(x: Any) -> Any:
    """The reduced angle."""
    return fma(near_quarters_f32(x) - f32(ROUNDER_F32), f32(-C_F32), near_coarse_f32(x))


@inline("f32(f32)")
def near_low_f32(x: Any) -> Any:
    """Rounding error of near_high_f32."""
    n = near_quarters_f32(x) - f32(ROUNDER_F32)
    return fma(n, f32(-D_F32), fma(n, f32(-C_F32), near_coarse_f32(x) - near_high_f32(x)))


@inline("f64(f64)")
def near_quarters_f64(x: Any) -> Any:
    """ROUNDER_F64 and the number of quarters in |x|."""
    return fma(fabs(x), QUARTERS, ROUNDER_F64)


@inline("f64(f64)")
def near_coarse_f64(x: Any) -> Any:
    """|x| without that many times the first two parts of pi/2: exact."""
    n = near_quarters_f64(x) - ROUNDER_F64
    return fma(n, -B_F64, fma(n, -A_F64, fabs(x)))


@inline("f64(f64)")
def near_high_f64(x: Any) -> Any:
    """The reduced angle."""
    return fma(near_quarters_f64(x) - ROUNDER_F64, -C_F64, near_coarse_f64(x))


@inline("f64(f64)")
def near_low_f64(x: Any) -> Any:
    """Rounding error of near_high_f64."""
    n = near_quarters_f64(x) - ROUNDER_F64
    return fma(n, -D_F64, fma(n, -C_F64, near_coarse_f64(x) - near_high_f64(x)))


@inline("f32(f32)")
def tan_f32_near(x: Any) -> Any:
    """Tangent of x, |x| <= NEAR_F32."""
    return tangent_f32(x, as_u32(near_quarters_f32(x)), near_high_f32(x), near_low_f32(x))


@inline("f64(f64)")
def tan_f64_near(x: Any) -> Any:
    """Tangent of x, |x| <= NEAR_F64."""
    return tangent_f64(x, as_u64(near_quarters_f64(x)), near_high_f64(x), near_low_f64(x))


@inline("b1(f32)")
def tan_f32_is_far(x: Any) -> Any:
    """Return whether tan_f32_near need not be right; infinity is far, NaN is not."""
    return fabs(x) > f32(NEAR_F32)


@inline("b1(f64)")
def tan_f64_is_far(x: Any) -> Any:
    """Return whether tan_f64_near need not be right; infinity is far, NaN is not."""
    return fabs(x) > NEAR_F64


@inline("f64(f32)")
def middle_quarters_f32(x: Any) -> Any:
    """ROUNDER_F64 and the number of quarters in |x|, up to 2**24."""
    return fma(f64(fabs(x)), QUARTERS, ROUNDER_F64)


@inline("f64(f32)")
def far_tangent_angle_f32(x: Any) -> Any:
    """Reduced angle of |x| above NEAR_F32."""
    n = middle_quarters_f32(x) - ROUNDER_F64
    middle = fma(n, -B_MIDDLE, fma(n, -A_MIDDLE, f64(fabs(x))))
    return select(finite_and_far_f32(x), f64(as_i64(shl(far_turns_f32(x), u64(2)))) * QUARTER_UNIT, middle)


@inline("u32(f32)")
def far_quarter_f32(x: Any) -> Any:
    """Quarters of a turn next to |x| above NEAR_F32, in the low bits."""
    far = lshr(far_turns_f32(x) + u64(HALF_QUARTER), u64(62))
    return u32(select(finite_and_far_f32(x), far, as_u64(middle_quarters_f32(x))))


@inline("f32(f32)")
def tan_f32(x: Any) -> Any:
    """Tangent of x."""
    far = tan_f32_is_far(x)
    angle = far_tangent_angle_f32(x)
    high = f32(angle)
    return tangent_f32(
        x,
        select(far, far_quarter_f32(x), as_u32(near_quarters_f32(x))),
        select(far, high, near_high_f32(x)),
        select(far, f32(angle - f64(high)), near_low_f32(x)),
    )


@inline("f64(u64,u64)")
def far_high_f64(distance: Any, distance_low: Any) -> Any:
    """That part of pi/2, a signed fraction of 128 bits."""
    fraction, rest = signed_fraction_f64(distance, distance_low), signed_fraction_rest_f64(distance, distance_low)
    return fma(fraction, HALF_PI, fma(fraction, HALF_PI_REST, rest * HALF_PI))


@inline("f64(u64,u64)")
def far_low_f64(distance: Any, distance_low: Any) -> Any:
    """Rounding error of far_high_f64."""
    fraction, rest = signed_fraction_f64(distance, distance_low), signed_fraction_rest_f64(distance, distance_low)
    below = fma(fraction, HALF_PI_REST, rest * HALF_PI)
    return fma(fraction, HALF_PI, -far_high_f64(distance, distance_low)) + below


@inline("f64(f64)")
def tan_f64(x: Any) -> Any:
    """Tangent of x."""
    far = finite_and_far_f64(x)
    turns, turns_low = far_turns_f64(x, u64(0)), far_turns_f64(x, u64(1))
    # As a signed number this is the distance to the nearest quarter.
    distance, distance_low = funnel_u64(turns, turns_low, u64(2)), shl(turns_low, u64(2))
    quarter = lshr(turns + u64(HALF_QUARTER), u64(62))
    return tangent_f64(
        x,
        select(far, quarter, as_u64(near_quarters_f64(x))),
        select(far, far_high_f64(distance, distance_low), near_high_f64(x)),
        select(far, far_low_f64(distance, distance_low), near_low_f64(x)),
    )


FUNCTIONS = (
    reduced("tan_f32", 1.9),
    reduced("tan_f64", 1.65),
)
