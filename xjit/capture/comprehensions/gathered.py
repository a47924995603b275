"""Gathered lists: only the run tells their elements, which are arrays as long as nobody needs the list itself.

found = [v * 2 for v in x if v > 0]     columns  (x * 2)[x > 0]
np.array(found).sum()                   of the columns
found.append(1.0)                       step in Python that makes the list, then one that appends
"""

from __future__ import annotations

import collections
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

from xjit import tree
from xjit.capture.comprehensions.entry_places import not_negative, place_of
from xjit.capture.constants.choices import without_choices
from xjit.capture.constants.constant_table import ConstantTable
from xjit.capture.memory.buffer import Buffer, BufferView
from xjit.capture.python_numbers.numbers import python_number
from xjit.capture.recording.module_views import traced_numpy
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.limited_calls import python_integer
from xjit.capture.tracers.numpy_call import call_function
from xjit.capture.tracers.provenance import CaptureTrace, enclosing_capture, refuse
from xjit.dataclass import dataclass, replace
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current, tracing
from xjit.numpy.limited.arrays import LimitedArray, sizes_of
from xjit.ops.define.core import lift
from xjit.ops.elements.compare import gt
from xjit.types import FLOAT64

_MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "set": set,
    "dict": dict,
    "deque": collections.deque,
    "tuple": tuple,
    "Counter": lambda pairs: collections.Counter(dict(pairs)),
    **{
        f"defaultdict of {one.__name__}": functools.partial(collections.defaultdict, one)
        for one in (bool, int, float, complex)
    },
}
_JOINING = frozenset({np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack})
_EXAMPLES: dict[Any, Any] = {bool: True, int: 1, float: 1.0, complex: 1j}


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """A part of all elements that is the same value of Python's."""

    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A part of all elements as an array, packed; ``weak`` is the class of Python's numbers.

    Of ``shown`` arrays each is one that others have, too: nobody writes to these while the ``holder`` lives. With
    ``doubts`` a number is one of these where they hold. The rows of ``lists`` are lists of numbers.
    """

    array: Any
    weak: type | None = None
    shown: bool = False
    doubts: Any = None
    lists: bool = False
    holder: Any = None

    def at(self, number: Any) -> Any:
        """The element in a place."""
        found = self.array[number]
        if self.lists:
            trace = current()
            assert trace is not None
            return listed(RowList(tree.LEAF, (Column(found.copy(), self.weak),), found.shape[0]), trace)
        if self.holder is not None:
            found = found.copy()
            found.buffer.shared = True
        if self.doubts is None:
            return found if self.weak is None else python_number(found)
        assert self.weak is not None
        return in_doubt(found, self.doubts[number], self.weak)

    def part(self, index: slice) -> Column:
        """A part of the elements, as a column of its own."""
        doubts = None if self.doubts is None else self.doubts[index].copy()
        return replace(self, array=self.array[index].copy(), doubts=doubts)


def in_doubt(number: Any, doubt: Any, weak: type) -> Any:
    """A number with the truth value that says if it is one of a class of Python's; converted where both are known."""
    if not isinstance(number, TracedValue) and not isinstance(doubt, TracedValue):
        return weak(number) if doubt else number
    trace = current()
    assert trace is not None
    found: Any = number
    if not isinstance(number, TracedValue):
        found = trace.wrap(lift(trace, number), trace)
        found.scalar = True
    found.doubt = TracedValue(lift(trace, doubt), trace), weak
    return found


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A part of all elements that are numbers of this class of Python's, or NumPy's."""

    weak: type


@dataclass(frozen=True, slots=True)
class Lists:
    """A part of all elements that are lists of numbers, of this class of Python's or NumPy's."""

    weak: type | None


@dataclass(frozen=True, slots=True)
class Constants:
    """A part of all elements that are constants of this table, by their numbers."""

    table: ConstantTable


@dataclass(frozen=True, slots=True)
class Lister:
    """The function that makes a collection of columns; nobody notices another call of it."""

    kind: str
    form: tree.Tree
    parts: tuple[Any, ...]
    repeats = True
    __name__ = "list"

    def __call__(self, count: int, *columns: Any) -> Any:
        """The collection of so many elements."""
        arrays = iter(columns)
        parts = [_items(part, arrays, count) for part in self.parts]
        if self.form == tree.LEAF:
            return _MAKERS[self.kind](parts[0])
        rows = zip(*parts, strict=True) if parts else iter([()] * count)
        return _MAKERS[self.kind](_entries(self.form, rows))


def _entries(form: tree.Tree, rows: Iterator[tuple[Any, ...]]) -> list[Any]:
    """The entries of a form, of their leaves."""
    if not isinstance(form, tree.Branch) or any(one != tree.LEAF for one in form.children):
        return [tree.unflatten(form, row) for row in rows]
    if form.kind is tuple:
        return list(rows)
    return list(map(list, rows)) if form.kind is list else [tree.unflatten(form, row) for row in rows]


def _items(part: Any, arrays: Any, count: int) -> list[Any]:
    """One part of each element."""
    if isinstance(part, Fixed):
        return [part.value] * count
    array = next(arrays)
    if isinstance(part, Constants):
        return list(map(part.table.values.__getitem__, array.tolist()))
    if isinstance(part, Doubtful):
        return _doubtful_items(array, next(arrays), part.weak)
    if isinstance(part, Lists):
        return list(array.tolist()) if part.weak is not None else list(map(list, array))
    if part is not None:
        return list(array.tolist())
    return [row.copy() for row in array] if array.ndim > 1 else list(array)


def _doubtful_items(array: Any, doubts: Any, weak: type) -> list[Any]:
    """The numbers of an array, of a class of Python's where the doubts hold; of rows those of each."""
    pairs = zip(array, doubts.tolist() if array.ndim == 1 else doubts, strict=True)
    if array.ndim > 1:
        return [_doubtful_items(one, doubt, weak) for one, doubt in pairs]
    return [weak(one) if doubt else one for one, doubt in pairs]


