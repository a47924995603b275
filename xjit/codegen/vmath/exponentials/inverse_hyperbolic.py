"""Inverse hyperbolic functions: ``asinh``, ``acosh`` and ``atanh``.

* ``asinh(x) = log1p(a + a**2 / (1 + sqrt(1 + a**2)))`` with ``a = |x|``;
* ``acosh(x) = log1p(t + sqrt(t**2 + 2 t))`` with the exact ``t = x - 1``.

Arguments so large that squares might overflow, and both functions are the logarithm of ``2 a``, skip the root:
``log1p`` adds one to the power of two that it splits off.

``atanh`` of ``a = |x|`` is half the logarithm of ``(1 + a) / (1 - a) = 2**k * m``.  With ``s = (m - 1) / (m + 1)``

    atanh(a) = k * log(2) / 2 + atanh(s)        s = (a (1 + 2**k) + 1 - 2**k) / (a (1 - 2**k) + 1 + 2**k)

takes one division, and none of the sums rounds before its end; from 1/2 on ``1 - a`` is exact and takes the place
of a.  The difference of the bits of ``1 + a`` and ``1 - a`` is nearly their logarithm and yields k.
"""

from __future__ import annotations

from typing import Any

from xjit.codegen.language.inline_functions import inline
from xjit.codegen.language.intrinsics import (
    as_f32,
    as_f64,
    as_i32,
    as_i64,
    as_u32,
    as_u64,
    ashr,
    copysign,
    f32,
    fabs,
    fma,
    i32,
    i64,
    select,
    sqrt,
    u32,
    u64,
)
from xjit.codegen.vmath.exponentials.log import (
    EXPONENT_F32,
    EXPONENT_F64,
    INFINITY,
    LN2_F32,
    LN2_HIGH_F64,
    LN2_LOW_F64,
    ROUNDER_BITS_F64,
    ROUNDER_F64,
    log1p_of_sum_f32,
    log1p_of_sum_f64,
    log1p_times_power_f32,
    log1p_times_power_f64,
    wide_ratio_f32,
    wide_ratio_f64,
)
from xjit.codegen.vmath.vector_function import everywhere

# Above this adding one to an argument changes nothing.
LARGE_F32, LARGE_F64 = 2.0**30, 2.0**60
ONE_BITS_F32, ONE_BITS_F64 = 127 << 23, 1023 << 52
# Added to the difference of bits, so that k becomes one where m is sqrt(2).
HALF_F32, HALF_F64 = 0x3E1DB3, 0x7C3B666FB66CE
NAN = INFINITY - INFINITY


@inline("f32(f32)")
def asinh_f32(x: Any) -> Any:
    """Inverse hyperbolic sine of x."""
    a = fabs(x)
    large = a > f32(LARGE_F32)
    t = a + a * a / (f32(1.0) + sqrt(fma(a, a, f32(1.0))))
    return copysign(log1p_times_power_f32(select(large, a, t), select(large, f32(1.0), f32(0.0))), x)


@inline("f64(f64)")
def asinh_f64(x: Any) -> Any:
    """Inverse hyperbolic sine of x."""
    a = fabs(x)
    large = a > LARGE_F64
    t = a + a * a / (1.0 + sqrt(fma(a, a, 1.0)))
    rounder = select(large, ROUNDER_F64 - 1.0, ROUNDER_F64)
    return copysign(log1p_times_power_f64(select(large, a, t), rounder), x)


@inline("f32(f32)")
def acosh_f32(x: Any) -> Any:
    """Inverse hyperbolic cosine of x."""
    t = x - f32(1.0)
    large = x > f32(LARGE_F32)
    # The root of a negative number is NaN, also where the sum would be positive again.
    root = sqrt(select(t < f32(0.0), t, fma(t, t, t + t)))
    y = root + t
    rest = select(large, f32(0.0), t - (y - root))
    return log1p_of_sum_f32(select(large, x, y), rest, select(large, f32(1.0), f32(0.0)))


@inline("f64(f64)")
def acosh_f64(x: Any) -> Any:
    """Inverse hyperbolic cosine of x."""
    t = x - 1.0
    large = x > LARGE_F64
    root = sqrt(select(t < 0.0, t, fma(t, t, t + t)))
    y = root + t
    rest = select(large, 0.0, t - (y - root))
    return log1p_of_sum_f64(select(large, x, y), rest, select(large, ROUNDER_F64 - 1.0, ROUNDER_F64))


@inline("f32(f32)")
def atanh_f32(x: Any) -> Any:
    """Inverse hyperbolic tangent of x."""
    a = fabs(x)
    c = f32(1.0) - a
    bits = as_u32(f32(1.0) + a) - as_u32(c) + u32(HALF_F32)
    k = f32(ashr(as_i32(bits), i32(23)))
    power = as_f32((bits & u32(EXPONENT_F32)) + u32(ONE_BITS_F32))
    above, below = f32(1.0) + power, f32(1.0) - power
    low = a < f32(0.5)
    v = select(low, a, -c)
    s = fma(v, above, select(low, below, f32(2.0))) / fma(v, below, select(low, above, f32(2.0)))
    square = s * s
    near = fma(s * square, f32(0.5) * wide_ratio_f32(square), s)
    result = select(a < f32(1.0), fma(k, f32(0.5 * LN2_F32), near), select(a == f32(1.0), f32(INFINITY), f32(NAN)))
    return copysign(result, x)


@inline("f64(f64)")
def atanh_f64(x: Any) -> Any:
    """Inverse hyperbolic tangent of x."""
    a = fabs(x)
    c = 1.0 - a
    bits = as_u64(1.0 + a) - as_u64(c) + u64(HALF_F64)
    k = as_f64(as_u64(ashr(as_i64(bits), i64(52))) + u64(ROUNDER_BITS_F64)) - ROUNDER_F64
    power = as_f64((bits & u64(EXPONENT_F64)) + u64(ONE_BITS_F64))
    above, below = 1.0 + power, 1.0 - power
    low = a < 0.5
    v = select(low, a, -c)
    s = fma(v, above, select(low, below, 2.0)) / fma(v, below, select(low, above, 2.0))
    square = s * s
    curve = fma(s * square, 0.5 * wide_ratio_f64(square), k * (0.5 * LN2_LOW_F64))
    result = fma(k, 0.5 * LN2_HIGH_F64, s + curve)
    return copysign(select(a < 1.0, result, select(a == 1.0, INFINITY, NAN)), x)


FUNCTIONS = (
    everywhere("asinh_f32", 1.92),
    everywhere("asinh_f64", 1.92),
    everywhere("acosh_f32", 1.85),
    everywhere("acosh_f64", 2.0),
    everywhere("atanh_f32", 1.8),
    everywhere("atanh_f64", 1.8),
)
