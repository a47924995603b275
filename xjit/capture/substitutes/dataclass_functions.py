"""Functions of :mod:`dataclasses` for the stand-ins of objects and classes.

Python's own compare by ``is`` what they read of a class, and a stand-in answers with others that stand for it.
"""

from __future__ import annotations

import copy
import dataclasses
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from xjit.capture.recording.containers import SeenAs
from xjit.capture.recording.object_state import state_of
from xjit.capture.recording.user_objects import RecordingObject, construct, real_class

_Pairs = list[tuple[str, Any]]


def _class_of(value: Any) -> Any:
    """The class of an object, or a class itself."""
    return state_of(value).cls if isinstance(value, RecordingObject) else real_class(value)


def _fields(value: Any) -> tuple[dataclasses.Field[Any], ...]:
    """``dataclasses.fields``."""
    return dataclasses.fields(_class_of(value))


def _is_object(value: Any) -> bool:
    cls = _class_of(value) if isinstance(value, RecordingObject) else type(value)
    return dataclasses.is_dataclass(cls)


def _as_dict(value: Any, *, dict_factory: Callable[[_Pairs], Any] = dict) -> Any:
    """``dataclasses.asdict``."""
    if not _is_object(value):
        raise TypeError("asdict() should be called on dataclass instances")
    return _taken_apart(value, dict_factory)


def _as_tuple(value: Any, *, tuple_factory: Callable[[list[Any]], Any] = tuple) -> Any:
    """``dataclasses.astuple``."""
    if not _is_object(value):
        raise TypeError("astuple() should be called on dataclass instances")
    return _taken_apart(value, lambda pairs: tuple_factory([one for _, one in pairs]))


def _taken_apart(value: Any, make: Callable[[_Pairs], Any]) -> Any:
    """Values made of the fields of an object, of those of objects in containers too, and copies of all else."""
    if _is_object(value):
        return make([(one.name, _taken_apart(getattr(value, one.name), make)) for one in _fields(value)])
    cls = value.seen_as if isinstance(value, SeenAs) else type(value)
    if issubclass(cls, list | tuple):
        inner = [_taken_apart(one, make) for one in value]
        return cls(*inner) if hasattr(cls, "_fields") else cls(inner)
    if not issubclass(cls, dict):
        return copy.deepcopy(value)
    pairs = [(_taken_apart(key, make), _taken_apart(one, make)) for key, one in value.items()]
    if not (_KEEPS_FACTORIES and hasattr(cls, "default_factory")):
        return cls(pairs)
    made = cls(value.default_factory)
    made.update(pairs)
    return made


_KEEPS_FACTORIES = sys.version_info >= (3, 12)
"""Earlier versions raise a TypeError for a ``defaultdict``."""


def replace_dataclass(value: Any, /, **changes: Any) -> Any:
    """``dataclasses.replace`` for the stand-ins of objects."""
    if not isinstance(value, RecordingObject):
        return dataclasses.replace(value, **changes)
    state = state_of(value)
    for field in dataclasses.fields(state.cls):
        if field.init and field.name not in changes:
            changes[field.name] = getattr(value, field.name)
    return construct(state, (), changes)


DATACLASS_FUNCTIONS: Mapping[Any, Any] = MappingProxyType(
    {
        dataclasses.fields: _fields,
        dataclasses.asdict: _as_dict,
        dataclasses.astuple: _as_tuple,
        dataclasses.replace: replace_dataclass,
    }
)
"""Functions that look at classes, each with what stands for it."""
