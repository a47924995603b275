"""Opened containers: lists, dicts and sets from outside that the function changes, each change a step in Python.

history.append(x.mean())      call history.append(p0)
counts[key] += 1              call counts[key], then the sum, then counts[key] = ..

They have numbers and text alone: arrays in them would have to be the very ones that the program computes with.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.ops.effects.python_call import EntryError


class Outside(enum.Enum):
    """The part that an object of the run has in a container from outside."""

    CONTAINER = enum.auto()
    ENTRY = enum.auto()


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
