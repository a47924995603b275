"""``ndarray.view``: the bytes of an array read as elements of another type."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, CaptureError
from xjit.numpy.arrays import joining, shaping
from xjit.numpy.arrays.creation import filled
from xjit.numpy.rules.promotion import cast, requested
from xjit.numpy.rules.values import Shape, as_value, as_view, numpy_errors, scalar_like, shape_of
from xjit.numpy.rules.view_strides import memory_of
from xjit.ops.define.core import Operand, aval_of, dtype_of
from xjit.types import BOOL, DType, dtype_class

BYTE: DType = np.dtype(np.uint8)


def view(x: Any, dtype: Any = None, type: Any = None) -> Any:
    """The array's bytes as elements of type ``dtype``; the last dimension changes with the width of an element.

    A result of another type has memory of its own. Raises ArgumentError where NumPy raises ValueError, for a last
    dimension that does not fit or is not contiguous, and CaptureError for other classes of arrays.

    >>> view(np.array([1.0, -2.0], np.float32), np.uint32)
    array([1065353216, 3221225472], dtype=uint32)
    """
    if inspect.isclass(dtype) and issubclass(dtype, np.ndarray):
        dtype, type = None, dtype
    if type not in (None, np.ndarray):
        raise CaptureError("numpy.ndarray.view: other classes of arrays are not supported", fix="leave out `type`")
    value = as_value(x, "view")
    wanted = requested(dtype, "ndarray.view")
    if wanted is None or wanted == dtype_of(value):
        return scalar_like(x, as_view(value))
    shape = _checked_shape(value, wanted)
    if not shape:
        read = _read(shaping.reshape(value, (1,)), wanted, (1,))
        return scalar_like(x, as_view(shaping.reshape(read, ())))
    order = aval_of(value).order
    if len(order) != len(shape) or order[-1] != len(shape) - 1:
        return as_view(_read(value, wanted, shape))
    # Packed as the operand is, as far as it is: its slowest axis first.
    read = _read(shaping.transpose(value, order), wanted, tuple(shape[axis] for axis in order))
    return as_view(shaping.transpose(read, [order.index(axis) for axis in range(len(shape))]))


def _checked_shape(value: Operand, wanted: DType) -> Shape:
    """The shape of the result, which NumPy tells from the strides alone."""
    memory = memory_of(value)
    if memory is None:
        raise CaptureError(
            "ndarray.view: only the run knows in which order the elements lie in memory", fix="copy the array first"
        )
    with numpy_errors("ndarray.view", ArgumentError):
        found: Shape = memory.view(f"V{wanted.itemsize}").shape
    return found


def _read(value: Operand, wanted: DType, shape: Shape) -> Any:
    """Booleans are bytes and complex numbers pairs; the rest casts bits, with an axis for the narrower elements."""
    source = dtype_of(value)
    if source == wanted:
        return value
    if source == BOOL:
        return _read(cast(value, BYTE), wanted, shape)
    if wanted == BOOL:
        return ops.ne(_read(value, BYTE, shape), filled(shape, np.zeros((), BYTE)))
    if dtype_class(source) == "C":
        pairs = joining.stack([ops.real(value), ops.imag(value)], -1)
        return _read(shaping.reshape(pairs, (*shape_of(value)[:-1], 2 * shape_of(value)[-1])), wanted, shape)
    if dtype_class(wanted) == "C":
        pairs = _read(value, np.dtype(f"f{wanted.itemsize // 2}"), (*shape[:-1], 2 * shape[-1]))
        pairs = shaping.reshape(pairs, (*shape, 2))
        return ops.complex(pairs[..., 0], pairs[..., 1])
    width = wanted.itemsize // source.itemsize
    operand = shaping.reshape(value, (*shape, width)) if width > 1 else value
    return shaping.reshape(ops.bitcast_convert_type(operand, wanted), shape)
