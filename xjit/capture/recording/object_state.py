"""The state of stand-ins of objects: where the object stands, and the attributes that the function has assigned.

An object that is made while tracing has its attributes in the stand-in itself. Of one from outside the stand-in has
those alone that were assigned: they are set on the caller's object behind the program. Both may be assigned in code
that perhaps does not run, or runs again and again; so what was assigned can be seen and taken back.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from xjit.capture.guarding.access_path import Path
from xjit.capture.recording import mutable_objects
from xjit.capture.recording.container_entries import Entries, contents
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.dataclass import dataclass

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder

STATE = "_xjit_state"


@dataclass(eq=False, slots=True)
class State:
    """State of a stand-in; ``path`` is None for an object that was made while tracing.

    Of an object that is ``shown`` the function has seen the dict of its attributes.
    """

    recorder: Recorder
    cls: type
    target: Any
    path: Path | None
    shown: bool = False


def state_of(stand_in: Any) -> State:
    """The state of the stand-in of an object or class."""
    state: State = object.__getattribute__(stand_in, STATE)
    return state


def fields_of(stand_in: Any) -> dict[str, Any]:
    """The dict of the attributes that a stand-in itself has, its state among them."""
    own: dict[str, Any] = object.__getattribute__(stand_in, "__dict__")
    return own


def assigned_to(stand_in: Any) -> dict[str, Any]:
    """The attributes that the function has assigned."""
    return {name: value for name, value in fields_of(stand_in).items() if name != STATE}


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """An attribute of a stand-in as a variable that loops and branches assign."""

    stand_in: Any
    name: str

    @property
    def key(self) -> tuple[int, str]:
        """The mark that tells it from other attributes."""
        return id(self.stand_in), self.name

    @property
    def label(self) -> str:
        """The name in messages."""
        state = state_of(self.stand_in)
        return f"{state.cls.__qualname__}.{self.name}" if state.path is None else str(state.path.attribute(self.name))

    def get(self) -> Any:
        """The value, UNBOUND where the object has no such attribute."""
        found = fields_of(self.stand_in).get(self.name, UNBOUND)
        state = state_of(self.stand_in)
        if found is not UNBOUND or state.path is None or not hasattr(state.target, self.name):
            return found
        return getattr(self.stand_in, self.name)

    def set(self, value: Any) -> None:
        """Gives it a value; UNBOUND takes back what was assigned."""
        if value is UNBOUND:
            fields_of(self.stand_in).pop(self.name, None)
        else:
            fields_of(self.stand_in)[self.name] = value


class ObjectStates:
    """The attributes of all stand-ins, and the entries of some containers, at one time, to come back to.

    Arrays have no further name by that. Objects from outside that are read later for the first time count as well:
    nothing of theirs was assigned then.
    """

    def __init__(self, recorder: Recorder, containers: Iterable[Any] = ()) -> None:
        recorder.objects[:] = [one for one in recorder.objects if one() is not None]
        self._recorder = recorder
        self._places: list[tuple[weakref.ref[Any], tuple[str, ...], int]] = []
        values: list[Any] = []
        for one in recorder.objects:
            stand_in = one()
            if stand_in is not None:
                fields = fields_of(stand_in)
                self._places.append((one, tuple(fields), len(values)))
                values += fields.values()
        self._containers: list[tuple[Entries, int, int]] = []
        self._lists = len(recorder.lists)
        for container in (*containers, *recorder.lists):
            entries, begin = Entries.of(container), len(values)
            values += contents(container)
            self._containers.append((entries, begin, len(values)))
        self._mutable = [(one, mutable_objects.state_of(one)) for one in recorder.mutable.values()]
        self._values = tuple(values)
        recorder.remembered.append(self._values)

    def __del__(self) -> None:
        kept = self._recorder.remembered
        for place in range(len(kept) - 1, -1, -1):
            if kept[place] is self._values:
                del kept[place]
                return

    def _read_since(self) -> Iterator[Any]:
        """The stand-ins of objects from outside that were read since for the first time."""
        known = {id(one) for one, _, _ in self._places}
        for one in self._recorder.objects:
            stand_in = one() if id(one) not in known else None
            if stand_in is not None and state_of(stand_in).path is not None:
                yield stand_in

    def _lists_since(self) -> Iterator[tuple[Entries, tuple[Any, ...]]]:
        """The lists from outside that were read since for the first time, with the entries that they had."""
        for one in self._recorder.lists[self._lists :]:
            entries = Entries.of(one)
            if not entries.is_as(one.begun):
                yield entries, one.begun

    def _check_mutable(self) -> None:
        for one, before in self._mutable:
            if not mutable_objects.is_as(mutable_objects.state_of(one), before):
                mutable_objects.refuse_change(one)

    def restore(self) -> None:
        """Takes back what was assigned since; CaptureError where an object was changed of which nobody can."""
        for one, names, begin in self._places:
            stand_in = one()
            if stand_in is not None:
                fields = fields_of(stand_in)
                before = dict(zip(names, self._values[begin : begin + len(names)], strict=True))
                if fields.keys() != before.keys() or any(fields[name] is not before[name] for name in names):
                    fields.clear()
                    fields.update(before)
        for stand_in in self._read_since():
            for name in assigned_to(stand_in):
                del fields_of(stand_in)[name]
        for entries, begin, end in self._containers:
            if not entries.is_as(self._values[begin:end]):
                entries.set(self._values[begin:end])
        for entries, begun in self._lists_since():
            entries.set(begun)
        self._check_mutable()

    def assigned(self) -> dict[tuple[int, str], tuple[Attribute | Entries, Any]]:
        """The attributes that were assigned since, with their values, and the containers that were changed.

        CaptureError where one has got other entries than those that it had, or an object of Python's was changed.
        """
        self._check_mutable()
        found: dict[tuple[int, str], tuple[Attribute | Entries, Any]] = {}
        for one, names, begin in self._places:
            stand_in = one()
            if stand_in is None:
                continue
            fields = fields_of(stand_in)
            before = dict(zip(names, range(begin, begin + len(names)), strict=True))
            for name in (*before, *(name for name in fields if name not in before)):
                value = fields.get(name, UNBOUND)
                if name not in before or value is not self._values[before[name]]:
                    attribute = Attribute(stand_in, name)
                    found[attribute.key] = attribute, value
        for stand_in in self._read_since():
            for name, value in assigned_to(stand_in).items():
                attribute = Attribute(stand_in, name)
                found[attribute.key] = attribute, value
        for entries, begin, end in self._containers:
            if not entries.is_as(self._values[begin:end]):
                entries.check_form(self._values[begin:end])
                found[entries.key] = entries, entries.get()
        for entries, _ in self._lists_since():
            found[entries.key] = entries, entries.get()
        return found
