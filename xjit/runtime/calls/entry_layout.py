"""Offsets of the fields of interpreter and NumPy objects that the native entry reads, and a check of them.

The offsets are those of 64-bit CPython with its interpreter lock and of NumPy's public ``PyArrayObject``
structure.  Nothing is assumed: :func:`layout_is_known` reads every field of real objects first.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import types
from typing import Any

import numpy as np

from xjit.runtime.native import native_code

OFFSETS = {
    "OBJECT_TYPE": 8,
    "FLOAT_VALUE": 16,
    "FUNCTION_CODE": 48,
    "BYTES_PAYLOAD": 32,
    "CELL_CONTENTS": 16,
    "TUPLE_SIZE": 16,
    "TUPLE_ITEMS": 24,
    "ARRAY_DATA": 16,
    "ARRAY_NDIM": 24,
    "ARRAY_DIMS": 32,
    "ARRAY_STRIDES": 40,
    "ARRAY_DESCRIPTOR": 56,
    "ARRAY_FLAGS": 64,
    "ARRAY_ALIGNED": 0x100,
    "ARRAY_WRITEABLE": 0x400,
    "DESCRIPTOR_BYTE_ORDER": 26,
    "DESCRIPTOR_TYPE_NUMBER": 28,
}
"""Byte offsets of the fields, and the bits that mark aligned and writable arrays, as named in the native text."""

MACHINE_BYTE_ORDER = ord("<" if sys.byteorder == "little" else ">")
"""The byte orders that a descriptor may have in the place of ``=``."""

_API_ARRAY_TYPE = 2
_API_RETURN = 76
_API_RESIZE = 80
_API_NEW_FROM_DESCR = 94
_API_SET_HANDLER = 304
_API_GET_HANDLER = 305
_OLDEST_FEATURES = 0x0F  # NumPy 1.22, the first with memory handlers


def array_new_address() -> int:
    """Address of NumPy's ``PyArray_NewFromDescr``."""
    return _api_entry(_API_NEW_FROM_DESCR)


def array_return_address() -> int:
    """Address of NumPy's ``PyArray_Return``."""
    return _api_entry(_API_RETURN)


def array_resize_address() -> int:
    """Address of NumPy's ``PyArray_Resize``."""
    return _api_entry(_API_RESIZE)


def set_handler_address() -> int:
    """Address of NumPy's ``PyDataMem_SetHandler``."""
    return _api_entry(_API_SET_HANDLER)


def get_handler_address() -> int:
    """Address of NumPy's ``PyDataMem_GetHandler``."""
    return _api_entry(_API_GET_HANDLER)


def layout_is_known() -> bool:
    """Return whether this interpreter and this NumPy lay their objects out as :data:`OFFSETS` says."""
    if not native_code.supported():
        return False
    try:
        return _api_is_known() and _objects_are_known() and _arrays_are_known()
    except (ImportError, AttributeError, ValueError):
        return False


def _api_table() -> int:
    """Address of NumPy's C-API table."""
    try:
        module = importlib.import_module("numpy._core._multiarray_umath")
    except ImportError:
        module = importlib.import_module("numpy.core._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(module._ARRAY_API, None))


def _api_entry(index: int) -> int:
    return ctypes.c_int64.from_address(_api_table() + 8 * index).value


def _api_is_known() -> bool:
    """The table starts as expected and is new enough."""
    feature_version = ctypes.PYFUNCTYPE(ctypes.c_uint)(_api_entry(211))
    return _api_entry(_API_ARRAY_TYPE) == id(np.ndarray) and feature_version() >= _OLDEST_FEATURES


def _objects_are_known() -> bool:
    """The fields of objects, functions, cells, floats, bytes and tuples are at their offsets."""
    number = -1234.5
    several, cell = (number, None), types.CellType(number)
    text = b"payload" * 3
    return (
        _word(number, "OBJECT_TYPE") == id(float)
        and _word(layout_is_known, "FUNCTION_CODE") == id(layout_is_known.__code__)
        and ctypes.c_double.from_address(id(number) + OFFSETS["FLOAT_VALUE"]).value == number
        and ctypes.string_at(id(text) + OFFSETS["BYTES_PAYLOAD"], len(text)) == text
        and _word(cell, "CELL_CONTENTS") == id(number)
        and _word(several, "TUPLE_SIZE") == len(several)
        and _words_at(id(several) + OFFSETS["TUPLE_ITEMS"], len(several)) == tuple(map(id, several))
    )


def _arrays_are_known() -> bool:
    """All fields of arrays of several shapes, orders and types hold what Python reports."""
    base = np.arange(24.0).reshape(2, 3, 4)
    samples: list[np.ndarray[Any, Any]] = [
        base,
        base.transpose(2, 0, 1)[::2],
        np.zeros((5, 7), np.uint8, order="F"),
        np.ones((3,), np.dtype(">i4")),
        np.frombuffer(b"\0" * 17, np.uint8)[1:].view(np.float64),
        np.broadcast_to(base, (2, 2, 3, 4)),
    ]
    return all(_array_is_known(array) for array in samples)


def _array_is_known(array: np.ndarray[Any, Any]) -> bool:
    dims, strides = _word(array, "ARRAY_DIMS"), _word(array, "ARRAY_STRIDES")
    flags = ctypes.c_int32.from_address(id(array) + OFFSETS["ARRAY_FLAGS"]).value
    descriptor = array.dtype
    order = ctypes.string_at(id(descriptor) + OFFSETS["DESCRIPTOR_BYTE_ORDER"], 1).decode("latin-1")
    number = ctypes.c_int32.from_address(id(descriptor) + OFFSETS["DESCRIPTOR_TYPE_NUMBER"]).value
    return (
        _word(array, "OBJECT_TYPE") == id(np.ndarray)
        and _word(array, "ARRAY_DATA") == array.ctypes.data
        and ctypes.c_int32.from_address(id(array) + OFFSETS["ARRAY_NDIM"]).value == array.ndim
        and _words_at(dims, array.ndim) == array.shape
        and _words_at(strides, array.ndim) == array.strides
        and _word(array, "ARRAY_DESCRIPTOR") == id(descriptor)
        and bool(flags & OFFSETS["ARRAY_ALIGNED"]) == array.flags.aligned
        and bool(flags & OFFSETS["ARRAY_WRITEABLE"]) == array.flags.writeable
        and order == descriptor.byteorder
        and number == descriptor.num
    )


def _word(thing: object, field: str) -> int:
    return ctypes.c_int64.from_address(id(thing) + OFFSETS[field]).value


def _words_at(address: int, count: int) -> tuple[int, ...]:
    return tuple((ctypes.c_int64 * count).from_address(address))
