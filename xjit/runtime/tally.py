"""What loading machine code costs a decorated function."""

from __future__ import annotations

from xjit.dataclass import dataclass


@dataclass(eq=False)
class KernelTally:
    """What loading kernels cost one decorated function."""

    compiles: int = 0
    cache_hits: int = 0
    seconds: float = 0.0
