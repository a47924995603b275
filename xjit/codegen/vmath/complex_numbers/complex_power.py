"""Powers of complex numbers: ``z ** w = exp(w * log(z))``, and products for small whole w.

With ``log(z) = L + i t`` and ``w = c + i d``::

    |z ** w| = exp(c L - d t)        angle(z ** w) = c t + d L

What these are off by goes into the result as it is, so L and t come in two floats each.  complex64 computes in f64,
which has bits to spare.

Whole powers up to seven, and down to minus four, are products, which are exact where the factors are short.
``z ** 0`` is one whatever z is; zero has powers with positive real part only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from xjit.codegen.language.inline_functions import InlineFunction, inline, register
from xjit.codegen.language.intrinsics import as_u64, cplx, f64, fabs, fma, im, re, rint, select, u64
from xjit.codegen.vmath.angles.inverse_trig import atan2_f64
from xjit.codegen.vmath.angles.trig import cos_f64, cos_f64_near, sin_f64, sin_f64_near
from xjit.codegen.vmath.complex_numbers.complex_exponential import exp_special_c128
from xjit.codegen.vmath.complex_numbers.complex_pairs import (
    angle_pair_c128,
    cross_pair_c128,
    exponential_of_pair_f64,
    log_pair_c128,
)
from xjit.codegen.vmath.complex_numbers.complex_parts import (
    Text,
    angular,
    exponential_f64,
    exponential_growth_f64,
    narrow_c64,
    rounded_off_f64,
    wide_c128,
)
from xjit.codegen.vmath.complex_numbers.complex_root import is_infinite_f64, scale_f64
from xjit.codegen.vmath.exponentials.log import log_f64

NAN, INFINITY = math.nan, math.inf
INTEGER = 2.0**52
# Angles of powers that might be far have a larger bound than this.
# Beyond this the angle is right to 53 bits only.
LARGE_ANGLE = 2.0**50
NEAR_BOUND, LARGEST_LOG, LARGEST_ANGLE = 2.0**24 - 2.0, 746.0, 3.1416


@inline("f64(f64,f64,f64,f64)")
def cross_f64(a: Any, b: Any, c: Any, d: Any) -> Any:
    """a * b - c * d, within one unit and a half (Kahan)."""
    second = c * d
    return fma(a, b, -second) - rounded_off_f64(c, d, second)


@inline("c128(c128,c128)")
def product_c128(z: Any, w: Any) -> Any:
    """z * w."""
    return cplx(cross_f64(re(z), re(w), im(z), im(w)), cross_f64(re(z), im(w), -im(z), re(w)))


@inline("c128(c128)")
def inverse_c128(z: Any) -> Any:
    """1 / z."""
    x, y = re(z), im(z)
    scale = scale_f64(x, y)
    a, b = x * scale, y * scale
    inverse = scale / fma(a, a, b * b)
    return cplx(a * inverse, -b * inverse)


@inline("c128(c128,c128,u64,u64)")
def step_of_power_c128(result: Any, square: Any, count: Any, bit: Any) -> Any:
    """The result times the square, if count has the bit."""
    return select((count & bit) != u64(0), product_c128(result, square), result)


@inline("c128(c128,c128)")
def short_power_c128(z: Any, w: Any) -> Any:
    """z**w for whole real w up to seven; something for other w."""
    count = as_u64(fabs(re(w)) + INTEGER)
    square = product_c128(z, z)
    result = select((count & u64(1)) != u64(0), z, cplx(f64(1.0), f64(0.0)))
    result = step_of_power_c128(result, square, count, u64(2))
    result = step_of_power_c128(result, product_c128(square, square), count, u64(4))
    return select(re(w) < 0.0, inverse_c128(result), result)


@inline("c128(c128,c128)")
def exact_short_power_c128(z: Any, w: Any) -> Any:
    """The same of numbers whose products are exact."""
    count = as_u64(fabs(re(w)) + INTEGER)
    square = z * z
    result = select((count & u64(1)) != u64(0), z, cplx(f64(1.0), f64(0.0)))
    result = select((count & u64(2)) != u64(0), result * square, result)
    result = select((count & u64(4)) != u64(0), result * (square * square), result)
    return select(re(w) < 0.0, inverse_c128(result), result)


@inline("b1(c128)")
def is_number_c128(z: Any) -> Any:
    """Return whether both parts are finite and not both zero."""
    return (fabs(re(z)) < INFINITY) & (fabs(im(z)) < INFINITY) & ((re(z) != 0.0) | (im(z) != 0.0))


@inline("c128(c128,c128,f64,c128,c128)")
def chosen_power_c128(z: Any, w: Any, limit: Any, product: Any, raised: Any) -> Any:
    """The product where w is whole and its size below the limit, else what was raised; or what is special."""
    c, d = re(w), im(w)
    whole = (d == 0.0) & (rint(c) == c) & (fabs(c) < limit)
    result = select(whole & is_number_c128(product), product, raised)
    at_zero = select(c > 0.0, f64(0.0), NAN)
    zero = (re(z) == 0.0) & (im(z) == 0.0)
    result = select(zero, cplx(at_zero, at_zero), result)
    result = select((c == 1.0) & (d == 0.0), z, result)
    return select((c == 0.0) & (d == 0.0), cplx(f64(1.0), f64(0.0)), result)


@inline("f64(f64,f64)")
def log_of_short_f64(x: Any, y: Any) -> Any:
    """Logarithm of the modulus of x + iy, of numbers whose squares are exact."""
    return select(is_infinite_f64(x, y), INFINITY, 0.5 * log_f64(x * x + y * y))


@inline("b1(c128,c128)")
def power_is_far_c128(z: Any, w: Any) -> Any:
    """Return whether the angle of z**w may be too large for the quick reduction."""
    return ~(fabs(re(w)) * LARGEST_ANGLE + fabs(im(w)) * LARGEST_LOG < NEAR_BOUND)


def _pow_narrow(sine: Text, cosine: Text) -> Text:
    def pow_c64(z: Any, w: Any) -> Any:
        """z to the power w."""
        base, exponent = wide_c128(z), wide_c128(w)
        c, d = re(exponent), im(exponent)
        size, angle = log_of_short_f64(re(base), im(base)), atan2_f64(im(base), re(base))
        x, y = c * size - d * angle, c * angle + d * size
        growth, e = exponential_growth_f64(x), exponential_f64(x)
        raised = exp_special_c128(x, y, cosine(y) * growth * e * growth, sine(y) * growth * e * growth)
        product = exact_short_power_c128(base, exponent)
        return narrow_c64(chosen_power_c128(base, exponent, 8.0, product, raised))

    return pow_c64


def _pow(sine: Text, cosine: Text) -> Text:
    def pow_c128(z: Any, w: Any) -> Any:
        """z to the power w."""
        logarithm = log_pair_c128(z)
        turn = angle_pair_c128(z)
        exponent = cross_pair_c128(re(w), logarithm, -im(w), turn)
        angle = cross_pair_c128(re(w), turn, im(w), logarithm)
        x, y = re(exponent), re(angle)
        rest = select(fabs(y) < LARGE_ANGLE, im(angle), 0.0)
        growth, size = exponential_growth_f64(x), exponential_of_pair_f64(x, im(exponent))
        s, c = sine(y), cosine(y)
        real, imaginary = fma(-rest, s, c) * growth * size * growth, fma(rest, c, s) * growth * size * growth
        raised = exp_special_c128(x, y, real, imaginary)
        limit = select(re(w) < 0.0, f64(5.0), 8.0)
        return chosen_power_c128(z, w, limit, short_power_c128(z, w), raised)

    return pow_c128


def _register(kind: str, make: Callable[[Text, Text], Text], is_far: InlineFunction) -> None:
    signature = f"{kind}({kind},{kind})"
    register(f"pow_{kind}", make(sin_f64, cos_f64), signature)
    register(f"pow_{kind}_near", make(sin_f64_near, cos_f64_near), signature)
    register(f"pow_{kind}_is_far", is_far.function, is_far.signature)


@inline("b1(c64,c64)")
def power_is_far_c64(z: Any, w: Any) -> Any:
    """Return whether the angle of z**w may be too large for the quick reduction."""
    return power_is_far_c128(wide_c128(z), wide_c128(w))


_register("c64", _pow_narrow, power_is_far_c64)
_register("c128", _pow, power_is_far_c128)

FUNCTIONS = angular("pow", 4.0)
