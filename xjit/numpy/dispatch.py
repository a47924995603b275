"""Dispatch of NumPy's protocols: a ufunc or function of NumPy called on traced values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xjit.errors import ArgumentError, CaptureError
from xjit.numpy import ufuncs
from xjit.numpy.algebra import matmul, outer_products
from xjit.numpy.arrays import shaping
from xjit.numpy.reducing import axis_reductions, scans, segments
from xjit.numpy.rules.library_folds import library_fold
from xjit.numpy.rules.values import as_value, refuse, shape_of
from xjit.numpy.selecting import indexing
from xjit.numpy.traced_functions import traced_functions

Function = Callable[..., Any]

# Ufuncs that contract the last axes of stacks.
OF_STACKS: dict[np.ufunc, Function] = {np.matmul: matmul.matmul, **outer_products.UFUNCS}


_BUILD = "build the array from its parts with np.where, np.concatenate or np.stack"
WRITES: frozenset[Any] = frozenset({np.put, np.place, np.copyto, np.putmask, np.put_along_axis, np.fill_diagonal})
"""Functions that write into an array."""


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``ufunc.method(*inputs, **kwargs)`` on traced values.

    Raises CaptureError for a ufunc or method that is not supported.
    """
    options = dict(kwargs)
    outputs = options.pop("out", None)
    if outputs is not None and any(one is not None for one in _as_tuple(outputs)):
        refuse(ufunc.__name__, out=outputs)
    if method == "__call__":
        return OF_STACKS[ufunc](*inputs, **options) if ufunc in OF_STACKS else ufuncs.call(ufunc, *inputs, **options)
    if method == "reduce" and ufunc in axis_reductions.FOLDS:
        return _reduce(ufunc, *inputs, **options)
    if method == "accumulate" and ufunc in scans.ACCUMULATED:
        return scans.accumulate(ufunc, *inputs, **options)
    if method in ("reduce", "accumulate"):
        return library_fold(ufunc, method, *inputs, **options)
    if method == "reduceat":
        return segments.reduceat(ufunc, *inputs, **options)
    if method == "outer" and ufunc.signature is None:
        return _outer(ufunc, *inputs, **options)
    name = f"numpy.{ufunc.__name__}.{method}"
    if method == "at":
        raise CaptureError(f"{name} writes into an array, which is not supported", fix=_BUILD)
    raise CaptureError(f"{name} is not supported", fix="call it outside of the compiled function")


def _as_tuple(outputs: Any) -> tuple[Any, ...]:
    return outputs if isinstance(outputs, tuple) else (outputs,)


def _reduce(
    ufunc: np.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Any:
    name = f"{ufunc.__name__}.reduce"
    refuse(name, out=out)
    return axis_reductions.fold(name, ufunc, array, axis, dtype, keepdims, initial, where)


def _outer(ufunc: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    """Every element of one operand with every element of the other; numbers have the types of their arrays."""
    if ufunc.nin != 2:
        raise ArgumentError(f"numpy.{ufunc.__name__}.outer: outer product only supported for binary functions")
    x, y = (shaping.as_array(as_value(value, f"{ufunc.__name__}.outer")) for value in (a, b))
    return ufuncs.call(ufunc, indexing.getitem(x, (..., *(None,) * len(shape_of(y)))), y, **options)


def call_function(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``func(*args, **kwargs)`` for a function of NumPy, on traced values.

    Raises CaptureError for a function that is not supported.
    """
    function = traced_functions().get(func)
    if function is None:
        module = getattr(func, "__module__", "numpy") or "numpy"
        name = f"{module}.{getattr(func, '__name__', func)}"
        if func in WRITES:
            raise CaptureError(f"{name} writes into an array, which is not supported", fix=_BUILD)
        raise CaptureError(f"{name} is not supported", fix="call it outside of the compiled function")
    return function(*args, **kwargs)
