"""Trials of the user's code: what one leaves behind is taken back, and changes of Python objects are seen."""

from __future__ import annotations

import collections
import contextlib
import functools
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from xjit.capture.recording.container_entries import CONTAINERS, Entries
from xjit.capture.recording.mutable_objects import may_change
from xjit.capture.recording.object_state import Attribute, ObjectStates, fields_of
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.ir.current import current
from xjit.ir.node import Node

_MAX_OBJECTS = 10_000
_OWN_METHODS = (types.BuiltinMethodType, types.MethodWrapperType)
"""Methods of Python's own objects, such as ``found.append``."""
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_SEQUENCES: tuple[type[Iterable[Any]], ...] = (list, tuple, set, collections.deque)


@contextlib.contextmanager
def remembered(values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Keeps the values of variables to come back to; arrays among them have no further name by that."""
    trace = current()
    assert isinstance(trace, CaptureTrace)
    kept = trace.recorder.remembered
    kept.append(values)
    try:
        yield values
    finally:
        del kept[max(place for place, one in enumerate(kept) if one is values)]


@contextlib.contextmanager
def effects_taken_back() -> Iterator[Sequence[Node]]:
    """Takes back the effects of what is traced for something that it tells: they happen where it runs."""
    trace = current()
    assert isinstance(trace, CaptureTrace)
    count, found = len(trace.effects), list[Node]()
    try:
        yield found
    finally:
        found += trace.effects[count:]
        del trace.effects[count:]


class Checkpoint:
    """The state of a trace, and of the Python objects that some functions reach, before these are tried.

    The attributes of ``objects`` may be assigned, and entries of the ``containers``: they are variables then. Lists
    and dicts of the run are ``gathered``.
    """

    def __init__(self, functions: Iterable[Callable[..., Any]]) -> None:
        trace = current()
        assert isinstance(trace, CaptureTrace)
        self._trace = trace
        self._refusals = len(trace.refusals)
        self._decisions = trace.recorder.decisions()
        self._effects = len(trace.effects)
        self._caught = len(trace.recorder.caught)
        self._conditional = len(trace.conditional)
        self._fallible = len(trace.fallible)
        self._pinned = 0 if trace.pins is None else trace.pins.mark()
        self._expected, self._fitting = len(trace.expected), set(trace.fitting)
        self._versions = dict(trace.versions)
        self._used = [(one, one.used) for one in trace.recorder.generator_calls]
        found = reached(functions, trace.recorder)
        self.containers = tuple(one for one in found if type(one) in CONTAINERS)
        self.gathered = tuple(one for one in found if _holds_entries(one))
        others = (one for one in found if type(one) not in CONTAINERS and may_change(one))
        trace.recorder.mutable.update((id(one), one) for one in others)
        self.objects = ObjectStates(trace.recorder, self.containers)
        self._kept: dict[int, tuple[weakref.ref[Any], Any]] = {}
        trace.trials.add(self)

    def keep(self, array: Any) -> None:
        """Remembers what an array is made of that is about to be written to at once: of constants, or chosen."""
        if id(array) not in self._kept or self._kept[id(array)][0]() is not array:
            self._kept[id(array)] = weakref.ref(array), array.kept()

    def restore(self) -> None:
        """Takes back what was traced, decided and changed since."""
        del self._trace.refusals[self._refusals :]
        del self._trace.effects[self._effects :]
        del self._trace.recorder.caught[self._caught :]
        del self._trace.conditional[self._conditional :]
        del self._trace.fallible[self._fallible :]
        del self._trace.expected[self._expected :]
        if self._trace.pins is not None:
            self._trace.pins.take_back(self._pinned)
        self._trace.fitting.intersection_update(self._fitting)
        self._trace.versions.clear()
        self._trace.versions.update(self._versions)
        for call, used in self._used:
            call.used = used
        for reference, kept in self._kept.values():
            array = reference()
            if array is not None:
                array.put_back(kept)
        self._trace.recorder.take_back(self._decisions)
        self.objects.restore()

    def check_unchanged(self) -> None:
        """CaptureError for what was changed or done since: the code behind a failed operation is not to run."""
        changed = any(self._versions.get(one) is not node for one, node in self._trace.versions.items())
        if changed or len(self._trace.effects) > self._effects or self.objects.assigned():
            refuse(
                "an expression changes something behind an operation whose error the function catches",
                fix="use a statement for each of them",
            )

    def check_objects(self, variables: Iterable[Attribute | Entries]) -> None:
        """CaptureError if a container of Python's is not as it was, and no variable: each turn would change it."""
        known = {one.key for one in variables}
        for key, (one, _) in self.objects.assigned().items():
            if isinstance(one, Entries) and key not in known:
                refuse(
                    f"{one.label} is changed where only the run decides if the code runs",
                    fix="use an array, and write to its elements",
                )


def reached(functions: Iterable[Callable[..., Any]], recorder: Any) -> list[Any]:
    """The objects of Python's that functions may change: by the variables that they close over, and by objects."""
    found: dict[int, Any] = {}
    stack: list[Any] = list(functions)
    stack += (value for one in recorder.objects if (made := one()) is not None for value in fields_of(made).values())
    seen: set[int] = set()
    while stack and len(seen) < _MAX_OBJECTS:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if type(one) in CONTAINERS or may_change(one) or _holds_entries(one):
            found[id(one)] = one
        stack.extend(_parts(one))
    return list(found.values())


def _parts(one: Any) -> Iterator[Any]:
    kind = type(one)
    if kind is types.FunctionType:
        for cell in one.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:
                continue
        yield from one.__defaults__ or ()
        yield from (one.__kwdefaults__ or {}).values()
    elif kind is types.MethodType:
        yield one.__func__
        yield one.__self__
    elif kind in _OWN_METHODS:
        yield one.__self__
    elif kind is functools.partial:
        yield from (one.func, *one.args, *one.keywords.values())
    elif kind is types.SimpleNamespace:
        yield from vars(one).values()
    elif kind in _VIEWS:
        yield from one.mapping.values()
    elif issubclass(kind, dict):
        yield from dict.values(one)
    elif issubclass(kind, _SEQUENCES):
        yield from next(base for base in _SEQUENCES if issubclass(kind, base)).__iter__(one)
    elif kind is DeferredObject:
        yield one.gathered
    elif _holds_entries(one):
        yield from one.cells


def _holds_entries(one: Any) -> bool:
    """Return whether an object is the elements of a list, a set or a dict of the run."""
    return getattr(type(one), "holds_entries", False)
