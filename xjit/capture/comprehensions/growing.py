"""Growing lists: loops append numbers of one type, which are elements of an array; how many only the run knows.

left = []                            column  zeros with room for a guess
while len(x): left.append(len(x))    column[count] = len(x); count += 1
np.array(left)                       column[:count]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.comprehensions.gathered import Column, Fixed, Gathered
from xjit.capture.recording.container_entries import ARRAY_INSTEAD, NumberType, number_type
from xjit.capture.recording.module_views import traced_numpy
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.demands import repeats_so_far
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.ops.define.core import lift
from xjit.ops.dynamic.limited_windows import number
from xjit.ops.elements.compare import le
from xjit.ops.elements.elementwise import min as smaller

_ROOM = 2**14
"""Numbers that there is room for at first."""


class Growing(Gathered):
    """The elements of a list that loops make longer.

    The ``cell`` holds their number, which is a variable of loops and branches as entries of lists are. What is known
    of the list is that of a trace around the loops: in a turn nobody reads it.
    """

    __slots__ = ("cell", "column", "is_read", "made_by", "place", "room", "trace")

    def __init__(
        self, made_by: Any, place: tuple[int, int], kind: NumberType, trace: CaptureTrace, room: int
    ) -> None:
        self.form, self.parts, self.changed, self.made = tree.LEAF, (), False, None
        self.made_by, self.place, self.trace, self.room = made_by, place, trace, room
        self.cell: list[Any] = [0]
        self.is_read = False
        zeros: Any = np.zeros
        self.column = Column(traced_numpy(zeros)(room, kind.dtype), kind.weak)

    @property
    def grows(self) -> bool:
        """Return whether loops may append to the array: there is no list of the run yet."""
        return not self.changed and self.made is None

    @property
    def count(self) -> Any:
        """The number of elements."""
        return self.cell[0]

    @property
    def cells(self) -> tuple[list[Any], ...]:
        """The list that holds the number."""
        return (self.cell,)

    def parts_now(self) -> tuple[Column | Fixed, ...]:
        """The elements as an array; NumPy does the call where they are more than there is room for."""
        count = self.count
        if isinstance(count, TracedValue):
            assert self.trace.lengths is not None
            if not repeats_so_far(self.trace):
                self.give_up()
            self.trace.lengths.expect(le(count, number(self.room)))
            count = self._within(count, self.room)
        return (Column(self.column.array[:count], self.column.weak),)

    def append(self, value: Any) -> None:
        """Puts a number behind the others."""
        kind, count = number_type(value), self.count
        if kind != NumberType(self.column.array.dtype, self.column.weak) or self.is_read:
            self.give_up()
        if not isinstance(count, TracedValue) and count >= self.room:
            self.give_up()
        self.column.array[self._within(count, self.room - 1)] = value
        self.cell[0] = count + 1

    def _within(self, count: Any, most: int) -> Any:
        """The number, or the largest one that there is room for."""
        if not isinstance(count, TracedValue):
            return count
        trace = current()
        assert trace is not None
        found = TracedArray(lift(trace, smaller(count, number(most))), trace, weak=int, scalar=True)
        found.bounds = trace.spans[found.node] = (0, most)
        return found

    def element(self, number: Any) -> Any:
        """The element in a place."""
        self.is_read = True
        return super().element(number)

    def node(self, trace: Trace) -> Any:
        """The list as a value of the trace that it was made in."""
        if current() is not trace:
            self.give_up()
        return super().node(trace)

    def give_up(self) -> None:
        """Has the function traced anew, with a list that only the run has."""
        self.made_by.want_of_run_at(self.place, None)
        refuse("a list changes its length where only the run decides, and is more than numbers", fix=ARRAY_INSTEAD)


def growing_list(made: list[Any], place: tuple[int, int], kind: NumberType, trace: CaptureTrace) -> Any:
    """A list with the elements of another one, for loops to append to; None where nothing may be guessed."""
    room = None if trace.lengths is None else trace.lengths.room(_ROOM)
    if room is None:
        return None
    found = Growing(trace.recorder.rewriting, place, kind, trace, room)
    for one in made:
        found.append(one)
    return DeferredObject(None, trace, "a list", list, found)
