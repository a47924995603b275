"""Lists and dicts that the function has made: their entries, as a variable that loops and branches change.

total = [0.0, 0]                     the loop carries  total[0], total[1]
for one in x:
    total[0] += one
    total[1] += 1
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.constants.choices import is_constant_of_run, numbers_of
from xjit.capture.guarding.signature import is_plain
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.doubts import doubt_of
from xjit.capture.tracers.provenance import enclosing_capture, is_splitting, refuse
from xjit.dataclass import dataclass
from xjit.ir.context import TracedValue
from xjit.numpy.limited.arrays import LimitedArray
from xjit.tree import distinct
from xjit.types import BOOL, FLOAT64, INT64, DType

CONTAINERS = (list, dict, set, collections.deque)
LIST_OF_RUN = "the length of a list changes in a loop or a branch that only the run decides"
ARRAY_INSTEAD = "use an array, and write to its elements"


def contents(container: Any) -> tuple[Any, ...]:
    """The entries of a container, in order."""
    return tuple(container.values() if type(container) is dict else container)


def containers_in(value: Any) -> Iterator[Any]:
    """The lists and dicts within a value, itself included."""
    if type(value) in (list, dict):
        yield value
    if type(value) in (list, dict) or isinstance(value, tuple):
        for one in contents(value):
            yield from containers_in(one)


class OuterList(list[Any]):
    """A list from outside, whose entries may be assigned."""

    begun: tuple[Any, ...]

    def put(self, values: Iterable[Any]) -> None:
        """Gives all entries other values."""


@dataclass(frozen=True, slots=True)
class EntryType:
    """The type of an entry: that of its elements, Python's class of a number, None for NumPy's, and the shape.

    That of a number is empty. None is that of an array of one dimension, of a length that only the run knows. A
    number that is ``doubtful`` may be one of this class of Python's, as only the run tells. ``lists`` of numbers have
    the type of the array of one.
    """

    dtype: DType
    weak: type | None
    shape: tuple[int, ...] | None = ()
    doubtful: type | None = None
    lists: bool = False

    @property
    def is_number(self) -> bool:
        """Return whether it is that of numbers."""
        return self.shape == ()

    def joined(self, other: EntryType | RecordType) -> EntryType | None:
        """The type of entries that are of one of two types; None where there is none."""
        if self == other or not isinstance(other, EntryType):
            return self if self == other else None
        if self.is_number and other.is_number:
            return self._in_doubt(other)
        one_axis = all(one.shape is None or len(one.shape) == 1 for one in (self, other))
        one_axis &= not self.lists and not other.lists
        return EntryType(self.dtype, None, None) if one_axis and self.dtype == other.dtype else None

    def _in_doubt(self, other: EntryType) -> EntryType | None:
        """The type of numbers of Python's and of NumPy's, where that holds both exactly."""
        classes = {one.weak or one.doubtful for one in (self, other)} - {None}
        strong = {one.dtype for one in (self, other) if one.weak is None}
        if len(classes) != 1 or len(strong) != 1:
            return None
        (kind,), (dtype,) = classes, strong
        return EntryType(dtype, None, (), kind) if dtype in _WIDE.get(kind, ()) else None


@dataclass(frozen=True, slots=True)
class RecordType:
    """The type of a tuple or a list of numbers, nested in any way: its form, and the types of the numbers."""

    form: tree.Tree
    parts: tuple[EntryType, ...]
    is_number = False

    def joined(self, other: EntryType | RecordType) -> RecordType | None:
        """The type of entries that are of one of two types; None where there is none."""
        if not isinstance(other, RecordType) or self.form != other.form:
            return None
        parts = tuple(one.joined(two) for one, two in zip(self.parts, other.parts, strict=True))
        return None if None in parts else RecordType(self.form, tuple(one for one in parts if one is not None))


@dataclass(frozen=True, slots=True)
class TableType:
    """The type of a list of lists, of as many numbers each of this type."""

    number: EntryType


def parts_of(kind: EntryType | RecordType) -> tuple[EntryType, ...]:
    """The types of the numbers of an entry."""
    return kind.parts if isinstance(kind, RecordType) else (kind,)


@dataclass(frozen=True, slots=True)
class DictType:
    """The types of the keys and of the values of a dict; a set has no values."""

    key: EntryType | RecordType
    value: EntryType | RecordType | None

    def joined(self, other: DictType) -> DictType | None:
        """The types of entries that are of one of two types; None where there are none."""
        if self.key != other.key or self.value is None or other.value is None:
            return self if self == other else None
        value = self.value.joined(other.value)
        return None if value is None else DictType(self.key, value)


EMPTY = "empty"
"""The type of a dict or a set to which nothing was seen to be inserted yet."""
OF_TEXT = "of text"
"""The type of one whose keys are text or the like, of which the run tells some."""


def entry_type(value: Any, constants: bool = False) -> EntryType | RecordType | None:
    """The type of a number, an array or a record; None of anything else, and where only the run tells it.

    With ``constants`` text and the like is a record of one number, that of a constant.
    """
    if type(value) in (tuple, list) or (constants and is_constant_of_run(value)):
        leaves, form = numbers_of(value) if constants else tree.flatten(value, in_parts=False)
        kinds = tuple(map(entry_type, leaves))
        numbers = [one for one in kinds if isinstance(one, EntryType) and one.is_number]
        return RecordType(form, tuple(numbers)) if numbers and len(numbers) == len(kinds) else None
    if type(value) in _NUMBERS:
        return EntryType(np.dtype(type(value)), type(value))
    if isinstance(value, np.generic):
        return EntryType(value.dtype, None)
    if getattr(type(value), "chooses", False) or isinstance(value, LimitedArray):
        return EntryType(value.dtype, None, None) if value.ndim == 1 else None
    if type(value) is DeferredObject:
        found = None if value.elements is None else value.elements.numbers()
        return None if found is None else EntryType(found.array.dtype, found.weak, found.array.shape, lists=True)
    if not isinstance(value, TracedValue):
        return None
    doubt = doubt_of(value)
    if doubt is not None:
        return EntryType(value.dtype, None, (), doubt[1])
    if value.scalar or value.weak is not None:
        return None if value.ndim else EntryType(value.dtype, value.weak)
    return EntryType(value.dtype, None, value.shape) if value.ndim else None


def may_be_of_run(item: Any) -> bool:
    """Return whether a step in Python may put an item into a list: numbers and text, not memory of an array."""
    kind = entry_type(item)
    return is_plain(item) or (kind is not None and kind.is_number)


def may_grow(item: Any) -> bool:
    """Return whether an item may stand in a list of the run: numbers, text and arrays."""
    return is_plain(item) or entry_type(item, constants=True) is not None


def common_type(values: Iterable[Any], constants: bool = False) -> EntryType | RecordType | None:
    """The type that all of some entries are of, with constants such as text among them or not; None of others."""
    found: EntryType | RecordType | None = None
    for place, value in enumerate(values):
        kind = entry_type(value, constants)
        found = kind if not place or kind is None or found is None else found.joined(kind)
        if found is None:
            return None
    return found


def type_of_numbers(values: Sequence[Any]) -> EntryType | None:
    """The type that all of some numbers are of; None where there is none, and for anything else."""
    kinds = set(map(type, values))
    if len(kinds) == 1 and kinds < set(_NUMBERS):
        (kind,) = kinds
        return EntryType(np.dtype(kind), kind)
    found = common_type(values)
    return found if isinstance(found, EntryType) and found.is_number else None


_NUMBERS = (bool, int, float, complex)
_WIDE: dict[Any, tuple[DType, ...]] = {bool: (BOOL,), int: (INT64, FLOAT64), float: (FLOAT64,)}
"""The types of NumPy's numbers that hold what Python's do, and that other types do not tell apart when they meet."""


@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """Stands for a list or a dict within another one, which is the same one all the time."""

    container: Any


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The entries of one container.

    ``keys`` are those of a dict, by which it is known to have kept its form, ``inner`` the containers within it, each
    in its place.
    """

    container: Any
    keys: tuple[Any, ...]
    inner: tuple[Inner | None, ...]

    @staticmethod
    def of(container: Any) -> Entries:
        """The entries that it has now."""
        keys = tuple(container) if type(container) is dict else ()
        inner = (Inner(one) if type(one) in (list, dict) else None for one in contents(container))
        return Entries(container, keys, tuple(inner))

    @property
    def key(self) -> tuple[int, str]:
        """The mark that tells it from other variables."""
        return id(self.container), ""

    @property
    def label(self) -> str:
        """The name in messages."""
        return "a list" if isinstance(self.container, list) else f"a {type(self.container).__name__}"

    def get(self) -> tuple[Any, ...]:
        """The values of the entries; what stands for containers within is one object all the time."""
        found = contents(self.container)
        if not any(self.inner) or len(found) != len(self.inner):
            return found
        pairs = zip(found, self.inner, strict=True)
        return tuple(one if inner is None or one is not inner.container else inner for one, inner in pairs)

    def set(self, values: Sequence[Any]) -> None:
        """Gives the container these values again, and the keys that it had."""
        one = self.container
        values = [value.container if type(value) is Inner else value for value in values]
        if isinstance(one, OuterList):
            one.put(values)
            return
        if type(one) is list:
            one[:] = values
            return
        one.clear()
        if type(one) is collections.deque:
            one.extend(values)
        else:
            one.update(zip(self.keys, values, strict=True) if type(one) is dict else values)

    def is_as(self, before: Sequence[Any]) -> bool:
        """Return whether the container holds these very objects, under its keys."""
        now = contents(self.container)
        return len(now) == len(before) and all(map(operator.is_, now, before)) and self._has_keys()

    def check_form(self, before: Sequence[Any]) -> None:
        """CaptureError if there are more entries than before, fewer or others."""
        if type(self.container) is set or len(self.container) != len(before) or not self._has_keys():
            trace = enclosing_capture()
            if trace is not None:
                trace.recorder.rewriting.note_change(self.container)
            if type(self.container) in (list, collections.deque) and trace is not None:
                kind = common_type((*before, *self.container), constants=True)
                if kind is not None or is_splitting():
                    trace.recorder.rewriting.want_of_run(self.container, kind)
            elif trace is not None and all(entry_type(key) is not None for key in self.container):
                trace.recorder.rewriting.want_dict(self.container)
            elif trace is not None and all(map(is_constant_of_run, self.container)):
                trace.recorder.rewriting.want_dict(self.container, of_text=True)
            refuse(
                f"a {type(self.container).__name__} is changed in a loop or a branch that only the run decides",
                fix=ARRAY_INSTEAD,
            )

    def _has_keys(self) -> bool:
        if type(self.container) is not dict:
            return True
        return list(map(distinct, self.keys)) == list(map(distinct, self.container))
