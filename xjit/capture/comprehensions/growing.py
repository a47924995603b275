"""Growing lists: loops append entries of one type, which are elements of an array; how many only the run knows.

left = []                            column  zeros with room for a guess
while len(x): left.append(len(x))    column[count] = len(x); count += 1
np.array(left)                       column[:count]

Arrays of one shape are rows of the column, tuples of numbers have a column for each number.
"""

from __future__ import annotations

import collections
import weakref
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from xjit import tree
from xjit.capture.comprehensions.entry_lines import Line, lines_of
from xjit.capture.comprehensions.entry_lists import EntryList
from xjit.capture.comprehensions.entry_places import (
    at_most,
    count_between,
    demand_order,
    guessed_rows,
    not_negative,
    place_of,
)
from xjit.capture.comprehensions.gathered import Column, Fixed, Gathered, refuse_change
from xjit.capture.comprehensions.lone_arrays import is_alone, note_entry
from xjit.capture.constants.choices import is_choice, is_constant_of_run, numbers_of
from xjit.capture.memory.buffer import Buffer
from xjit.capture.recording.container_entries import (
    ARRAY_INSTEAD,
    EntryType,
    RecordType,
    entry_type,
)
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.chosen_elements import packed
from xjit.capture.tracers.demands import demand, repeats_so_far
from xjit.capture.tracers.provenance import CaptureTrace, has_ended, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.capture.tracers.traced_integers import WIDEST
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current
from xjit.numpy.limited.arrays import LimitedArray
from xjit.ops.dynamic.limited_windows import number
from xjit.ops.elements.compare import eq, le
from xjit.types import FLOAT64

_FEWEST_ROWS = 64
_SPARE_ROWS = 16
"""Places for numbers behind the room: appending a few more than fit, which NumPy does in the end, needs no bound."""
_EXACT = 2**53
"""The largest integer up to which all of them are floats."""
OF_LISTS = frozenset({"append", "pop", "extend", "clear", "insert", "sort", "reverse"})
_OF_DEQUES = frozenset({"append", "pop", "popleft", "extend", "clear"})


