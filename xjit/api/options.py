"""Options: the decorator's keyword arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xjit import config
from xjit.dataclass import dataclass, field
from xjit.errors import ArgumentError
from xjit.target import DEFAULT, Target, check

if TYPE_CHECKING:
    from xjit.watch import Progress


@dataclass(frozen=True, slots=True)
class Options:
    """Options of one compiled function.

    target    "cpu", or a Target with numbers about another machine
    strict    raise where a call, or a step of it, would otherwise run through NumPy with a warning
    contract  let a multiplication and an addition become one fused operation, which changes last bits
    errors    "numpy": obey np.errstate, by running NumPy operation by operation
    progress  called now and then with how far a compile has come that takes long, on the thread that waits for it
    """

    target: str | Target = DEFAULT
    strict: bool = False
    contract: bool = False
    errors: str = "ignore"
    progress: Callable[[Progress], object] | None = field(
        default=None, repr=False
    )  # no part of what programs on disk are found by

    def __post_init__(self) -> None:
        check(self.target)
        if self.errors not in ("ignore", "numpy"):
            raise ArgumentError(f"xjit: errors: 'ignore' or 'numpy' is required; got {self.errors!r}")
        if self.progress is not None and not callable(self.progress):
            raise ArgumentError(f"xjit: progress: a function is required; got {self.progress!r}")

    @property
    def raises(self) -> bool:
        """Return whether falling back to NumPy is an error."""
        return self.strict or config.flag("XJIT_STRICT")
