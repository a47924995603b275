"""Parts of functions of complex numbers: exponentials that do not overflow early, sizes, variants, precisions.

An exponential may be too large for a float while its product with a small sine is not.  So exponentials come
scaled: what :func:`exponential_f64` and :func:`hyperbolic_f64` return has to be multiplied twice by the growth of
their argument, before and after the sine.

Special values are those of C99 Annex G.  A product with a sine or a cosine that is NaN, because its angle is
infinite or NaN, stays exact where the other factor is: 0 * sin(inf) is 0 there, inf * cos(inf) is inf.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from xjit.codegen.language.inline_functions import InlineFunction, inline, register
from xjit.codegen.language.intrinsics import (
    as_f64,
    as_u64,
    copysign,
    cplx,
    f32,
    f64,
    fabs,
    fma,
    im,
    re,
    select,
    shl,
    u64,
)
from xjit.codegen.vmath.angles.trig import cos_f64, cos_f64_near, sin_f64, sin_f64_is_far, sin_f64_near
from xjit.codegen.vmath.coefficients.exponential import LOG2_E
from xjit.codegen.vmath.exponentials.exp import ONE_BITS_F64, ROUNDER_F64, exp_tail_f64, without_powers_f64
from xjit.codegen.vmath.vector_function import VectorFunction, everywhere, reduced

INFINITY = math.inf

# Beyond these the product with every sine is infinite, or zero.
HIGHEST, LOWEST = 1470.0, -800.0
# Powers of two beyond these are scaled.
LARGE_POWER = 1000.0
LARGE_HYPERBOLIC = 700.0
GROWTH, SHRINKAGE = 2.0**550, 2.0**-550
LARGE_BITS, SMALL_BITS = (1023 - 1100) % 4096 << 52, (1023 + 1100) << 52
# Below this sinh(x) is x; half of a subnormal number would not be exact.
SINE_IS_ANGLE_BELOW = 2.0**-30
SPLITTER = 2.0**27 + 1.0
# The square of the first is the second but for its last bits.
PROBE, PROBE_SQUARE = 1.0 + 2.0**-30, 1.0 + 2.0**-29
# From here on one is nothing beside exp(x).
ONE_COUNTS_BELOW = 40.0


@inline("f64(f64)")
def power_growth_f64(shifted: Any) -> Any:
    """Missing factor of the power of two n = shifted - ROUNDER_F64, to apply twice."""
    large, small = shifted > ROUNDER_F64 + LARGE_POWER, shifted < ROUNDER_F64 - LARGE_POWER
    return select(large, f64(GROWTH), select(small, f64(SHRINKAGE), 1.0))


@inline("f64(f64)")
def scaled_power_f64(shifted: Any) -> Any:
    """2**n for n = shifted - ROUNDER_F64, but for its growth, twice."""
    large, small = shifted > ROUNDER_F64 + LARGE_POWER, shifted < ROUNDER_F64 - LARGE_POWER
    bits = select(large, u64(LARGE_BITS), select(small, u64(SMALL_BITS), u64(ONE_BITS_F64)))
    return as_f64(shl(as_u64(shifted), u64(52)) + bits)


@inline("f64(f64)")
def exponent_of_exp_f64(x: Any) -> Any:
    """x where its exponential counts, else the nearest such; NaN stays."""
    v = select(x > HIGHEST, f64(HIGHEST), x)
    return select(v < LOWEST, f64(LOWEST), v)


@inline("f64(f64)")
def exponential_growth_f64(x: Any) -> Any:
    """Missing factor of exponential_f64(x), to apply twice."""
    return power_growth_f64(fma(exponent_of_exp_f64(x), LOG2_E, ROUNDER_F64))


@inline("f64(f64)")
def exponential_f64(x: Any) -> Any:
    """e to the power x, but for its growth, twice."""
    v = exponent_of_exp_f64(x)
    shifted = fma(v, LOG2_E, ROUNDER_F64)
    r = without_powers_f64(v, shifted)
    return (1.0 + fma(r * r, exp_tail_f64(r), r)) * scaled_power_f64(shifted)


@inline("f64(f64)")
def hyperbolic_growth_f64(x: Any) -> Any:
    """Missing factor of the results of hyperbolic_f64(x), to apply twice."""
    return select(fabs(x) > LARGE_HYPERBOLIC, f64(GROWTH), 1.0)


@inline("c128(f64)")
def hyperbolic_f64(x: Any) -> Any:
    """Hyperbolic sine and cosine of x, but for their growth, twice; those of infinity are large numbers.

    With ``m = exp(|x|) - 1`` and ``q = m / (m + 1)`` they are ``(m + q) / 2`` and ``1 + (m - q) / 2``; what rounding
    took from m and q is added last.
    """
    v = fabs(x)
    v = select(v > HIGHEST, f64(HIGHEST), v)
    shifted = fma(v, LOG2_E, ROUNDER_F64)
    r = without_powers_f64(v, shifted)
    curve = r * r * exp_tail_f64(r)
    p = r + curve
    bits = select(v > LARGE_HYPERBOLIC, u64(LARGE_BITS), u64(ONE_BITS_F64))
    power = as_f64(shl(as_u64(shifted), u64(52)) + bits)
    large = v > ONE_COUNTS_BELOW
    one = select(large, 0.0, 1.0)
    above_one = power - one
    m = fma(power, p, above_one)
    m_rest = fma(power, (r - p) + curve, fma(power, p, above_one - m))
    divisor = m + 1.0
    inverse = 1.0 / divisor
    quotient = m * inverse
    residue = fma(-quotient, divisor, m) + fma(-quotient, (m - (divisor - 1.0)) + m_rest, m_rest)
    q, q_rest = select(large, 0.0, quotient), select(large, 0.0, residue * inverse)
    sum_ = m + q
    sine = fma(f64(0.5), ((m - sum_) + q) + (m_rest + q_rest), 0.5 * sum_)
    cosine = fma(f64(0.5), (m - q) + (m_rest - q_rest), one)
    return cplx(copysign(select(v < SINE_IS_ANGLE_BELOW, v, sine), x), cosine)


@inline("f64(f64,f64,f64,f64,f64)")
def quotient_f64(a: Any, a_rest: Any, b: Any, b_rest: Any, inverse: Any) -> Any:
    """(a + a_rest) / (b + b_rest) from one over b, which is positive."""
    quotient = a * inverse
    residue = fma(-quotient, b, a) + fma(-quotient, b_rest, a_rest)
    return copysign(fma(residue, inverse, quotient), a)


@inline("f64(f64,f64)")
def sinh_times_cosine_f64(x: Any, cosine: Any) -> Any:
    """sinh(x) times a cosine."""
    growth = hyperbolic_growth_f64(x)
    product = cosine * growth * re(hyperbolic_f64(x)) * growth
    steady = select(x == 0.0, x, fabs(x))
    return select((cosine != cosine) & ((x == 0.0) | (fabs(x) == INFINITY)), steady, product)


@inline("f64(f64,f64)")
def sinh_times_sine_f64(x: Any, sine: Any) -> Any:
    """sinh(x) times a sine."""
    growth = hyperbolic_growth_f64(x)
    product = sine * growth * re(hyperbolic_f64(x)) * growth
    return select((sine != sine) & (x == 0.0), 0.0, select((x != x) & (sine == 0.0), sine, product))


@inline("f64(f64,f64)")
def cosh_times_cosine_f64(x: Any, cosine: Any) -> Any:
    """cosh(x) times a cosine."""
    growth = hyperbolic_growth_f64(x)
    product = cosine * growth * im(hyperbolic_f64(x)) * growth
    return select((cosine != cosine) & (fabs(x) == INFINITY), fabs(x), product)


@inline("f64(f64,f64)")
def cosh_times_sine_f64(x: Any, sine: Any) -> Any:
    """cosh(x) times a sine."""
    growth = hyperbolic_growth_f64(x)
    return select(sine == 0.0, sine, sine * growth * im(hyperbolic_f64(x)) * growth)


@inline("b1(c128)")
def real_is_far_c128(z: Any) -> Any:
    """Return whether the real part is an angle too large for the quick reduction."""
    return sin_f64_is_far(re(z))


@inline("b1(c128)")
def imaginary_is_far_c128(z: Any) -> Any:
    """Return whether the imaginary part is an angle too large for the quick reduction."""
    return sin_f64_is_far(im(z))


@inline("c128(c64)")
def wide_c128(z: Any) -> Any:
    """The same number in more bits."""
    return cplx(f64(re(z)), f64(im(z)))


@inline("c64(c128)")
def narrow_c64(z: Any) -> Any:
    """Both parts rounded."""
    return cplx(f32(re(z)), f32(im(z)))


@inline("f64(f64,f64,f64)")
def rounded_off_f64(a: Any, b: Any, product: Any) -> Any:
    """a * b - product, exact for the rounded product of numbers far from the largest and the smallest ones.

    Without fused multiply-add it multiplies halves (Dekker 1971).  Whether there is one is known when the probe is
    compiled, so that one of the two remains.
    """
    a_upper = a * SPLITTER - (a * SPLITTER - a)
    b_upper = b * SPLITTER - (b * SPLITTER - b)
    a_lower, b_lower = a - a_upper, b - b_upper
    by_halves = (a_upper * b_upper - product) + a_upper * b_lower + a_lower * b_upper + a_lower * b_lower
    fused = fma(f64(PROBE), f64(PROBE), f64(-PROBE_SQUARE)) != 0.0
    return select(fused, fma(a, b, -product), by_halves)


@inline("c128(f64,f64)")
def two_sum_f64(a: Any, b: Any) -> Any:
    """a + b and what rounding took from it (Knuth)."""
    sum_ = a + b
    other = sum_ - a
    return cplx(sum_, (a - (sum_ - other)) + (b - other))


Text = Callable[..., Any]


def register_narrow(name: str, wide: InlineFunction) -> InlineFunction:
    """Registers the function ``name`` of c64 that computes with one of c128; results are rounded once."""
    to_real, arity = wide.result != "c128", len(wide.arguments)
    result = {"c128": "c64", "f64": "f32"}.get(wide.result, wide.result)
    function: Text
    if arity == 2:

        def function(z: Any, w: Any) -> Any:
            return narrow_c64(wide(wide_c128(z), wide_c128(w)))

    elif result == "b1":

        def function(z: Any) -> Any:
            return wide(wide_c128(z))

    elif to_real:

        def function(z: Any) -> Any:
            return f32(wide(wide_c128(z)))

    else:

        def function(z: Any) -> Any:
            return narrow_c64(wide(wide_c128(z)))

    arguments = ",".join(["c64"] * arity)
    return register(name, function, f"{result}({arguments})")


def register_plain(functions: Iterable[InlineFunction]) -> None:
    """Registers the c64 functions that belong to these of c128."""
    for function in functions:
        register_narrow(function.name.replace("c128", "c64"), function)


def register_angular(name: str, make: Callable[[Text, Text], Text], is_far: InlineFunction) -> None:
    """Registers a function with its variants for c64 and c128; ``make`` writes it for a sine and a cosine."""
    arguments = ",".join(is_far.arguments)
    wide = register(f"{name}_c128", make(sin_f64, cos_f64), f"c128({arguments})")
    near = register(f"{name}_c128_near", make(sin_f64_near, cos_f64_near), f"c128({arguments})")
    far = register(f"{name}_c128_is_far", is_far.function, is_far.signature)
    register_plain((wide, near, far))


def angular(name: str, error: float) -> tuple[VectorFunction, VectorFunction]:
    """Rows of a function with variants, in both precisions."""
    return reduced(f"{name}_c64", 0.51), reduced(f"{name}_c128", error)


def plain(name: str, error: float) -> tuple[VectorFunction, VectorFunction]:
    """Rows of a function without variants, in both precisions."""
    return everywhere(f"{name}_c64", 0.51), everywhere(f"{name}_c128", error)
