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
from xjit.capture.comprehensions.gathered import Column, Gathered
from xjit.capture.dicts.hash_table import Found, HashTable
from xjit.capture.dicts.key_codes import demand_no_nan, have_codes_of, in_graph, parts_of, scalar
from xjit.capture.dicts.keyed_elements import KeyedElements, dict_type
from xjit.capture.python_control.python_branches import chosen
from xjit.capture.python_control.truth import as_bool
from xjit.capture.python_numbers.numbers import number_as, python_number
from xjit.capture.recording.container_entries import DictType, EntryType, RecordType, entry_type
from xjit.capture.recording.module_views import traced_numpy
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.demands import demand, repeats_so_far
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.capture.tracers.traced_array import TracedArray
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current, tracing
from xjit.ops.define.core import lift
from xjit.ops.dynamic.limited_windows import number
from xjit.ops.elements.compare import eq, lt, ne
from xjit.ops.elements.elementwise import add, and_, or_, sub
from xjit.ops.elements.elementwise import min as smaller
from xjit.ops.elements.select import select

_NOTHING = np.int64(0)
_ONE = np.int64(1)


class GrowingDict(KeyedElements):
    """The entries of a dict, or the members of a set, that loops insert.

    The ``cell`` holds their number, as that of a growing list does. A ``pending`` key was read where the value that
    a default dict makes is of another type than others: it is to be assigned next.
    """

    __slots__ = ("cell", "keys_of", "kind", "pending", "room", "table", "values_of")

    def __init__(
        self, made_by: Any, place: tuple[int, int], empty: Any, trace: CaptureTrace, kind: DictType, room: int
    ) -> None:
        super().__init__(made_by, place, empty, trace)
        self.form, self.kind, self.room = _form(kind.key), kind, room
        self.cell: list[Any] = [0]
        self.pending: Any = None
        self.keys_of = self._columns(kind.key)
        self.values_of = [] if kind.value is None else self._columns(kind.value)
        self.table = HashTable(room, len(self.keys_of))

    def _columns(self, kind: EntryType | RecordType) -> list[Any]:
        make: Any = np.zeros
        zeros = traced_numpy(make)
        return [zeros((self.room,), one.dtype) for one in parts_of(kind)]

    @property
    def count(self) -> Any:
        """The number of keys."""
        return self.cell[0]

    @property
    def cells(self) -> tuple[list[Any], ...]:
        """The lists that hold numbers which inserting changes."""
        return (self.cell,)

    @property
    def grows(self) -> bool:
        """Return whether keys may be inserted: there is no dict of the run yet."""
        return not self.changed and self.made is None

    # Keys

    def _find(self, key: Any) -> Found:
        """The key in the table."""
        kind = entry_type(key)
        if kind is None or not have_codes_of(kind, self.kind.key):
            self.give_up()
        numbers = tree.flatten(key, in_parts=False)[0]
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
        return as_bool(in_graph(ne(self._find(key).place, _NOTHING)))

    def lacks(self, key: Any) -> Any:
        """Return whether a key is not there."""
        return as_bool(in_graph(eq(self._find(key).place, _NOTHING)))

    def lookup(self, key: Any) -> Any:
        """The value of a key; NumPy does the call where it is not there, and Python raises KeyError."""
        if self.is_set:
            self.give_up()
        if self.factory is not None:
            return self._made(key)
        if type(self.empty) is not dict:
            return self.get(key, 0)
        place = self._find(key).place
        demand(in_graph(ne(place, _NOTHING)))
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

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, which is inserted with the default if it is not there."""
        self.insert(key, self.get(key, default))
        return self._value(self._find(key).place)

    def insert(self, key: Any, value: Any = None) -> None:
        """Gives a key a value, behind all others if it is not there."""
        if dict_type(key, value, self.is_set) != self.kind or not self.grows:
            self.give_up()
        found = self._find(key)
        is_new, count = eq(found.place, _NOTHING), in_graph(self.count)
        fits = or_(ne(found.place, _NOTHING), lt(count, number(self.room)))
        assert self.trace.lengths is not None
        self.trace.lengths.expect(in_graph(fits))
        own = scalar(and_(select(is_new, count, sub(found.place, _ONE)), np.int64(self.room - 1)))
        self._store(self.keys_of, self.kind.key, own, key, is_new)
        if self.kind.value is not None:
            self._store(self.values_of, self.kind.value, own, value)
        self.table.put(found, scalar(select(fits, add(own, _ONE), _NOTHING)))
        self.cell[0] = self._within(self.count + number_as(int, as_bool(in_graph(is_new))), self.room)

    def _store(self, columns: Sequence[Any], kind: Any, place: Any, entry: Any, is_new: Any = None) -> None:
        """Puts the numbers of an entry in their place; those of a key, of which equal ones differ, if it is new."""
        leaves = tree.flatten(entry, in_parts=False)[0]
        for column, one, leaf in zip(columns, parts_of(kind), leaves, strict=True):
            keeps = is_new is not None and one.dtype.kind == "f"
            column[place] = scalar(select(is_new, leaf, column[place])) if keeps else leaf

    def _value(self, place: Any) -> Any:
        """The value in a place, counted from 1."""
        assert self.kind.value is not None
        own = scalar(and_(sub(place, _ONE), np.int64(self.room - 1)))
        pairs = zip(self.values_of, parts_of(self.kind.value), strict=True)
        leaves = [column[own] if one.weak is None else python_number(column[own]) for column, one in pairs]
        return tree.unflatten(_form(self.kind.value), leaves)

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
        return self._cut(self.keys_of, self.kind.key)

    def _cut(self, columns: Sequence[Any], kind: EntryType | RecordType) -> tuple[Column, ...]:
        self._settle()
        count = self._fitting()
        return tuple(Column(column[:count], one.weak) for column, one in zip(columns, parts_of(kind), strict=True))

    def _fitting(self) -> Any:
        """The number of keys; NumPy does the call where they are more than there is room for."""
        if not isinstance(self.count, TracedValue):
            return self.count
        if not repeats_so_far(self.trace):
            self.give_up()
        return self._within(self.count, self.room)

    def keys(self) -> DeferredObject:
        """The keys."""
        return self._view("keys", _form(self.kind.key), self.parts_now())

    def values(self) -> DeferredObject:
        """The values."""
        assert self.kind.value is not None
        return self._view("values", _form(self.kind.value), self._cut(self.values_of, self.kind.value))

    def items(self) -> DeferredObject:
        """The pairs of keys and values."""
        assert self.kind.value is not None
        parts = *self.parts_now(), *self._cut(self.values_of, self.kind.value)
        return self._view("items", self._pair(), parts)

    def _pair(self) -> tree.Tree:
        if self.kind.value is None:
            return self.form
        return tree.Branch(tuple, None, (self.form, _form(self.kind.value)))

    def _view(self, name: str, form: tree.Tree, parts: tuple[Column, ...]) -> DeferredObject:
        trace = self._here()
        if trace is not self.trace:
            self.give_up()
        return DeferredObject(None, trace, f"the {name} of a dict", None, EntriesView(self, name, form, parts))

    def element(self, number: Any) -> Any:
        """The key in a place; those of a set are in another order."""
        if self.is_set:
            self.give_up()
        return super().element(number)

    def node(self, trace: Trace) -> Any:
        """The dict or set as a value of the trace that it was made in."""
        if current() is not trace:
            self.give_up()
        if self.made is None or self.made not in trace.effects:
            with tracing(trace):
                columns = self.parts_now()
                if self.kind.value is not None:
                    columns += self._cut(self.values_of, self.kind.value)
                lister = self._lister(self._pair(), tuple(one.weak for one in columns))
                arrays = [one.array for one in columns]
                self.made = step(
                    lister, (self._fitting(), *arrays), {}, label=f"a {type(self.empty).__name__}"
                ).source
        return self.made


class EntriesView(Gathered):
    """The keys, the values or the pairs of a dict, as it is when these are looked at first."""

    __slots__ = ("name", "of")

    def __init__(self, of: GrowingDict, name: str, form: tree.Tree, parts: tuple[Column, ...]) -> None:
        super().__init__(form, parts, of.count)
        self.of, self.name = of, name

    def as_array(self) -> None:
        """None: of a view NumPy makes an array of one object."""

    def joined(self, function: Any, rest: tuple[Any, ...], options: dict[str, Any]) -> None:
        """None: NumPy joins no views."""

    def listed(self) -> Gathered:
        """The elements as those of a list."""
        return Gathered(self.form, self.parts, self.count)


def _form(kind: EntryType | RecordType) -> tree.Tree:
    return kind.form if isinstance(kind, RecordType) else tree.LEAF
