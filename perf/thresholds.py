"""What the suite demands of xjit, as data; `gate.py` reads it."""

from __future__ import annotations

from dataclasses import dataclass

from perf.peers import JAX, NUMPY, TORCH, Runner


@dataclass(frozen=True, slots=True)
class Threshold:
    """A least speed-up over `reference`, for one program and size or for all (None).

    `minima` allows the ratio of minima instead of the low end of the interval of medians: the thread
    pools of some peers keep spinning after a call and inflate whoever runs next, themselves included.
    """

    reference: Runner
    at_least: float
    program: str | None = None
    size: str | None = None
    minima: bool = False


# Below this NumPy time a ratio says nothing: a fixed number of seconds over NumPy is allowed instead.
SHORT_SECONDS = 10e-6
SHORT_EXCESS_SECONDS = 1.5e-6

EVERY_ENTRY = (
    Threshold(NUMPY, 0.95),
    Threshold(JAX, 0.9, minima=True),
)
SINGLE_ENTRIES = (
    Threshold(NUMPY, 6.0, "softmax f32", "L"),
    Threshold(JAX, 1.2, "softmax f32", "L", minima=True),
)

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

LARGE_GEOMETRIC_MEAN_OVER_NUMPY = 5.0
GEOMETRIC_MEAN_OVER_JAX = 2.0
SHARE_OF_COPY_BANDWIDTH = 0.8
OVERHEAD_SECONDS = 1.5e-6
OVERHEAD_SHARE_OF_JAX = 0.4
COMPILE_SECONDS = {10: 0.12, 200: 0.35, 500: 0.8}
COMPILES_FOR_RANDOM_SHAPES = 3


def thresholds(program: str, size: str) -> tuple[Threshold, ...]:
    """Return those that one entry has to keep."""
    return EVERY_ENTRY + tuple(t for t in SINGLE_ENTRIES if (t.program, t.size) == (program, size))
