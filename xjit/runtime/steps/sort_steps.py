"""Adaptors to NumPy's own sorts: lines in order within a run of kernels, with no Python in between.

NumPy hands out the routines of an element type through its C-API, as it does to other extensions.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from xjit.runtime.loading.loader import LoadedKernel
from xjit.runtime.native import native_code
from xjit.runtime.native.sorts_native import sorts_text
from xjit.runtime.once import Once

QUICK, HEAP, STABLE = 0, 1, 2
"""NumPy's numbers of its algorithms."""

POSITIONS = 3
"""Added to these, the numbers of those that put positions of elements in order."""

SORTED_TYPES = tuple(np.dtype(letter) for letter in "?bBhHiIlLqQefd")
"""The element types that NumPy's routines sort without help of the array."""

# The C-API of NumPy 2: the places of its functions, and that of sorts among the functions of a type.
_VERSION_PLACE, _VERSION = 0, 0x02000000
_FUNCTIONS_PLACE = 365
_SORTS_PLACE, _SORTS = 33, 6

_Routine = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)
_Order = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p)


class Sorts:
    """Adaptors to routines of NumPy; ``routines`` are the addresses of the three algorithms by element types, first
    for elements, then for their positions.
    """

    def __init__(self, routines: Mapping[np.dtype[Any], tuple[int, ...]]) -> None:
        self.routines = routines
        self._native = Once(lambda: native_code.NativeModule(sorts_text()))

    def kernel(self, name: str) -> LoadedKernel:
        """The adaptor of this name."""
        native = self._native()
        return LoadedKernel(native.function(name), name, native)


def _found() -> Sorts | None:
    """Those of the NumPy of this process; None where its C-API is another one or a routine does not sort."""
    if not native_code.supported():
        return None
    try:
        module = importlib.import_module("numpy._core._multiarray_umath")
        routines = {dtype: _routines(module._ARRAY_API, dtype) for dtype in SORTED_TYPES}
    except (ImportError, AttributeError, ValueError):
        return None
    return Sorts(routines) if all(_sort(dtype, found) for dtype, found in routines.items()) else None


def _routines(capsule: Any, dtype: np.dtype[Any]) -> tuple[int, ...]:
    """The addresses of the sorts of an element type; ValueError where the C-API is another one."""
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    api = pointer(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, None)
    if not api:
        raise ValueError("there is no C-API")
    functions = (ctypes.c_void_p * (_FUNCTIONS_PLACE + 1)).from_address(api)
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(functions[_VERSION_PLACE] or 0)
    if version() != _VERSION:
        raise ValueError("the C-API is another one")
    of_type = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(functions[_FUNCTIONS_PLACE] or 0)(dtype)
    places = (ctypes.c_void_p * (_SORTS_PLACE + _SORTS)).from_address(of_type or 0)
    return tuple(places[_SORTS_PLACE + number] or 0 for number in range(_SORTS))


def _sort(dtype: np.dtype[Any], routines: tuple[int, ...]) -> bool:
    """Return whether routines put some elements in order."""
    numbers = np.arange(300) * 7919 % 101
    for address in routines[:POSITIONS]:
        line = numbers.astype(dtype)
        expected = np.sort(line)
        if not address or _Routine(address)(line.ctypes.data, len(line), None) or (line != expected).any():
            return False
    for address in routines[POSITIONS:]:
        line, order = numbers.astype(dtype), np.arange(len(numbers))
        failed = not address or _Order(address)(line.ctypes.data, order.ctypes.data, len(line), None)
        if failed or (line[order] != np.sort(line)).any():
            return False
    return True


numpy_sorts: Once[Sorts | None] = Once(_found)
"""Sorts by NumPy's routines; None where those cannot be called by themselves."""
