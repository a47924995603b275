"""What the decorator's keyword arguments mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xjit import config
from xjit.errors import ArgumentError
from xjit.watch import Progress


@dataclass(frozen=True, slots=True)
class Options:
    """How a function is compiled.

    target    "cpu"
    strict    raise where a call, or a step of it, would otherwise run through NumPy with a warning
    contract  let a multiplication and an addition become one fused operation, which changes last bits
    errors    "numpy": obey np.errstate, by running NumPy operation by operation
    progress  called now and then with how far a compile has come that takes long, on the thread that waits for it
    """

    target: str = "cpu"
    strict: bool = False
    contract: bool = False
    errors: str = "ignore"
    progress: Callable[[Progress], object] | None = None

    def __post_init__(self) -> None:
        if self.target != "cpu":
            raise ArgumentError(f"xjit: target: 'cpu' is the only target of this version; got {self.target!r}")
        if self.errors not in ("ignore", "numpy"):
            raise ArgumentError(f"xjit: errors: 'ignore' or 'numpy' is required; got {self.errors!r}")

        if self.progress is not None and not callable(self.progress):
            raise ArgumentError(f"xjit: progress: a function is required; got {self.progress!r}")

    @property
    def raises(self) -> bool:
        """Whether falling back to NumPy is an error."""
        return self.strict or config.flag("XJIT_STRICT")
