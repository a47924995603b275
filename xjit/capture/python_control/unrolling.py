"""The turns of a loop that are traced one by one: until they are more than a loop of the graph costs."""

from __future__ import annotations

from xjit.capture.tracers.provenance import CaptureTrace
from xjit.ir.current import current

MOST_NODES = 150
"""The operations of a loop that is unrolled: a few turns fuse with what surrounds them, many take long to plan."""

MOST_NODES_AT_LAST = 5000
"""The same for a loop that cannot be one of the graph."""


class Unrolling:
    """The turns of a loop that are traced one by one, of so many if that is known."""

    def __init__(self, length: int | None, most: int = MOST_NODES) -> None:
        self._length = length
        self._most = most
        self._began = nodes_so_far()
        self.turns = 0

    def turn(self) -> None:
        """Counts a turn."""
        self.turns += 1

    def goes_on(self) -> bool:
        """Return whether another turn may be traced by itself."""
        if self.turns == 0:
            return True
        spent = nodes_so_far() - self._began
        expected = spent if self._length is None else spent * self._length / self.turns
        return expected <= self._most


def nodes_so_far() -> int:
    """The number of operations that were traced so far, in all graphs."""
    trace = current()
    assert isinstance(trace, CaptureTrace)
    found: int = trace.recorder.operations
    return found
