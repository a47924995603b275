"""One trace of a call: what is compiled for it, and the watch over that compile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from xjit import compile
from xjit.capture.capture import Captured
from xjit.dataclass import dataclass
from xjit.runtime.calls.records import can_be_written
from xjit.target import Target
from xjit.types import is_writable
from xjit.watch import Watch


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A trace with the ``leaves`` of the call that it was made for, and the ``values`` of its inputs."""

    captured: Captured
    leaves: Sequence[Any]
    values: tuple[Any, ...]
    watch: Watch

    @property
    def shares_what_is_written(self) -> bool:
        """Return whether arrays that the call writes to are read-only, or share memory with others, or with
        themselves.
        """
        written = [place for _, place in self.captured.written]
        return not can_be_written(self.values, written) or any(overlaps_itself(self.values[one]) for one in written)

    @property
    def may_be_written(self) -> bool:
        """Return whether all arrays that the call writes to are writable."""
        return all(is_writable(self.values[place]) for _, place in self.captured.written)

    def lowered(self, target: Target, varying: bool) -> compile.Lowered:
        """The plan and the sources for a target."""
        graph, views, memories = self.captured.graph, self.captured.views, self.captured.memories
        return compile.lower_graph(
            graph,
            self.values,
            views,
            memories,
            target=target,
            varying=varying,
            written=self.captured.written,
            watch=self.watch,
        )

    def staged(self, target: Target, varying: bool) -> Iterator[tuple[compile.Stage, compile.Draft]]:
        """Yield the stages of the compiler with the program after each."""
        graph, views = self.captured.graph, self.captured.views
        written = self.captured.written
        return compile.staged(
            graph, self.values, views, target=target, varying=varying, written=written, watch=self.watch
        )


def overlaps_itself(array: np.ndarray[Any, Any]) -> bool:
    """Return whether elements of an array may share memory, as those of sliding windows do.

    >>> overlaps_itself(np.zeros((3, 4))[::2, ::-1]), overlaps_itself(np.broadcast_to(1.0, 3))
    (False, True)
    """
    end = array.itemsize
    for stride, extent in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if extent > 1 and stride < end and array.size:
            return True
        end += stride * (extent - 1)
    return False
