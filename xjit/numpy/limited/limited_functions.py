"""Calls of NumPy's functions and methods on arrays of which at least one is limited."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xjit.numpy import methods
from xjit.numpy.limited.arrays import LimitedArray, made, sizes_of
from xjit.numpy.limited.convolving import convolve, correlate
from xjit.numpy.limited.finding import argwhere, flatnonzero, nonzero
from xjit.numpy.limited.functions import FUNCTIONS, refused
from xjit.numpy.limited.functions import call_ufunc as call_ufunc
from xjit.numpy.limited.in_library import IN_LIBRARY
from xjit.numpy.limited.joined_arrays import JOINED
from xjit.numpy.limited.moving_indices import getitem
from xjit.numpy.limited.solvers import SOLVERS
from xjit.numpy.rules.values import given


def _where(condition: Any, x: Any = np._NoValue, y: Any = np._NoValue) -> Any:
    return FUNCTIONS[np.where](condition, x, y) if given(x) and given(y) else nonzero(condition)


_TABLE: dict[Any, Callable[..., Any]] = {
    **FUNCTIONS,
    **JOINED,
    **IN_LIBRARY,
    **SOLVERS,
    np.correlate: correlate,
    np.convolve: convolve,
    np.where: _where,
    np.nonzero: nonzero,
    np.flatnonzero: flatnonzero,
    np.argwhere: argwhere,
}

_METHODS: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        *("sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "mean", "var", "std", "cumsum", "cumprod"),
        *("copy", "round", "clip", "dot", "transpose", "reshape", "ravel", "repeat", "nonzero", "argsort"),
    )
}


def call_function(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """``function(*args, **kwargs)`` for a function of NumPy on arrays of which at least one is limited."""
    found = _TABLE.get(function)
    if found is None:
        from xjit.numpy.limited.sets import SETS  # which call others from here

        found = SETS.get(function)
    if found is None:
        raise refused(f"numpy.{getattr(function, '__name__', function)}")
    try:
        inspect.signature(found).bind(*args, **kwargs)
    except TypeError:
        raise refused(f"numpy.{function.__name__} with such arguments") from None
    return found(*args, **kwargs)


def call_method(name: str, value: LimitedArray, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A method of ndarray on a limited array."""
    if name == "astype":
        return made(methods.METHODS["astype"](value.value, *args, **kwargs), sizes_of(value))
    if name == "flatten" and not args and not kwargs:
        return call_function(np.copy, (call_function(np.ravel, (value,), {}),), {})
    if name == "view" and not args and not kwargs:
        return getitem(value, ...)
    if name not in _METHODS:
        raise refused(f"numpy.ndarray.{name}")
    if name == "copy":
        kwargs = {"order": "C", **kwargs} if not args else kwargs
    if name == "transpose" and len(args) > 1:
        args = (args,)
    return call_function(_METHODS[name], (value, *args), kwargs)
