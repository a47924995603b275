"""Objects that a call makes behind its program, and its assignments to those and to objects from outside."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from xjit.capture.outline import Assignment, Outline
from xjit.ir.boundary import COMES_FIRST
from xjit.ir.handlers import from_handler


def make(cls: type) -> Any:
    """A new object of a class that nobody has prepared; an empty list or dict."""
    return cls() if cls in (list, dict) else object.__new__(cls)


def _attribute(target: Any, key: str, value: Any) -> None:
    setattr(target, key, value)


def _field(target: Any, key: str, value: Any) -> None:
    object.__setattr__(target, key, value)


def _entries(target: Any, key: Any, value: Any) -> None:
    if type(target) is list:
        target.extend(value)
    else:
        target.update(value)


def _contents(target: Any, key: Any, value: Any) -> None:
    if isinstance(target, list):
        target[:] = value
    else:
        target.clear()
        target.update(value)


WAYS: dict[str, Callable[[Any, Any, Any], None]] = {
    "attribute": _attribute,
    "field": _field,
    "item": operator.setitem,
    "entries": _entries,
    "contents": _contents,
}
"""The function of the object, the key and the value for each way to assign."""


def does_more(captured: Outline) -> bool:
    """Return whether a call makes or assigns anything."""
    return bool(captured.makes or captured.assignments)


def changes_objects(captured: Outline) -> bool:
    """Return whether a call assigns to objects from outside."""
    return any(one.path is not None for one in captured.assignments)


def targets(assignments: Sequence[Assignment], leaves: Sequence[Any], made: Sequence[Any]) -> list[Any]:
    """The objects that are assigned to, as they are found before anything is assigned."""
    return [made[one.made] if one.path is None else one.path.read(leaves) for one in assignments]


def assign(assignments: Sequence[Assignment], objects: Sequence[Any], values: Sequence[Any]) -> None:
    """Assigns the values, in order."""
    for one, target, value in zip(assignments, objects, values, strict=True):
        WAYS[one.way](target, one.key, value)


def before_assigning(error: Exception) -> None:
    """Lets NumPy do a call whose program has raised this before anything was assigned, from the beginning."""
    if from_handler(error) is None:
        setattr(error, COMES_FIRST, True)
