"""Stand-ins of ufuncs of two operands: their methods get lists with traced values as arrays.

    np.maximum.reduce([x, y, z])     np.maximum.reduce(np.array([x, y, z]))

NumPy makes an array of a list before it looks whether what is in it has a ufunc protocol of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.tracers.numpy_call import call_created, has_open_sizes, traced_leaves
from xjit.numpy.arrays.creation import array

_OF_ARRAYS = frozenset({"reduce", "accumulate", "reduceat"})


class TracedUfunc:
    """A ufunc as traced code gets it: itself, but for the methods that take one array."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self.stands_for = ufunc

    @property
    def __class__(self) -> Any:  # what isinstance sees
        return np.ufunc

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise TypeError("__class__ assignment is not supported on ufuncs")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.stands_for(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.stands_for, name)
        return _of_lists(method) if name in _OF_ARRAYS else method

    def __eq__(self, other: object) -> bool:
        return self is other or self.stands_for is other

    def __hash__(self) -> int:
        return hash(self.stands_for)

    def __repr__(self) -> str:
        return repr(self.stands_for)


def _of_lists(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapper(values: Any, *args: Any, **kwargs: Any) -> Any:
        if type(values) in (list, tuple) and _is_traced(values):
            values = call_created(array, (values,), {})
        return method(values, *args, **kwargs)

    return wrapper


def _is_traced(values: Any) -> bool:
    return next(traced_leaves(values), None) is not None or has_open_sizes(values)


@functools.lru_cache(maxsize=256)
def traced_ufunc(function: Any) -> TracedUfunc | None:
    """The stand-in of a ufunc whose methods take arrays, None for anything else."""
    folds = isinstance(function, np.ufunc) and (function.nin, function.nout, function.signature) == (2, 1, None)
    return TracedUfunc(function) if folds else None
