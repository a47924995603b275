"""NumPy's functions under NumPy's names, over the records: traced inside of a trace, computed at once outside.

>>> import numpy as np
>>> from xjit.numpy import add
>>> add(np.int8([1, 2]), 3)
array([4, 5], dtype=int8)

Outside of a trace results never share memory with their operands, and views are copies.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.numpy.dispatch import OF_STACKS, TRACED_FUNCTIONS, call_ufunc
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


def _namespace() -> dict[str, Any]:
    chosen = {id(ufunc): _ufunc(ufunc) for ufunc in (*ROWS, *OF_STACKS)}
    functions = {id(function): own for function, own in TRACED_FUNCTIONS.items()}
    names: dict[str, Any] = {}
    for name, value in vars(np).items():
        found = chosen.get(id(value)) or functions.get(id(value))
        if found is not None and not name.startswith("_"):
            names[name] = found
    matrices = {name: functions[id(value)] for name, value in vars(np.linalg).items() if id(value) in functions}
    names["linalg"] = types.SimpleNamespace(**matrices, LinAlgError=np.linalg.LinAlgError)
    return names | {name: getattr(np, name) for name in (*_VALUES, *_TYPES, *_MORE_TYPES)}


NAMES: dict[str, Any] = _namespace()
"""Every public name and what stands behind it."""


def __getattr__(name: str) -> Any:
    try:
        return NAMES[name]
    except KeyError:
        raise AttributeError(f"xjit.numpy has no {name!r}") from None


def __dir__() -> list[str]:
    return sorted(NAMES)
