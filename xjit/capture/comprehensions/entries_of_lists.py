"""Entries of Python's lists at positions that only the run knows.

moves[k]            that number, or record of numbers, of those in the list, all of one type
counts[k] += 1      each entry is the new number where the position is its own, and stays as it is elsewhere
"""

from __future__ import annotations

import collections
import functools
from typing import Any

import numpy as np

from xjit import ops, tree
from xjit.capture.comprehensions.growing import growing_list
from xjit.capture.comprehensions.list_tables import table_of, type_of_rows
from xjit.capture.constants.choices import is_constant_of_run, numbers_of
from xjit.capture.constants.chosen_constant import ChosenConstant
from xjit.capture.constants.chosen_keys import entry_of, put_entry
from xjit.capture.python_control.python_branches import chosen
from xjit.capture.python_control.truth import is_open, truth
from xjit.capture.python_numbers.numbers import number_as
from xjit.capture.recording.container_entries import (
    ARRAY_INSTEAD,
    LIST_OF_RUN,
    EntryType,
    TableType,
    entry_type,
    may_be_of_run,
    may_grow,
    type_of_numbers,
)
from xjit.capture.rewriting.python_runtime import PythonRuntime
from xjit.capture.rewriting.runtime_protocol import Thunk
from xjit.capture.splits.conversions import read
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.provenance import enclosing_capture, is_splitting, noted, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.errors import CaptureError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ops.define.core import constant, lift
from xjit.types import INT64

_MOST_ENTRIES = 64
"""Entries of a list that are chosen one by one."""


class ListRuntime(PythonRuntime):
    """The runtime for what is read: entries of lists at positions of the run, variables that may have none."""

    def read(self, value: Any, whole: bool = True) -> Any:
        """Return the value, which is expected not to be None where only the run tells."""
        return read(value, whole)

    def known(self, flag: Any, value: Any) -> Any:
        """Return the value of a variable, which is demanded to have one."""
        if flag is not True:
            demand(truth(flag))
        return value

    def missed(self, name: str) -> None:
        """Have the function traced anew with a flag for a variable that one arm assigns; no handler hides that."""
        trace = enclosing_capture()
        if trace is not None and name in trace.recorder.unbound:
            trace.recorder.rewriting.want_flag(name)
            reason = f"{name} has a value only where the run decides so, and is read where it may have none"
            noted(CaptureError(reason, fix="assign it on both branches"))

    def new_list(self, made: Any, place: tuple[int, int]) -> Any:
        """Return the list, or one that only the run has, if control flow of the run is known to change it."""
        trace = enclosing_capture()
        if trace is None or type(made) not in (list, collections.deque):
            return made
        rewriting = trace.recorder.rewriting
        if not rewriting.is_of_run(made, place) or rewriting.is_plain(place):
            rewriting.note_rows(made)
            return made
        kind = rewriting.elements_of(place)
        if isinstance(kind, TableType):
            return table_of(made, place, kind.number, trace) or made
        if not all(map(may_grow, made)):
            return made
        found = None if kind is None else growing_list(made, place, kind, trace)
        if found is not None:
            return found
        if type(made) is not list or not is_splitting() or not all(map(may_be_of_run, made)):
            return made
        return step(list, (made,), {}, note=CaptureError(LIST_OF_RUN, fix=ARRAY_INSTEAD), label="a list", kind=list)

    def renewed(self, before: Thunk, made: Any, place: tuple[int, int]) -> Any:
        """Return the list; one of the run that was there before is that without its entries."""
        old = _growing(before)
        if old is None or not all(map(may_grow, made)):
            return self.new_list(made, place)
        old.elements.clear()
        list(map(old.elements.append, made))
        return old

    def taken(self, before: Thunk, found: Any) -> Any:
        """Return the list; one of the run that was there before gets the entries of one that a turn has made."""
        old, other = _growing(before), _growing(lambda: found)
        if other is not None:
            _want_taker(before, other.elements)
        if old is None or other is None or old is other or old.elements.trace is other.elements.trace:
            return found
        old.elements.take(other.elements)
        return old

    def repeated(self, left: Any, right: Any, place: tuple[int, int]) -> Any:
        """Return the product of a list and a number, or of a number and a list."""
        made, count = (left, right) if type(left) is list else (right, left)
        trace = enclosing_capture()
        if trace is None or type(made) is not list or len(made) != 1 or not _is_position(count):
            return self.new_list(left * right, place)
        rewriting = trace.recorder.rewriting
        kind = rewriting.elements_of(place) if rewriting.is_of_run([], place) else type_of_numbers(made)
        found = None if kind is None else growing_list([], place, kind, trace)
        if found is None:
            return left * right
        found.elements.fill(made[0], count)
        return found

    def item(self, items: Any, index: Any) -> Any:
        """Return the entry."""
        if type(items) is dict and type(index) is ChosenConstant:
            return entry_of(items, index)
        if type(items) not in (list, tuple) or not _is_position(index):
            return items[index]
        columns = _columns(items)
        if columns is None:
            _want_array(items)
            return items[index]
        place = _place(index, len(items))
        _, form = numbers_of(items[0])
        return tree.unflatten(form, [_chosen(column, place) for column in columns])

    def store(self, value: Any, items: Any, index: Any) -> None:
        """Make the value the entry."""
        if type(items) is dict and type(index) is ChosenConstant:
            put_entry(items, index, value)
            return
        if type(items) is not list or not _is_position(index):
            items[index] = value
            return
        if _columns([*items, value]) is None:
            _want_array(items, value)
            items[index] = value
            return
        place = _place(index, len(items))
        for number, entry in enumerate(tuple(items)):
            here = _value(ops.eq(place, np.int64(number)), bool)
            items[number] = chosen(here, functools.partial(_same, value), functools.partial(_same, entry))


