"""Trials of the user's code: what one leaves behind is taken back, and changes of Python objects are seen."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from xjit.capture.recording.object_state import ObjectStates
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.ir.current import current

_CONTAINERS = (list, dict, set)
_MAX_OBJECTS = 10_000


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


class Checkpoint:
    """The state of a trace, and of the Python objects that some functions reach, before these are tried.

    The attributes of ``objects`` may be assigned, and are variables then.
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
        self._versions = dict(trace.versions)
        self._contents = [(one, _contents(one)) for one in reached(functions)]
        self.objects = ObjectStates(trace.recorder)

    def restore(self) -> None:
        """Takes back what was traced, decided and changed since."""
        del self._trace.refusals[self._refusals :]
        del self._trace.effects[self._effects :]
        del self._trace.recorder.caught[self._caught :]
        del self._trace.conditional[self._conditional :]
        self._trace.versions.clear()
        self._trace.versions.update(self._versions)
        self._trace.recorder.take_back(self._decisions)
        self.objects.restore()
        for one, before in self._contents:
            if not _is_same(one, before):
                _refill(one, before)

    def check_objects(self) -> None:
        """CaptureError if a container of Python's is not as it was: a loop would change it at each turn."""
        for one, before in self._contents:
            if not _is_same(one, before):
                _refill(one, before)
                kind = type(one).__name__
                refuse(
                    f"a {kind} is changed in a loop or a branch that only the run decides",
                    fix="use an array, and write to its elements",
                )


def reached(functions: Iterable[Callable[..., Any]]) -> list[Any]:
    """The containers of Python's that functions may change, by the variables that they close over."""
    found: dict[int, Any] = {}
    stack: list[Any] = list(functions)
    seen: set[int] = set()
    while stack and len(seen) < _MAX_OBJECTS:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if type(one) in _CONTAINERS:
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
    elif kind is types.MethodType:
        yield one.__func__
        yield one.__self__
    elif kind is dict:
        yield from one.values()
    elif kind in (list, tuple, set):
        yield from one


def _contents(one: Any) -> Any:
    return list(one.items()) if type(one) is dict else list(one)


def _is_same(one: Any, before: Any) -> bool:
    now = _contents(one)
    if len(now) != len(before):
        return False
    if type(one) is dict:
        return all(a[0] is b[0] and a[1] is b[1] for a, b in zip(now, before, strict=True))
    return all(a is b for a, b in zip(now, before, strict=True))


def _refill(one: Any, before: Any) -> None:
    one.clear()
    if type(one) is list:
        one.extend(before)
    else:
        one.update(before)
