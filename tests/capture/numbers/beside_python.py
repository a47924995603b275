"""Calls of compiled functions beside Python's: the same numbers, of the same types, or the same errors."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import xjit


def outcome(function: Callable[..., Any], arguments: Any) -> Any:
    """The result of a call, with its type, or the class and the text of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return described(function(*copy.deepcopy(arguments)))
        except Exception as error:
            return type(error), str(error)


def described(value: Any) -> Any:
    """A value that equals another one if both are of the same types and have the same bits."""
    if isinstance(value, tuple | list):
        return type(value), tuple(map(described, value))
    if isinstance(value, dict):
        return type(value), tuple((key, described(one)) for key, one in value.items())
    array = np.array(value)
    if array.dtype.kind in "fc":
        array[np.isnan(array)] = np.nan  # of any sign
    return type(value), array.dtype, array.shape, array.tobytes() if array.dtype != object else repr(value)


def check_whole(function: Callable[..., Any], *calls: Any) -> Any:
    """Check that calls are compiled without steps in Python, and give what Python gives; return what is compiled.

    Each of the calls is a tuple of arguments. Those whose conditions do not hold are Python's.
    """
    compiled = xjit.jit(function, strict=True)
    for arguments in calls:
        found, wanted = outcome(compiled, arguments), outcome(function, arguments)
        assert found == wanted, (arguments, found, wanted)
    return compiled
