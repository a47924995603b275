"""The Python functions inside of what stands in classes and modules."""

from __future__ import annotations

import functools
import types
from typing import Any


def name_of(function: Any) -> str:
    """The name of what is called, as its user writes it; of an object that is called, that of its class.

    >>> name_of(functools.partial(max, 1)), name_of(type("Model", (), {"__call__": None})())
    ('max', 'Model')
    """
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def inner_function(raw: Any) -> types.FunctionType | None:
    """The Python function behind a definition in a class: a method of any sort, a property, a compiled function."""
    inner = raw.fget if isinstance(raw, property) else raw
    while not isinstance(inner, types.FunctionType):
        is_method = isinstance(inner, staticmethod | classmethod)
        if not is_method and not type(inner).__module__.startswith("xjit."):
            return None
        inner = getattr(inner, "__wrapped__", None)
    return inner
