"""What the decorator's keyword arguments mean."""

from __future__ import annotations

from xjit import config
from xjit.dataclass import dataclass
from xjit.errors import ArgumentError
from xjit.target import DEFAULT, Target, check


@dataclass(frozen=True, slots=True)
class Options:
    """How a function is compiled.

    target    "cpu", or a Target with numbers about another machine
    strict    raise where a call, or a step of it, would otherwise run through NumPy with a warning
    contract  let a multiplication and an addition become one fused operation, which changes last bits
    errors    "numpy": obey np.errstate, by running NumPy operation by operation
    """

    target: str | Target = DEFAULT
    strict: bool = False
    contract: bool = False
    errors: str = "ignore"

    def __post_init__(self) -> None:
        check(self.target)
        if self.errors not in ("ignore", "numpy"):
            raise ArgumentError(f"xjit: errors: 'ignore' or 'numpy' is required; got {self.errors!r}")

    @property
    def raises(self) -> bool:
        """Whether falling back to NumPy is an error."""
        return self.strict or config.flag("XJIT_STRICT")