def _want_taker(before: Thunk, other: Any) -> None:
    """Has the function traced anew with a list of the run in place of one that takes the entries of another one."""
    trace, old = enclosing_capture(), _had(before)
    if type(old) is not list or trace is None or not trace.recorder.rewriting.holds(old):
        return
    kind = type_of_numbers(old) if old else other.kind
    joined = None if kind is None else other.kind.joined(kind)
    if joined is None or not trace.recorder.rewriting.want_of_run(old, joined):
        return
    if joined != other.kind:
        other.give_up(joined)
    refuse("a list takes the entries of one that a turn has made", fix=ARRAY_INSTEAD)


def _had(thunk: Thunk) -> Any:
    """The value of a variable; None where it has none."""
    try:
        return thunk()
    except NameError:
        return None


def _growing(value: Thunk) -> Any:
    """The list that a variable is, if it is one of the run that grows; else None."""
    found = _had(value)
    known = found.elements if type(found) is DeferredObject else None
    return found if known is not None and known.grows and known.class_name == "list" else None


def _want_array(items: Any, *others: Any) -> None:
    """Has the function traced anew with an array in place of a list that it makes, of many numbers or of two kinds.

    Others are to be entries, too.
    """
    trace = enclosing_capture()
    if trace is None:
        return
    rows = trace.recorder.rewriting.list_around(items)
    number = type_of_rows(rows)
    if number is not None and trace.recorder.rewriting.want_of_run(rows, TableType(number)):
        refuse("an entry of a list is at a position that only the run knows", fix=ARRAY_INSTEAD)
    kind = type_of_numbers([*items, *others]) if trace.recorder.rewriting.holds(items) else None
    is_better = kind is not None and (len(items) > _MOST_ENTRIES or kind.doubtful is not None)
    if is_better and trace.recorder.rewriting.want_of_run(items, kind):
        refuse("an entry of a list is at a position that only the run knows", fix=ARRAY_INSTEAD)


def _same(value: Any) -> Any:
    return value


def _is_position(index: Any) -> bool:
    """Return whether only the run knows an index, and it is an integer."""
    is_number = isinstance(index, TracedValue) and not index.node.aval.rank and is_open(index)
    return is_number and (index.weak is int or (index.weak is None and index.scalar and index.dtype.kind in "iu"))


def _columns(items: Any) -> list[tuple[Any, ...]] | None:
    """The numbers of all entries, leaf by leaf; None where the entries are of several types, or no numbers."""
    if not all(map(_is_value, items)):
        return None
    rows = [numbers_of(one) for one in items]
    if not 0 < len(rows) <= _MOST_ENTRIES or any(form != rows[0][1] for _, form in rows):
        return None
    columns = list(zip(*(leaves for leaves, _ in rows), strict=True))
    return columns if columns and all(map(_is_of_one_type, columns)) else None


def _is_value(entry: Any) -> bool:
    """Return whether an entry is a number or a tuple of such; a list is an object, which may be changed."""
    if type(entry) is tuple:
        return all(map(_is_value, entry))
    return is_constant_of_run(entry) or isinstance(entry_type(entry), EntryType)


def _is_of_one_type(column: tuple[Any, ...]) -> bool:
    kinds = set(map(entry_type, column))
    kind = kinds.pop()
    return not kinds and isinstance(kind, EntryType) and kind.is_number and kind.doubtful is None


def _place(index: TracedValue, count: int) -> Any:
    """The place of an index, counted from the start; NumPy does the call where Python raises IndexError."""
    number = ops.convert_element_type(index, INT64) if index.dtype != INT64 else index
    place = ops.select(ops.lt(number, np.int64(0)), ops.add(number, np.int64(count)), number)
    demand(ops.and_(ops.ge(place, np.int64(0)), ops.lt(place, np.int64(count))))
    return place


def _chosen(column: tuple[Any, ...], place: Any) -> Any:
    kind = entry_type(column[0])
    assert isinstance(kind, EntryType)
    first, *others = [
        one if isinstance(one, TracedValue) else constant(np.asarray(one, kind.dtype)) for one in column
    ]
    found = first
    for number, other in enumerate(others, 1):
        found = ops.select(ops.eq(place, np.int64(number)), other, found)
    return _value(found, None) if kind.weak is None else number_as(kind.weak, _value(found, None))


def _value(operand: Any, weak: type | None) -> TracedArray:
    trace = current()
    assert trace is not None
    return TracedArray(lift(trace, operand), trace, weak=weak, scalar=True)
