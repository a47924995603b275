"""Costs of loading programs, for each decorated function."""

from __future__ import annotations

from xjit.dataclass import dataclass


@dataclass(eq=False)
class KernelTally:
    """The cost of loading the kernels of one decorated function.

    ``fallbacks`` are the steps that NumPy runs for want of code in programs from the disk.
    """

    compiles: int = 0
    cache_hits: int = 0
    seconds: float = 0.0
    fallbacks: int = 0
