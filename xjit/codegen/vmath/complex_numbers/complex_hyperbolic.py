"""Hyperbolic and trigonometric functions of complex numbers: ``sinh cosh tanh sin cos tan``.

    sinh(x + iy) = sinh(x) cos(y) + i cosh(x) sin(y)
    cosh(x + iy) = cosh(x) cos(y) + i sinh(x) sin(y)
    tanh(x + iy) = (sinh(x) cosh(x) + i sin(y) cos(y)) / (sinh(x)**2 + cos(y)**2)

in which nothing cancels, and ``sin(z) = -i sinh(iz)``, ``cos(z) = cosh(iz)``, ``tan(z) = -i tanh(iz)``.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import copysign, cplx, f64, fabs, fma, im, re, select
from xjit.codegen.vmath.complex_numbers.complex_parts import (
    Text,
    angular,
    cosh_times_cosine_f64,
    cosh_times_sine_f64,
    hyperbolic_f64,
    imaginary_is_far_c128,
    quotient_f64,
    real_is_far_c128,
    register_angular,
    sinh_times_cosine_f64,
    sinh_times_sine_f64,
    two_sum_f64,
)

INFINITY = math.inf
# From here on the hyperbolic tangent is one; from the second on the imaginary part is zero.
TANH_ONE_FROM, TANH_HIGHEST = 22.0, 400.0


@inline("c128(f64,f64,f64,f64)")
def tanh_of_parts_c128(x: Any, y: Any, sine: Any, cosine: Any) -> Any:
    """Hyperbolic tangent of x + iy from sine and cosine of y."""
    v = select(fabs(x) > TANH_HIGHEST, copysign(f64(TANH_HIGHEST), x), x)
    pair = hyperbolic_f64(v)
    s, c = re(pair), im(pair)
    large = fabs(x) > TANH_ONE_FROM
    first, second = s * s, cosine * cosine
    sum_ = two_sum_f64(first, second)
    # The square of what is large need not be a float.
    divisor = select(large, fabs(s), re(sum_))
    rest = select(large, 0.0, im(sum_) + (fma(s, s, -first) + fma(cosine, cosine, -second)))
    inverse = 1.0 / divisor
    upper, product = s * c, sine * cosine
    real = quotient_f64(upper, fma(s, c, -upper), divisor, rest, inverse)
    real = select(large, copysign(1.0, x), real)
    imaginary = quotient_f64(product, fma(sine, cosine, -product), divisor, rest, inverse)
    imaginary = imaginary * select(large, inverse, 1.0)
    unsteady = product != product
    infinite = fabs(x) == INFINITY
    real = select(unsteady & ~infinite, select(x == 0.0, x, product), real)
    imaginary = select(unsteady & infinite, copysign(0.0, y), imaginary)
    return cplx(real, select(y == 0.0, y, imaginary))


def _sinh(sine: Text, cosine: Text) -> Text:
    def sinh_c128(z: Any) -> Any:
        """Hyperbolic sine of z."""
        x, y = re(z), im(z)
        return cplx(sinh_times_cosine_f64(x, cosine(y)), cosh_times_sine_f64(x, sine(y)))

    return sinh_c128


def _cosh(sine: Text, cosine: Text) -> Text:
    def cosh_c128(z: Any) -> Any:
        """Hyperbolic cosine of z."""
        x, y = re(z), im(z)
        return cplx(cosh_times_cosine_f64(x, cosine(y)), sinh_times_sine_f64(x, sine(y)))

    return cosh_c128


def _tanh(sine: Text, cosine: Text) -> Text:
    def tanh_c128(z: Any) -> Any:
        """Hyperbolic tangent of z."""
        x, y = re(z), im(z)
        return tanh_of_parts_c128(x, y, sine(y), cosine(y))

    return tanh_c128


def _sin(sine: Text, cosine: Text) -> Text:
    def sin_c128(z: Any) -> Any:
        """Sine of z."""
        x, y = re(z), im(z)
        return cplx(cosh_times_sine_f64(y, sine(x)), sinh_times_cosine_f64(y, cosine(x)))

    return sin_c128


def _cos(sine: Text, cosine: Text) -> Text:
    def cos_c128(z: Any) -> Any:
        """Cosine of z."""
        x, y = re(z), im(z)
        return cplx(cosh_times_cosine_f64(y, cosine(x)), sinh_times_sine_f64(-y, sine(x)))

    return cos_c128


def _tan(sine: Text, cosine: Text) -> Text:
    def tan_c128(z: Any) -> Any:
        """Tangent of z."""
        x, y = re(z), im(z)
        turned = tanh_of_parts_c128(y, x, sine(x), cosine(x))
        return cplx(im(turned), re(turned))

    return tan_c128


register_angular("sinh", _sinh, imaginary_is_far_c128)
register_angular("cosh", _cosh, imaginary_is_far_c128)
register_angular("tanh", _tanh, imaginary_is_far_c128)
register_angular("sin", _sin, real_is_far_c128)
register_angular("cos", _cos, real_is_far_c128)
register_angular("tan", _tan, real_is_far_c128)

FUNCTIONS = (
    *angular("sinh", 3.0),
    *angular("cosh", 3.0),
    *angular("tanh", 3.9),
    *angular("sin", 3.0),
    *angular("cos", 3.0),
    *angular("tan", 3.9),
)