@dataclass(eq=False, slots=True)
class Gathered:
    """The elements of a list of the run: their form, the columns, and their number.

    They are those of the list until something may have ``changed`` it. So many loops go through it as there are
    ``readers``; one that a list of such has taken in is ``kept``: nobody changes it. Arrays at known positions that
    were ``seen`` are one object each. It ``holds_entries``: so a class tells where this one cannot be imported.
    """

    holds_entries: ClassVar[bool] = True
    form: tree.Tree
    parts: tuple[Column | Fixed, ...]
    count: Any
    changed: bool = False
    made: Any = None
    readers: int = 0
    kept: bool = False
    seen: dict[int, Any] | None = None

    @property
    def grows(self) -> bool:
        """Return whether loops may append to the arrays."""
        return False

    @property
    def class_name(self) -> str:
        """The name of the class of the list."""
        return "list"

    @property
    def is_left(self) -> bool:
        """Return whether methods of the list are steps in Python: there is one of the run, which may have changed."""
        return self.changed or self.made is not None

    @property
    def is_keyed(self) -> bool:
        """Return whether the elements are found by keys."""
        return False

    def numbers(self) -> Column | None:
        """The numbers of a list of a known length; None of others."""
        if type(self.count) is not int or self.form != tree.LEAF or self.is_keyed:
            return None
        (part,) = self.parts_now()
        if not isinstance(part, Column) or part.array.ndim > 1 or part.doubts is not None or part.lists:
            return None
        return part

    def change(self) -> None:
        """Notes that the list may have changed; CaptureError where a list that has taken it in would not know."""
        if self.kept:
            refuse_change()
        self.changed = True

    def leave(self) -> None:
        """Nothing: what is not known of a list is done with it in steps in Python."""

    def put_in_order(self) -> None:
        """Nothing for numbers, which are compared as Python does; CaptureError for other entries."""
        if self.form != tree.LEAF or self.is_keyed or any(one.array.ndim > 1 for one in self.columns):
            refuse("records in a list of the run are put in an order", fix="use an array of the numbers to compare")

    def attribute(self, name: str) -> Any:
        """A method of the list that is traced; None of others."""
        return getattr(self, "append", None) if name == "append" else None

    @property
    def cells(self) -> tuple[list[Any], ...]:
        """The lists whose entries change as the elements do."""
        return ()

    @property
    def memory(self) -> list[Buffer]:
        """The memory that changes as the elements do."""
        return []

    def fitting_count(self) -> Any:
        """The number of elements, of which there is room for all."""
        return self.count

    def listed(self) -> Gathered | None:
        """The elements as those of another list; None where that is made by a step in Python."""
        return None

    def parts_now(self) -> tuple[Column | Fixed, ...]:
        """The parts of all elements that there are."""
        return self.parts

    @property
    def columns(self) -> list[Column]:
        """The parts that are arrays."""
        return [part for part in self.parts_now() if isinstance(part, Column)]

    def collection(self, kind: str) -> DeferredObject:
        """The list, the set or the dict, made by a step in Python."""
        if any(column.shown for column in self.columns):
            refuse("a list of the run would have views of arrays", fix="copy them, or use an array")
        found = self.parts_now()
        form, choices = without_choices(self.form)
        parts = tuple(_part(*pair) for pair in zip(found, choices, strict=True))
        columns = [part for part in found if isinstance(part, Column)]
        arrays = [one for column in columns for one in (column.array, column.doubts) if one is not None]
        made: DeferredObject = step(
            Lister(kind, form, parts),
            (self.count, *arrays),
            {},
            label=f"a {kind}",
            kind=list if kind == "list" else None,
        )
        return made

    def node(self, trace: Trace) -> Any:
        """The list as a value of the trace that gathered the elements, which makes it once."""
        if self.made is None or self.made not in trace.effects:
            with tracing(trace):
                self.made = self.collection(self.class_name).source
        return self.made

    def element(self, number: Any) -> Any:
        """The element in a place."""
        leaves = [one.value if isinstance(one, Fixed) else one.at(number) for one in self.parts_now()]
        return tree.unflatten(self.form, leaves)

    def item(self, found: DeferredObject, index: Any) -> Any:
        """``found[index]``, of the type that the elements have."""
        if type(index) is int and type(self.count) is int and -self.count <= index < self.count:
            place = index % self.count
            self.seen = {} if self.seen is None else self.seen
            if place not in self.seen:
                self.seen[place] = self.element(place)
            return self.seen[place]
        if isinstance(index, TracedValue) and not any(column.shown for column in self.columns):
            return self.element(not_negative(place_of(index, 0, self.count)))
        like = None
        if self.form == tree.LEAF and self.columns and self.columns[0].array.ndim == 1:
            (column,) = self.columns
            like = (_EXAMPLES[column.weak] if column.weak else column.array.dtype.type(1),)
        return step(operator.getitem, (found, index), {}, like=like)

    def part(self, index: slice) -> DeferredObject | None:
        """The list of the elements of a part; None of arrays, which both lists have, and where all are one value."""
        found, trace = self.parts_now(), current()
        columns = [one for one in found if isinstance(one, Column)]
        if not columns or trace is None or any(one.array.ndim > 1 and not one.lists for one in columns):
            return None
        parts = tuple(one if isinstance(one, Fixed) else one.part(index) for one in found)
        (array, *_) = [one.array for one in parts if isinstance(one, Column)]
        count = python_integer(sizes_of(array)[0]) if isinstance(array, LimitedArray) else array.shape[0]
        return listed(Gathered(self.form, parts, count), trace)

    def as_array(self) -> Any:
        """The array that NumPy makes of the list, a row for each record; None of others than numbers and arrays."""
        columns = self.columns
        if self.form != tree.LEAF:
            return self._records_as_array(columns) if len(columns) == len(self.parts_now()) else None
        if not columns:
            return None
        array = columns[0].array
        if array.dtype != FLOAT64 or array.ndim > 1:
            self.demand_some()  # NumPy makes floats of no elements at all
        return array.copy()

    def _records_as_array(self, columns: Sequence[Column]) -> Any:
        """The columns as those of an array; None of records in records."""
        form = self.form
        if not isinstance(form, tree.Branch) or form.kind not in (tuple, list):
            return None
        if any(one != tree.LEAF for one in form.children) or any(one.array.ndim > 1 for one in columns):
            return None
        self.demand_some()
        join: Any = np.stack
        return traced_numpy(join)([one.array for one in columns], axis=1)

    def joined(self, function: Any, rest: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """The rows as a function of NumPy's joins the arrays of a list; None where it does so in another way."""
        columns = self.columns if self.form == tree.LEAF and function in _JOINING else ()
        array = columns[0].array if columns else None
        along = rest + tuple(options.values())
        if array is None or array.ndim < 2 or options.keys() - {"axis"} or along not in ((), (0,)):
            return None
        lines = array.ndim == 2
        if function is np.stack or (function is np.vstack and lines):
            self.demand_some()
            return array.copy()
        if function is np.column_stack:
            return array.T.copy() if lines else None
        if function is np.hstack and not lines:
            return None
        self.demand_some()
        return self.end_to_end(array).copy()

    def end_to_end(self, array: Any) -> Any:
        """The rows of an array one behind the other."""
        return array.reshape(-1, *array.shape[2:])

    def demand_some(self) -> None:
        """Lets NumPy do the call where there are no elements."""
        if isinstance(self.count, TracedValue):
            demand(gt(self.count, 0))
        elif not self.count:
            refuse("a list of the run has no elements")


def _part(part: Column | Fixed, is_choice: bool) -> Any:
    """A part as what makes items of its elements."""
    trace = enclosing_capture()
    if is_choice and trace is not None:
        return Constants(trace.recorder.constants)
    return part if isinstance(part, Fixed) else _class_of(part)


def _class_of(column: Column) -> Any:
    """The class of Python's numbers of a column, or what says that only the run tells them from NumPy's.

    Of lists of numbers what makes such.
    """
    if column.lists:
        return Lists(column.weak)
    return column.weak if column.doubts is None else Doubtful(column.weak or float)


def listed(found: Gathered, trace: Trace) -> DeferredObject:
    """The list of the elements."""
    return DeferredObject(None, trace, "a list", list, found)


class GatheredTuple(Gathered):
    """The elements of a tuple."""

    __slots__ = ()

    @property
    def class_name(self) -> str:
        """The name of the class of the tuple."""
        return "tuple"

    def item(self, found: DeferredObject, index: Any) -> Any:
        """``found[index]``: NumPy does the call where there is no such element, and raises."""
        return self.element(not_negative(place_of(index, 0, self.count)))


class RowList(Gathered):
    """The elements of a list that stands in a list of such, which would not know of a change."""

    __slots__ = ()

    def change(self) -> None:
        """Has the function traced anew with lists of Python's, or refuses it."""
        refuse_change()


def refuse_change() -> NoReturn:
    """CaptureError for a change of a list in a list; the function is traced anew with plain lists if it may be."""
    trace = enclosing_capture()
    if trace is not None:
        trace.recorder.rewriting.want_all_plain()
    refuse("a list in a list of the run is changed", fix="use an array, and write to its elements")


def columns_as_tuples(found: Gathered) -> list[DeferredObject] | None:
    """The columns of elements that are tuples, each as a tuple, as ``zip`` makes them; None of other elements.

    NumPy does the call where there are no elements: then there are no tuples at all.
    """
    form, trace = found.form, current()
    if not isinstance(form, tree.Branch) or form.kind not in (tuple, list) or not found.columns or trace is None:
        return None
    if any(one != tree.LEAF for one in form.children):
        return None
    found.demand_some()
    parts, count = found.parts_now(), found.fitting_count()
    return [DeferredObject(None, trace, "a tuple", tuple, GatheredTuple(tree.LEAF, (one,), count)) for one in parts]


def list_of(array: Any) -> DeferredObject:
    """The list of Python's numbers that the elements of an array along one axis are."""
    trace = current()
    assert trace is not None
    kind = {"b": bool, "i": int, "f": float}[array.dtype.kind]
    return listed(Gathered(tree.LEAF, (Column(array.copy(), kind),), len(array)), trace)


def count_of(mask: Any) -> Any:
    """The number of places where a mask holds, as an integer of Python's."""
    if isinstance(mask, np.ndarray):
        return int(np.count_nonzero(mask))
    found = call_function(np.count_nonzero, (mask,), {})
    found.bounds = (0, mask.size)
    found.weak, found.scalar = int, True
    return found


def is_own(leaf: Any, outer: CaptureTrace) -> bool:
    """Return whether an array was made in a trace inside of another one, and is nobody else's."""
    if not isinstance(leaf, BufferView):
        return False
    return all(one.path is None and not one.is_of(outer) for one in leaf.buffer.family)


def columns_of(arrays: Sequence[Any], mask: Any) -> list[Any]:
    """The elements of arrays where a mask holds."""
    return [array[mask] for array in arrays]
