"""Statistics of a decorated function."""

from __future__ import annotations

from xjit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of one decorated function.

    compiles         kernels compiled now, in this process
    cache_hits       kernels found in memory or on disk
    traces           how often the Python function was traced
    fallbacks        calls that ran through NumPy, and steps of compiled programs that do
    compile_seconds  time spent compiling kernels
    retraces         for each trace after the first: why an earlier one could not be used
    """

    compiles: int
    cache_hits: int
    traces: int
    fallbacks: int
    compile_seconds: float
    retraces: tuple[str, ...]
