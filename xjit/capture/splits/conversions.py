"""Conversions of what only the run knows to numbers and text of Python's, each by a step in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xjit.capture.rewriting.python_runtime import OPERATORS
from xjit.capture.splits.deferred import DeferredObject, is_deferred
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.optional_value import OptionalValue, settled
from xjit.capture.tracers.provenance import is_splitting, refuse
from xjit.errors import CaptureError
from xjit.ir.context import TracedValue
from xjit.numpy.limited.arrays import LimitedArray

_LIKE: dict[Any, Any] = {bool: True, int: 1, float: 1.0, complex: 1j, len: 1}


COLLECTIONS = (list, tuple, set, frozenset, dict)


def is_traced(values: Any) -> bool:
    """Return whether something that only the run knows is among values, nested ones included."""
    if issubclass(type(values), tuple | list):
        return any(map(is_traced, values))
    if issubclass(type(values), dict):
        return any(map(is_traced, values.values()))
    chooses = getattr(type(values), "chooses", False)
    return chooses or isinstance(values, TracedValue | LimitedArray) or is_deferred(values)


def converted(function: Callable[[Any], Any], value: Any) -> Any:
    """The number or the text that a type of Python's makes of a value."""
    return step(function, (value,), {}, like=(_LIKE[function],) if function in _LIKE else None)


def collected(function: Any, value: DeferredObject) -> Any:
    """The collection that a type of Python's makes of the items of an object that only the run makes."""
    found = None if function is not list or value.elements is None else value.elements.listed()
    if found is not None:
        return DeferredObject(None, value.trace, "a list", list, found)
    return step(function, (value,), {}, kind=list if function is list else None)


def in_deferred(name: str, value: Any, container: DeferredObject) -> Any:
    """The truth of ``value in container``, or ``not_in``."""
    keyed = container.keyed
    if keyed is not None:
        return keyed.contains(value) if name == "in" else keyed.lacks(value)
    return step(OPERATORS[name], (value, container), {}, like=(True,))


_FIX = "start with a value of the same type"


def read(value: Any, whole: bool) -> Any:
    """The value of a variable that may be None, which is expected not to be, or chosen in a step in Python."""
    return settled(value, whole, _chosen_in_python)


def _chosen_in_python(value: OptionalValue) -> Any:
    text = "a variable may be None, as only the run tells, behind effects that happen once"
    if not is_splitting():
        refuse(text, value.value, fix=_FIX)
    note = CaptureError(text, fix=_FIX)
    return step(_none_or, (value.present, value.value), {}, note=note, label="a variable that may be None")


def _none_or(present: bool, value: Any) -> Any:
    return value if present else None


def text_of(function: Callable[..., Any], given: tuple[Any, ...]) -> DeferredObject:
    """The text that a function makes of values; CaptureError where no step in Python may make it."""
    if not is_splitting():
        refuse(
            "the text of an array or a number needs its numbers",
            fix="return the value, and print it outside of the function",
        )
    note = CaptureError(
        "the text of a value needs its numbers", fix="return the value, and print it outside of the function"
    )
    found: DeferredObject = step(function, given, {}, note=note, label="a text", kind=str)
    return found
