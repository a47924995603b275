"""Growing dicts and sets: keys that only the run tells, with their values, in the order of their insertion.

counts = {}                                  keys, values   zeros with room for a guess, and a hash table
for v in a:                                  slot, place    those of the key, or where it is inserted
    counts[v] = counts.get(v, 0) + 1         values[place] = (values[place] if v is there else 0) + 1
return counts                                dict(zip(keys[:count], values[:count]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.comprehensions.entry_lines import Line, lines_of
from xjit.capture.comprehensions.gathered import Column, Gathered
from xjit.capture.constants.choices import numbers_of
from xjit.capture.dicts.hash_table import Found, HashTable
from xjit.capture.dicts.key_codes import demand_no_nan, have_codes_of, in_graph, scalar
from xjit.capture.dicts.keyed_elements import PLAIN, KeyedElements, dict_type
from xjit.capture.memory.buffer import Buffer
from xjit.capture.python_control.python_branches import chosen
from xjit.capture.python_control.truth import as_bool
from xjit.capture.python_numbers.numbers import number_as
from xjit.capture.recording.container_entries import DictType, EntryType, RecordType, entry_type
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.optional_value import OptionalValue
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current, tracing
from xjit.ir.spans import span_of
from xjit.ops.define.core import lift
from xjit.ops.dynamic.limited_windows import number
from xjit.ops.effects.step_functions import call_method
from xjit.ops.elements.compare import eq, gt, le, lt, ne
from xjit.ops.elements.elementwise import add, and_, or_, sub
from xjit.ops.elements.elementwise import min as smaller
from xjit.ops.elements.select import select

_NOTHING = np.int64(0)
_ONE = np.int64(1)
_MOST_SEARCHES = 24
"""Keys that are searched one by one, outside of loops; more of them are left to Python."""


class GrowingDict(KeyedElements):
    """The entries of a dict, or the members of a set, that loops insert.

    The ``cell`` holds their number, as that of a growing list does. A ``pending`` key was read where the value that
    a default dict makes is of another type than others: it is to be assigned next.
    """

    __slots__ = ("cell", "keys_of", "kind", "pending", "room", "searches", "table", "values_of")

    def __init__(
        self, made_by: Any, place: tuple[int, int], empty: Any, trace: CaptureTrace, kind: DictType, room: int
    ) -> None:
        super().__init__(made_by, place, empty, trace)
        self.form, self.kind, self.room = _form(kind.key), kind, room
        self.cell: list[Any] = [0]
        self.searches = 0
        self.pending: Any = None
        self.keys_of = lines_of(kind.key, room, place)
        self.values_of = [] if kind.value is None else lines_of(kind.value, room, (*place, len(self.keys_of)))
        self.table = HashTable(room, len(self.keys_of), place)

    @property
    def count(self) -> Any:
        """The number of keys."""
        return self.cell[0]

    @property
    def cells(self) -> tuple[list[Any], ...]:
        """The lists that hold numbers which inserting changes."""
        return (self.cell,)

    @property
    def memory(self) -> list[Buffer]:
        """The memory of the keys, the values and the table."""
        lines = (buffer for line in (*self.keys_of, *self.values_of) for buffer in line.memory)
        return [*lines, *(one.buffer for one in (self.table.places, *self.table.codes))]

    @property
    def grows(self) -> bool:
        """Return whether keys may be inserted: there is no dict of the run yet."""
        return not self.changed and self.made is None

    # Keys

    def _find(self, key: Any) -> Found:
        """The key in the table."""
        kind = entry_type(key, constants=True)
        if kind is None or not have_codes_of(kind, self.kind.key):
            self.give_up()
        self.searches += current() is self.trace
        if self.searches > _MOST_SEARCHES:
            self.give_up(PLAIN)
        numbers = _leaves(key)
        demand_no_nan(numbers)
        found = self.table.find(numbers)
        self._settle(found.marks)
        return found

    def _settle(self, marks: Any = None) -> None:
        """Has the dict given up where a pending key is not the one that is assigned."""
        pending, self.pending = self.pending, None
        if pending is not None and pending != (current(), marks):
            self.give_up()

    def contains(self, key: Any) -> Any:
        """Return whether a key is there."""
        return as_bool(_is_there(self._find(key).place))

    def lacks(self, key: Any) -> Any:
        """Return whether a key is not there."""
        return as_bool(in_graph(le(self._find(key).place, _NOTHING)))

    def lookup(self, key: Any) -> Any:
        """The value of a key; NumPy does the call where it is not there, and Python raises KeyError."""
        if self.is_set:
            self.give_up()
        if self.factory is not None:
            return self._made(key)
        if type(self.empty) is not dict:
            return self.get(key, 0)
        return self.value_of(key)

    def value_of(self, key: Any) -> Any:
        """The value of a key that has to be there."""
        trace, place = self._here(), self._find(key).place
        is_there = _is_there(place)
        if span_of(is_there.node, trace)[0]:
            return self._value(place)  # as a branch around has found
        if isinstance(trace, CaptureTrace) and trace.is_caught(KeyError):
            self.give_up(PLAIN)  # NumPy would do the call each time, as the handler is there for new keys
        demand(is_there)
        return self._value(place)

    def _made(self, key: Any) -> Any:
        """The value of a key, which a default dict makes if it is not there."""
        default = self.factory()
        if entry_type(default) == self.kind.value:
            return self.setdefault(key, default)
        found = self.get(key, default)
        self.pending = current(), self._find(key).marks
        return found

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        if default is None:
            self.give_up()
        place = self._find(key).place
        return chosen(in_graph(ne(place, _NOTHING)), lambda: self._value(place), lambda: default)

    def value_or_none(self, key: Any) -> OptionalValue:
        """The value of a key, or None."""
        place = self._find(key).place
        return OptionalValue(as_bool(_is_there(place)), self._value(place))

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, which is inserted with the default if it is not there."""
        self.insert(key, self.get(key, default))
        return self._value(self._find(key).place)

    def insert(self, key: Any, value: Any = None) -> None:
        """Gives a key a value, behind all others if it is not there."""
        self._check_types(key, value)
        found = self._find(key)
        is_new, count = as_bool(in_graph(eq(found.place, _NOTHING))), in_graph(self.count)
        fits = or_(ne(found.place, _NOTHING), lt(count, number(self.room)))
        assert self.trace.lengths is not None
        self.trace.lengths.expect(in_graph(fits))
        if self.readers:
            demand(in_graph(ne(found.place, _NOTHING)), goes_on=True)  # else Python raises RuntimeError
        own = scalar(and_(select(is_new, count, sub(found.place, _ONE)), np.int64(self.room - 1)))
        for line, leaf in zip(self.keys_of, _leaves(key), strict=True):
            keeps = line.kind.dtype.kind == "f"  # equal ones differ: 0.0 and -0.0
            line.put(own, scalar(select(is_new, leaf, line.array[own])) if keeps else leaf)
        for line, leaf in zip(self.values_of, _leaves(value), strict=False):
            line.put(own, leaf)
        self.table.put(found, scalar(select(fits, add(own, _ONE), _NOTHING)))
        self.cell[0] = self._within(self.count + number_as(int, is_new), self.room)

    def _check_types(self, key: Any, value: Any) -> None:
        """Has the dict given up where it has other keys and values than these."""
        found = dict_type(key, value, self.is_set, of_text=True)
        joined = None if found is None else self.kind.joined(found)
        if joined != self.kind or not self.grows:
            self.give_up(joined if self.grows else None)

    def _value(self, place: Any) -> Any:
        """The value in a place, counted from 1."""
        assert self.kind.value is not None
        own = scalar(and_(sub(place, _ONE), np.int64(self.room - 1)))
        return tree.unflatten(_form(self.kind.value), [line.at(own) for line in self.values_of])

    def _here(self) -> Trace:
        trace = current()
        assert trace is not None
        return trace

    def _within(self, count: Any, most: int) -> Any:
        """The number, or the largest one that there is room for."""
        if not isinstance(count, TracedValue):
            return min(count, most)
        trace = self._here()
        found = TracedArray(lift(trace, smaller(count, number(most))), trace, weak=int, scalar=True)
        found.bounds = trace.spans[found.node] = (0, most)
        return found

    # All entries

    def parts_now(self) -> tuple[Column, ...]:
        """The keys as arrays."""
        return self.cut(self.keys_of)

    def cut(self, lines: Sequence[Line]) -> tuple[Column, ...]:
        """As much of lines as there are keys, for which turns that inserted them found room."""
        self._settle()
        count = self._within(self.count, self.room)
        return tuple(line.column(slice(count), False) for line in lines)

    def keys(self) -> DeferredObject:
        """The keys."""
        return self._view("keys", self.keys_of, self.form)

    def values(self) -> DeferredObject:
        """The values."""
        assert self.kind.value is not None
        return self._view("values", self.values_of, _form(self.kind.value))

    def items(self) -> DeferredObject:
        """The pairs of keys and values."""
        return self._view("items", [*self.keys_of, *self.values_of], self._pair())

    def _pair(self) -> tree.Tree:
        if self.kind.value is None:
            return self.form
        return tree.Branch(tuple, None, (self.form, _form(self.kind.value)))

    def _view(self, name: str, lines: Sequence[Line], form: tree.Tree) -> DeferredObject:
        if self._here() is not self.trace:
            self.give_up()
        view = EntriesView(self, name, lines, form)
        return DeferredObject(None, self.trace, f"the {name} of a dict", None, view)

    def element(self, number: Any) -> Any:
        """The key in a place; those of a set are in another order."""
        if self.is_set:
            refuse("a loop goes through a set in the order that Python has for it", fix="use sorted()")
        return super().element(number)

    def listed(self) -> Gathered | None:
        """The keys as elements of a list; None of a set, which has another order."""
        return None if self.is_set else Gathered(self.form, self.parts_now(), self.count)

    def node(self, trace: Trace) -> Any:
        """The dict or set as a value of the trace that it was made in."""
        if current() is not trace:
            self.give_up()
        if self.made is None or self.made not in trace.effects:
            with tracing(trace):
                parts = self.cut([*self.keys_of, *self.values_of])
                self.made = Gathered(self._pair(), parts, self.count).collection(self.class_name).source
        return self.made


