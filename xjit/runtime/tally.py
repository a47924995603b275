"""Costs of loading machine code, for each decorated function."""

from __future__ import annotations

from xjit.dataclass import dataclass


@dataclass(eq=False)
class KernelTally:
    """The cost of loading the kernels of one decorated function."""

    compiles: int = 0
    cache_hits: int = 0
    seconds: float = 0.0