class Growing(Gathered):
    """The elements of a list that loops make longer and shorter.

    The ``cell`` holds the place behind the last one, ``first`` that of the first one: they are variables of loops and
    branches as entries of lists are. Arrays that have names elsewhere are ``shown``: nobody writes to them as long as
    there is the list. Its entries that are lists and have names are ``lent``; so many ``changes`` have happened. The
    entries are compared if they are ``in_order``; then no float in a record that decides ``may_have_nan``.
    """

    __slots__ = (
        "__weakref__",
        "cell",
        "changes",
        "cls",
        "first",
        "in_order",
        "kind",
        "lent",
        "lines",
        "made_by",
        "may_have_nan",
        "place",
        "room",
        "rows",
        "shown",
        "trace",
    )  # fmt: skip

    def __init__(
        self, made_by: Any, place: tuple[int, int], kind: EntryType | RecordType, trace: CaptureTrace, room: int
    ) -> None:
        self.parts, self.changed, self.made, self.readers, self.kept = (), False, None, 0, False
        self.made_by, self.place, self.kind, self.trace, self.room = made_by, place, kind, trace, room
        self.cell: list[Any] = [0]
        self.first: list[Any] = [0]
        self.shown = self.in_order = self.may_have_nan = False
        self.cls: type = list
        self.lent: weakref.WeakValueDictionary[int, EntryList] = weakref.WeakValueDictionary()
        self.changes = 0
        self.form = kind.form if isinstance(kind, RecordType) else tree.LEAF
        self.rows = room + (_SPARE_ROWS if self._has_numbers else 0)
        self.lines = lines_of(kind, self.rows, place)

    @property
    def grows(self) -> bool:
        """Return whether loops may append to the array: there is no list of the run yet."""
        return not self.changed and self.made is None

    @property
    def count(self) -> Any:
        """The number of elements."""
        (end,), (begin,) = self.cell, self.first
        return count_between(begin, end) if self._is_taken else end

    def fitting_count(self) -> Any:
        """The number of elements; NumPy does the call where they are more than there is room for."""
        end = self._fitting(self.cell[0], self.room)
        return count_between(self.first[0], end) if self._is_taken else end

    @property
    def _is_taken(self) -> bool:
        """Return whether elements may have been taken away in front."""
        return isinstance(self.first[0], TracedValue) or self.first[0] > 0

    @property
    def cells(self) -> tuple[list[Any], ...]:
        """The lists that hold numbers which appending and taking away change."""
        return self.cell, self.first

    @property
    def memory(self) -> list[Buffer]:
        """The memory of the elements."""
        return [buffer for line in self.lines for buffer in line.memory]

    def parts_now(self) -> tuple[Column | Fixed, ...]:
        """The elements as arrays; NumPy does the call where they are more than there is room for."""
        end = self._fitting(self.cell[0], self.room)
        part = slice(self.first[0], end) if self._is_taken else slice(end)
        return tuple(line.column(part, self.shown) for line in self.lines)

    def _fitting(self, count: Any, room: int) -> Any:
        """A number of elements, or the largest one that there is room for: then NumPy does the call."""
        if has_ended(count):
            self.give_up()  # a list of a turn that is used behind the loop
        if not isinstance(count, TracedValue):
            if count > room:
                self.made_by.want_room(self.place, count + self.room - room)
                refuse("a list is longer than was guessed", fix=ARRAY_INSTEAD)
            return count
        assert self.trace.lengths is not None
        if not repeats_so_far(self.trace):
            self.give_up()
        self.trace.lengths.expect(le(count, number(room)))
        return at_most(count, room)

    def begin(self, made: list[Any]) -> None:
        """Takes the entries of a list at once, if these are many numbers of one class of Python's."""
        kind, first = self.kind, type(made[0]) if made else None
        if len(made) < _FEWEST_ROWS or not isinstance(kind, EntryType) or first not in (bool, int, float, complex):
            return
        if first is not (kind.weak or kind.doubtful) or any(type(one) is not first for one in made):
            return
        most = _EXACT if kind.dtype == FLOAT64 else WIDEST[1]
        if first is int and not all(-most <= one <= most for one in made):
            self.give_up()
        self.lines[0].begin(made)
        self.cell[0] = len(made)
        made.clear()

    def fill(self, value: Any, count: Any) -> None:
        """Makes so many equal entries those of a new list; none where the number is negative."""
        self._check_entry(value)
        self.cell[0] = not_negative(count)
        part = slice(0, self._fitting(self.cell[0], self.room))
        for line, leaf in zip(self.lines, self._leaves(value), strict=True):
            line.fill(part, leaf)

    def append(self, value: Any) -> None:
        """Puts an entry behind the others."""
        alone = self.kind.is_number or type(value) is tuple or is_constant_of_run(value)
        alone = alone or type(value) is DeferredObject or is_alone(value, self.made_by.holds(value))
        self._check_entry(value)
        if type(value) is DeferredObject:
            value.gathered.kept = True
        count = self.cell[0]
        if not isinstance(count, TracedValue) and count >= self.room:
            self.give_up()
        self._put(value, count)
        self.cell[0] = count + 1
        if not alone:
            self.shown = True
            if not note_entry(self, value):
                self.give_up()

    def _check_entry(self, value: Any) -> None:
        """Has the list given up where it has other entries than this one, or may not change."""
        found = entry_type(value, constants=True)
        joined = None if found is None else self.kind.joined(found)
        self._check_changes()
        if joined != self.kind:
            self.give_up(joined)

    def _check_changes(self) -> None:
        """Has the list given up where a loop that goes through it is under way, or a list has taken it in."""
        if self.kept:
            refuse_change()
        if self.readers:
            self.give_up()

    def leave(self) -> None:
        """Has the function traced anew with a list of Python's, where that can be done in its turns one by one."""
        if self.made_by.want_plain(self.place):
            refuse("a list that a loop makes longer is used as a list", fix=ARRAY_INSTEAD)

    def put_in_order(self) -> None:
        """Notes that entries are compared from now on, which are numbers or tuples of numbers."""
        if not self._has_numbers or not _is_ordered(self.form) or self.may_have_nan:
            self.give_up()
        self.in_order = True

    def _note_order(self, value: Any) -> None:
        """Demands of a record that its floats but the last one, which decides nothing else, are equal to themselves.

        Python takes two records for equal that hold the same NaN.
        """
        for leaf in self._leaves(value)[:-1]:
            is_traced = isinstance(leaf, TracedValue)
            if not (leaf.dtype.kind == "f" if is_traced else leaf != leaf):
                continue
            if self.in_order and is_traced:
                demand(eq(leaf, leaf))
            elif self.in_order:
                self.give_up()
            self.may_have_nan |= not self.in_order

    def _put(self, value: Any, count: Any) -> None:
        """Puts an entry in its place."""
        if isinstance(self.kind, RecordType):
            self._note_order(value)
        place = at_most(count, self.rows - 1)
        for line, leaf in zip(self.lines, self._leaves(value), strict=True):
            line.put(place, leaf)

    def _leaves(self, value: Any) -> list[Any]:
        """The numbers or the arrays of an entry."""
        return numbers_of(value)[0] if isinstance(self.kind, RecordType) else [value]

    def element(self, number: Any) -> Any:
        """The element in a place, for a loop that goes through the list."""
        return self._entry(at_most(self.first[0] + number if self._is_taken else number, self.room - 1))

    def item(self, found: DeferredObject, index: Any) -> Any:
        """``found[index]``: NumPy does the call where there is no such element, and raises."""
        return self._entry(self._place(index))

    def put_item(self, index: Any, value: Any) -> None:
        """``found[index] = value``."""
        if not self._has_numbers:
            self.give_up()
        self._check_entry(value)
        self._put(value, self._place(index))
        self.changes += 1

    def attribute(self, name: str) -> Any:
        """A method of the list that is traced; None of others."""
        own = _OF_DEQUES if self.cls is collections.deque else OF_LISTS
        if name not in own and self.cls is collections.deque:
            self.give_up()
        return getattr(self, name) if name in own else None

    def pop(self, index: Any = -1) -> Any:
        """An element, the last one or another, which the list has no longer."""
        self._check_changes()
        place = self._place(index)
        found = tree.unflatten(self.form, [line.at(place, self.shown) for line in self.lines])
        self.changes += 1
        if type(index) is int and index == 0:
            self.first[0], self.cell[0] = place + 1, self._fitting(self.cell[0], self.room)
            return found
        if type(index) is not int or index != -1:
            self._move(slice(place + 1, self._fitting(self.cell[0], self.room)), -1)
        self.cell[0] = self._fitting(self.cell[0], self.room) - 1
        return found

    def insert(self, index: Any, value: Any) -> None:
        """Puts an entry in front of the one with an index, or behind the last one."""
        self._check_entry(value)
        if not self._has_numbers or self._is_taken or (type(index) is int and index < 0):
            self.give_up()
        end = self._fitting(self.cell[0], self.room - 1)
        if not isinstance(index, TracedValue) and not isinstance(end, TracedValue):
            index = min(index, end)
        demand_order(0, index)
        demand_order(index, end)
        place = not_negative(at_most(index, self.room - 1))
        self._move(slice(place, end), 1)
        self._put(value, place)
        self.changes += 1
        self.cell[0] = end + 1

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        """Puts the entries in order."""
        from xjit.capture.comprehensions.sorted_lists import order_in_place

        self._reorder(order_in_place(self, key, reverse))

    def reverse(self) -> None:
        """Puts the entries in the opposite order."""
        from xjit.capture.comprehensions.sorted_lists import reversed_order

        self._reorder(reversed_order(self.fitting_count()))

    def _reorder(self, order: Any) -> None:
        """Puts the entries in another order."""
        self._check_changes()
        if order is None or not self._has_numbers:
            self.give_up()
        part = slice(self.first[0], self._fitting(self.cell[0], self.room))
        for line in self.lines:
            line.reorder(part, order)
        self.changes += 1

    def popleft(self) -> Any:
        """The first element, which the deque has no longer."""
        return self.pop(0)

    def clear(self) -> None:
        """Takes all elements away."""
        self._check_changes()
        self.changes += 1
        for cell in self.cells:
            cell[0] = 0

    def take(self, other: Growing) -> None:
        """Takes the entries of another list in place of its own."""
        if type(other) is not type(self) or other.kind != self.kind or not self._has_numbers:
            other.give_up(self.kind if self.kind.joined(other.kind) == self.kind else None)
        self.clear()
        end = at_most(other.fitting_count(), self.room)
        begin = other.first[0]
        for own, found in zip(self.lines, other.lines, strict=True):
            own.take(end, found, slice(begin, begin + end))
        self.may_have_nan |= other.may_have_nan
        self.cell[0] = end

    def extend(self, values: Any) -> None:
        """Puts the elements of an array, or of a list or a tuple, behind the others."""
        if type(values) in (list, tuple):
            for one in tuple(values):
                self.append(one)
            return
        if not isinstance(values, LimitedArray | TracedArray) and not getattr(type(values), "chooses", False):
            self.give_up()
        if values.ndim != 1 or not self.kind.is_number:
            self.give_up()
        self._check_changes()
        found = EntryType(values.dtype, None)
        if self.kind.joined(found) != self.kind:
            self.give_up(self.kind.joined(found))
        self._put_array(packed(values))

    def _put_array(self, values: Any) -> None:
        """Puts the numbers of an array behind the others."""
        (line,), (end,) = self.lines, self.cell
        start, length = at_most(end, self.room), values.shape[0]
        stop = at_most(start + length, self.room)
        line.put_part(slice(start, stop), values[: stop - start])
        self.cell[0] = end + length

    def _move(self, part: slice, by: int) -> None:
        """Moves a part of the entries by one place."""
        for line in self.lines:
            line.move(part, by)

    @property
    def _has_numbers(self) -> bool:
        """Return whether the entries are numbers, or made of numbers."""
        return isinstance(self.kind, RecordType) or self.kind.is_number

    def _place(self, index: Any) -> Any:
        """The place of the element with an index, which has to be there."""
        (end,), (begin,) = self.cell, self.first
        place = place_of(index, begin, self._fitting(end, self.room))
        return not_negative(at_most(place, self.rows - 1))

    def _entry(self, place: Any) -> Any:
        """The entry that stands in a place; lists write what is assigned to their elements."""
        leaves = iter([(line, line.at(place, True)) for line in self.lines])
        return self._with_lists(self.form, leaves, place)

    def _with_lists(self, form: tree.Tree, leaves: Iterator[tuple[Line, Any]], place: Any) -> Any:
        if not isinstance(form, tree.Branch):
            return next(leaves)[1]
        if is_choice(form):
            return tree.unflatten(form, [next(leaves)[1]])
        if form.kind is not list:
            return tuple(self._with_lists(one, leaves, place) for one in form.children)
        if any(one != tree.LEAF for one in form.children):
            self.give_up()
        return EntryList(self, [next(leaves) for _ in form.children], place)

    def end_to_end(self, array: Any) -> Any:
        """The rows one behind the other, as a part of all that there is room for."""
        first, *rest = array.shape[1:]
        line = self.lines[0].array
        return line.reshape(self.rows * first, *rest)[: self._fitting(self.count, self.room) * first]

    def node(self, trace: Trace) -> Any:
        """The list as a value of the trace that it was made in."""
        if current() is not trace or self.shown:
            self.give_up()
        return super().node(trace)

    @property
    def class_name(self) -> str:
        """The name of the class of the list."""
        return self.cls.__name__

    def give_up(self, kind: EntryType | RecordType | None = None) -> NoReturn:
        """Has the function traced anew, with a list of entries of another type, or one that only the run has."""
        self.made_by.want_of_run_at(self.place, kind)
        refuse("a list changes its length where only the run decides, and is more than numbers", fix=ARRAY_INSTEAD)


