"""Opened containers: lists, dicts and sets from outside that the function changes, each change a step in Python.

history.append(x.mean())      call history.append(p0)
counts[key] += 1              call counts[key], then the sum, then counts[key] = ..

They have numbers and text alone: arrays in them would have to be the very ones that the program computes with. So
where the program reads entries, there are none when it begins, and it puts nothing in that may be one.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.guarding.access_path import Path
from xjit.capture.guarding.guards import Guard
from xjit.capture.tracers.provenance import refuse
from xjit.dataclass import dataclass
from xjit.ir.context import TracedValue
from xjit.ops.effects.python_call import EntryError

NO_ARRAYS = "{k} not in map(type, {v})"
NO_ARRAYS_IN_DICT = "{k} not in map(type, {v}.values())"
"""The conditions that a container has no arrays."""

_TAKING_NAMES = "append extend insert clear add update remove discard sort reverse index count __contains__"
_TAKING = frozenset(_TAKING_NAMES.split())
"""Methods that return no entries."""
_WITHOUT_ARRAYS = frozenset(("str", "repr", "format", "len", "int", "float", "complex", "bool"))
"""Builtins that return numbers and text, whatever they get."""
_OF_NUMBERS = ("builtins", "_operator", "math", "cmath")
"""Modules whose functions return no arrays where they get none."""


class Outside(enum.Enum):
    """The part that an object of the run has in a container from outside."""

    CONTAINER = enum.auto()
    ENTRY = enum.auto()


@dataclass(slots=True, eq=False)
class Entries:
    """The entries of a container from outside: if the program reads any, and puts in what may be an array."""

    recorder: Any
    path: Path
    kind: type
    are_read: bool = False
    in_doubt: bool = False

    def read(self, method: str = "") -> None:
        """Notes that the program reads entries, unless it calls a method that returns none."""
        if method in _TAKING or self.are_read:
            return
        condition = NO_ARRAYS_IN_DICT if issubclass(self.kind, dict) else NO_ARRAYS
        self.recorder.add(Guard(self.path, condition, np.ndarray, "{path} has an array"))
        self.are_read = True
        self._check()

    def take(self, values: list[Any]) -> None:
        """Notes what the program puts in."""
        self.in_doubt |= not all(map(is_single, values))
        self._check()

    def _check(self) -> None:
        if self.are_read and self.in_doubt:
            refuse(f"{self.path}, of which entries are read, may come to hold an array", fix="keep numbers in it")


def is_single(value: Any) -> bool:
    """Return whether a value is known to be no array, as numbers and text are."""
    if getattr(type(value), "is_single", None) is not None:
        return bool(value.is_single)
    return not isinstance(value, TracedValue | np.ndarray) or not value.ndim


def makes_singles(function: Any, leaves: list[Any]) -> bool:
    """Return whether a function returns no array, where it gets these numbers, texts and objects.

    >>> makes_singles(max, [1, 2.5]), makes_singles(max, [np.ones(1), 2.5]), makes_singles(len, [np.ones(1)])
    (True, False, True)
    """
    function = function.func if type(function) is functools.partial else function
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", "")
    if module == "builtins" and name in _WITHOUT_ARRAYS:
        return True
    known = module in _OF_NUMBERS or function is entry_in_place
    return known and all(map(is_single, leaves))


def method_of(container: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """The result of a method, such as ``append``."""
    return _checked(getattr(container, name)(*args, **kwargs))


def entry_of(container: Any, key: Any) -> Any:
    """``container[key]``; EntryError for an array, which the program may know otherwise."""
    return _checked(container[key])


def entry_in_place(function: Callable[[Any, Any], Any], entry: Any, other: Any) -> Any:
    """The result of an operator in place of an entry."""
    return function(_checked(entry), other)


def _checked(entry: Any) -> Any:
    if isinstance(entry, np.ndarray):
        raise EntryError
    return entry
