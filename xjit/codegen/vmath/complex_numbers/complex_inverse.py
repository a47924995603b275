"""Inverse trigonometric and hyperbolic functions of complex numbers: ``asin acos atan asinh acosh atanh``.

In the first quadrant, for ``r = |z + 1|``, ``s = |z - 1|`` and ``a = (r + s) / 2`` (Hull, Fairgrieve and Tang 1997)::

    asin(z) = atan2(x, root) + i log1p(a - 1 + sqrt(a**2 - 1))      root = sqrt(a**2 - x**2)
    acos(z) = atan2(root, x) - i log1p(a - 1 + sqrt(a**2 - 1))
    atanh(z) = log1p(4 x / s**2) / 4 + i atan2(2 y, (1 - x) (1 + x) - y**2) / 2

``a - x`` and ``a - 1`` are sums of positive numbers, with ``r - (x + 1) = y**2 / (r + (x + 1))`` and the like; y is
taken out of roots where its square might vanish.  Numbers beyond 2**500 are scaled; one is nothing beside them.
The other functions follow from ``asinh(z) = -i asin(iz)``, ``acosh(z) = +-i acos(z)``, ``atan(z) = -i atanh(iz)``.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import copysign, cplx, f64, fabs, fma, im, re, select, sqrt
from xjit.codegen.vmath.angles.inverse_trig import atan2_f64
from xjit.codegen.vmath.complex_numbers.complex_parts import plain, register_plain
from xjit.codegen.vmath.complex_numbers.complex_root import is_infinite_f64, larger_part_f64
from xjit.codegen.vmath.exponentials.log import log1p_f64

INFINITY, HALF_PI = math.inf, math.pi / 2
LARGE = 2.0**500
# Powers of two by which large numbers are scaled, and logarithms of their inverses.
DOWN = 2.0**-530
# Scaled sizes are put back in part, so that one is nothing beside them, the logarithm does the rest.
PARTLY_UP, REST_LOG = 2.0**100, 430.0 * math.log(2.0)
ATANH_DOWN = 2.0**-600
# Where the square of y might vanish.
SMALL, SMALL_UP, SMALL_UP_LOG = 2.0**-500, 2.0**100, 50.0 * math.log(2.0)


@inline("c128(f64,f64)")
def arc_f64(x: Any, y: Any) -> Any:
    """``sqrt(a**2 - x**2)`` and ``log1p(a - 1 + sqrt(a**2 - 1))``, for x, y >= 0."""
    large = larger_part_f64(x, y) > LARGE
    scale, one = select(large, f64(DOWN), 1.0), select(large, 0.0, 1.0)
    u, v = x * scale, y * scale
    above, below = u + one, fabs(u - one)
    r = sqrt(fma(above, above, v * v))
    s = select(below == 0.0, v, sqrt(fma(below, below, v * v)))
    a = 0.5 * (r + s)
    # The sums of r - above and s - below, divided by the square of v, and of r - above and s + below.
    first, second = 1.0 / (r + above), s + below
    slopes, reach = first + 1.0 / second, fma(v * v, first, second)
    inside, outside = u <= one, u >= one
    root = sqrt(0.5 * (a + u) * select(inside, reach, slopes)) * select(inside, 1.0, v)
    root = select(large | is_infinite_f64(x, y), y, root)
    excess, side = select(outside, reach, slopes), select(outside, 1.0, v)
    size = side * sqrt(excess * (0.5 * (a + one))) + 0.5 * side * side * excess
    size = log1p_f64(size * select(large, f64(PARTLY_UP), 1.0)) + select(large, f64(REST_LOG), 0.0)
    return cplx(root, select(is_infinite_f64(x, y), INFINITY, size))


@inline("f64(f64,f64)")
def arc_sine_f64(x: Any, y: Any) -> Any:
    """The real part of the inverse sine of x + iy."""
    return select(x == 0.0, x, atan2_f64(x, re(arc_f64(fabs(x), fabs(y)))))


@inline("f64(f64,f64)")
def arc_cosine_f64(x: Any, y: Any) -> Any:
    """The real part of the inverse cosine of x + iy."""
    return select(x == 0.0, HALF_PI, atan2_f64(re(arc_f64(fabs(x), fabs(y))), x))


@inline("c128(c128)")
def asin_c128(z: Any) -> Any:
    """Inverse sine of z."""
    x, y = re(z), im(z)
    return cplx(arc_sine_f64(x, y), copysign(im(arc_f64(fabs(x), fabs(y))), y))


@inline("c128(c128)")
def asinh_c128(z: Any) -> Any:
    """Inverse hyperbolic sine of z."""
    x, y = re(z), im(z)
    return cplx(copysign(im(arc_f64(fabs(y), fabs(x))), x), arc_sine_f64(y, x))


@inline("c128(c128)")
def acos_c128(z: Any) -> Any:
    """Inverse cosine of z."""
    x, y = re(z), im(z)
    return cplx(arc_cosine_f64(x, y), -copysign(im(arc_f64(fabs(x), fabs(y))), y))


@inline("c128(c128)")
def acosh_c128(z: Any) -> Any:
    """Inverse hyperbolic cosine of z, its real part not negative."""
    x, y = re(z), im(z)
    return cplx(im(arc_f64(fabs(x), fabs(y))), copysign(arc_cosine_f64(x, y), y))


@inline("c128(f64,f64)")
def atanh_of_parts_c128(x: Any, y: Any) -> Any:
    """Inverse hyperbolic tangent of x + iy."""
    a, b = fabs(x), fabs(y)
    large = larger_part_f64(a, b) > LARGE
    scale, one = select(large, f64(ATANH_DOWN), 1.0), select(large, 0.0, 1.0)
    u, v = a * scale, b * scale
    below = u - one
    square = v * v
    # At one, where the divisor would vanish, the root of the quotient; its logarithm counts twice.
    pole = (a == 1.0) & (b < SMALL)
    divisor = select(pole, b * SMALL_UP, fma(below, below, square))
    quotient = select(pole, 2.0, 4.0 * u) / divisor * scale
    logarithm = log1p_f64(quotient) * select(pole, 0.5, 0.25) + select(pole, f64(SMALL_UP_LOG), 0.0)
    angle = 0.5 * atan2_f64(2.0 * b, fma(-b, b, (1.0 - a) * (1.0 + a)))
    infinite = is_infinite_f64(x, y)
    logarithm = select(infinite | (x == 0.0), 0.0, logarithm)
    angle = select((b == INFINITY) | (large & (a == a) & (b == b)), HALF_PI, angle)
    return cplx(copysign(logarithm, x), copysign(angle, y))


@inline("c128(c128)")
def atanh_c128(z: Any) -> Any:
    """Inverse hyperbolic tangent of z."""
    return atanh_of_parts_c128(re(z), im(z))


@inline("c128(c128)")
def atan_c128(z: Any) -> Any:
    """Inverse tangent of z."""
    turned = atanh_of_parts_c128(im(z), re(z))
    return cplx(im(turned), re(turned))


register_plain((asin_c128, acos_c128, atan_c128, asinh_c128, acosh_c128, atanh_c128))

FUNCTIONS = (
    *plain("asin", 3.8),
    *plain("acos", 3.2),
    *plain("atan", 3.0),
    *plain("asinh", 3.8),
    *plain("acosh", 3.2),
    *plain("atanh", 3.0),
)
