"""Growing lists: loops append entries of one type, which are elements of an array; how many only the run knows.

left = []                            column  zeros with room for a guess
while len(x): left.append(len(x))    column[count] = len(x); count += 1
np.array(left)                       column[:count]

Arrays of one shape are rows of the column, tuples of numbers have a column for each number.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from xjit import tree
from xjit.capture.comprehensions.gathered import Column, Fixed, Gathered
from xjit.capture.comprehensions.lone_arrays import is_alone, note_entry
from xjit.capture.recording.container_entries import ARRAY_INSTEAD, EntryType, RecordType, entry_type
from xjit.capture.recording.module_views import traced_numpy
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.chosen_elements import packed
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
_ROOM_IN_TURNS = 2**10
"""Numbers that there is room for at first: each turn that makes a list fills the room with zeros."""
_FEWEST_ROWS = 64


class Growing(Gathered):
    """The elements of a list that loops make longer.

    The ``cell`` holds their number, which is a variable of loops and branches as entries of lists are. What is known
    of the list is that of a trace around the loops: in a turn nobody reads it. Arrays that have names elsewhere are
    ``shown``: nobody writes to them as long as there is the list.
    """

    __slots__ = ("__weakref__", "cell", "column", "is_read", "kind", "made_by", "place", "room", "shown", "trace")

    def __init__(self, made_by: Any, place: tuple[int, int], kind: EntryType, trace: CaptureTrace, room: int) -> None:
        self.form, self.parts, self.changed, self.made = tree.LEAF, (), False, None
        self.made_by, self.place, self.kind, self.trace, self.room = made_by, place, kind, trace, room
        self.cell: list[Any] = [0]
        self.is_read = self.shown = False
        self.column = self._zeros((room, *self._row), kind.dtype)

    @property
    def _row(self) -> tuple[int, ...]:
        return self.kind.shape or ()

    @staticmethod
    def _zeros(shape: tuple[int, ...], dtype: Any) -> Any:
        zeros: Any = np.zeros
        return traced_numpy(zeros)(shape, dtype)

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
        """The lists that hold numbers which appending changes."""
        return (self.cell,)

    def parts_now(self) -> tuple[Column | Fixed, ...]:
        """The elements as an array; NumPy does the call where they are more than there is room for."""
        found = self.column[: self._fitting(self.count, self.room)]
        return (Column(found, self.kind.weak, self.shown),)

    def _fitting(self, count: Any, room: int) -> Any:
        """A number of elements, or the largest one that there is room for: then NumPy does the call."""
        if not isinstance(count, TracedValue):
            return count
        assert self.trace.lengths is not None
        if not repeats_so_far(self.trace):
            self.give_up()
        self.trace.lengths.expect(le(count, number(room)))
        return self._within(count, room)

    @property
    def _entries(self) -> EntryType | RecordType:
        """The type of the entries."""
        return self.kind

    def append(self, value: Any) -> None:
        """Puts an entry behind the others."""
        alone = self._entries.is_number or type(value) is tuple or is_alone(value, self.made_by.holds(value))
        self._check_entry(value)
        count = self.count
        if not isinstance(count, TracedValue) and count >= self.room:
            self.give_up()
        self._put(value, count)
        self.cell[0] = count + 1
        if not alone:
            self.shown = True
            if not note_entry(self, value):
                self.give_up()

    def _check_entry(self, value: Any) -> None:
        """Has the list given up where it has other entries than this one, or nobody may append to it any more."""
        found = entry_type(value)
        joined = None if found is None else self._entries.joined(found)
        if joined != self._entries or self.is_read:
            self.give_up(None if self.is_read else joined)

    def _put(self, value: Any, count: Any) -> None:
        """Puts an entry in its place."""
        self.column[self._within(count, self.room - 1)] = value

    def _within(self, count: Any, most: int) -> Any:
        """The number, or the largest one that there is room for."""
        if not isinstance(count, TracedValue):
            return min(count, most)
        trace = current()
        assert trace is not None
        found = TracedArray(lift(trace, smaller(count, number(most))), trace, weak=int, scalar=True)
        found.bounds = trace.spans[found.node] = (0, most)
        return found

    def element(self, number: Any) -> Any:
        """The element in a place."""
        if isinstance(self._entries, EntryType) and not self.kind.is_number:
            self.give_up()
        self.is_read = True
        return super().element(number)

    def item(self, found: DeferredObject, index: int) -> Any:
        """``found[index]``."""
        if isinstance(self._entries, EntryType) and not self.kind.is_number:
            self.give_up()
        return super().item(found, index)

    def end_to_end(self, array: Any) -> Any:
        """The rows one behind the other, as a part of all that there is room for."""
        first, *rest = self._row
        return self.column.reshape(self.room * first, *rest)[: self._fitting(self.count, self.room) * first]

    def node(self, trace: Trace) -> Any:
        """The list as a value of the trace that it was made in."""
        if current() is not trace or self.shown:
            self.give_up()
        return super().node(trace)

    def give_up(self, kind: EntryType | RecordType | None = None) -> NoReturn:
        """Has the function traced anew, with a list of entries of another type, or one that only the run has."""
        self.made_by.want_of_run_at(self.place, kind)
        refuse("a list changes its length where only the run decides, and is more than numbers", fix=ARRAY_INSTEAD)


class GrowingRecords(Growing):
    """The elements of a list of tuples or lists of numbers: a column for each of the numbers."""

    __slots__ = ("lines", "types")

    def __init__(self, made_by: Any, place: tuple[int, int], kind: RecordType, *rest: Any) -> None:
        first, *others = kind.parts
        super().__init__(made_by, place, first, *rest)
        self.form, self.types = kind.form, kind
        self.lines = [self.column, *(self._zeros((self.room,), one.dtype) for one in others)]

    @property
    def _entries(self) -> RecordType:
        return self.types

    def _put(self, value: Any, count: Any) -> None:
        place = self._within(count, self.room - 1)
        for line, leaf in zip(self.lines, tree.flatten(value, in_parts=False)[0], strict=True):
            line[place] = leaf

    def parts_now(self) -> tuple[Column | Fixed, ...]:
        """The numbers as arrays; NumPy does the call where they are more than there is room for."""
        count = self._fitting(self.count, self.room)
        return tuple(Column(line[:count], one.weak) for line, one in zip(self.lines, self.types.parts, strict=True))

    def as_array(self) -> Any:
        """The array that NumPy makes of the list, a row for each record; None of records in records."""
        if not isinstance(self.form, tree.Branch) or any(one != tree.LEAF for one in self.form.children):
            return None
        self.demand_some()
        join: Any = np.stack
        return traced_numpy(join)([one.array for one in self.columns], axis=1)


class GrowingParts(Growing):
    """The elements of a list of arrays of one dimension, of lengths that only the run knows: end to end."""

    __slots__ = ("total",)

    def __init__(self, made_by: Any, place: tuple[int, int], kind: EntryType, trace: CaptureTrace, room: int) -> None:
        super().__init__(made_by, place, kind, trace, room)
        self.total: list[Any] = [0]

    @property
    def cells(self) -> tuple[list[Any], ...]:
        """The lists that hold the number of arrays, and that of their elements."""
        return self.cell, self.total

    def _put(self, value: Any, count: Any) -> None:
        part = packed(value)
        start, length = self._within(self.total[0], self.room), part.shape[0]
        end = self._within(start + length, self.room)
        self.column[start:end] = part[: end - start]
        self.total[0] = self.total[0] + length

    def parts_now(self) -> NoReturn:
        """Has the list given up: there is no array of all arrays."""
        self.give_up()

    def joined(self, function: Any, rest: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The arrays end to end; None where a function of NumPy's joins them in another way."""
        if function not in (np.concatenate, np.hstack) or rest or options:
            return None
        self.demand_some()
        return self.column[: self._fitting(self.total[0], self.room)].copy()


def growing_list(made: list[Any], place: tuple[int, int], kind: EntryType | RecordType, trace: CaptureTrace) -> Any:
    """A list that gets the elements of a new one, for loops to append to; None where nothing may be guessed."""
    rewriting = trace.recorder.rewriting
    if trace.parent is not None and rewriting.want_little(place):
        refuse("a turn of a loop makes a list that changes its length", fix=ARRAY_INSTEAD)
    numbers = _ROOM_IN_TURNS if rewriting.is_little(place) else _ROOM
    shape = kind.shape if isinstance(kind, EntryType) else ()
    rows = max(_FEWEST_ROWS, numbers // max(1, math.prod(shape or ())))
    room = None if trace.lengths is None else trace.lengths.room(rows)
    if room is None:
        return None
    found = _made(kind, rewriting, place, trace, room)
    while made:
        found.append(made.pop(0))
    return DeferredObject(None, trace, "a list", list, found)


def _made(kind: EntryType | RecordType, *rest: Any) -> Growing:
    made_by, *others = rest
    if isinstance(kind, RecordType):
        return GrowingRecords(made_by, others[0], kind, *others[1:])
    kinds = GrowingParts if kind.shape is None else Growing
    return kinds(made_by, others[0], kind, *others[1:])
