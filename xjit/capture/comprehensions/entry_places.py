"""Places of entries in the lines of a growing list: integers that the run may be the first to know."""

from __future__ import annotations

from typing import Any

from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.provenance import refuse
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