class EntriesView(Gathered):
    """The keys, the values or the pairs of a dict, as it is when these are looked at."""

    __slots__ = ("lines", "name", "of")

    def __init__(self, of: GrowingDict, name: str, lines: Sequence[Line], form: tree.Tree) -> None:
        self.of, self.name, self.lines = of, name, lines
        self.form, self.parts, self.changed, self.made = form, (), False, None

    @property
    def count(self) -> Any:
        """The number of entries."""
        return self.of.count

    @property
    def readers(self) -> int:
        """The loops that go through the dict."""
        return self.of.readers

    @readers.setter
    def readers(self, value: int) -> None:
        self.of.readers = value

    def parts_now(self) -> tuple[Column, ...]:
        """The entries as arrays."""
        return self.of.cut(self.lines)

    def as_array(self) -> None:
        """None: of a view NumPy makes an array of one object."""

    def joined(self, function: Any, rest: tuple[Any, ...], options: dict[str, Any]) -> None:
        """None: NumPy joins no views."""

    def listed(self) -> Gathered:
        """The entries as elements of a list."""
        return Gathered(self.form, self.parts_now(), self.count)

    def node(self, trace: Trace) -> Any:
        """The view as a value of the trace that the dict was made in."""
        whole = self.of.node(trace)
        if self.made is None or self.made not in trace.effects:
            with tracing(trace):
                found = DeferredObject(whole, trace, "a dict", type(self.of.empty))
                self.made = step(call_method, (found, self.name), {}, label=f"the {self.name} of a dict").source
        return self.made


def _is_there(place: Any) -> Any:
    """The truth value that says if a place is that of a key: none is negative, so branches know it to be larger."""
    return in_graph(gt(place, _NOTHING))


def _leaves(entry: Any) -> list[Any]:
    """The numbers of an entry, with those of constants."""
    return numbers_of(entry)[0]


def _form(kind: EntryType | RecordType) -> tree.Tree:
    return kind.form if isinstance(kind, RecordType) else tree.LEAF
