"""One compile while it runs: how far it has come, and when it has to end.

The watch is handed down to all that may take long. There it is told of every ``step``, which ends the compile when
its time is up; whoever waits for the compile has a ``look`` at it now and then, to log and to tell the user. The work
is done in a thread of its own, in which no code of the user runs, logging handlers included.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from xjit import config
from xjit.dataclass import dataclass, field
from xjit.errors import ArgumentError, TargetError

Item = TypeVar("Item")

LOGGED_AFTER = 2.0
"""Seconds after which a compile is logged."""

WARNED_AFTER = 20.0
"""Seconds after which the log has a warning: most users see no message below one."""

LOOK_EVERY = 0.1
"""Seconds between two looks at a compile."""


class CompileLimitError(TargetError):
    """A compile took longer than it may."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a compile: ``done`` of ``total`` things in its ``stage``, after so many ``seconds``.

    ``total`` is 0 where it is not known.

    >>> str(Progress("solve", "planning", 120, 4000, 2.5))
    'solve: planning, 120 of 4,000 after 2.5 s'
    """

    function: str
    stage: str
    done: int
    total: int
    seconds: float

    @property
    def place(self) -> str:
        """The stage and how much of it is done."""
        return f"{self.stage}, {self.done:,} of {self.total:,}" if self.total else f"{self.stage}, {self.done:,}"

    def __str__(self) -> str:
        return f"{self.function}: {self.place} after {self.seconds:.1f} s"


@dataclass(eq=False)
class Watch:
    """A compile of the function ``name`` that may take ``limit`` seconds, of which ``tell`` hears now and then."""

    name: str = "a function"
    limit: float = math.inf
    tell: Callable[[Progress], object] | None = None
    begun: float = field(default_factory=lambda: time.monotonic())
    stage: str = "tracing"
    done: int = 0
    total: int = 0
    _next_look: float = 0.0
    _logged: float = 0.0

    def enter(self, stage: str, total: int = 0) -> None:
        """Notes what comes now, and of how many things."""
        self.stage, self.done, self.total = stage, 0, total
        self.check()

    def step(self) -> None:
        """Notes that one more thing is done; CompileLimitError when the time is up."""
        self.done += 1
        self.check()

    def over(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, with a step behind each."""
        for item in items:
            yield item
            self.step()

    def check(self) -> None:
        """CompileLimitError when the time is up."""
        if time.monotonic() - self.begun > self.limit:
            raise CompileLimitError(
                f"xjit: compiling takes longer than {self.limit:g} s, the limit ({self.progress.place})",
                fix="compile what one step of a loop in Python does, as loops are unrolled, or set "
                "XJIT_COMPILE_LIMIT to more seconds",
            )

    @property
    def seconds(self) -> float:
        """Return how long the compile has taken so far."""
        return time.monotonic() - self.begun

    @property
    def progress(self) -> Progress:
        """Return how far the compile has come."""
        return Progress(self.name, self.stage, self.done, self.total, self.seconds)

    def look(self) -> None:
        """Logs a compile that takes long, and tells whoever wants to hear of it; may raise what they raise."""
        if time.monotonic() - self.begun < self._next_look:
            return
        found = self.progress
        self._next_look = found.seconds + LOOK_EVERY
        for after in (LOGGED_AFTER, WARNED_AFTER):
            if self._logged < after <= found.seconds:
                self._log(found, is_warning=after == WARNED_AFTER)
                self._logged = after
        if self.tell is not None:
            self.tell(found)

    def _log(self, found: Progress, *, is_warning: bool) -> None:
        import logging  # takes longer than a small compile

        level = logging.WARNING if is_warning else logging.INFO
        logging.getLogger("xjit").log(level, "compiling %s", found)


class _Unwatched(Watch):
    def enter(self, stage: str, total: int = 0) -> None:
        """Notes nothing: many compiles share this watch."""

    def step(self) -> None:
        """Notes nothing."""

    def look(self) -> None:
        """Tells nobody."""


UNWATCHED = _Unwatched()
"""For compiles that may take as long as they like."""


def watch_over(name: str, tell: Callable[[Progress], object] | None = None) -> Watch:
    """A watch that begins now, with the limit of the settings; 0 is none."""
    text = config.text("XJIT_COMPILE_LIMIT")
    try:
        limit = float(text or 0)
    except ValueError:
        raise ArgumentError(f"xjit: XJIT_COMPILE_LIMIT: a number of seconds is required; got {text!r}") from None
    return Watch(name, limit if limit > 0 else math.inf, tell)
