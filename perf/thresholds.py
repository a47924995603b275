"""Demands of the suite on xjit, as data; `gate.py` reads it."""

from __future__ import annotations

from dataclasses import dataclass

from perf.measuring.peers import JAX, LOOPS, NUMEXPR, NUMPY, TORCH, Runner
from perf.programs import Program


@dataclass(frozen=True, slots=True)
class Threshold:
    """A least speed-up over `reference`, for one program and size or for all (None).

    `minima` allows the ratio of minima instead of the low end of the interval of medians: where all
    threads of two pools compute, whatever else the machine does delays them.
    """

    reference: Runner
    at_least: float
    program: str | None = None
    size: str | None = None
    minima: bool = False


# Below this NumPy time a ratio says nothing: a fixed number of seconds over NumPy is allowed instead.
SHORT_SECONDS = 10e-6
SHORT_EXCESS_SECONDS = 1.5e-6

OVER_NUMPY = Threshold(NUMPY, 0.95)
# Not asked of products of matrices, where JAX has a library of its own and xjit calls NumPy's.
OVER_JAX = Threshold(JAX, 0.9, minima=True)
SINGLE_ENTRIES = (
    Threshold(NUMPY, 6.0, "softmax f32", "L"),
    Threshold(JAX, 1.2, "softmax f32", "L", minima=True),
    Threshold(JAX, 4.0, "pairwise distance + argmin f32", "L", minima=True),
    Threshold(JAX, 10.0, "n-body accelerations f64", "L", minima=True),
    Threshold(JAX, 8.0, "haversine f64", "L", minima=True),
)


@dataclass(frozen=True, slots=True)
class Mean:
    """A least geometric mean of speed-ups over `reference`, of the entries of some sizes."""

    reference: Runner
    sizes: tuple[str, ...]
    at_least: float


MEANS = (
    Mean(NUMPY, ("M", "L"), 8.0),
    Mean(NUMPY, ("XL",), 8.0),
    Mean(JAX, ("S", "M", "L", "XL"), 2.5),
    Mean(JAX, ("L",), 2.5),
    Mean(TORCH, ("L",), 1.3),
    Mean(NUMEXPR, ("S", "M", "L", "XL"), 2.0),
    Mean(LOOPS, ("S", "M", "L", "XL"), 1.2),
)

# Of a program bound by memory at its largest size: bytes that have to move, per second, over those of copying;
# and the bytes that its plan moves over those that have to.
SHARE_OF_COPY_BANDWIDTH = 0.85
MOVED_OVER_LEAST_BYTES = 1.1

# Reductions of every layout over every axis on one thread, each; and minima and maxima beside sums, at most.
REDUCTION_OVER_NUMPY = 1.0
EXTREMES_OVER_SUM = 1.5

# Single functions: on one thread over NumPy, on all cores over NumPy and JAX; each, and the geometric mean.
FUNCTION_OVER_NUMPY = 0.9
FUNCTIONS_OVER_NUMPY = 1.2
FUNCTIONS_ON_ALL_CORES_OVER_NUMPY = 1.8
FUNCTION_ON_ALL_CORES_OVER_JAX = 1.0
FUNCTIONS_ON_ALL_CORES_OVER_JAX = 1.4
# Fused chains of functions, each over each.
CHAIN_OVER = {NUMPY: 6.0, JAX: 2.0, TORCH: 1.2}
# What the use of one function adds to a cold compile.
FUNCTION_COMPILE_SECONDS = 0.025

OVERHEAD_SECONDS = 1.5e-6
OVERHEAD_SHARE_OF_JAX = 0.4
COMPILE_SECONDS = {10: 0.025, 200: 0.09, 500: 0.18}
COMPILES_FOR_RANDOM_SHAPES = 3


def thresholds(program: Program, size: str) -> tuple[Threshold, ...]:
    """Return those that one entry has to keep."""
    every = (OVER_NUMPY,) if program.decided_by == "BLAS" else (OVER_NUMPY, OVER_JAX)
    return every + tuple(t for t in SINGLE_ENTRIES if (t.program, t.size) == (program.name, size))