class GrowingParts(Growing):
    """The elements of a list of arrays of one dimension, of lengths that only the run knows: end to end."""

    __slots__ = ("total",)

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.total: list[Any] = [0]

    @property
    def cells(self) -> tuple[list[Any], ...]:
        """The lists that hold the number of arrays, and that of their elements."""
        return self.cell, self.total

    def _put(self, value: Any, count: Any) -> None:
        part, array = packed(value), self.lines[0].array
        start, length = at_most(self.total[0], self.room), part.shape[0]
        end = at_most(start + length, self.room)
        array[start:end] = part[: end - start]
        self.total[0] = self.total[0] + length

    def _place(self, index: Any) -> NoReturn:
        """Has the list given up: nobody knows where an array begins."""
        self.give_up()

    def element(self, number: Any) -> NoReturn:
        """Has the list given up, too."""
        self.give_up()

    def parts_now(self) -> NoReturn:
        """Has the list given up: there is no array of all arrays."""
        self.give_up()

    def joined(self, function: Any, rest: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The arrays end to end; None where a function of NumPy's joins them in another way."""
        if function not in (np.concatenate, np.hstack) or rest or options:
            return None
        self.demand_some()
        return self.lines[0].array[: self._fitting(self.total[0], self.room)].copy()


def _is_ordered(form: tree.Tree) -> bool:
    """Return whether entries of a form are numbers, or tuples of such."""
    return not isinstance(form, tree.Branch) or (form.kind is tuple and all(map(_is_ordered, form.children)))


def growing_list(made: Any, place: tuple[int, int], kind: EntryType | RecordType, trace: CaptureTrace) -> Any:
    """A list that gets the elements of a new one, for loops to append to; None where nothing may be guessed."""
    rewriting = trace.recorder.rewriting
    if trace.parent is not None and rewriting.want_little(place):
        refuse("a turn of a loop makes a list that changes its length", fix=ARRAY_INSTEAD)
    shape = kind.shape if isinstance(kind, EntryType) else ()
    rows = max(_FEWEST_ROWS, guessed_rows(trace, place, kind), rewriting.room_of(place))
    room = None if trace.lengths is None else trace.lengths.room(rows + len(made))
    if room is None:
        return None
    kinds = GrowingParts if shape is None else Growing
    found = kinds(rewriting, place, kind, trace, room)
    found.cls = type(made)
    found.begin(made)
    while made:
        found.append(made.pop(0) if type(made) is list else made.popleft())
    return DeferredObject(None, trace, f"a {found.class_name}", found.cls, found)
