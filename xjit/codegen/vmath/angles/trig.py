"""Sine and cosine.

The angle is reduced to ``|r| <= pi/2`` (:mod:`xjit.codegen.vmath.angles.angle_reduction`) and the sine of that is one
odd polynomial.  The f32 functions compute in f64 and are within 0.62 units of the true value.

``sin_f64`` and its like are right for every argument and always pay for the reduction of huge ones;
``sin_f64_near`` and its like are right up to a bound and cost a third or less.  ``sin_f64_rare`` is
``sin_f64`` as a function that is called: a loop over it is not vector code, but soon compiled.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.language.inline_functions import inline, register
from xjit.codegen.language.intrinsics import as_f64, as_u64, copysign, f32, f64, fabs, fma, select, u64
from xjit.codegen.vmath.angles.angle_reduction import (
    NEAR_F32,
    NEAR_F64,
    QUARTER_TURN,
    SIGN,
    angle_f32,
    angle_f64,
    far_angle_f32,
    far_angle_f64,
    near_cosine_angle_f32,
    near_cosine_angle_f64,
    near_sine_angle_f32,
    near_sine_angle_f64,
)
from xjit.codegen.vmath.coefficients import trigonometric
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.vector_function import reduced

sine_tail_f32 = polynomial("sine_tail_f32", "f64", trigonometric.SINE_TAIL_F32)
sine_tail_f64 = polynomial("sine_tail_f64", "f64", trigonometric.SINE_TAIL_F64)


@inline("f32(f64)")
def half_turn_sine_f32(r: Any) -> Any:
    """Sine of |r| <= pi/2, rounded once."""
    square = r * r
    return f32(r * fma(square, sine_tail_f32(square), 1.0))


@inline("f64(f64)")
def half_turn_sine_f64(r: Any) -> Any:
    """Sine of |r| <= pi/2."""
    a = fabs(r)
    square = a * a
    tail = sine_tail_f64(square)
    # What rounding took from the square counts: near pi/2 the tail is large.
    shrink = fma(square, tail, fma(a, a, -square) * tail)
    sine = fma(a, shrink, a)
    return copysign(select(sine > 1.0, 1.0, sine), r)


@inline("f32(f32)")
def sin_f32_near(x: Any) -> Any:
    """Sine of x, |x| <= NEAR_F32."""
    return half_turn_sine_f32(near_sine_angle_f32(x))


@inline("f32(f32)")
def cos_f32_near(x: Any) -> Any:
    """Cosine of x, |x| <= NEAR_F32."""
    return half_turn_sine_f32(near_cosine_angle_f32(x))


@inline("f64(f64)")
def sin_f64_near(x: Any) -> Any:
    """Sine of x, |x| <= NEAR_F64."""
    return half_turn_sine_f64(near_sine_angle_f64(x))


@inline("f64(f64)")
def cos_f64_near(x: Any) -> Any:
    """Cosine of x, |x| <= NEAR_F64."""
    return half_turn_sine_f64(near_cosine_angle_f64(x))


@inline("f32(f32)")
def sin_f32(x: Any) -> Any:
    """Sine of x."""
    far = as_f64(as_u64(far_angle_f32(x, u64(0))) ^ (as_u64(f64(x)) & u64(SIGN)))
    return half_turn_sine_f32(angle_f32(x, far, near_sine_angle_f32(x)))


@inline("f32(f32)")
def cos_f32(x: Any) -> Any:
    """Cosine of x."""
    far = far_angle_f32(x, u64(QUARTER_TURN))
    return half_turn_sine_f32(angle_f32(x, far, near_cosine_angle_f32(x)))


@inline("f64(f64)")
def sin_f64(x: Any) -> Any:
    """Sine of x."""
    far = as_f64(as_u64(far_angle_f64(x, u64(0))) ^ (as_u64(x) & u64(SIGN)))
    return half_turn_sine_f64(angle_f64(x, far, near_sine_angle_f64(x)))


@inline("f64(f64)")
def cos_f64(x: Any) -> Any:
    """Cosine of x."""
    far = far_angle_f64(x, u64(QUARTER_TURN))
    return half_turn_sine_f64(angle_f64(x, far, near_cosine_angle_f64(x)))


@inline("b1(f32)")
def sin_f32_is_far(x: Any) -> Any:
    """Return whether sin_f32_near need not be right; infinity is far, NaN is not."""
    return fabs(x) > f32(NEAR_F32)


@inline("b1(f64)")
def sin_f64_is_far(x: Any) -> Any:
    """Return whether sin_f64_near need not be right; infinity is far, NaN is not."""
    return fabs(x) > NEAR_F64


register("cos_f32_is_far", sin_f32_is_far.function, sin_f32_is_far.signature)
register("cos_f64_is_far", sin_f64_is_far.function, sin_f64_is_far.signature)


FUNCTIONS = (
    reduced("sin_f32", 0.63),
    reduced("sin_f64", 1.6),
    reduced("cos_f32", 0.63),
    reduced("cos_f64", 1.6),
)
