"""Copy bandwidth, the measure of programs bound by memory, and what a chain of large arrays reaches of it.

The copy is the best of four: `np.copyto` and a copy on all threads, each into reused memory and into
fresh memory. Every array is at least four times the last cache. Bytes are counted as inputs plus outputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from perf.measuring.machine import cores, last_cache
from perf.measuring.timing import Call, Samples, interleave
from perf.programs import SEED
from perf.programs.elementwise import chain

CACHES_PER_ARRAY = 4
LARGEST_ARRAY = 1 << 29
CANDIDATES = ("NumPy chain", "xjit chain")


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes per second of the copies and of the chain under NumPy and xjit, by medians and by minima."""

    array_bytes: int
    medians: Mapping[str, float]
    minima: Mapping[str, float]

    @property
    def best_copy(self) -> str:
        """The name of the copy with the highest bandwidth."""
        return max((name for name in self.medians if name not in CANDIDATES), key=self.medians.__getitem__)

    @property
    def share(self) -> float:
        """The bandwidth of xjit's chain as a share of the best copy's."""
        return self.medians["xjit chain"] / self.medians[self.best_copy]


def array_bytes() -> int:
    """Return the size of one array: four last caches, up to half a gibibyte."""
    return min(LARGEST_ARRAY, CACHES_PER_ARRAY * last_cache())


def copies(source: np.ndarray[Any, Any], pool: ThreadPoolExecutor) -> dict[str, Call]:
    """Return the four ways to copy `source`."""
    reused = np.empty_like(source)
    reused.fill(0)
    bounds = np.linspace(0, source.size, 4 * cores() + 1).astype(int)
    parts = [slice(a, b) for a, b in itertools.pairwise(bounds)]

    def threaded(target: np.ndarray[Any, Any]) -> None:
        for _ in pool.map(lambda part: np.copyto(target[part], source[part]), parts):
            pass

    return {
        "copyto, reused memory": lambda: np.copyto(reused, source),
        "copyto, fresh memory": lambda: np.copyto(np.empty_like(source), source),
        "all threads, reused memory": lambda: threaded(reused),
        "all threads, fresh memory": lambda: threaded(np.empty_like(source)),
    }


def measure_bandwidth(budget: float = 10.0) -> Bandwidth:
    """Time the copies and the chain in turns, and check the chain's result."""
    from xjit import xjit

    count = array_bytes() // 4
    rng = np.random.default_rng(SEED)
    a, b, c = (rng.standard_normal(count, dtype=np.float32) for _ in range(3))
    compiled = xjit(chain)
    if compiled(a, b, c).tobytes() != chain(a, b, c).tobytes():
        raise AssertionError("the chain of large arrays differs from NumPy")
    with ThreadPoolExecutor(cores()) as pool:
        calls = copies(a, pool) | {
            "NumPy chain": lambda: chain(a, b, c),
            "xjit chain": lambda: compiled(a, b, c),
        }
        return summary(interleave(calls, budget), a.nbytes)


def summary(samples: Samples, size: int) -> Bandwidth:
    """Return bandwidths from times: a copy moves two arrays, the chain four."""
    moved = {name: size * (4 if name in CANDIDATES else 2) for name in samples.seconds}
    return Bandwidth(
        size,
        {name: bytes_ / samples.median(name) for name, bytes_ in moved.items()},
        {name: bytes_ / samples.minimum(name) for name, bytes_ in moved.items()},
    )
