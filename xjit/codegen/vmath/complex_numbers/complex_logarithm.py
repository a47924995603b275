"""Logarithms of complex numbers: ``log log2 log10 log1p``, and ``angle``.

The real part is half the logarithm of ``m = x**2 + y**2``, of parts scaled by a power of two where squares would
overflow or vanish.  ``m`` is kept in two floats, and what rounding took from it goes in where one is subtracted:
so the logarithm is right next to one, where everything else cancels.

``log1p`` adds one to x in two floats first; next to zero it takes ``m - 1 = 2 x + x**2 + y**2`` directly.
"""

from __future__ import annotations

import math
from typing import Any

from xjit.codegen.language.inline_functions import InlineFunction, inline, register
from xjit.codegen.language.intrinsics import as_f64, cplx, f64, fabs, fma, im, re, select, u64
from xjit.codegen.vmath.angles.inverse_trig import atan2_f64
from xjit.codegen.vmath.complex_numbers.complex_parts import (
    Text,
    plain,
    register_narrow,
    register_plain,
    rounded_off_f64,
    two_sum_f64,
)
from xjit.codegen.vmath.complex_numbers.complex_root import DOWN, LARGE_PART, SMALL_PART, UP, is_infinite_f64
from xjit.codegen.vmath.exponentials.log import (
    LN2_HIGH_F64,
    LN2_LOW_F64,
    LOG2_E_HIGH_F64,
    LOG2_E_LOW_F64,
    curve_f64,
    exponent_f64,
    fraction_f64,
    power_bits_f64,
)

INFINITY, NEGATIVE_INFINITY = math.inf, -math.inf
# Twice the exponent of the scales.
SCALED_EXPONENT = 1200.0
ONE_BITS = 1023 << 52
LOG10_E, LOG10_E_REST = 0.4342944819032518, 1.098319650216765e-17
LOG10_2, LOG10_2_REST = 0.30102999566398120, -2.8037281277851704e-18
# Where the square of the modulus is one plus a number within these, log1p takes that number directly.
LEAST_DIRECT, LARGEST_DIRECT = -0.25, 0.4


@inline("c128(f64,f64)")
def square_sum_f64(a: Any, b: Any) -> Any:
    """a**2 + b**2 in two floats, for a >= b >= 0 that have been scaled."""
    first, second = a * a, b * b
    sum_ = first + second
    low = two_sum_f64(rounded_off_f64(a, a, first), rounded_off_f64(b, b, second))
    rest = two_sum_f64(second - (sum_ - first), re(low))
    return cplx(sum_, re(rest) + (im(rest) + im(low)))


@inline("f64(f64)")
def scaled_exponent_f64(largest: Any) -> Any:
    """Of the square of the scale for numbers of this size, negated."""
    return select(
        largest > LARGE_PART, f64(SCALED_EXPONENT), select(largest < SMALL_PART, f64(-SCALED_EXPONENT), 0.0)
    )


@inline("c128(f64,f64,f64)")
def scaled_square_f64(x: Any, y: Any, x_rest: Any) -> Any:
    """(x + x_rest)**2 + y**2 in two floats, of parts that are scaled."""
    a, b = fabs(x), fabs(y)
    larger, smaller = select(a > b, a, b), select(a > b, b, a)
    scale = select(larger > LARGE_PART, f64(DOWN), select(larger < SMALL_PART, f64(UP), 1.0))
    m = square_sum_f64(larger * scale, smaller * scale)
    return cplx(re(m), fma(x * scale * 2.0, x_rest * scale, im(m)))


@inline("f64(f64,f64)")
def log_power_f64(x: Any, y: Any) -> Any:
    """The exponent of two that the scaling took from x**2 + y**2."""
    a, b = fabs(x), fabs(y)
    return scaled_exponent_f64(select(a > b, a, b))


@inline("f64(f64,f64)")
def special_log_f64(m: Any, result: Any) -> Any:
    """The result where m, the square of the modulus, is a number that is not zero."""
    return select(m == 0.0, NEGATIVE_INFINITY, select(m != m, m, result))


