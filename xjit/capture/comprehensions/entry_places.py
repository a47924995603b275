"""Places of entries in the lines of a growing list: integers that the run may be the first to know. Room for them."""

from __future__ import annotations

import math
from typing import Any

from xjit.capture.recording.container_entries import EntryType, RecordType, parts_of
from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.capture.tracers.traced_integers import WIDEST
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.spans import span_of
from xjit.ops.define.core import lift
from xjit.ops.dynamic.limited_windows import number
from xjit.ops.elements.compare import le, lt
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import add, sub
from xjit.ops.elements.elementwise import max as larger
from xjit.ops.elements.elementwise import min as smaller
from xjit.ops.elements.select import select
from xjit.types import INT64

_ROOM = 2**14
_ROOM_IN_TURNS = 2**10
_MOST_ROOM = 2**20
"""Numbers that there is room for at first, in turns that make a list fewer; at most, too."""
_ROOM_OF_POSITIONS = 2**8
"""Positions of rows or columns that there is room for at first: what is made of these has room for as many."""


def at_most(count: Any, most: int) -> Any:
    """A number of entries, or the ``most`` that there is room for.

    Turns are compared: neither what is traced nor the room of a part depends on what is known of the number.
    """
    if not isinstance(count, TracedValue):
        return min(count, most)
    return _noted(smaller(_integer(count), number(most)), max(span_of_number(count)[0], 0), most)


def not_negative(place: Any) -> Any:
    """A place that is demanded to be one, or zero."""
    if not isinstance(place, TracedValue):
        return max(place, 0)
    low, high = span_of_number(place)
    return _noted(larger(_integer(place), number(0)), max(low, 0), max(high, 0))


def count_between(begin: Any, end: Any) -> Any:
    """The number of entries from a place to one behind the last, which is not in front of it."""
    if not isinstance(begin, TracedValue) and not isinstance(end, TracedValue):
        return end - begin
    return _noted(sub(_integer(end), _integer(begin)), 0, span_of_number(end)[1])


def place_of(index: Any, begin: Any, end: Any) -> Any:
    """The place of the entry with an index, which is demanded to be there: from the begin, or back from the end."""
    low, high = span_of_number(index)
    if high < 0:
        place = end + index
    elif low >= 0:
        place = index + begin if isinstance(begin, TracedValue) or begin else index
    else:
        one, other = (add(_integer(index), _integer(by)) for by in (begin, end))
        place = _noted(select(lt(_integer(index), number(0)), other, one), *WIDEST)
    if high >= 0:
        demand_order(place, end - 1)
    demand_order(begin, place)
    return place


def _noted(value: Any, low: int, high: int) -> TracedArray:
    """An integer of Python's of which it is known between which numbers it lies."""
    trace = current()
    assert trace is not None
    found = TracedArray(lift(trace, value), trace, weak=int, scalar=True)
    found.bounds = trace.spans[found.node] = (low, max(low, high))
    return found


def span_of_number(value: Any) -> tuple[int, int]:
    """Between which numbers an integer lies."""
    if not isinstance(value, TracedValue):
        return int(value), int(value)
    trace = current()
    assert trace is not None
    return span_of(lift(trace, value), trace)


def demand_order(low: Any, high: Any) -> None:
    """Demands that an integer is not larger than another one, if that is not known."""
    if span_of_number(low)[1] <= span_of_number(high)[0]:
        return
    trace, known = current(), not isinstance(low, TracedValue) and not isinstance(high, TracedValue)
    if known and (trace is None or trace.parent is None):
        refuse("an element is taken from a list that has none there")
    demand(le(_integer(low), _integer(high)))  # perhaps no call gets to a turn or an arm with none


def _integer(value: Any) -> Any:
    """An integer as one of 64 bits."""
    if not isinstance(value, TracedValue):
        return number(value)
    return value if value.dtype == INT64 else convert_element_type(value, INT64)


def guessed_rows(trace: CaptureTrace, place: tuple[int, int], kind: EntryType | RecordType) -> int:
    """The entries that a list has room for at first: as many as the largest array among the arguments has elements,
    within bounds.

    Lists of nodes, edges or lines are seldom longer than what they are found in.
    """
    rewriting = trace.recorder.rewriting
    if rewriting.is_short(place):
        return _ROOM_OF_POSITIONS
    numbers = max(1, math.prod(kind.shape or ())) if isinstance(kind, EntryType) else 1
    largest = 0 if trace.lengths is None else trace.lengths.largest
    guess = _ROOM_IN_TURNS if rewriting.is_little(place) else _ROOM // max(1, len(parts_of(kind)))
    return max(guess, min(1 << max(0, largest - 1).bit_length(), _MOST_ROOM)) // numbers
