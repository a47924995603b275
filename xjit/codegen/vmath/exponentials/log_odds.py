"""Logarithms beside the logistic function: its inverse ``logit`` and its integral ``softplus``.

``logit(x) = log(x / (1 - x))`` changes its sign where x and ``1 - x`` change places, so it is found for the smaller
of them, q, which is exact.  With ``q / (1 - q) = 2**k * m`` and ``s = (m - 1) / (m + 1)``

    logit(q) = k * log(2) + 2 atanh(s)        s = (q + q 2**k - 2**k) / (q - q 2**k + 2**k)

takes one division.  Half of the power goes to either term of the first sum, which leaves both exact where k is zero
or minus one, with or without fused operations; of other sums s is a small part.  The difference of the bits of q
and ``1 - q`` is nearly the logarithm of their quotient and yields k.

``softplus(x) = log(1 + exp(x)) = max(x, 0) + log1p(e)`` with ``e = exp(-|x|)``; ``1 + e`` is halved where e is large.
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
    f32,
    fabs,
    fma,
    i32,
    i64,
    select,
    u32,
    u64,
)
from xjit.codegen.vmath.exponentials.exp import exp_f32, exp_f64
from xjit.codegen.vmath.exponentials.inverse_hyperbolic import NAN, ONE_BITS_F32, ONE_BITS_F64
from xjit.codegen.vmath.exponentials.log import (
    EXPONENT_F32,
    EXPONENT_F64,
    LN2_F32,
    LN2_HIGH_F64,
    LN2_LOW_F64,
    NEGATIVE_INFINITY,
    ROUNDER_BITS_F64,
    ROUNDER_F64,
    SMALLEST_NORMAL_F32,
    SMALLEST_NORMAL_F64,
    wide_ratio_f32,
    wide_ratio_f64,
    without_subnormals_f32,
    without_subnormals_f64,
)
from xjit.codegen.vmath.vector_function import everywhere

# Added to the difference of bits, so that k becomes zero where m is sqrt(1/2).
HALF_F32, HALF_F64 = 0x41E24C, 0x83C4999049933


@inline("f32(f32)")
def logit_f32(x: Any) -> Any:
    """Logarithm of x / (1 - x)."""
    high = x > f32(0.5)
    q = select(high, f32(1.0) - x, x)
    v = without_subnormals_f32(q)
    bits = as_u32(v) - as_u32(f32(1.0) - q) + u32(HALF_F32)
    k = f32(ashr(as_i32(bits), i32(23))) - select(q < f32(SMALLEST_NORMAL_F32), f32(23.0), f32(0.0))
    power = as_f32((bits & u32(EXPONENT_F32)) + u32(ONE_BITS_F32))
    half = power * f32(0.5)
    s = ((v - half) + fma(v, power, -half)) / fma(v, f32(1.0) - power, power)
    square = s * s
    near = fma(s * square, wide_ratio_f32(square), s + s)
    special = select(q == f32(0.0), f32(NEGATIVE_INFINITY), f32(NAN))
    result = select(q > f32(0.0), fma(k, f32(LN2_F32), near), special)
    return select(high, -result, result)


@inline("f64(f64)")
def logit_f64(x: Any) -> Any:
    """Logarithm of x / (1 - x)."""
    high = x > 0.5
    q = select(high, 1.0 - x, x)
    v = without_subnormals_f64(q)
    bits = as_u64(v) - as_u64(1.0 - q) + u64(HALF_F64)
    rounder = select(q < SMALLEST_NORMAL_F64, ROUNDER_F64 + 54.0, ROUNDER_F64)
    k = as_f64(as_u64(ashr(as_i64(bits), i64(52))) + u64(ROUNDER_BITS_F64)) - rounder
    power = as_f64((bits & u64(EXPONENT_F64)) + u64(ONE_BITS_F64))
    half = power * 0.5
    s = ((v - half) + fma(v, power, -half)) / fma(v, 1.0 - power, power)
    square = s * s
    curve = fma(s * square, wide_ratio_f64(square), k * LN2_LOW_F64)
    special = select(q == 0.0, NEGATIVE_INFINITY, NAN)
    result = select(q > 0.0, fma(k, LN2_HIGH_F64, s + s + curve), special)
    return select(high, -result, result)


@inline("f32(f32)")
def softplus_f32(x: Any) -> Any:
    """Logarithm of 1 + exp(x)."""
    e = exp_f32(-fabs(x))
    large = e > f32(0.5)
    a = select(large, fma(e, f32(0.5), f32(-0.5)), e)
    s = a / (a + f32(2.0))
    square = s * s
    near_one = fma(-s, fma(-square, wide_ratio_f32(square), a), a)
    return select(x > f32(0.0), x, f32(0.0)) + (select(large, f32(LN2_F32), f32(0.0)) + near_one)


@inline("f64(f64)")
def softplus_f64(x: Any) -> Any:
    """Logarithm of 1 + exp(x)."""
    e = exp_f64(-fabs(x))
    large = e > 0.5
    a = select(large, fma(e, 0.5, -0.5), e)
    s = a / (a + 2.0)
    square = s * s
    small = fma(-s, fma(-square, wide_ratio_f64(square), a), select(large, LN2_LOW_F64, 0.0))
    return select(x > 0.0, x, 0.0) + (select(large, LN2_HIGH_F64, 0.0) + (a + small))


FUNCTIONS = (
    everywhere("logit_f32", 1.65),
    everywhere("logit_f64", 1.65),
    everywhere("softplus_f32", 1.7),
    everywhere("softplus_f64", 1.85),
)