@inline("c128(c128)")
def less_one_f64(m: Any) -> Any:
    """Subtract one from the fraction of m, both in two floats."""
    low = im(m) * as_f64(u64(ONE_BITS) - power_bits_f64(re(m)))
    b = fraction_f64(re(m)) - 1.0
    a = b + low
    return cplx(a, low - (a - b))


@inline("f64(f64,c128)")
def log_of_pair_f64(n: Any, a: Any) -> Any:
    """n * log(2) + log(1 + a), a in two floats."""
    small = fma(n, -LN2_LOW_F64, curve_f64(re(a), re(a) + 2.0) - im(a))
    return fma(n, LN2_HIGH_F64, re(a) - small)


@inline("f64(f64,c128)")
def log2_of_pair_f64(n: Any, a: Any) -> Any:
    """n + log2(1 + a), a in two floats."""
    curve = curve_f64(re(a), re(a) + 2.0) - im(a)
    return n + fma(re(a), LOG2_E_HIGH_F64, fma(curve, -LOG2_E_HIGH_F64, re(a) * LOG2_E_LOW_F64))


@inline("f64(f64,c128)")
def log10_of_pair_f64(n: Any, a: Any) -> Any:
    """n * log10(2) + log10(1 + a), a in two floats."""
    natural = re(a) - (curve_f64(re(a), re(a) + 2.0) - im(a))
    return fma(n, LOG10_2, fma(n, LOG10_2_REST, natural * LOG10_E))


def _logarithm(of_pair: InlineFunction, scale: float, rest: float) -> Text:
    def logarithm(z: Any) -> Any:
        x, y = re(z), im(z)
        m = scaled_square_f64(x, y, 0.0)
        n = exponent_f64(re(m)) + log_power_f64(x, y)
        size = special_log_f64(re(m), 0.5 * of_pair(n, less_one_f64(m)))
        angle = atan2_f64(y, x)
        return cplx(select(is_infinite_f64(x, y), INFINITY, size), fma(angle, scale, angle * rest))

    return logarithm


log_c128 = register("log_c128", _logarithm(log_of_pair_f64, 1.0, 0.0), "c128(c128)")
log2_c128 = register("log2_c128", _logarithm(log2_of_pair_f64, LOG2_E_HIGH_F64, LOG2_E_LOW_F64), "c128(c128)")
log10_c128 = register("log10_c128", _logarithm(log10_of_pair_f64, LOG10_E, LOG10_E_REST), "c128(c128)")


@inline("c128(c128)")
def log1p_c128(z: Any) -> Any:
    """Natural logarithm of 1 + z."""
    x, y = re(z), im(z)
    above = two_sum_f64(1.0, x)
    m = scaled_square_f64(re(above), y, im(above))
    n = exponent_f64(re(m)) + log_power_f64(re(above), y)
    far = less_one_f64(m)
    a, b = fabs(x), fabs(y)
    square = square_sum_f64(select(a > b, a, b), select(a > b, b, a))
    first = two_sum_f64(x + x, re(square))
    rest = im(first) + im(square)
    least = re(first) + rest
    direct = (least > LEAST_DIRECT) & (least < LARGEST_DIRECT)
    pair = cplx(select(direct, least, re(far)), select(direct, rest - (least - re(first)), im(far)))
    size = log_of_pair_f64(select(direct, 0.0, n), pair)
    size = special_log_f64(select(direct, 1.0, re(m)), 0.5 * size)
    return cplx(select(is_infinite_f64(x, y), INFINITY, size), atan2_f64(y, re(above)))


@inline("f64(c128)")
def angle_c128(z: Any) -> Any:
    """The angle of z, within pi."""
    return atan2_f64(im(z), re(z))


register_narrow("angle_c64", angle_c128)
register_plain((log_c128, log2_c128, log10_c128, log1p_c128))

FUNCTIONS = (
    *plain("log", 1.6),
    *plain("log2", 2.2),
    *plain("log10", 2.5),
    *plain("log1p", 2.2),
    *plain("angle", 1.6),
)
