"""Tables: lists of lists of as many numbers each, of which elements are at positions that only the run knows.

best = [[0] * m for _ in range(n)]      line with room for n * m numbers
best[i][j] = best[i - 1][j] + 1         line[i * m + j] = line[(i - 1) * m + j] + 1
"""

from __future__ import annotations

import operator
import sys
from typing import Any, NoReturn

from xjit import tree
from xjit.capture.comprehensions.entry_lines import Line
from xjit.capture.comprehensions.entry_places import at_most, not_negative, place_of
from xjit.capture.comprehensions.gathered import Column, Gathered
from xjit.capture.recording.container_entries import ARRAY_INSTEAD, EntryType, TableType, entry_type, type_of_numbers
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.ir.context import Trace
from xjit.ir.current import current
from xjit.types import INT64


class Table(Gathered):
    """The rows of a list of lists."""

    __slots__ = ("columns_of", "kind", "line", "made_by", "place", "trace")

    def __init__(self, made: list[list[Any]], place: tuple[int, int], kind: EntryType, trace: CaptureTrace) -> None:
        super().__init__(tree.LEAF, (), len(made))
        self.made_by, self.place, self.kind, self.trace = trace.recorder.rewriting, place, kind, trace
        self.columns_of = len(made[0])
        numbers = [one for row in made for one in row]
        self.line = Line(kind, len(numbers), place)
        self.line.begin(numbers)

    @property
    def grows(self) -> bool:
        """Return whether turns may write to the arrays: there is no list of the run yet."""
        return not self.changed and self.made is None

    @property
    def memory(self) -> list[Any]:
        """The memory of the elements."""
        return self.line.memory

    def item(self, found: DeferredObject, index: Any) -> DeferredObject:
        """The row with an index; NumPy does the call where there is none."""
        return self.element(not_negative(place_of(index, 0, self.count)))

    def element(self, number: Any) -> DeferredObject:
        """The row in a place; once there is a list of the run, that has other names of its rows."""
        if not self.grows:
            self.give_up()
        trace = current()
        assert trace is not None
        return DeferredObject(None, trace, "a row of a list", list, Row(self, at_most(number, self.count - 1)))

    def put_item(self, index: Any, value: Any) -> NoReturn:
        """Has the table given up: another list would be its row."""
        self.give_up()

    def parts_now(self) -> tuple[Column, ...]:
        """The numbers as an array of rows."""
        shape, doubts = (self.count, self.columns_of), self.line.doubts
        rows = None if doubts is None else doubts.reshape(shape)
        return (Column(self.line.array.reshape(shape), self.kind.weak or self.kind.doubtful, False, rows),)

    def as_array(self) -> Any:
        """The array that NumPy makes of the rows, as long as there is no list of the run."""
        if not self.grows:
            self.give_up()
        return super().as_array()

    def attribute(self, name: str) -> None:
        """None: no method is traced."""

    def node(self, trace: Trace) -> Any:
        """The list as a value of the trace that it was made in."""
        if current() is not trace:
            self.give_up()
        return super().node(trace)

    def give_up(self, kind: Any = None) -> NoReturn:
        """Has the function traced anew, with a table of numbers of another type, or none."""
        self.made_by.want_of_run_at(self.place, None if kind is None else TableType(kind))
        refuse("a list of lists is used in another way than by its elements", fix=ARRAY_INSTEAD)


class Row(Gathered):
    """The numbers of one row of a table, which stay its own."""

    __slots__ = ("of", "row")

    def __init__(self, of: Table, row: Any) -> None:
        super().__init__(tree.LEAF, (), of.columns_of)
        self.of, self.row = of, row

    @property
    def grows(self) -> bool:
        """Return whether turns may write to the row."""
        return self.of.grows

    def _place(self, index: Any) -> Any:
        self._check()
        column = not_negative(at_most(place_of(index, 0, self.count), self.count - 1))
        return self.row * self.count + column

    def _check(self) -> None:
        """Has the table given up once there is a list of the run, whose rows have other names."""
        if not self.of.grows:
            self.of.give_up()

    def item(self, found: DeferredObject, index: Any) -> Any:
        """The number with an index; NumPy does the call where there is none."""
        return self.of.line.at(self._place(index))

    def element(self, number: Any) -> Any:
        """The number in a place."""
        self._check()
        return self.of.line.at(self.row * self.count + at_most(number, self.count - 1))

    def put_item(self, index: Any, value: Any) -> None:
        """``row[index] = value``."""
        found, kind = entry_type(value), self.of.kind
        joined = kind.joined(found) if found is not None else None
        if joined != kind or not self.of.grows:
            self.of.give_up(joined)
        self.of.line.put(self._place(index), value)

    def parts_now(self) -> tuple[Column, ...]:
        """The numbers as an array."""
        self._check()
        begin = self.row * self.count
        return (self.of.line.column(slice(begin, begin + self.count), False),)

    def attribute(self, name: str) -> NoReturn:
        """Has the table given up: the row would have another length."""
        self.of.give_up()

    def node(self, trace: Trace) -> NoReturn:
        """Has the table given up: the row is no list of its own."""
        self.of.give_up()


def table_of(made: list[Any], place: tuple[int, int], kind: EntryType, trace: CaptureTrace) -> DeferredObject | None:
    """The table in place of a list of lists that the function makes; None of lists that have other names."""
    rewriting = trace.recorder.rewriting
    if type_of_rows(made) is None or not _are_alone(made, rewriting):
        return None
    numbers = [one for row in made for one in row]
    if kind.dtype == INT64 and any(type(one) is int and not -(2**63) <= one < 2**63 for one in numbers):
        return None
    return DeferredObject(None, trace, "a list of lists", list, Table(made, place, kind, trace))


def type_of_rows(made: Any) -> EntryType | None:
    """The type of the numbers in lists of as many numbers each; None of anything else."""
    if type(made) is not list or not made or any(type(row) is not list or len(row) != len(made[0]) for row in made):
        return None
    numbers = [one for row in made for one in row]
    known = numbers and type(numbers[0]) in (bool, int, float) and set(map(type, numbers)) == {type(numbers[0])}
    return type_of_numbers(numbers) if known else None


def _are_alone(made: list[Any], rewriting: Any) -> bool:
    """Return whether each of the rows has no other name, nor stands in another place of the list."""
    known = [rewriting.holds(row) for row in made]
    return all(map(operator.le, _references(made), [_ALONE + is_known for is_known in known]))


def _references(rows: list[Any]) -> list[int]:
    """The references to each of some rows."""
    return [sys.getrefcount(row) for row in rows]


_ALONE = _references([[]])[0]
"""The references to a row that stands in one list alone."""
