"""The parameters that several of NumPy's reductions share, each list written once.

A decorated function gets its arguments in one order, those left out filled in; ``out`` is refused under its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from xjit.errors import ArgumentError
from xjit.numpy.rules.values import given, refuse

Function: TypeAlias = Callable[..., Any]

_NONE = np._NoValue


def like_sum(core: Function) -> Function:
    """The parameters of ``numpy.sum``; the core takes (a, axis, dtype, keepdims, initial, where)."""

    def function(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = _NONE,
        initial: Any = _NONE,
        where: Any = _NONE,
    ) -> Any:
        refuse(core.__name__, out=out)
        return core(a, axis, dtype, keepdims, initial, where)

    return _named_as(core, function)


def like_max(core: Function) -> Function:
    """The parameters of ``numpy.max``; the core takes those of ``like_sum``, with None for the element type."""

    def function(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = _NONE, initial: Any = _NONE, where: Any = _NONE
    ) -> Any:
        refuse(core.__name__, out=out)
        return core(a, axis, None, keepdims, initial, where)

    return _named_as(core, function)


def like_var(core: Function) -> Function:
    """The parameters of ``numpy.var``; the core takes (a, axis, dtype, ddof, keepdims, where, mean).

    Raises ArgumentError for both ``ddof`` and ``correction``, which are one and the same.
    """

    def function(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: Any = _NONE,
        *,
        where: Any = _NONE,
        mean: Any = _NONE,
        correction: Any = _NONE,
    ) -> Any:
        refuse(core.__name__, out=out)
        if given(correction) and ddof != 0:
            raise ArgumentError(f"numpy.{core.__name__}: ddof and correction can't be provided simultaneously.")
        return core(a, axis, dtype, correction if given(correction) else ddof, keepdims, where, mean)

    return _named_as(core, function)


def like_quantile(core: Function) -> Function:
    """The parameters of ``numpy.quantile``; the core takes (a, q, axis, method, keepdims, weights)."""

    def function(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: Any = False,
        method: str = "linear",
        keepdims: Any = _NONE,
        *,
        weights: Any = None,
    ) -> Any:
        refuse(core.__name__, out=out)
        return core(a, q, axis, method, keepdims, weights)

    return _named_as(core, function)


def _named_as(core: Function, function: Function) -> Function:
    function.__name__, function.__qualname__ = core.__name__, core.__qualname__
    function.__module__, function.__doc__ = core.__module__, core.__doc__
    return function
