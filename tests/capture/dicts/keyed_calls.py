"""Calls of functions that make dicts and sets beside Python's: types and order of the entries are the same."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import xjit


def described(value: Any) -> Any:
    """A value that equals another one where types, order and numbers are the same."""
    if isinstance(value, dict):
        pairs = [(described(key), described(one)) for key, one in value.items()]
        return type(value), getattr(value, "default_factory", None), pairs
    if isinstance(value, set | tuple | list):
        return type(value), list(map(described, value))
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    return type(value), repr(value)


def outcome(function: Any, arguments: Any) -> Any:
    """The result of a call, or the class and the text of its error, and the arguments behind it."""
    given = copy.deepcopy(arguments)
    try:
        found = described(function(*given))
    except Exception as error:
        found = type(error), str(error)
    return found, described(given)


def check_keyed(function: Any, *calls: Any) -> Any:
    """Check that calls are compiled and give what Python gives; return what is compiled."""
    compiled = xjit.jit(function, strict=True)
    for arguments in calls:
        found, wanted = outcome(compiled, arguments), outcome(function, arguments)
        assert found == wanted, (arguments, found, wanted)
    return compiled
