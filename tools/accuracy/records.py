"""For every function: what it is compared with, where it is looked at, its symmetry, whether every float32 must be.

Adding a function is one row in :data:`RECORDS`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

from tools.accuracy import oracles
from tools.accuracy.angles import hardest
from tools.accuracy.oracles import ORACLES, Oracle
from tools.accuracy.pairs import PAIRS
from tools.accuracy.strata import Points, Stratum, bits, exponents, multiples, near, powers_of_two, uniform

LOG2 = np.log(np.longdouble(2))
HALF_PI = np.longdouble("1.57079632679489661923132169163975144")


@dataclass(frozen=True, slots=True)
class Record:
    """Record of one operation: all that is known beforehand.

    ``parity`` is "odd", "even" or empty; for odd and even functions the arguments with a sign are compared bit by bit
    with those without, which alone are compared with the truth.  ``exhaustive`` names the element types of which
    every argument must be tried.
    """

    operation: str
    strata: tuple[Stratum, ...]
    parity: str = ""
    exhaustive: tuple[str, ...] = ()

    @property
    def oracle(self) -> Oracle:
        """The screens."""
        return ORACLES[self.operation]


def split(name: str) -> tuple[str, str]:
    """The operation and the element type in a name such as ``erf_inv_f64``."""
    operation, _, kind = name.rpartition("_")
    return operation, kind


def record(name: str) -> Record:
    """The record of a function by its name in VECTOR_FUNCTIONS; KeyError where nobody has written one."""
    return RECORDS[split(name)[0]]


def has_record(name: str) -> bool:
    """Return whether a function can be measured."""
    operation, kind = split(name)
    return kind in ("f32", "f64") and operation in RECORDS


# ---- points of interest, for the limits of a type


def overflow(log: Callable[[float], float], sign: int = 1) -> Points:
    """Return where an exponential to the base of ``log`` overflows, becomes subnormal and vanishes."""

    def points(limits: Any) -> list[float]:
        # The logarithm of the largest number is beyond what math takes where the base is that of the type.
        sizes = [float(limits.max), float(limits.tiny), float(limits.smallest_subnormal)]
        return [sign * log(size) for size in sizes] + [sign * (log(sizes[2]) - log(2.0))]

    return points


def limits_of_type(limits: Any) -> list[float]:
    """The largest, the smallest normal and the smallest number."""
    return [float(limits.max), float(limits.tiny), float(limits.smallest_subnormal)]


def at(*points: float) -> Points:
    """The same points for every type."""
    return lambda limits: points


@functools.cache
def roots(operation: str) -> tuple[float, ...]:
    """Zeros of digamma or lgamma between the poles, where the function changes its sign."""
    function = oracles.digamma if operation == "digamma" else special.gammaln
    found = []
    for pole in range(1, 24):
        grid = -pole - 1 + np.concatenate([np.geomspace(1e-15, 0.5, 200), 1 - np.geomspace(0.5, 1e-15, 200)])
        grid = grid[grid != np.rint(grid)]
        values = function(grid)
        for place in np.flatnonzero(np.signbit(values[:-1]) != np.signbit(values[1:])):
            ends = grid[place], grid[place + 1]
            found.append(float(optimize.brentq(lambda x: float(function(np.array([x]))[0]), *ends, xtol=1e-16)))
    positive = {"digamma": (1.4616321449683623, -0.5040830082644554), "lgamma": (1.0, 2.0)}
    return (*found, *positive[operation])


# ---- rows


def unary(
    operation: str,
    ranges: tuple[tuple[float, float], ...],
    *strata: Stratum,
    parity: str = "",
    exhaustive: str = "",
    moderate: tuple[float, float] = (-64, 64),
) -> Record:
    """A record of a function of one argument: some strata are the same for all."""
    common = (bits(), exponents(*moderate), powers_of_two(), near("0, ±1", at(0.0, 1.0, -1.0)))
    uniforms = tuple(uniform(low, high) for low, high in ranges)
    return Record(operation, uniforms + common + strata, parity, tuple(exhaustive.split()))


# Multiples of half of it are the ties between neighbouring whole parts of a reduced argument.
TIES_OF_EXP = multiples("log(2)/2", LOG2 / 2, 2200)
TIES_OF_EXP2 = multiples("1/2", 0.5, 2200)
TIES_OF_EXP10 = multiples("log10(2)/2", LOG2 / np.log(np.longdouble(10)) / 2, 2200)
ANGLES = (
    multiples("pi/4", HALF_PI / 2, 2.0**10),
    multiples("pi/2", HALF_PI, 2.0**24),
    near("closest to multiples of pi/2", lambda limits: hardest() if limits.nmant == 52 else hardest(24, 128)),
    exponents(5, 200),
)
ROOTS_OF_TWO = near("sqrt(2), sqrt(1/2)", at(math.sqrt(2.0), math.sqrt(0.5), 2 * math.sqrt(2.0)))
TYPE_LIMITS = near("limits of the type", limits_of_type)


def exponential(operation: str, ties: Stratum, log: Callable[[float], float], exhaustive: str = "f32") -> Record:
    """A record of an exponential function."""
    ends = near("overflow and underflow", overflow(log))
    low, high = log(5e-324) - 5, log(1e308) + 5
    return unary(
        operation, ((low, high), (log(1e-45) - 5, log(3e38) + 2), (-1, 1)), ties, ends, exhaustive=exhaustive
    )


def logarithm(operation: str, *strata: Stratum, exhaustive: str = "f32") -> Record:
    """A record of a logarithm."""
    return unary(operation, ((0, 4), (0.5, 2.0), (0, 1e4)), ROOTS_OF_TWO, TYPE_LIMITS, *strata, exhaustive=exhaustive)


UNARY = (
    exponential("exp", TIES_OF_EXP, math.log),
    exponential("exp2", TIES_OF_EXP2, math.log2),
    exponential("exp10", TIES_OF_EXP10, math.log10, ""),
    exponential("expm1", TIES_OF_EXP, math.log),
    exponential("logistic", TIES_OF_EXP, math.log, ""),
    exponential("softplus", TIES_OF_EXP, math.log, ""),
    logarithm("log"),
    logarithm("log2"),
    logarithm("log10", near("powers of ten", lambda limits: [10.0**n for n in range(-37, 39)]), exhaustive=""),
    logarithm("log1p", near("-1", at(-1.0)), uniform(-1, 1)),
    unary("sin", ((-10, 10), (-1e5, 1e5)), *ANGLES, parity="odd", exhaustive="f32"),
    unary("cos", ((-10, 10), (-1e5, 1e5)), *ANGLES, parity="even", exhaustive="f32"),
    unary("tan", ((-10, 10), (-1e5, 1e5)), *ANGLES, parity="odd"),
    unary("asin", ((-1, 1), (0.4, 1)), near("±1/2, sqrt(1/2)", at(0.5, -0.5, math.sqrt(0.5))), parity="odd"),
    unary("acos", ((-1, 1), (0.4, 1)), near("±1/2, sqrt(1/2)", at(0.5, -0.5, math.sqrt(0.5)))),
    unary(
        "atan",
        ((-8, 8), (-1, 1)),
        near("tan(pi/8), tan(3 pi/8), 1/2, 2", at(math.tan(math.pi / 8), math.tan(3 * math.pi / 8), 0.5, 2.0)),
        parity="odd",
    ),
    unary("sinh", ((-715, 715), (-92, 92), (-2, 2)), TIES_OF_EXP, near("overflow", overflow(math.log)), parity="odd"),
    unary(
        "cosh", ((-715, 715), (-92, 92), (-2, 2)), TIES_OF_EXP, near("overflow", overflow(math.log)), parity="even"
    ),
    unary("tanh", ((-20, 20), (-1, 1)), TIES_OF_EXP, parity="odd", exhaustive="f32"),
    unary("asinh", ((-10, 10), (-1, 1)), ROOTS_OF_TWO, TYPE_LIMITS, parity="odd"),
    unary("acosh", ((1, 10), (1, 2), (1, 1e6)), ROOTS_OF_TWO, TYPE_LIMITS),
    unary("atanh", ((-1, 1), (0.3, 1)), near("±1/2, 1/3", at(0.5, -0.5, 1 / 3)), parity="odd"),
    unary(
        "erf", ((-6.5, 6.5), (-1, 1)), near("1, 4, 6", at(0.9, 1.0, 4.0, 5.92, 6.0)), parity="odd", exhaustive="f32"
    ),
    unary(
        "erfc",
        ((-6, 28), (-4, 11), (-1, 1)),
        near("underflow", at(10.0542, 9.19, 27.2263, 26.5433)),
        near("1/2, 1, 2", at(0.5, 0.9, 1.0, 2.0, 4.0)),
    ),
    unary("erf_inv", ((-1, 1), (0.9, 1)), near("±1/2, 3/4", at(0.5, -0.5, 0.75, 0.9375)), parity="odd"),
    unary(
        "lgamma",
        ((0, 4), (0, 200), (-8, 0), (-200, 0)),
        near("zeros", lambda limits: roots("lgamma")),
        multiples("1/2", 0.5, 60),
        near("overflow", at(2.5563481638716906e305, 4.085003423e36)),
    ),
    unary(
        "digamma",
        ((0, 4), (0, 200), (-8, 0), (-200, 0)),
        near("zeros", lambda limits: roots("digamma")),
        multiples("1/2", 0.5, 60),
        TYPE_LIMITS,
    ),
    unary("logit", ((0, 1), (0.25, 0.75)), near("1/4, 1/2, 3/4", at(0.25, 0.5, 0.75, 0.5, 0.5))),
    unary("rsqrt", ((0, 4), (0, 1e4)), TYPE_LIMITS, moderate=(-200, 200)),
    unary("sqrt", ((0, 4), (0, 1e4)), TYPE_LIMITS, moderate=(-200, 200)),
    unary(
        "cbrt",
        ((-8, 8), (-1e4, 1e4)),
        near("cubes", lambda limits: [n**3 for n in range(64)]),
        TYPE_LIMITS,
        parity="odd",
    ),
)

RECORDS: dict[str, Record] = {row.operation: row for row in UNARY} | {
    name: Record(name, strata) for name, strata in PAIRS.items()
}
"""By the name of the operation."""
