"""Open lengths: arrays whose length nothing bounds but the run get room by a guess, which calls may show to be wrong.

np.repeat(x, counts)     room for 16 * len(x): it is expected that counts.sum() is no more; where it is more, NumPy
                         does the call, and later traces make more room
"""

from __future__ import annotations

import numpy as np

from xjit.capture.tracers.demands import DemandError, can_demand, expect, expect_room, repeats_so_far
from xjit.capture.tracers.provenance import CaptureTrace, noted
from xjit.dataclass import dataclass
from xjit.errors import CaptureError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ops.define.core import lift

LONGEST = 2**31
"""Elements for which no array has room by a guess."""


@dataclass(eq=False)
class OpenLengths:
    """The arrays of open length of one trace, which may be so many ``times`` as long as guessed."""

    trace: CaptureTrace
    times: int = 1

    @property
    def largest(self) -> int:
        """The elements of the largest array among the arguments."""
        return max((leaf.size for leaf in self.trace.recorder.leaves if isinstance(leaf, np.ndarray)), default=0)

    def room(self, guess: int) -> int | None:
        """The elements that such an array has room for; None where NumPy could not do the call instead."""
        found = guess * self.times
        return found if found < LONGEST and self._may_repeat() else None

    def expect(self, fits: TracedValue, *, grows: bool = True) -> None:
        """Lets NumPy do the call unless a truth value of the graph holds; CaptureError where that cannot be done.

        Later traces make more room if it ``grows``.
        """
        trace = current()
        inner = trace is not self.trace
        if not (expect(fits) if inner else self._may_repeat()):
            reason = "only the run knows the length of an array, and NumPy cannot do the call if it is another one"
            raise noted((CaptureError if can_demand(trace) else DemandError)(reason))
        if inner:
            assert isinstance(trace, CaptureTrace)
            if grows:
                expect_room(trace, fits)
            return
        node = lift(self.trace, fits)
        self.trace.expected.append(node)
        if grows:
            self.trace.fitting.add(node)

    def _may_repeat(self) -> bool:
        """Return whether NumPy can do the call from the beginning."""
        return repeats_so_far(self.trace) and can_demand(self.trace)
