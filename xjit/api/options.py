"""Options: the decorator's keyword arguments."""

from __future__ import annotations

from dataclasses import dataclass

from xjit import config
from xjit.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Options:
    """Options of one compiled function.

    target    "cpu"
    strict    raise where a call, or a step of it, would otherwise run through NumPy with a warning
    contract  let a multiplication and an addition become one fused operation, which changes last bits
    errors    "numpy": obey np.errstate, by running NumPy operation by operation
    """

    target: str = "cpu"
    strict: bool = False
    contract: bool = False
    errors: str = "ignore"

    def __post_init__(self) -> None:
        if self.target != "cpu":
            raise ArgumentError(f"xjit: target: 'cpu' is the only target of this version; got {self.target!r}")
        if self.errors not in ("ignore", "numpy"):
            raise ArgumentError(f"xjit: errors: 'ignore' or 'numpy' is required; got {self.errors!r}")

    @property
    def raises(self) -> bool:
        """Return whether falling back to NumPy is an error."""
        return self.strict or config.flag("XJIT_STRICT")
