"""Pairs of arguments at which functions are looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from tools.accuracy.strata import (
    Array,
    Random,
    Stratum,
    any_bits,
    bits,
    crossed,
    exponents,
    jitter,
    pairs,
    powers_of_two,
    scaled,
    uniform,
)

COMMON = (
    crossed(uniform(-10, 10), uniform(-10, 10)),
    crossed(uniform(0, 1e3), uniform(-1e3, 1e3)),
    crossed(bits(), bits()),
    crossed(exponents(), exponents()),
    crossed(powers_of_two(), exponents(-20, 20)),
)


# ---- powers


def _exponent_for(x: Array, log2_of_result: Array) -> Array:
    """y such that x**y has a given logarithm to base 2."""
    with np.errstate(all="ignore"):
        y = log2_of_result / np.log2(x.astype(np.longdouble))
    return np.where(np.isfinite(y), y, 1.0).astype(x.dtype)


def _result_range(rng: Random, count: int, dtype: Any) -> Array:
    limits = np.finfo(dtype)
    return rng.uniform(limits.minexp - limits.nmant - 4, limits.maxexp + 2, count)


def _power_of_any(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    x = np.abs(any_bits(rng, count, dtype))
    return x, _exponent_for(x, _result_range(rng, count, dtype))


def _power_near_one(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    x = np.abs(jitter(rng, np.ones(count), dtype))
    return x, _exponent_for(x, _result_range(rng, count, dtype))


def _power_at_limits(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    limits = np.finfo(dtype)
    ends = np.array([limits.maxexp, limits.minexp, limits.minexp - limits.nmant, limits.minexp - limits.nmant - 1])
    x = scaled(rng, count, dtype, -20, 20, signed=False)
    y = _exponent_for(x, rng.choice(ends.astype(np.longdouble), count))
    return x, jitter(rng, y, dtype)


def _power_small_result(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    """Results near one: x**y - 1 of all sizes."""
    x = np.abs(any_bits(rng, count, dtype))
    return x, _exponent_for(x, scaled(rng, count, np.float64, -60, 2))


def _power_whole(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    """Whole and half exponents, with bases of both signs."""
    y = rng.integers(-130, 131, count) / rng.choice(np.array([1.0, 1.0, 2.0, 3.0]), count)
    size = np.exp2(rng.uniform(-12, 12, count))
    return (size * rng.choice(np.array([-1.0, 1.0]), count)).astype(dtype), y.astype(dtype)


POWER = tuple(
    pairs(name, draw)
    for name, draw in {
        "results of all sizes": _power_of_any,
        "bases near 1": _power_near_one,
        "results at overflow and underflow": _power_at_limits,
        "results near 1": _power_small_result,
        "whole exponents": _power_whole,
    }.items()
)

# ---- angles and lengths


def _close(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    """Two numbers of nearly the same size, with all signs."""
    x = any_bits(rng, count, dtype)
    return x, jitter(rng, x, dtype) * rng.choice(np.array([-1, 1], dtype), count)


def _ratio(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    """A moderate ratio of two numbers of any size."""
    with np.errstate(all="ignore"):
        x = any_bits(rng, count, dtype)
        return x, (x * scaled(rng, count, dtype, -30, 30)).astype(dtype)


def _small_quotient(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    """Quotients at underflow."""
    limits = np.finfo(dtype)
    y = scaled(rng, count, dtype, limits.minexp - limits.nmant, 0)
    with np.errstate(all="ignore"):
        x = y.astype(np.longdouble) / np.exp2(rng.uniform(limits.minexp - limits.nmant - 2, limits.minexp + 3, count))
        return y, x.astype(dtype)


def _long_vectors(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    """Squares that overflow or vanish, sums at overflow."""
    limits = np.finfo(dtype)
    near = rng.choice(np.array([limits.maxexp - 1.0, limits.maxexp / 2, limits.minexp / 2, limits.minexp]), count)
    size = np.exp2(near + rng.uniform(-3, 0.9, (2, count)))
    return size[0].astype(dtype), size[1].astype(dtype)


QUOTIENTS = (pairs("nearly equal sizes", _close), pairs("moderate ratios", _ratio))

# ---- sums of exponentials


def _level(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    """Numbers whose difference matters."""
    x = rng.uniform(-800, 800, count) * rng.choice(np.array([1.0, 0.1, 0.001]), count)
    return x.astype(dtype), (x + scaled(rng, count, np.float64, -20, 7)).astype(dtype)


def _vanishing(base: float) -> Stratum:
    """Sums of exponentials near one, whose logarithm vanishes."""

    def draw(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
        share = rng.uniform(0.001, 0.999, count)
        x = (np.log(share) / np.log(base)).astype(dtype)
        rest = 1 - np.power(np.longdouble(base), x.astype(np.longdouble))
        return x, jitter(rng, np.log(rest) / np.log(np.longdouble(base)), dtype)

    return pairs("sums of exponentials near 1", draw)


# ---- remainders


def _nearly_whole(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
    """Quotients near whole numbers."""
    y = scaled(rng, count, dtype, -30, 30)
    whole = np.rint(np.exp2(rng.uniform(0, 40, count)))
    return jitter(rng, whole.astype(np.longdouble) * y, dtype), y


REMAINDERS = (*QUOTIENTS, pairs("quotients near whole numbers", _nearly_whole))

PAIRS: dict[str, tuple[Stratum, ...]] = {
    "pow": COMMON + POWER,
    "atan2": (*COMMON, *QUOTIENTS, pairs("quotients at underflow", _small_quotient)),
    "hypot": (*COMMON, *QUOTIENTS, pairs("squares at overflow and underflow", _long_vectors)),
    "fmod": COMMON + REMAINDERS,
    "remainder": COMMON + REMAINDERS,
    "floor_divide": COMMON + REMAINDERS,
    "logaddexp": (*COMMON, pairs("close to each other", _level), _vanishing(float(np.e))),
    "logaddexp2": (*COMMON, pairs("close to each other", _level), _vanishing(2.0)),
}
"""By the name of the operation."""
