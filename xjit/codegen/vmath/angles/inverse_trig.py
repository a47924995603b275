"""Inverse trigonometric functions: ``asin``, ``acos``, ``atan`` and ``atan2``.

Each brings its argument to a small angle v, of which the function is ``v + v**3 * tail(v**2)``, and adds that to
a multiple of pi/2 in two parts.  The part that a float holds comes last; what it leaves goes in with the tail.

``asin`` and ``acos`` above one half: ``acos(a) = 2 * asin(sqrt((1 - a) / 2))``.  One minus a is exact there, so
``acos`` is as accurate next to one, where it vanishes, as anywhere.

``atan`` above one: ``atan(a) = pi/2 - atan(1 / a)``; in f64 from one half to two ``pi/4 + atan((a - 1) / (a + 1))``,
which leaves angles so small that they need fewer terms.  ``atan2`` divides the smaller by the larger of its
arguments; signs, zeros and infinities then follow from which of the multiples of pi/2 is added.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import (
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
    sqrt,
    u32,
    u64,
)
from xjit.codegen.vmath.coefficients import inverse_trigonometric
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.vector_function import everywhere

asin_tail_f32 = polynomial("asin_tail_f32", "f32", inverse_trigonometric.ASIN_TAIL_F32)
asin_tail_f64 = polynomial("asin_tail_f64", "f64", inverse_trigonometric.ASIN_TAIL_F64)
atan_tail_f32 = polynomial("atan_tail_f32", "f32", inverse_trigonometric.ATAN_TAIL_F32)
atan_tail_f64 = polynomial("atan_tail_f64", "f64", inverse_trigonometric.ATAN_TAIL_F64)
atan_half_tail_f64 = polynomial("atan_half_tail_f64", "f64", inverse_trigonometric.ATAN_HALF_TAIL_F64)

HALF_PI_F32, HALF_PI_REST_F32 = inverse_trigonometric.HALF_PI_F32
HALF_PI_F64, HALF_PI_REST_F64 = inverse_trigonometric.HALF_PI_F64
REST_RATIO_F32 = HALF_PI_REST_F32 / HALF_PI_F32
REST_RATIO_F64 = HALF_PI_REST_F64 / HALF_PI_F64
SIGN_F32, SIGN_F64 = 1 << 31, 1 << 63


@inline("f32(f32)")
def asin_f32(x: Any) -> Any:
    """Angle in [-pi/2, pi/2] whose sine is x."""
    a = fabs(x)
    large = a > f32(0.5)
    square = select(large, f32(0.5) - f32(0.5) * a, a * a)
    v = select(large, f32(-2.0) * sqrt(square), a)
    base = select(large, f32(HALF_PI_F32), f32(0.0))
    rest = select(large, f32(HALF_PI_REST_F32), f32(0.0))
    angle = base + v
    # What this addition rounds away counts: at 0.84 the angle falls from above one to below.
    rest = rest + (v - (angle - base))
    return copysign(angle + fma(v * square, asin_tail_f32(square), rest), x)


@inline("f64(f64)")
def asin_f64(x: Any) -> Any:
    """Angle in [-pi/2, pi/2] whose sine is x."""
    a = fabs(x)
    large = a > 0.5
    square = select(large, 0.5 - 0.5 * a, a * a)
    v = select(large, -2.0 * sqrt(square), a)
    base = select(large, f64(HALF_PI_F64), 0.0)
    rest = select(large, f64(HALF_PI_REST_F64), 0.0)
    angle = base + v
    # What this addition rounds away counts: at 0.84 the angle falls from above one to below.
    rest = rest + (v - (angle - base))
    return copysign(angle + fma(v * square, asin_tail_f64(square), rest), x)


@inline("f32(f32)")
def acos_f32(x: Any) -> Any:
    """Angle in [0, pi] whose cosine is x."""
    a = fabs(x)
    large = a > f32(0.5)
    square = select(large, f32(0.5) - f32(0.5) * a, a * a)
    v = select(large, copysign(f32(2.0) * sqrt(square), x), -x)
    base = select(large, select(x < f32(0.0), f32(2.0 * HALF_PI_F32), f32(0.0)), f32(HALF_PI_F32))
    return base + (v + fma(v * square, asin_tail_f32(square), base * f32(REST_RATIO_F32)))


@inline("f64(f64)")
def acos_f64(x: Any) -> Any:
    """Angle in [0, pi] whose cosine is x."""
    a = fabs(x)
    large = a > 0.5
    square = select(large, 0.5 - 0.5 * a, a * a)
    v = select(large, copysign(2.0 * sqrt(square), x), -x)
    base = select(large, select(x < 0.0, 2.0 * HALF_PI_F64, 0.0), f64(HALF_PI_F64))
    return base + (v + fma(v * square, asin_tail_f64(square), base * REST_RATIO_F64))


@inline("f32(f32)")
def atan_f32(x: Any) -> Any:
    """Angle in [-pi/2, pi/2] whose tangent is x."""
    a = fabs(x)
    # One is large, and HALF_PI - 1 exact: so four times the angle of one is the float next to pi.
    large = a >= f32(1.0)
    v = select(large, f32(-1.0) / a, a)
    square = v * v
    base = select(large, f32(HALF_PI_F32), f32(0.0))
    rest = select(large, f32(HALF_PI_REST_F32), f32(0.0))
    return copysign((base + v) + fma(v * square, atan_tail_f32(square), rest), x)


@inline("f64(f64)")
def atan_f64(x: Any) -> Any:
    """Angle in [-pi/2, pi/2] whose tangent is x."""
    a = fabs(x)
    large, middle = a > 2.0, a > 0.5
    rise = select(large, -1.0, select(middle, a - 1.0, a))
    run = select(large, a, select(middle, a + 1.0, 1.0))
    v = rise / run
    base = select(large, f64(HALF_PI_F64), select(middle, f64(0.5 * HALF_PI_F64), f64(0.0)))
    angle = base + v
    rest = fma(base, REST_RATIO_F64, v - (angle - base))
    square = v * v
    return copysign(angle + fma(v * square, atan_half_tail_f64(square), rest), x)


@inline("f32(f32,f32)")
def atan2_f32(y: Any, x: Any) -> Any:
    """Angle in [-pi, pi] of the point (x, y)."""
    a, b = fabs(x), fabs(y)
    steep = (b >= a) & (b > f32(0.0))
    larger = select(steep, b, a)
    ratio = select(a == b, f32(-1.0), select(steep, -a, b) / larger)
    # Of two zeros the ratio is zero; the sign of x counts even then.
    ratio = select(a + b == f32(0.0), f32(0.0), ratio)
    sign = as_u32(x) & u32(SIGN_F32)
    v = as_f32(as_u32(ratio) ^ sign)
    base = select(steep, f32(HALF_PI_F32), select(sign == u32(0), f32(0.0), f32(2.0 * HALF_PI_F32)))
    square = v * v
    angle = base + v
    rest = fma(base, f32(REST_RATIO_F32), v - (angle - base))
    return copysign(angle + fma(v * square, atan_tail_f32(square), rest), y)


@inline("f64(f64,f64)")
def atan2_f64(y: Any, x: Any) -> Any:
    """Angle in [-pi, pi] of the point (x, y)."""
    a, b = fabs(x), fabs(y)
    steep = (b >= a) & (b > 0.0)
    larger = select(steep, b, a)
    ratio = select(a == b, f64(-1.0), select(steep, -a, b) / larger)
    ratio = select(a + b == 0.0, f64(0.0), ratio)
    sign = as_u64(x) & u64(SIGN_F64)
    v = as_f64(as_u64(ratio) ^ sign)
    base = select(steep, f64(HALF_PI_F64), select(sign == u64(0), f64(0.0), f64(2.0 * HALF_PI_F64)))
    square = v * v
    angle = base + v
    rest = fma(base, REST_RATIO_F64, v - (angle - base))
    return copysign(angle + fma(v * square, atan_tail_f64(square), rest), y)


FUNCTIONS = (
    everywhere("asin_f32", 1.25),
    everywhere("asin_f64", 1.3),
    everywhere("acos_f32", 1.25),
    everywhere("acos_f64", 1.3),
    everywhere("atan_f32", 1.3),
    everywhere("atan_f64", 1.5),
    everywhere("atan2_f32", 1.6),
    everywhere("atan2_f64", 1.6),
)
