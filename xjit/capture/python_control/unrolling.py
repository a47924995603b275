"""The turns of a loop that are traced one by one: until they are more than a loop of the graph costs.

for _ in range(20): x = np.where(x * x < 4, x * x + c, x)    large x: one kernel moves it once, not 20 times
for k in range(20): s = s + x[k]                             a loop of the graph is as good
"""

from __future__ import annotations

from typing import Any

from xjit.capture.python_control.turn_traffic import traffic, values_of
from xjit.capture.rewriting.runtime_protocol import State
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.ir.current import current

MOST_NODES = 150
"""The operations of a loop that is unrolled: a few turns fuse with what surrounds them, many take long to plan."""

OPERATIONS_OF_A_LOOP = 40
"""The operations that a loop of the graph counts for, within one that is unrolled."""

MOST_STEPS = 16
"""The steps in Python of a loop that is unrolled: those of more turns are steps of one body that a loop repeats."""

MOST_NODES_FUSED = 600
"""The same for a loop of large arrays whose turns fuse into one pass over them."""

BYTES_PER_NODE = 2**14
"""The bytes that a turn moves for each of its operations, from which on to save them is worth planning all turns."""

MOST_NODES_AT_LAST = 5000
"""The same for a loop that cannot be one of the graph."""


_TURNS_THAT_SHOW = 2


class Unrolling:
    """The turns of a loop that are traced one by one, of so many if that is known.

    ``state`` are the variables that turns change; without them turns are taken for such that do not fuse. A loop that
    was no such in an earlier trace, as one within another that is traced again, is none from the first turn on.
    ``with`` it the turns are traced.
    """

    def __init__(self, length: int | None, state: State | None = None, most: int = MOST_NODES) -> None:
        self._length = length
        self._most = most
        self._state = state
        self._began, self._steps_began = nodes_so_far(), steps_so_far()
        self._start = [] if state is None else values_of(state)
        self._place = None if state is None else (state.place, length)
        self.turns = 0

    def __enter__(self) -> Unrolling:
        _recorder().unrolled += 1
        return self

    def __exit__(self, *error: object) -> None:
        _recorder().unrolled -= 1

    def turn(self) -> None:
        """Counts a turn."""
        self.turns += 1

    def goes_on(self) -> bool:
        """Return whether another turn may be traced by itself."""
        if self.turns == 0:
            return self._place not in _recorder().loops
        found = self._is_short()
        if not found:
            self.give_up()
        return found

    def give_up(self) -> None:
        """Notes that the loop is one of the graph."""
        if self._place is not None:
            _recorder().loops[self._place] = True

    def _is_short(self) -> bool:
        spent, steps = nodes_so_far() - self._began, steps_so_far() - self._steps_began
        times = 1 if self._length is None else self._length / self.turns
        expected = spent * times
        if steps * times > MOST_STEPS and self._most == MOST_NODES:
            return False
        return expected <= self._most or (expected <= MOST_NODES_FUSED and self._fuses(spent / self.turns))

    def _fuses(self, operations: float) -> bool:
        """Return whether turns of so many operations fuse and save enough; the first two show it.

        What the first one does with arrays whose elements are known may be no part of the graph.
        """
        if self._state is None or self.turns > _TURNS_THAT_SHOW:
            return False
        saves = traffic(self._start, self._state) >= BYTES_PER_NODE * operations
        self._start = values_of(self._state)
        if saves and self.turns == _TURNS_THAT_SHOW:
            self._most = MOST_NODES_FUSED
        return saves


def count_loop() -> None:
    """Counts a loop of the graph, which is no part of a kernel that fuses with others, for many operations."""
    _recorder().operations += OPERATIONS_OF_A_LOOP


def nodes_so_far() -> int:
    """The number of operations that were traced so far, in all graphs."""
    found: int = _recorder().operations
    return found


def steps_so_far() -> int:
    """The number of steps in Python that the trace has so far."""
    found: int = _recorder().python_steps
    return found


def _recorder() -> Any:
    trace = current()
    assert isinstance(trace, CaptureTrace)
    return trace.recorder
