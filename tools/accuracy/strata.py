"""Arguments at which functions are looked at: drawn from strata, the same ones for the same seed.

A stratum draws for float32 and float64 alike.  Points of interest are given in long double and met at all distances:
the number of floats between the argument and the point is log-uniform, zero included, on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Random = np.random.Generator
Draw = Callable[[Random, int, Any], tuple[Array, ...]]
Points = Callable[[Any], Sequence[float] | Array]


@dataclass(frozen=True, slots=True)
class Stratum:
    """One way to draw arguments; ``draw(rng, count, dtype)`` returns one array for every argument."""

    name: str
    draw: Draw

    def arguments(self, seed: Sequence[int], count: int, dtype: Any) -> tuple[Array, ...]:
        """The arguments that belong to a seed."""
        with np.errstate(all="ignore"):
            return self.draw(np.random.default_rng(list(seed)), count, np.dtype(dtype).type)


def single(name: str, draw: Callable[[Random, int, Any], Array]) -> Stratum:
    """A stratum of functions of one argument."""
    return Stratum(name, lambda rng, count, dtype: (draw(rng, count, dtype),))


# ---- arrays of numbers


def ordered(x: Array) -> Array:
    """Integers in the order of the floats, zeros of both signs at 0."""
    bits = x.view(np.int64 if x.dtype == np.float64 else np.int32).astype(np.int64)
    least = np.int64(-(1 << 63)) if x.dtype == np.float64 else np.int64(-(1 << 31))
    return np.where(bits < 0, least - bits, bits)


def from_ordered(n: Array, dtype: Any) -> Array:
    """The inverse of :func:`ordered`; beyond the infinities there is nothing."""
    kind = np.int64 if dtype == np.float64 else np.int32
    top = int(np.array(np.inf, dtype).view(kind))
    n = np.clip(n, -top, top)
    magnitude = np.abs(n).astype(kind).view(dtype)
    signed: Array = np.where(n < 0, -magnitude, magnitude)
    return signed


def jitter(rng: Random, points: Array, dtype: Any) -> Array:
    """Floats at all distances from the points, the nearest floats themselves now and then."""
    with np.errstate(all="ignore"):
        nearest = np.asarray(points).astype(dtype)
    reach = rng.uniform(-1.0, np.finfo(dtype).nmant - 1, nearest.shape)
    steps = np.floor(np.exp2(reach)).astype(np.int64) * rng.choice(np.array([-1, 1]), nearest.shape)
    return from_ordered(ordered(nearest) + steps, np.dtype(dtype))


def any_bits(rng: Random, count: int, dtype: Any) -> Array:
    """All bit patterns alike: uniform over exponents, with infinities and NaN."""
    kind = np.uint64 if dtype == np.float64 else np.uint32
    return rng.integers(0, np.iinfo(kind).max, count, kind, endpoint=True).view(dtype)


def scaled(rng: Random, count: int, dtype: Any, low: float, high: float, signed: bool = True) -> Array:
    """Uniform over the exponents from low to high."""
    size = np.exp2(rng.uniform(low, high, count))
    return (size * rng.choice(np.array([-1.0, 1.0]), count) if signed else size).astype(dtype)


# ---- strata of one argument


def uniform(low: float, high: float) -> Stratum:
    """Uniform between two numbers."""
    return single(
        f"uniform {low:g} to {high:g}", lambda rng, count, dtype: rng.uniform(low, high, count).astype(dtype)
    )


def bits() -> Stratum:
    """All bit patterns."""
    return single("all bit patterns", any_bits)


def exponents(low: float = -64, high: float = 64) -> Stratum:
    """Uniform over moderate exponents."""
    return single(f"2**{low:g} to 2**{high:g}", lambda rng, count, dtype: scaled(rng, count, dtype, low, high))


def near(name: str, points: Points) -> Stratum:
    """Around points that depend on the type."""

    def draw(rng: Random, count: int, dtype: Any) -> Array:
        table = np.asarray(points(np.finfo(dtype)), np.longdouble)
        return jitter(rng, rng.choice(table, count), dtype)

    return single(f"near {name}", draw)


def multiples(name: str, step: Any, most: float) -> Stratum:
    """Around multiples of a number: all of them alike, and low ones more."""

    def draw(rng: Random, count: int, dtype: Any) -> Array:
        size = np.where(
            rng.random(count) < 0.5, rng.uniform(0, most, count), np.exp2(rng.uniform(0, np.log2(most), count))
        )
        whole = np.rint(size) * rng.choice(np.array([-1, 1]), count)
        return jitter(rng, whole.astype(np.longdouble) * np.longdouble(step), dtype)

    return single(f"near multiples of {name}", draw)


def powers_of_two() -> Stratum:
    """Around powers of two of both signs."""

    def draw(rng: Random, count: int, dtype: Any) -> Array:
        limits = np.finfo(dtype)
        exponent = rng.integers(limits.minexp - limits.nmant, limits.maxexp, count)
        return jitter(rng, np.ldexp(rng.choice(np.array([-1.0, 1.0]), count), exponent), dtype)

    return single("near powers of two", draw)


# ---- strata of two arguments


def pairs(name: str, draw: Draw) -> Stratum:
    """A stratum of functions of two arguments."""
    return Stratum(name, draw)


def crossed(first: Stratum, second: Stratum) -> Stratum:
    """Each argument from a stratum of its own, independently."""

    def draw(rng: Random, count: int, dtype: Any) -> tuple[Array, ...]:
        return first.draw(rng, count, dtype) + second.draw(rng, count, dtype)

    return Stratum(f"{first.name}; {second.name}", draw)


def seed(function: str, stratum: int, chunk: int) -> list[int]:
    """The seed of one chunk of a stratum of a function: drawn again it gives the same arguments."""
    return [*function.encode(), stratum, chunk]
