"""The namespace of the array API that the tests are given: every function runs inside of a compiled one.

There it calls the function of the same name of the namespace that its arrays have while they are traced.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import xjit
from xjit.errors import FallbackWarning, RetraceWarning

# Arrays, types and questions about types: there is nothing to compile.
_LEFT = """
    asarray from_dlpack empty empty_like can_cast finfo iinfo isdtype result_type broadcast_shapes
"""


def namespace_of(*values: Any) -> Any:
    """The namespace of the first array among nested values; NumPy's where there is none."""
    return next((one.__array_namespace__() for one in _leaves(values) if hasattr(one, "__array_namespace__")), np)


def _leaves(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _leaves(value)
        else:
            yield value


class Namespace(types.ModuleType):
    """A module of the array API whose functions are compiled."""

    def __init__(self, module: types.ModuleType, *path: str) -> None:
        super().__init__(module.__name__, module.__doc__)
        self._module, self._path = module, path

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if isinstance(value, types.ModuleType):
            return Namespace(value, *self._path, name)
        if name.startswith("_") or isinstance(value, type) or not callable(value) or name in _LEFT.split():
            return value
        return compiled(*self._path, name)

    def __dir__(self) -> list[str]:
        return dir(self._module)


@functools.cache
def compiled(*path: str) -> Any:
    """The function that a dotted name means, inside of a compiled one; without a word where NumPy runs it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        function = functools.reduce(getattr, path, namespace_of(*args, *kwargs.values()))
        return function(*args, **kwargs)

    call.__qualname__ = path[-1]
    jitted = xjit.jit(call)

    original: Any = functools.reduce(getattr, path, np)

    @functools.wraps(original)
    def run(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            warnings.simplefilter("ignore", RetraceWarning)
            return jitted(*args, **kwargs)

    return run


_NUMPY = Namespace(np)


def __getattr__(name: str) -> Any:
    return getattr(_NUMPY, name)


def __dir__() -> list[str]:
    return dir(np)
