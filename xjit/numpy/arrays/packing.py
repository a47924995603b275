"""Truth values as single bits, eight to a byte: packbits and unpackbits."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit import ops
from xjit.errors import ArgumentError, DTypeError
from xjit.numpy.arrays.sequences import known, positions
from xjit.numpy.arrays.shaping import as_array, ravel
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast, nonzero
from xjit.numpy.rules.values import Shape, as_value, fresh, numpy_errors, shape_of, with_order
from xjit.numpy.rules.view_strides import column_or_row_major
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.selecting.picking import own
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import dtype_class

BYTE = np.dtype(np.uint8)
_WIDTH = 8


def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> Any:
    """The elements along an axis, or flattened, as bits of uint8: zeros are 0, others 1; zeros fill the last byte.

    Element types: integers and truth values. The first of eight elements is the highest bit, or the lowest one for
    ``bitorder="little"``. Raises DTypeError, AxisError, ArgumentError for another order.

    >>> packbits(np.array([1, 0, 1, 0, 0, 0, 0, 0, 1]))
    array([160, 128], dtype=uint8)
    """
    little, value = _is_little("packbits", bitorder), as_value(a, "packbits", "a")
    if dtype_class(dtype_of(value)) not in "PI":
        raise DTypeError(
            f"numpy.packbits: Expected an input array of integer or boolean data type; got {dtype_of(value)}"
        )
    line, place = _line("packbits", value, axis)
    size = shape_of(line)[place]
    whole = size - size % _WIDTH
    spans = [span for span in ((0, whole), (whole, size)) if span[0] < span[1]] or [(0, 0)]
    parts = [_bytes(line, place, low, high, little) for low, high in spans]
    return own(parts[0] if len(parts) == 1 else ops.concatenate(parts, place), line, column_or_row_major(line))


def _bytes(line: Operand, axis: int, low: int, high: int, little: bool) -> Any:
    """The bytes of whole groups of elements, or of one group that is shorter: each eighth element is the same bit."""
    result: Any = None
    for place in range(min(high - low, _WIDTH) or 1):
        every = (*(slice(None),) * axis, slice(low + place, high, _WIDTH))
        shift = place if little else _WIDTH - 1 - place
        bit = call(np.left_shift, cast(nonzero(getitem(line, every)), BYTE), np.uint8(shift))
        result = bit if result is None else call(np.bitwise_or, result, bit)
    return result


def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> Any:
    """The bits of each byte as uint8 0 and 1, along an axis or flattened; ``packbits`` backwards.

    ``count`` is known while tracing: so many are kept, filled up with zeros, or if negative so many left out at the
    end. Element type: uint8. Raises DTypeError, AxisError, ArgumentError for another order and for a ``count`` that
    leaves out more than there is.

    >>> unpackbits(np.array([160], np.uint8), count=4)
    array([1, 0, 1, 0], dtype=uint8)
    """
    little, value = _is_little("unpackbits", bitorder), as_value(a, "unpackbits", "a")
    if dtype_of(value) != BYTE:
        raise DTypeError(
            f"numpy.unpackbits: Expected an input array of unsigned byte data type; got {dtype_of(value)}"
        )
    line, place = _line("unpackbits", value, axis)
    before, size, after = _parts(shape_of(line), place)
    spread = (*before, size, _WIDTH, *after)
    groups = broadcast_to_shape(ops.reshape(line, (*before, size, 1, *after)), spread)
    index = positions(spread, place + 1, BYTE)
    moved = call(np.right_shift, groups, index if little else call(np.subtract, np.uint8(_WIDTH - 1), index))
    bits = ops.reshape(call(np.bitwise_and, moved, np.uint8(1)), (*before, size * _WIDTH, *after))
    change = _count(count, size * _WIDTH) - size * _WIDTH
    if change:
        bits = ops.pad(bits, np.zeros((), BYTE), [(0, change * (k == place), 0) for k in range(len(shape_of(line)))])
    return with_order(fresh(bits), column_or_row_major(line))


def _is_little(name: str, bitorder: Any) -> bool:
    if not isinstance(bitorder, str):
        raise DTypeError(f"numpy.{name}: bitorder: text is required; got {bitorder!r}")
    if bitorder not in ("big", "little"):
        raise ArgumentError(f"numpy.{name}: bitorder: 'big' or 'little' is required; got {bitorder!r}")
    return bitorder == "little"


def _line(name: str, value: Operand, axis: Any) -> tuple[Operand, int]:
    """The array and the axis; without one the flattened array."""
    if axis is None or not shape_of(value):
        value = ravel(as_array(value))
    with numpy_errors(name):
        return value, 0 if axis is None else normalize_axis_index(operator.index(axis), len(shape_of(value)))


def _parts(shape: Shape, axis: int) -> tuple[Shape, int, Shape]:
    return shape[:axis], shape[axis], shape[axis + 1 :]


def _count(count: Any, size: int) -> int:
    """Return the number of bits that are wanted of as many as there are."""
    if count is None:
        return size
    wanted = operator.index(known(count, "unpackbits"))
    if wanted < -size:
        raise ArgumentError(f"numpy.unpackbits: -count larger than number of elements; got {wanted}")
    return wanted if wanted >= 0 else size + wanted
