"""The objects that a call makes and those that it changes: made and assigned behind the program, at each call.

    mean = Mean(x.sum(), 3)         make 0: Mean     set the field total of 0, set the field count of 0
    self.last = mean                set the attribute last of self to 0
    return mean                     0

So an object that has several names is one object, and objects may refer to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xjit.capture.outline import Assignment
from xjit.capture.recording.named_tuples import is_namedtuple_class
from xjit.capture.recording.object_state import State, assigned_to, state_of
from xjit.capture.recording.user_objects import RecordingObject, lookup
from xjit.dataclass import dataclass

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder


@dataclass(frozen=True, slots=True, eq=False)
class MadeObject:
    """Stands for the object of a number that the call makes."""

    number: int


class Made:
    """All that a call makes and assigns.

    values       the result; where something is made or assigned a tuple: the result, and the value of each assignment
    classes      the classes of the objects that are made
    assignments  what is assigned, in order: to objects of its own first, as these become visible last
    """

    def __init__(self, recorder: Recorder, result: Any) -> None:
        self._numbers: dict[int, MadeObject] = {}
        self._made: list[Any] = []
        changed = list(_changes(recorder))
        shared = _shared([result, *(value for _, value in changed)])
        self._containers = {id(one) for one in shared}
        self.values: Any = self._replaced(result)
        outside = [(one, self._replaced(value)) for one, value in changed]
        own: list[tuple[Assignment, Any]] = []
        for number, one in enumerate(self._made):  # which grows meanwhile
            own += [(assignment, self._replaced(value, one)) for assignment, value in _parts(one, number)]
        self.classes = tuple(map(_class_of, self._made))
        self.assignments = tuple(assignment for assignment, _ in (*own, *outside))
        if self.assignments or self.classes:
            self.values = (self.values, *(value for _, value in (*own, *outside)))

    def _replaced(self, value: Any, whole: Any = None) -> Any:
        """The value with what stands for objects that are made; a list or dict that is the ``whole`` is gone into."""
        kind = type(value)
        if _is_made(value) or (id(value) in self._containers and value is not whole):
            if id(value) not in self._numbers:
                self._numbers[id(value)] = MadeObject(len(self._made))
                self._made.append(value)
            return self._numbers[id(value)]
        if kind in (list, tuple):
            return kind([self._replaced(item) for item in value])
        if is_namedtuple_class(kind):
            return kind(*map(self._replaced, value))
        return {key: self._replaced(item) for key, item in value.items()} if kind is dict else value


def _is_made(value: Any) -> bool:
    return issubclass(type(value), RecordingObject) and state_of(value).path is None


def _class_of(value: Any) -> type:
    return state_of(value).cls if _is_made(value) else type(value)


def _parts(one: Any, number: int) -> Iterator[tuple[Assignment, Any]]:
    """The assignments that give an object that is made what it holds."""
    if not _is_made(one):
        yield Assignment("entries", made=number), one
        return
    for name, value in assigned_to(one).items():
        yield Assignment("field", name, made=number), value


def _changes(recorder: Recorder) -> Iterator[tuple[Assignment, Any]]:
    """The assignments to attributes of objects from outside, but for what has come back to where it was."""
    for reference in recorder.objects:
        stand_in = reference()
        if stand_in is None or state_of(stand_in).path is None:
            continue
        state = state_of(stand_in)
        for name, value in assigned_to(stand_in).items():
            if not _is_there(recorder, state, name, value):
                own = hasattr(lookup(state.cls, "__setattr__")[1], "__code__")
                yield Assignment("field" if own else "attribute", name, state.path), value
    for one in recorder.lists:
        for number, value in one.assigned():
            yield Assignment("item", number, one.place.path), value


def _is_there(recorder: Recorder, state: State, name: str, value: Any) -> bool:
    """Return whether an attribute of an object itself holds this very value, as an array after ``self.x += 1``."""
    assert state.path is not None
    own = name in getattr(state.target, "__dict__", ()) or hasattr(lookup(state.cls, name)[1], "__set__")
    return own and recorder.path_of(value) == state.path.attribute(name)


def _shared(values: list[Any]) -> list[Any]:
    """The lists and dicts that stand in several places, or within themselves."""
    seen: dict[int, Any] = {}
    found: dict[int, Any] = {}
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if not (kind in (list, dict) or _is_made(value) or isinstance(value, tuple)):
            continue
        if id(value) in seen:
            if kind in (list, dict):
                found[id(value)] = value
            if not isinstance(value, tuple):
                continue
        seen[id(value)] = value
        if _is_made(value):
            waiting += assigned_to(value).values()
        else:
            waiting += value.values() if kind is dict else value
    return list(found.values())
