"""Cube root, one over the square root, and the length of two sides.

``cbrt`` starts from bits: those of a float, read as an integer, are its logarithm up to a factor and a little
curvature, so that a constant less a third of them is ``y`` near ``x**(-1/3)``, and half of them the same for square
roots.  With ``h = 1 - x * y**3`` exactly ``x**(-1/3) = y * (1 - h)**(-1/3)``, of which a short polynomial gives more
than half the bits.  The last step adds to the root the rest that its cube leaves (Newton).

Very small arguments are scaled up before and the results down after.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import (
    as_f32,
    as_f64,
    as_i32,
    as_u32,
    as_u64,
    copysign,
    f32,
    f64,
    fabs,
    fma,
    lshr,
    select,
    shl,
    sqrt,
    u32,
    u64,
)
from xjit.codegen.vmath.coefficients import roots
from xjit.codegen.vmath.polynomial import polynomial
from xjit.codegen.vmath.vector_function import everywhere

cube_root_f32 = polynomial("cube_root_f32", "f32", roots.CUBE_ROOT_F32)
inverse_cube_root_f64 = polynomial("inverse_cube_root_f64", "f64", roots.INVERSE_CUBE_ROOT_F64)

INFINITY = math.inf
THIRD = 1.0 / 3.0
# Twelve bits of the guess are kept, in the low bits of a float that is an integer.
GUESS_THIRD_F32 = 2.0**-12 / 3.0
CUBE_GUESS_F32 = (127.0 * 4.0 / 3.0 + roots.INVERSE_CUBE_ROOT_GUESS) * 2.0**11 + 1.5 * 2.0**23
# The bits of f64 lose their last twelve and count from 2**52, where floats are integers.
LOST_BITS, INTEGER_BITS = 12, 0x433 << 52
CUBE_GUESS_F64 = (1023.0 * 4.0 / 3.0 + roots.INVERSE_CUBE_ROOT_GUESS) * 2.0**40 + 2.0**52 * 4.0 / 3.0

SMALL_F32, UP_F32, DOWN_F32 = 2.0**-90, 2.0**60, 2.0**-20
SMALL_F64, UP_F64, DOWN_F64 = 2.0**-900, 2.0**180, 2.0**-60
RSQRT_UP_F32, RSQRT_BACK_F32 = 2.0**60, 2.0**30
RSQRT_UP_F64, RSQRT_BACK_F64 = 2.0**180, 2.0**90
LARGE_SIDE, LARGE_DOWN, LARGE_UP = 2.0**500, 2.0**-600, 2.0**600
SMALL_SIDE = 2.0**-400


@inline("f32(f32)")
def cbrt_f32(x: Any) -> Any:
    """Cube root of x."""
    size = fabs(x)
    small = size < f32(SMALL_F32)
    a = select(small, size * f32(UP_F32), size)
    # Rounded to twelve bits, so that its square is exact.
    y = as_f32(shl(as_u32(fma(f32(as_i32(a)), f32(-GUESS_THIRD_F32), f32(CUBE_GUESS_F32))), u32(12)))
    square = y * y
    root = a * square
    h = fma(-root, y, f32(1.0))
    # What rounding took from the root counts once there and less two thirds in h.
    rest = fma(a, square, -root) * f32(THIRD)
    root = root + fma(root * h, cube_root_f32(h), rest)
    root = select(small, root * f32(DOWN_F32), root)
    return select(size < f32(INFINITY), copysign(root, x), x)


@inline("f64(f64)")
def cbrt_f64(x: Any) -> Any:
    """Cube root of x."""
    size = fabs(x)
    small = size < SMALL_F64
    a = select(small, size * UP_F64, size)
    bits = as_f64(lshr(as_u64(a), u64(LOST_BITS)) | u64(INTEGER_BITS))
    y = as_f64(shl(as_u64(fma(bits, -THIRD, CUBE_GUESS_F64)), u64(LOST_BITS)))
    h = fma(-(a * y), y * y, 1.0)
    y = fma(y * h, inverse_cube_root_f64(h), y)
    square = y * y
    root = a * square
    root = fma(fma(-(root * root), root, a), square * THIRD, root)
    root = select(small, root * DOWN_F64, root)
    return select(size < INFINITY, copysign(root, x), x)


@inline("f32(f32)")
def rsqrt_f32(x: Any) -> Any:
    """One over the square root of x."""
    small = x < f32(SMALL_F32)
    a = select(small, x * f32(RSQRT_UP_F32), x)
    root = sqrt(a)
    y = f32(1.0) / root
    # What the root and the quotient leave; not a number at zero and infinity, where y is exact.
    rest = fma(fma(-root, root, a) * y, f32(-0.5) * y, fma(-root, y, f32(1.0)))
    y = select(rest == rest, fma(y, rest, y), y)
    return select(small, y * f32(RSQRT_BACK_F32), y)


@inline("f64(f64)")
def rsqrt_f64(x: Any) -> Any:
    """One over the square root of x."""
    small = x < SMALL_F64
    a = select(small, x * RSQRT_UP_F64, x)
    root = sqrt(a)
    y = 1.0 / root
    rest = fma(fma(-root, root, a) * y, -0.5 * y, fma(-root, y, 1.0))
    y = select(rest == rest, fma(y, rest, y), y)
    return select(small, y * RSQRT_BACK_F64, y)


@inline("f32(f32,f32)")
def hypot_f32(x: Any, y: Any) -> Any:
    """Square root of x**2 + y**2; infinite where x or y is, even beside NaN."""
    a, b = f64(x), f64(y)
    length = f32(sqrt(fma(a, a, b * b)))
    infinite = (fabs(x) == f32(INFINITY)) | (fabs(y) == f32(INFINITY))
    return select(infinite, f32(INFINITY), length)


@inline("f64(f64,f64)")
def rounded_off_square_f64(x: Any, square: Any) -> Any:
    """Rounding error of the square of x."""
    return fma(x, x, -square)


@inline("f64(f64,f64)")
def hypot_f64(x: Any, y: Any) -> Any:
    """Square root of x**2 + y**2; infinite where x or y is, even beside NaN."""
    a, b = fabs(x), fabs(y)
    infinite = (a == INFINITY) | (b == INFINITY)
    steep = b > a
    longer, shorter = select(steep, b, a), select(steep, a, b)
    large, small = longer > LARGE_SIDE, longer < SMALL_SIDE
    scale = select(large, LARGE_DOWN, select(small, LARGE_UP, 1.0))
    back = select(large, LARGE_UP, select(small, LARGE_DOWN, 1.0))
    longer, shorter = longer * scale, shorter * scale
    first, second = longer * longer, shorter * shorter
    length = sqrt(first + second)
    square = length * length
    # What the square of the length is short of; the first difference is exact.
    rest = ((first - square) + second) + (
        rounded_off_square_f64(longer, first) + rounded_off_square_f64(shorter, second)
    )
    corrected = length + (rest - rounded_off_square_f64(length, square)) / (length + length)
    return select(infinite, f64(INFINITY), select(length > 0.0, corrected, length) * back)


FUNCTIONS = (
    everywhere("cbrt_f32", 1.0),
    everywhere("cbrt_f64", 0.8),
    everywhere("rsqrt_f32", 0.51),
    everywhere("rsqrt_f64", 0.51),
    everywhere("hypot_f32", 0.51),
    everywhere("hypot_f64", 0.8),
)
