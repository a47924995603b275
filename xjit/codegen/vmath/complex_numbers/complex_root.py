"""Modulus and square roots of complex numbers: ``abs``, ``sqrt`` and ``rsqrt``.

The modulus is the root of the sum of squares, of parts scaled by a power of two where squares would overflow or
vanish.  With ``t = sqrt((|x| + |z|) / 2)`` the square root is ``t + i y / (2 t)``, or for negative x
``|y| / (2 t) + i t`` with the sign of y.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import copysign, cplx, f32, f64, fabs, fma, im, re, select, sqrt
from xjit.codegen.vmath.complex_numbers.complex_parts import plain, register_plain
from xjit.codegen.vmath.vector_function import everywhere

INFINITY = math.inf
# Outside of these squares might overflow or lose bits.
LARGE_PART, SMALL_PART = 2.0**500, 2.0**-450
DOWN, UP = 2.0**-600, 2.0**600
DOWN_ROOT, UP_ROOT = 2.0**-300, 2.0**300
LARGE_PART_F32, SMALL_PART_F32 = 2.0**60, 2.0**-50
DOWN_F32, UP_F32 = 2.0**-70, 2.0**90


@inline("f64(f64,f64)")
def larger_part_f64(x: Any, y: Any) -> Any:
    """The larger magnitude; not NaN unless the second is, or the first and nothing is larger."""
    a, b = fabs(x), fabs(y)
    return select(a > b, a, b)


@inline("f64(f64,f64)")
def scale_f64(x: Any, y: Any) -> Any:
    """The power of two by which to multiply x and y before squaring them."""
    largest = larger_part_f64(x, y)
    return select(largest > LARGE_PART, f64(DOWN), select(largest < SMALL_PART, f64(UP), 1.0))


@inline("f64(f64,f64)")
def unscale_f64(x: Any, y: Any) -> Any:
    """The inverse of that."""
    largest = larger_part_f64(x, y)
    return select(largest > LARGE_PART, f64(UP), select(largest < SMALL_PART, f64(DOWN), 1.0))


@inline("f64(f64,f64)")
def unscale_root_f64(x: Any, y: Any) -> Any:
    """The root of that."""
    largest = larger_part_f64(x, y)
    return select(largest > LARGE_PART, f64(UP_ROOT), select(largest < SMALL_PART, f64(DOWN_ROOT), 1.0))


@inline("b1(f64,f64)")
def is_infinite_f64(x: Any, y: Any) -> Any:
    """Test whether either part is infinite."""
    return (fabs(x) == INFINITY) | (fabs(y) == INFINITY)


@inline("f64(c128)")
def abs_c128(z: Any) -> Any:
    """Modulus of z; infinite if either part is, NaN notwithstanding."""
    x, y = re(z), im(z)
    scale = scale_f64(x, y)
    a, b = x * scale, y * scale
    return select(is_infinite_f64(x, y), INFINITY, sqrt(fma(a, a, b * b)) * unscale_f64(x, y))


@inline("f32(c64)")
def abs_c64(z: Any) -> Any:
    """Modulus of z; infinite if either part is, NaN notwithstanding."""
    x, y = fabs(re(z)), fabs(im(z))
    largest = select(x > y, x, y)
    large, small = largest > f32(LARGE_PART_F32), largest < f32(SMALL_PART_F32)
    scale = select(large, f32(DOWN_F32), select(small, f32(UP_F32), f32(1.0)))
    back = select(large, f32(1.0 / DOWN_F32), select(small, f32(1.0 / UP_F32), f32(1.0)))
    a, b = x * scale, y * scale
    infinite = (x == f32(INFINITY)) | (y == f32(INFINITY))
    return select(infinite, f32(INFINITY), sqrt(fma(a, a, b * b)) * back)


@inline("f64(f64,f64)")
def large_root_f64(x: Any, y: Any) -> Any:
    """The larger part of the square root of |x| + i |y|."""
    scale = scale_f64(x, y)
    a, b = fabs(x * scale), y * scale
    size = sqrt(fma(a, a, b * b))
    root = sqrt(0.5 * (a + size)) * unscale_root_f64(x, y)
    return select(is_infinite_f64(x, y), INFINITY, root)


@inline("c128(c128)")
def sqrt_c128(z: Any) -> Any:
    """Square root of z, its real part not negative."""
    x, y = re(z), im(z)
    t = large_root_f64(x, y)
    small = select(t == 0.0, y, y / (t + t))
    left = x < 0.0
    real, imaginary = select(left, fabs(small), t), select(left, copysign(t, y), small)
    beyond = fabs(y) == INFINITY
    return cplx(select(beyond, INFINITY, real), select(beyond, y, imaginary))


@inline("c128(c128)")
def rsqrt_c128(z: Any) -> Any:
    """One over the square root of z."""
    x, y = re(z), im(z)
    scale = scale_f64(x, y)
    a, b = fabs(x * scale), y * scale
    size = sqrt(fma(a, a, b * b))
    t = sqrt(0.5 * (a + size))
    # The conjugate of the scaled root over the scaled modulus.
    small = b * (0.5 / (t * size))
    t = t / size
    left = x < 0.0
    back = 1.0 / unscale_root_f64(x, y)
    real, imaginary = select(left, fabs(small), t) * back, select(left, copysign(t, y), small) * back
    real = select((x == 0.0) & (y == 0.0), INFINITY, real)
    vanished = is_infinite_f64(x, y)
    return cplx(select(vanished, 0.0, real), select(vanished, copysign(0.0, -y), -imaginary))


register_plain((sqrt_c128, rsqrt_c128))

FUNCTIONS = (
    everywhere("abs_c64", 1.3),
    everywhere("abs_c128", 1.3),
    *plain("sqrt", 2.0),
    *plain("rsqrt", 3.8),
)
