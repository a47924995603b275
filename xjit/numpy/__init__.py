"""NumPy's functions under NumPy's names, over the records: traced inside of a trace, computed at once outside.

>>> import numpy as np
>>> from xjit.numpy import add
>>> add(np.int8([1, 2]), 3)
array([4, 5], dtype=int8)

Outside of a trace results never share memory with their operands, and views are copies.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.numpy.dispatch import OF_STACKS, call_ufunc
from xjit.numpy.traced_functions import traced_functions
from xjit.numpy.ufuncs import ROWS

_VALUES = ("pi", "e", "inf", "nan", "newaxis", "euler_gamma", "dtype", "finfo", "iinfo", "bool", "bool_")
_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "intp", "float16")
_MORE_TYPES = ("float32", "float64", "complex64", "complex128", "integer", "floating", "inexact", "number")


def _ufunc(ufunc: np.ufunc) -> Callable[..., Any]:
    def function(*operands: Any, **options: Any) -> Any:
        return call_ufunc(ufunc, "__call__", operands, options)

    def reduce(array: Any, *arguments: Any, **options: Any) -> Any:
        return call_ufunc(ufunc, "reduce", (array, *arguments), options)

    def outer(a: Any, b: Any, **options: Any) -> Any:
        return call_ufunc(ufunc, "outer", (a, b), options)

    function.__name__ = function.__qualname__ = ufunc.__name__
    function.__doc__ = (ufunc.__doc__ or "").partition("\n\n")[2].partition("\n\n")[0]
    function.__dict__.update(reduce=reduce, outer=outer)
    return function


_MODULES = {"linalg": np.linalg, "fft": np.fft}


@functools.cache
def _originals() -> dict[str, Any]:
    """Return what each public name is in NumPy, of those for which there is something here."""
    traced = {*map(id, traced_functions()), *map(id, (*ROWS, *OF_STACKS))}
    found = {name: value for name, value in vars(np).items() if id(value) in traced and not name.startswith("_")}
    values = {name: getattr(np, name) for name in (*_VALUES, *_TYPES, *_MORE_TYPES)}
    return {**found, **_MODULES, **values}


@functools.cache
def _named(name: str) -> Any:
    """Return what stands behind a public name."""
    value = _originals()[name]
    if name in _MODULES:
        functions = traced_functions()
        own = {name: functions[one] for name, one in vars(value).items() if _is_traced(one)}
        return types.SimpleNamespace(**own, **({"LinAlgError": np.linalg.LinAlgError} if value is np.linalg else {}))
    if isinstance(value, np.ufunc):
        return _ufunc(value)
    return traced_functions()[value] if _is_traced(value) else value


def _is_traced(value: Any) -> bool:
    return callable(value) and value in traced_functions()


def __getattr__(name: str) -> Any:
    if name not in _originals():
        raise AttributeError(f"xjit.numpy has no {name!r}")
    return _named(name)


def __dir__() -> list[str]:
    return sorted(_originals())
