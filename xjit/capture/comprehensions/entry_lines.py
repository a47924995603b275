"""Lines of entries: the arrays that hold one number of each entry of a growing list, or one array of each.

found.append((k, x[k]))      line of k     line[count] = k
                             line of x[k]  line[count] = x[k], and in doubt[count] if it is Python's
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.capture.comprehensions.gathered import Column, in_doubt
from xjit.capture.memory.buffer import Buffer
from xjit.capture.python_numbers.exact_integers import expect_exact
from xjit.capture.python_numbers.numbers import python_number
from xjit.capture.recording.container_entries import EntryType, RecordType, parts_of
from xjit.capture.tracers.doubts import doubt_of
from xjit.capture.tracers.traced_array import TracedArray
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ops.define.core import lift
from xjit.ops.define.memory_order import pack
from xjit.ops.dynamic.uninitialized import uninitialized
from xjit.ops.whole_arrays.shape import iota
from xjit.types import BOOL, FLOAT64, INT64


class Line:
    """An array with room for so many numbers, or arrays, of one kind; beside it the doubts of numbers in doubt."""

    __slots__ = ("array", "doubts", "kind")

    def __init__(self, kind: EntryType, room: int, which: tuple[int, ...]) -> None:
        self.kind = kind
        self.array = uninitialized((room, *(kind.shape or ())), kind.dtype, which)
        self.doubts = None if kind.doubtful is None else uninitialized((room,), BOOL, which)

    @property
    def memory(self) -> list[Buffer]:
        """The memory of both."""
        return [one.buffer for one in (self.array, self.doubts) if one is not None]

    def put(self, place: Any, value: Any) -> None:
        """Puts a number or an array in a place."""
        if self.kind.doubtful is int and self.kind.dtype == FLOAT64:
            expect_exact(value)
        self.array[place] = value.elements.numbers().array if self.kind.lists else value
        if self.doubts is not None:
            self.doubts[place] = doubt_in(value)

    def begin(self, values: Sequence[Any]) -> None:
        """Puts numbers that are known in the first places."""
        part = slice(len(values))
        self.array[part] = _numbers(values, self.kind.dtype)
        if self.doubts is not None:
            self.doubts[part] = not isinstance(values[0], np.generic)

    def fill(self, part: slice, value: Any) -> None:
        """Puts a number in all places of a part."""
        self.put(part, value)

    def put_part(self, part: slice, values: Any) -> None:
        """Puts numbers of NumPy's in the places of a part."""
        self.array[part] = values
        if self.doubts is not None:
            self.doubts[part] = False

    def take(self, count: Any, other: Line, part: slice) -> None:
        """Takes so many numbers of another line, those of a part."""
        for own, found in ((self.array, other.array), (self.doubts, other.doubts)):
            if own is not None and found is not None:
                own[:count] = found[part]

    def move(self, part: slice, by: int) -> None:
        """Moves what stands in a part by so many places."""
        for array in (self.array, self.doubts):
            if array is not None:
                array[part.start + by : part.stop + by] = array[part].copy()

    def reorder(self, part: slice, order: Any) -> None:
        """Puts what stands in a part in another order."""
        for array in (self.array, self.doubts):
            if array is not None:
                array[part] = array[part][order]

    def at(self, place: Any, shown: bool = False) -> Any:
        """The number in a place, of its type, or the array; nobody may write to one that is shown by others."""
        if self.kind.lists:
            return self.column(slice(None), shown).at(place)
        found = self.array[place]
        if self.kind.is_number and not isinstance(place, TracedValue):
            found = scalar(pack(found, ()))
        if self.kind.shape:
            found = found.copy()
            found.buffer.shared = shown
        if self.kind.weak is not None:
            return python_number(found)
        if self.doubts is not None:
            assert self.kind.doubtful is not None
            return in_doubt(found, self.doubts[place], self.kind.doubtful)
        return found

    def column(self, part: slice, shown: bool) -> Column:
        """A part of the line as a column of entries."""
        doubts = None if self.doubts is None else self.doubts[part]
        return Column(self.array[part], self.kind.weak or self.kind.doubtful, shown, doubts, self.kind.lists)


def doubt_in(value: Any) -> Any:
    """The truth value that says if a number is one of Python's, which is known unless it is in doubt."""
    doubt = doubt_of(value)
    return _is_python(value) if doubt is None else current_value(doubt[0])


def lines_of(kind: EntryType | RecordType, room: int, place: tuple[int, ...]) -> list[Line]:
    """The lines of entries of a type, of what is made in a place."""
    return [Line(one, room, (*place, number)) for number, one in enumerate(parts_of(kind))]


def scalar(value: Any) -> TracedArray:
    """A number of NumPy's of its own, which is no part of the line: loops may write to that in place."""
    trace = current_trace()
    return TracedArray(lift(trace, value), trace, scalar=True)


def current_trace() -> Any:
    """The trace under way."""
    trace = current()
    assert trace is not None
    return trace


def current_value(value: TracedValue) -> Any:
    """A truth value as one of the trace under way."""
    trace = current_trace()
    return trace.wrap(lift(trace, value), trace)


def _numbers(values: Sequence[Any], dtype: Any) -> Any:
    """Numbers as an array, or what gives it: one number for all, or numbers that count up from 0."""
    if values.count(values[0]) == len(values):
        return dtype.type(values[0])
    found = np.array(values, dtype)
    if dtype == INT64 and (found == np.arange(len(values))).all():
        return iota(f"s64[{len(values)}]", 0)
    return found


def _is_python(value: Any) -> bool:
    """Return whether a number is one of Python's."""
    if isinstance(value, TracedValue):
        return value.weak is not None
    return not isinstance(value, np.generic)
