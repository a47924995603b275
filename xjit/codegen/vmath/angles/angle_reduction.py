"""Angles reduced to half a turn: signed r with ``|r| <= pi/2`` and ``sin(r) = sin(x)``, or ``sin(r) = cos(x)``.

With ``n`` the integer nearest to ``x / pi``, ``sin(x) = (-1)**n * sin(x - n * pi)``, and the sign goes into the
angle.  For the cosine, which is ``sin(x + pi/2)``, ``n`` is half an odd number.

Near (``|x|`` up to ``NEAR_F32``, ``NEAR_F64``): pi is split into parts so short that their products with n are
exact, also without fused multiply-add, and the subtractions cancel exactly (Cody and Waite 1980).

Far: x is an integer M times a power of two.  Digits of ``1 / pi`` that give multiples of two in the product with
that power are skipped; M times the next 96 or 192 digits is ``x / pi`` modulo two in fixed point, good to more
bits than the closest any float comes to a multiple of pi/2 (Payne and Hanek 1983).  Which digits is found by
``select``, so that these functions vectorise like all others.  For x that is not far they return something.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import InlineFunction, function_of, inline, register
from xjit.codegen.language.intrinsics import (
    as_f64,
    as_i64,
    as_u32,
    as_u64,
    ashr,
    f64,
    fabs,
    fma,
    i64,
    lshr,
    select,
    shl,
    u32,
    u64,
)
from xjit.codegen.vmath.coefficients.trigonometric import (
    INVERSE_PI,
    INVERSE_PI_WORDS_F32,
    INVERSE_PI_WORDS_F64,
    PI_F32,
    PI_F64,
    PI_PAIR,
)

NEAR_F32 = 2.0**24
NEAR_F64 = 2.0**24

ROUNDER = 1.5 * 2.0**52
PI_A_F32, PI_B_F32 = PI_F32
PI_A_F64, PI_B_F64, PI_C_F64, PI_D_F64 = PI_F64
PI, PI_REST = PI_PAIR

SIGN = 1 << 63
LOW_HALF = 0xFFFFFFFF
QUARTER_TURN = 1 << 62
"""Addend of ``x / pi`` in fixed point to get a cosine, as an argument of the far reductions."""

# Exponent fields of the first far number and of the last finite one.
FIRST_FAR_F32, FIRST_FAR_F64 = 127 + 24, 1023 + 24
FAR_COUNT_F32, FAR_COUNT_F64 = 255 - FIRST_FAR_F32, 2047 - FIRST_FAR_F64
IMPLICIT_F32, FRACTION_F32 = 1 << 23, (1 << 23) - 1
IMPLICIT_F64, FRACTION_F64 = 1 << 52, (1 << 52) - 1
HALF_TURN_UNIT = math.ldexp(math.pi, -64)


@inline("f64(f32)")
def near_sine_angle_f32(x: Any) -> Any:
    """Reduced angle of a sine, |x| <= NEAR_F32."""
    v = f64(x)
    shifted = fma(v, INVERSE_PI, ROUNDER)
    n = shifted - ROUNDER
    r = fma(n, -PI_B_F32, fma(n, -PI_A_F32, v))
    return as_f64(as_u64(r) ^ shl(as_u64(shifted), u64(63)))


@inline("f64(f32)")
def near_cosine_angle_f32(x: Any) -> Any:
    """Reduced angle of a cosine, |x| <= NEAR_F32."""
    v = f64(fabs(x))
    shifted = fma(v, INVERSE_PI, -0.5) + ROUNDER
    n = (shifted - ROUNDER) + 0.5
    # n * pi - x, because the sine of x - n * pi would need one more change of sign.
    r = fma(n, PI_B_F32, fma(n, PI_A_F32, -v))
    return as_f64(as_u64(r) ^ shl(as_u64(shifted), u64(63)))


@inline("f64(f64)")
def near_sine_angle_f64(x: Any) -> Any:
    """Reduced angle of a sine, |x| <= NEAR_F64."""
    shifted = fma(x, INVERSE_PI, ROUNDER)
    n = shifted - ROUNDER
    r = fma(n, -PI_B_F64, fma(n, -PI_A_F64, x))
    r = fma(n, -PI_D_F64, fma(n, -PI_C_F64, r))
    return as_f64(as_u64(r) ^ shl(as_u64(shifted), u64(63)))


@inline("f64(f64)")
def near_cosine_angle_f64(x: Any) -> Any:
    """Reduced angle of a cosine, |x| <= NEAR_F64."""
    v = fabs(x)
    shifted = fma(v, INVERSE_PI, -0.5) + ROUNDER
    n = (shifted - ROUNDER) + 0.5
    r = fma(n, PI_B_F64, fma(n, PI_A_F64, -v))
    r = fma(n, PI_D_F64, fma(n, PI_C_F64, r))
    return as_f64(as_u64(r) ^ shl(as_u64(shifted), u64(63)))


@inline("b1(f32)")
def finite_and_far_f32(x: Any) -> Any:
    """Return whether x is finite and of at least NEAR_F32, so that the far reductions are right."""
    return (lshr(as_u32(x), u32(23)) & u32(255)) - u32(FIRST_FAR_F32) < u32(FAR_COUNT_F32)


@inline("b1(f64)")
def finite_and_far_f64(x: Any) -> Any:
    """Return whether x is finite and of at least NEAR_F64, so that the far reductions are right."""
    return (lshr(as_u64(x), u64(52)) & u64(2047)) - u64(FIRST_FAR_F64) < u64(FAR_COUNT_F64)


@inline("f64(f32,f64,f64)")
def angle_f32(x: Any, far: Any, near: Any) -> Any:
    """The far angle where x is finite and far, else the near one, which makes NaN of infinity."""
    return select(finite_and_far_f32(x), far, near)


@inline("f64(f64,f64,f64)")
def angle_f64(x: Any, far: Any, near: Any) -> Any:
    """The far angle where x is finite and far, else the near one, which makes NaN of infinity."""
    return select(finite_and_far_f64(x), far, near)


def _word_function(name: str, kind: str, words: tuple[int, ...], first: int, index_bits: int) -> InlineFunction:
    """Registers ``name(index)``: the word at ``first + index``, found by a tree of selects over the index bits.

    Trees of neighbouring words share most of their nodes, which the compiler computes once.
    """

    def node(start: int, bit: int) -> str:
        if bit == index_bits:
            return f"{kind}({words[min(start, len(words) - 1)]:#x})"
        return f"select(bit{bit}, {node(start + (1 << bit), bit + 1)}, {node(start, bit + 1)})"

    tests = [f"    bit{bit} = index & {kind}({1 << bit:#x}) != {kind}(0)" for bit in range(index_bits)]
    text = "\n".join((f"def {name}(index):", *tests, f"    return {node(first, 0)}", ""))
    known = {"select": select, "u32": u32, "u64": u64}
    return register(name, function_of(name, text, known), f"{kind}({kind})")


inverse_pi_word0_f32, inverse_pi_word1_f32, inverse_pi_word2_f32, inverse_pi_word3_f32 = (
    _word_function(f"inverse_pi_word{k}_f32", "u32", INVERSE_PI_WORDS_F32, k, 2) for k in range(4)
)
inverse_pi_word0_f64, inverse_pi_word1_f64, inverse_pi_word2_f64, inverse_pi_word3_f64 = (
    _word_function(f"inverse_pi_word{k}_f64", "u64", INVERSE_PI_WORDS_F64, k, 4) for k in range(4)
)


@inline("u32(u32,u32,u32)")
def funnel_u32(high: Any, low: Any, count: Any) -> Any:
    """The upper word of high:low shifted left, 0 <= count < 32."""
    return shl(high, count) | lshr(lshr(low, u32(1)), u32(31) - count)


@inline("u64(u64,u64,u64)")
def funnel_u64(high: Any, low: Any, count: Any) -> Any:
    """The upper word of high:low shifted left, 0 <= count < 64."""
    return shl(high, count) | lshr(lshr(low, u64(1)), u64(63) - count)


@inline("u64(f32)")
def far_turns_f32(x: Any) -> Any:
    """|x| / pi modulo two, for finite x of at least NEAR_F32; the top bit weighs one."""
    bits = as_u32(x)
    position = (lshr(bits, u32(23)) & u32(255)) - u32(FIRST_FAR_F32)
    mantissa = u64((bits & u32(FRACTION_F32)) | u32(IMPLICIT_F32))
    index = lshr(position, u32(5)) & u32(3)
    count = position & u32(31)
    second, third = inverse_pi_word1_f32(index), inverse_pi_word2_f32(index)
    high = u64(funnel_u32(inverse_pi_word0_f32(index), second, count))
    middle = u64(funnel_u32(second, third, count))
    low = u64(funnel_u32(third, inverse_pi_word3_f32(index), count))
    return shl(mantissa * high, u64(32)) + mantissa * middle + lshr(mantissa * low, u64(32))


@inline("f64(f32,u64)")
def far_angle_f32(x: Any, turn: Any) -> Any:
    """Reduced angle of |x|, for finite x of at least NEAR_F32."""
    turns = far_turns_f32(x) + turn
    # As a signed number this is the distance to the nearest integer.
    distance = shl(turns, u64(1))
    r = f64(as_i64(distance)) * HALF_TURN_UNIT
    return as_f64(as_u64(r) ^ ((turns ^ distance) & u64(SIGN)))


@inline("u64(u64,u64)")
def product_high_u64(a: Any, b: Any) -> Any:
    """Upper half of the 128-bit product, or up to 3 less: what the low halves would carry is left out."""
    a_high, a_low = lshr(a, u64(32)), a & u64(LOW_HALF)
    b_high, b_low = lshr(b, u64(32)), b & u64(LOW_HALF)
    return a_high * b_high + lshr(a_high * b_low, u64(32)) + lshr(a_low * b_high, u64(32))


@inline("u64(u64,u64)")
def product_high_exact_u64(a: Any, b: Any) -> Any:
    """Upper half of the 128-bit product."""
    a_high, a_low = lshr(a, u64(32)), a & u64(LOW_HALF)
    b_high, b_low = lshr(b, u64(32)), b & u64(LOW_HALF)
    first, second = a_high * b_low, a_low * b_high
    carried = lshr(a_low * b_low, u64(32)) + (first & u64(LOW_HALF)) + (second & u64(LOW_HALF))
    return a_high * b_high + lshr(first, u64(32)) + lshr(second, u64(32)) + lshr(carried, u64(32))


@inline("u64(f64,u64)")
def far_turns_f64(x: Any, lower: Any) -> Any:
    """|x| / pi modulo two, for finite x of at least NEAR_F64; the top bit weighs one.

    This is the upper half of it, or the lower half where ``lower`` is one; asked for both, the compiler works it
    out once.
    """
    bits = as_u64(x)
    position = (lshr(bits, u64(52)) & u64(2047)) - u64(FIRST_FAR_F64)
    mantissa = (bits & u64(FRACTION_F64)) | u64(IMPLICIT_F64)
    index = lshr(position, u64(6)) & u64(15)
    count = position & u64(63)
    second, third = inverse_pi_word1_f64(index), inverse_pi_word2_f64(index)
    high = funnel_u64(inverse_pi_word0_f64(index), second, count)
    middle = funnel_u64(second, third, count)
    low = funnel_u64(third, inverse_pi_word3_f64(index), count)
    middle_low = mantissa * middle
    turns_low = middle_low + product_high_u64(mantissa, low)
    carry = u64(turns_low < middle_low)
    turns = mantissa * high + product_high_exact_u64(mantissa, middle) + carry
    return select(lower != u64(0), turns_low, turns)


@inline("f64(u64)")
def fraction_top_f64(distance: Any) -> Any:
    """A signed number times 2**-64, rounded to 52 bits."""
    # Rounded after the shift: next to one half the sum would overflow before, and change its sign.
    upper = ashr(as_i64(distance), i64(12)) + as_i64(lshr(distance, u64(11)) & u64(1))
    return f64(upper) * 2.0**-52


@inline("i64(u64,u64)")
def fraction_rest_i64(distance: Any, distance_low: Any) -> Any:
    """Remainder of fraction_top_f64 of a signed 128-bit number, times 2**116."""
    return as_i64(shl(distance, u64(52)) | lshr(distance_low, u64(12)))


@inline("f64(u64,u64)")
def signed_fraction_f64(distance: Any, distance_low: Any) -> Any:
    """A signed 128-bit number times 2**-128, to 52 bits however small it is."""
    below = f64(ashr(fraction_rest_i64(distance, distance_low), i64(12))) * 2.0**-104
    return fraction_top_f64(distance) + below


@inline("f64(u64,u64)")
def signed_fraction_rest_f64(distance: Any, distance_low: Any) -> Any:
    """Remainder of signed_fraction_f64."""
    rest = fraction_rest_i64(distance, distance_low)
    top, below = fraction_top_f64(distance), f64(ashr(rest, i64(12))) * 2.0**-104
    return (below - ((top + below) - top)) + f64(rest & i64(0xFFF)) * 2.0**-116


@inline("f64(f64,u64)")
def far_angle_f64(x: Any, turn: Any) -> Any:
    """Reduced angle of |x|, for finite x of at least NEAR_F64."""
    turns, turns_low = far_turns_f64(x, u64(0)) + turn, far_turns_f64(x, u64(1))
    # As a signed number this is the distance to the nearest integer.
    distance = funnel_u64(turns, turns_low, u64(1))
    near = signed_fraction_f64(distance, shl(turns_low, u64(1)))
    near_rest = signed_fraction_rest_f64(distance, shl(turns_low, u64(1)))
    r = fma(near, PI, fma(near, PI_REST, near_rest * PI))
    return as_f64(as_u64(r) ^ ((turns ^ distance) & u64(SIGN)))
