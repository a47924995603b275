"""Copies of objects, as :mod:`copy` makes them: objects of the call, with the attributes of what is copied."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from xjit.capture.recording.object_state import assigned_to, fields_of, state_of
from xjit.capture.recording.user_objects import MISSING, lookup, stand_in_of_new
from xjit.capture.tracers.provenance import refuse

# What a class may define to have its objects copied in a way of its own.
_OWN_WAYS = (
    *("__new__", "__reduce__", "__reduce_ex__"),
    *("__getstate__", "__setstate__", "__getnewargs__", "__getnewargs_ex__"),
)


def copied(value: Any) -> Any:
    """``copy.copy`` of the stand-in of an object."""
    return _copied(value, lambda made, part: part)


def deeply_copied(value: Any, memo: dict[int, Any]) -> Any:
    """``copy.deepcopy`` of the stand-in of an object."""

    def part_of(made: Any, part: Any) -> Any:
        memo[id(value)] = made
        return copy.deepcopy(part, memo)

    return _copied(value, part_of)


def _copied(value: Any, part_of: Callable[[Any, Any], Any]) -> Any:
    state = state_of(value)
    if any(lookup(state.cls, name)[0] not in (object, None) for name in _OWN_WAYS):
        refuse(f"an object of class {state.cls.__qualname__} is copied in a way of its own", fix="copy its arrays")
    made = stand_in_of_new(state.recorder, state.cls)
    for name, part in _attributes(value):
        fields_of(made)[name] = part_of(made, part)
    return made


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that an object itself has, in order; that there are no others is guarded."""
    state = state_of(value)
    if state.path is None:
        yield from assigned_to(value).items()
        return
    names = dict.fromkeys(_slots(state.cls))
    if hasattr(state.target, "__dict__"):
        own = state.recorder.read(state.target.__dict__, state.path.attribute("__dict__"))
        names |= dict.fromkeys(own.keys())
    for name in names | assigned_to(value):
        part = getattr(value, name, MISSING)
        if part is not MISSING:
            yield name, part


def _slots(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        slots = vars(base).get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else tuple(slots)
        yield from (name for name in names if name not in ("__dict__", "__weakref__"))
