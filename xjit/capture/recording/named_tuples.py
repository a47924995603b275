"""Named tuple classes whose methods read globals: a class of the same name with the methods rebuilt."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from xjit import tree
from xjit.capture.guarding import guards
from xjit.capture.guarding.access_path import object_path
from xjit.capture.recording.traceable import is_library, is_traceable
from xjit.capture.recording.user_objects import inner_function

if TYPE_CHECKING:
    from xjit.capture.recording.recorder import Recorder

_GENERATED = frozenset({"__new__", "__repr__", "__getnewargs__", "__replace__", "_make", "_replace", "_asdict"})
_ORIGINAL = "_xjit_original"


def is_namedtuple_class(cls: type) -> bool:
    """Return whether instances of the class are named tuples."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_taken_apart(cls: type) -> bool:
    """Return whether a tuple of a class is its entries: not of a class of the user's, which may have more."""
    return is_namedtuple_class(cls) or is_library(cls.__module__)


def traced_tuple_class(recorder: Recorder, cls: type) -> type:
    """The class itself, or a subclass with rebuilt methods; ``original_tree`` turns it back."""
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__[: cls.__mro__.index(tuple)]):
        for name, raw in vars(base).items():
            inner = inner_function(raw)
            if inner is not None and is_traceable(inner) and name not in _GENERATED:
                recorder.add(guards.definition(object_path(cls, cls.__qualname__), name, raw))
                members[name] = _like(raw, recorder.function(inner))
    if not members:
        return cls
    members.update({"__slots__": (), "__module__": cls.__module__, "__qualname__": cls.__qualname__, _ORIGINAL: cls})
    return type(cls.__name__, (cls,), members)


def _like(raw: Any, rebuilt: Any) -> Any:
    return type(raw)(rebuilt) if isinstance(raw, staticmethod | classmethod | property) else rebuilt


def original_class(cls: type) -> type:
    """The user's class behind a rebuilt one."""
    return getattr(cls, _ORIGINAL, cls)


def original_tree(structure: tree.Tree) -> tree.Tree:
    """The structure with the user's own classes."""
    return _mapped(structure, original_class)


def traced_tree(recorder: Recorder, structure: tree.Tree) -> tree.Tree:
    """The structure with named tuple classes as traced code sees them."""
    return _mapped(structure, lambda cls: recorder.tuple_class(cls) if is_namedtuple_class(cls) else cls)


def _mapped(structure: tree.Tree, change: Any) -> tree.Tree:
    if not isinstance(structure, tree.Branch):
        return structure
    children = tuple(_mapped(child, change) for child in structure.children)
    return dataclasses.replace(structure, kind=change(structure.kind), children=children)
