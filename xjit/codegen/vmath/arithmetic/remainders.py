"""Remainders of divisions, exact, and the quotients that belong to them: ``fmod``, ``remainder``, ``floor_divide``.

The usual quotient is so small that it, and all integers up to it, are floats: the quotient of the magnitudes,
rounded to an integer ``n``, is right or one too large, and ``|x| - n * |y|`` is a float, which one fused
multiply-add gives (or, without it, a product of halves); where it is negative, one ``|y|`` is put back.

Larger quotients are taken off in pieces of some fifty bits, from the upper end: ``y`` times a power of two leaves a
remainder that has the same remainder by ``y``.

``remainder`` has the sign of the divisor and ``floor_divide`` is the quotient rounded down, with the roundings and
the zeros of NumPy: ``(x - fmod(x, y)) / y``, less one where the remainder is on the wrong side of zero, to the
nearest integer.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline, register
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
    i64,
    select,
    u32,
    u64,
)
from xjit.codegen.vmath.arithmetic.float_parts import floor_log2_f64, ldexp_long_f64
from xjit.codegen.vmath.exponentials.pow import PROBE, PROBE_SQUARE, near_sum_f32, near_sum_f64
from xjit.codegen.vmath.vector_function import reduced

INFINITY = math.inf
SIGN_F32, SIGN_F64 = 1 << 31, 1 << 63
# Adding and subtracting it rounds to an integer.
ROUNDER_F32, ROUNDER_F64 = 2.0**23, 2.0**52
# Quotients up to these are near; twice as large ones would be right as well.
NEAR_QUOTIENT_F32, NEAR_QUOTIENT_F64 = 2.0**21, 2.0**50
INVERSE_F32, INVERSE_F64 = 1.0 / NEAR_QUOTIENT_F32, 1.0 / NEAR_QUOTIENT_F64
QUOTIENT_BITS = 49
# Without fused multiply-add numbers above this overflow on the way.
NEAR_SIZE = 2.0**990
SMALLER, LARGER = 2.0**-200, 2.0**200


@inline("f32(f32,f32)")
def whole_quotient_f32(x: Any, y: Any) -> Any:
    """Integer nearest to the quotient of positive numbers, which must be near."""
    return (x / y + f32(ROUNDER_F32)) - f32(ROUNDER_F32)


@inline("f64(f64,f64)")
def whole_quotient_f64(x: Any, y: Any) -> Any:
    """Integer nearest to the quotient of positive numbers, which must be near."""
    return (x / y + ROUNDER_F64) - ROUNDER_F64


@inline("f32(f32,f32)")
def signed_rest_f32(x: Any, y: Any) -> Any:
    """Distance of positive x to the nearest multiple of positive y; x itself where it is less than y."""
    rest = near_sum_f32(-whole_quotient_f32(x, y), y, x)
    return select(x < y, x, rest)


@inline("f64(f64,f64)")
def signed_rest_f64(x: Any, y: Any) -> Any:
    """Distance of positive x to the nearest multiple of positive y; x itself where it is less than y."""
    rest = near_sum_f64(-whole_quotient_f64(x, y), y, x)
    return select(x < y, x, rest)


@inline("f32(f32,f32)")
def rest_f32(x: Any, y: Any) -> Any:
    """Remainder of positive numbers whose quotient is near."""
    rest = signed_rest_f32(x, y)
    return select(rest < f32(0.0), rest + y, rest)


@inline("f64(f64,f64)")
def rest_f64(x: Any, y: Any) -> Any:
    """Remainder of positive numbers whose quotient is near."""
    rest = signed_rest_f64(x, y)
    return select(rest < 0.0, rest + y, rest)


@inline("b1(f32,f32)")
def signs_differ_f32(x: Any, y: Any) -> Any:
    """Return whether one of the two has a sign bit."""
    return (as_u32(x) ^ as_u32(y)) >= u32(SIGN_F32)


@inline("b1(f64,f64)")
def signs_differ_f64(x: Any, y: Any) -> Any:
    """Return whether one of the two has a sign bit."""
    return (as_u64(x) ^ as_u64(y)) >= u64(SIGN_F64)


@inline("f32(f32,f32)")
def fmod_f32_near(x: Any, y: Any) -> Any:
    """Remainder with the sign of x, for near quotients."""
    return copysign(rest_f32(fabs(x), fabs(y)), x)


@inline("f64(f64,f64)")
def fmod_f64_near(x: Any, y: Any) -> Any:
    """Remainder with the sign of x, for near quotients."""
    return copysign(rest_f64(fabs(x), fabs(y)), x)


@inline("f32(f32,f32)")
def remainder_f32_near(x: Any, y: Any) -> Any:
    """Remainder with the sign of y, for near quotients."""
    rest = rest_f32(fabs(x), fabs(y))
    other_side = signs_differ_f32(x, y) & (rest != f32(0.0))
    return copysign(select(other_side, fabs(y) - rest, rest), y)


@inline("f64(f64,f64)")
def remainder_f64_near(x: Any, y: Any) -> Any:
    """Remainder with the sign of y, for near quotients."""
    rest = rest_f64(fabs(x), fabs(y))
    other_side = signs_differ_f64(x, y) & (rest != 0.0)
    return copysign(select(other_side, fabs(y) - rest, rest), y)


@inline("f32(f32,f32)")
def floor_divide_f32_near(x: Any, y: Any) -> Any:
    """Quotient rounded down, for near quotients."""
    size, divisor = fabs(x), fabs(y)
    rest = signed_rest_f32(size, divisor)
    n = select(size < divisor, f32(0.0), whole_quotient_f32(size, divisor))
    differ = signs_differ_f32(x, y)
    # Down is towards zero where the signs are equal, away from it where they differ.
    n = select(differ & (rest > f32(0.0)), n + f32(1.0), select(differ, n, n - f32(rest < f32(0.0))))
    return as_f32(as_u32(n) | ((as_u32(x) ^ as_u32(y)) & u32(SIGN_F32)))


@inline("f64(f64,f64)")
def floor_divide_f64_near(x: Any, y: Any) -> Any:
    """Quotient rounded down, for near quotients."""
    size, divisor = fabs(x), fabs(y)
    rest = signed_rest_f64(size, divisor)
    n = select(size < divisor, f64(0.0), whole_quotient_f64(size, divisor))
    differ = signs_differ_f64(x, y)
    # Down is towards zero where the signs are equal, away from it where they differ.
    n = select(differ & (rest > 0.0), n + 1.0, select(differ, n, n - f64(rest < 0.0)))
    return as_f64(as_u64(n) | ((as_u64(x) ^ as_u64(y)) & u64(SIGN_F64)))


@inline("b1(f32,f32)")
def fmod_f32_is_far(x: Any, y: Any) -> Any:
    """Return whether the quotient is too large to be near."""
    return fabs(x) * f32(INVERSE_F32) > fabs(y)


@inline("b1(f64,f64)")
def fmod_f64_is_far(x: Any, y: Any) -> Any:
    """Return whether the quotient is too large to be near, or its product with y cannot be computed exactly."""
    fused = fma(f64(PROBE), f64(PROBE), f64(-PROBE_SQUARE)) != 0.0
    limit = select(fused, f64(INFINITY), f64(NEAR_SIZE))
    return (fabs(x) * INVERSE_F64 > fabs(y)) | (fabs(x) > limit)


@inline("f64(f64,f64)")
def smaller_rest_f64(x: Any, y: Any) -> Any:
    """Remainder of positive numbers whose quotient is near, however large they are."""
    factor = select(x > NEAR_SIZE, f64(SMALLER), f64(1.0))
    back = select(x > NEAR_SIZE, f64(LARGER), f64(1.0))
    rest = rest_f64(x * factor, y * factor) * back
    return select(x < y, x, rest)


@inline("f64(f64,f64)")
def fmod_f64(x: Any, y: Any) -> Any:
    """Remainder of the division of x by y, with the sign of x."""
    size, divisor = fabs(x), fabs(y)
    if (size < INFINITY) & (divisor > 0.0):
        shift = floor_log2_f64(size) - floor_log2_f64(divisor) - i64(QUOTIENT_BITS)
        while (shift > i64(0)) & (divisor < INFINITY):
            size = smaller_rest_f64(size, ldexp_long_f64(divisor, shift))
            shift = floor_log2_f64(size) - floor_log2_f64(divisor) - i64(QUOTIENT_BITS)
    return copysign(smaller_rest_f64(size, divisor), x)


@inline("f32(f32,f32)")
def fmod_f32(x: Any, y: Any) -> Any:
    """Remainder of the division of x by y, with the sign of x."""
    return f32(fmod_f64(f64(x), f64(y)))


@inline("f32(f32,f32)")
def remainder_f32(x: Any, y: Any) -> Any:
    """Remainder of the division of x by y, with the sign of y."""
    rest = fabs(fmod_f32(x, y))
    other_side = signs_differ_f32(x, y) & (rest != f32(0.0))
    return copysign(select(other_side, fabs(y) - rest, rest), y)


@inline("f64(f64,f64)")
def remainder_f64(x: Any, y: Any) -> Any:
    """Remainder of the division of x by y, with the sign of y."""
    rest = fabs(fmod_f64(x, y))
    other_side = signs_differ_f64(x, y) & (rest != 0.0)
    return copysign(select(other_side, fabs(y) - rest, rest), y)


@inline("f32(f32)")
def nearest_integer_f32(x: Any) -> Any:
    """Integer nearest to x, the lower one of two."""
    size = fabs(x)
    whole = copysign((size + f32(ROUNDER_F32)) - f32(ROUNDER_F32), x)
    whole = select(whole - x == f32(0.5), whole - f32(1.0), whole)
    return select(size < f32(ROUNDER_F32), whole, x)


@inline("f64(f64)")
def nearest_integer_f64(x: Any) -> Any:
    """Integer nearest to x, the lower one of two."""
    size = fabs(x)
    whole = copysign((size + ROUNDER_F64) - ROUNDER_F64, x)
    whole = select(whole - x == 0.5, whole - 1.0, whole)
    return select(size < ROUNDER_F64, whole, x)


@inline("f32(f32,f32)")
def floor_divide_f32(x: Any, y: Any) -> Any:
    """Quotient of x and y rounded down, with NumPy's roundings."""
    rest = fmod_f32(x, y)
    quotient = (x - rest) / y
    other_side = ((y < f32(0.0)) != (rest < f32(0.0))) & (rest != f32(0.0))
    quotient = select(other_side, quotient - f32(1.0), quotient)
    whole = nearest_integer_f32(quotient)
    zero = copysign(f32(0.0), x / y)
    return select(y == f32(0.0), x / y, select(quotient == f32(0.0), zero, whole))


@inline("f64(f64,f64)")
def floor_divide_f64(x: Any, y: Any) -> Any:
    """Quotient of x and y rounded down, with NumPy's roundings."""
    rest = fmod_f64(x, y)
    quotient = (x - rest) / y
    other_side = ((y < 0.0) != (rest < 0.0)) & (rest != 0.0)
    quotient = select(other_side, quotient - 1.0, quotient)
    whole = nearest_integer_f64(quotient)
    zero = copysign(f64(0.0), x / y)
    return select(y == 0.0, x / y, select(quotient == 0.0, zero, whole))


for _name in ("remainder", "floor_divide"):
    register(f"{_name}_f32_is_far", fmod_f32_is_far.function, fmod_f32_is_far.signature)
    register(f"{_name}_f64_is_far", fmod_f64_is_far.function, fmod_f64_is_far.signature)

FUNCTIONS = (
    reduced("fmod_f32", 0.0),
    reduced("fmod_f64", 0.0),
    reduced("remainder_f32", 0.5),
    reduced("remainder_f64", 0.5),
    reduced("floor_divide_f32", 2.5),
    reduced("floor_divide_f64", 2.5),
)
