"""The Python functions inside of what stands in classes and modules."""

from __future__ import annotations

import types
from typing import Any


def inner_function(raw: Any) -> types.FunctionType | None:
    """The Python function behind a definition in a class: a method of any sort, a property, a compiled function."""
    inner = raw.fget if isinstance(raw, property) else raw
    while not isinstance(inner, types.FunctionType):
        is_method = isinstance(inner, staticmethod | classmethod)
        if not is_method and not type(inner).__module__.startswith("xjit."):
            return None
        inner = getattr(inner, "__wrapped__", None)
    return inner
