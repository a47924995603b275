"""Lists, dicts and sets from outside of the function: their entries recorded, changes to them refused."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from xjit.capture.constants.chosen_constant import ChosenConstant
from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import Path, object_path
from xjit.capture.guarding.signature import is_plain
from xjit.capture.recording.container_entries import OuterList
from xjit.capture.recording.global_reads import called_from_user_code
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.splits.opened_containers import Entries, Outside
from xjit.capture.tracers.provenance import ask_to_rewrite, is_splitting, refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.dataclass import dataclass
from xjit.ir.context import TracedValue
from xjit.ops.effects.python_call import OBJECT_TYPE
from xjit.tree import distinct

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder

_MISSING = object()


def _refuse_change(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    kind = type(self).__name__.removeprefix("Recording").lower()
    self.place.open()
    refuse(
        f"the function changes a {kind} from outside",
        fix=f"make a new {kind}, and return it",
    )


class SeenAs:
    """An object that is of another class for the user's code."""

    seen_as: Any

    @property
    def __class__(self) -> Any:
        return self.seen_as

    @__class__.setter
    def __class__(self, value: Any) -> None:
        refuse("the class of an object from outside is assigned to")


class RecordingList(SeenAs, OuterList):
    """A list with all its entries recorded; numbers that are put in their places are set outside behind the program.

    ``begun`` are the entries that it has outside.
    """

    seen_as = list

    def __init__(self, entries: Iterable[Any], place: Outer) -> None:
        super().__init__(entries)
        self.place = place
        self.begun = self._entries = tuple(self)
        place.recorder.lists.append(self)

    def __setitem__(self, index: Any, value: Any) -> None:
        known = type(index) is int and -len(self) <= index < len(self)
        alone = not self.place.recorder.rewriting.takes_containers
        if not known or not alone or not all(map(_is_number, (*self, value))):
            _refuse_change(self)
        super().__setitem__(index, value)
        self._entries = tuple(self)

    def put(self, values: Iterable[Any]) -> None:
        """Gives all entries other values."""
        super().__setitem__(slice(None), values)
        self._entries = tuple(self)

    def assigned(self) -> list[tuple[int, Any]]:
        """The entries that are others than outside, with their places."""
        pairs = enumerate(zip(self, self.begun, strict=True))
        return [(place, now) for place, (now, before) in pairs if now is not before]

    @property
    def is_changed(self) -> bool:
        """Return whether code in C, such as ``heapq.heappush``, went around the methods of the list and changed
        it.
        """
        return len(self) != len(self._entries) or any(map(operator.is_not, self, self._entries))

    def __copy__(self) -> list[Any]:
        return list(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (list, (list(self),))


class RecordingSet(SeenAs, set[Any]):
    """A set of plain values."""

    seen_as = set

    def __init__(self, members: Iterable[Any], place: Outer) -> None:
        super().__init__(members)
        self.place = place
        self._members = frozenset(self)

    @property
    def is_changed(self) -> bool:
        """Return whether code in C, such as ``set.add``, went around the methods of the set and changed it."""
        return frozenset(self) != self._members

    def __copy__(self) -> set[Any]:
        return set(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (set, (list(self),))


class RecordingDict(SeenAs, dict[Any, Any]):
    """A dict that records an entry when it is read. It stores nothing itself."""

    def __init__(self, recorder: Recorder, target: dict[Any, Any], path: Path) -> None:
        super().__init__()
        self.place = Outer(recorder, path, target)
        self._recorder = recorder
        self._target = target
        self._path = path

    @property
    def is_changed(self) -> bool:
        """Return whether code in C, such as ``dict.__setitem__``, went around the methods of the dict and stored
        something in it.
        """
        return dict.__len__(self) > 0

    @property
    def seen_as(self) -> type:
        return type(self._target)

    @property
    def default_factory(self) -> Any:
        """The attribute of a ``defaultdict``."""
        target: Any = self._target
        return self._recorder.read(target.default_factory, self._path.attribute("default_factory"))

    @property
    def original(self) -> dict[Any, Any]:
        """The dict from outside itself."""
        return self._target

    def __getitem__(self, key: Any) -> Any:
        if type(key) is ChosenConstant:
            from xjit.capture.constants.chosen_keys import entry_of

            return entry_of(self, key)
        value = self.get(key, _MISSING)
        if value is not _MISSING:
            return value
        if hasattr(type(self._target), "__missing__"):
            self.place.open()
            refuse(f"{self._path} makes a new entry {key!r} on reading", fix="use .get()")
        raise KeyError(key)

    def get(self, key: Any, default: Any = None) -> Any:
        """The recorded entry, or the default; either way the trace depends on it."""
        key = self._outside(key)
        if key in self._target:
            return self._recorder.read(self._target[key], self._path.item(key))
        self._recorder.add(guards.no_item(self._path, key))
        return default

    def __contains__(self, key: object) -> bool:
        key = self._outside(key)
        found = key in self._target
        self._recorder.add((guards.has_item if found else guards.no_item)(self._path, key))
        return found

    def _outside(self, key: Any) -> Any:
        """The key as the dict has it, numbers of the run in it as those that the trace takes for granted."""
        if type(key) is tuple:
            return tuple(map(self._outside, key))
        if type(key) is ChosenConstant:
            return key.taken_for_granted("is used as a key")
        if type(key) is TracedArray:
            return key.as_key()
        return key if is_plain(key) else self._recorder.original(key)

    def _keys(self) -> tuple[Any, ...]:
        keys = tuple(self._target)
        self._recorder.add(guards.same_keys(self._path, keys))
        return tuple(map(self._key, keys))

    def _key(self, key: Any) -> Any:
        if type(key) in (tuple, frozenset):
            return type(key)(map(self._key, key))
        if is_plain(key) or isinstance(key, np.generic | tuple):
            return key
        return self._recorder.read(key, object_path(key, f"a key of {self._path}"))

    def __len__(self) -> int:
        return len(self._keys())

    def __iter__(self) -> Iterator[Any]:
        yield from self._keys()

    def __reversed__(self) -> Any:
        return reversed(self._keys())

    def keys(self) -> Any:
        """The keys, which become a guard."""
        return self.copy().keys()

    def values(self) -> Any:
        """The recorded values."""
        return self.copy().values()

    def items(self) -> Any:
        """Keys and recorded values."""
        return self.copy().items()

    def copy(self) -> dict[Any, Any]:
        """A plain dict of all recorded entries."""
        return {key: self[key] for key in self._keys()}

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    def __ne__(self, other: object) -> bool:
        return self.copy() != other

    def __or__(self, other: Any) -> Any:
        return self.copy() | dict(other)

    def __ror__(self, other: Any) -> Any:
        return dict(other) | self.copy()

    def __repr__(self) -> str:
        from xjit.capture.splits.conversions import is_traced

        entries = self.copy()
        if called_from_user_code(sys._getframe(1)) and is_traced(entries):
            ask_to_rewrite()
            refuse(f"the text of {self._path} needs its numbers", fix="print it outside of the function")
        return repr(entries)

    def __copy__(self) -> dict[Any, Any]:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (dict, (self.copy(),))


_CHANGES = {
    RecordingList: """__delitem__ __iadd__ __imul__ append clear extend insert pop remove reverse sort""",
    RecordingSet: """__iand__ __ior__ __isub__ __ixor__ add clear difference_update discard intersection_update pop
        remove symmetric_difference_update update""",
    RecordingDict: """__setitem__ __delitem__ __ior__ clear pop popitem setdefault update""",
}
for _class, _names in _CHANGES.items():
    for _name in _names.split():
        setattr(_class, _name, _refuse_change)


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, of the run or known."""
    if isinstance(value, TracedValue):
        return not value.ndim and (value.scalar or value.weak is not None)
    return type(value) in (bool, int, float, complex) or isinstance(value, np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Outer:
    """The place of a container from outside, which another trace may open: then steps in Python change it."""

    recorder: Recorder
    path: Path
    container: Any

    def open(self) -> None:
        """Lets another trace open the container, if there is nothing but numbers and text in it."""
        if is_splitting() and has_plain_entries(self.container):
            self.recorder.rewriting.open(self.path)

    @property
    def is_open(self) -> bool:
        """Return whether this trace has it open."""
        return self.path in self.recorder.rewriting.opened and self.recorder.trace.splitting

    def opened(self) -> Any:
        """The container as an object of the run, of which the trace knows the class alone."""
        kind = type(self.container)
        self.recorder.add(guards.same_type(self.path, kind))
        self.change()
        node = self.recorder.parameter(self.path, OBJECT_TYPE)
        self.recorder.entries[str(self.path)] = Entries(self.recorder, self.path, kind)
        return DeferredObject(node, self.recorder.trace, str(self.path), kind, outer=Outside.CONTAINER)

    def change(self) -> None:
        """Notes that the function changes the container."""
        self.recorder.identities.change(self.container, self.path)


def has_plain_entries(container: Any) -> bool:
    """Return whether a container has numbers and text alone."""
    entries = container.values() if isinstance(container, dict) else container
    return all(is_plain(one) or isinstance(one, np.generic) for one in entries)


def check_kept(value: Any, path: Path) -> None:
    """CaptureError if a container was changed without its methods."""
    if isinstance(value, RecordingList | RecordingSet | RecordingDict) and value.is_changed:
        kind = type(value).__name__.removeprefix("Recording").lower()
        value.place.open()
        refuse(f"the function changes {path}, a {kind} from outside", fix=f"make a new {kind}, and return it")
    if not isinstance(value, RecordingList) or not value.assigned():
        return
    value.place.change()
    if value.place.recorder.objects_go_outside:
        value.place.open()
        refuse(f"the function changes {path}, a list from outside, and hands objects to code outside")


def record_list(recorder: Recorder, values: list[Any], path: Path) -> Any:
    """The list with its entries recorded; numbers and text together are one guard."""
    place = Outer(recorder, path, values)
    return place.opened() if place.is_open else RecordingList(_entries(recorder, values, path), place)


def record_dict(recorder: Recorder, values: dict[Any, Any], path: Path) -> Any:
    """The dict, which records what is read of it."""
    place = Outer(recorder, path, values)
    if place.is_open:
        return place.opened()
    recorder.add(guards.same_type(path, type(values)))
    return RecordingDict(recorder, values, path)


def record_tuple(recorder: Recorder, values: tuple[Any, ...], path: Path) -> Any:
    """The tuple, named or not, with its entries recorded."""
    entries = _entries(recorder, values, path)
    return recorder.tuple_class(type(values))(*entries) if hasattr(values, "_fields") else tuple(entries)


def _entries(recorder: Recorder, values: Any, path: Path) -> list[Any]:
    recorder.add(guards.same_type(path, type(values)))
    if all(map(is_plain, values)) and not recorder.has_varying_items(path):
        recorder.add(guards.same_items(path, tuple(values)))
        return list(values)
    recorder.add(guards.same_length(path, len(values)))
    return [recorder.read(value, path.item(position)) for position, value in enumerate(values)]


def record_set(recorder: Recorder, values: Any, path: Path) -> Any:
    """A set of plain values, which is a guard as a whole."""
    place = Outer(recorder, path, values)
    if place.is_open and type(values) is set:
        return place.opened()
    recorder.add(guards.same_type(path, type(values)))
    recorder.add(guards.same_members(path, frozenset(map(distinct, values))))
    return values if isinstance(values, frozenset) else RecordingSet(values, place)
