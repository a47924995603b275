"""Powers and sums of products of neighbours: vander, polyval, convolve, correlate."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, CaptureError, DTypeError
from xjit.numpy.arrays.creation import filled, zeros_like
from xjit.numpy.arrays.shaping import as_array
from xjit.numpy.reducing.axis_reductions import fold
from xjit.numpy.rules.promotion import cast, result_type
from xjit.numpy.rules.static import static_size
from xjit.numpy.rules.values import as_value, shape_of
from xjit.numpy.selecting.gathering import take
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.selecting.selection import where
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import BOOL, FLOAT32, INT64, NARROW_FLOATS, dtype_class

MOST_TERMS = 64
"""More terms than this are not written out."""


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """The powers of each element as rows: from power 0 on if increasing, else down to it.

    Element types: numbers, promoted with int64. Raises ArgumentError unless the rank is 1, CaptureError for more than
    64 powers.

    >>> vander(np.array([2, 3]), 3)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    value = as_value(x, "vander")
    if len(shape_of(value)) != 1:
        raise ArgumentError("numpy.vander: x must be a one-dimensional array or sequence.")
    count = shape_of(value)[0] if N is None else static_size(N, "vander", "N")
    if count < 0:
        raise ArgumentError(f"numpy.vander: negative dimensions are not allowed; got {count}")
    check_terms("vander", count)
    value = cast(value, np.promote_types(dtype_of(value), INT64))
    (rows,) = shape_of(value)
    if count == 0:
        return filled((rows, 0), np.zeros((), dtype_of(value)))
    powers = [filled((rows,), np.ones((), dtype_of(value)))]
    for _ in range(count - 1):
        powers.append(call(np.multiply, powers[-1], value) if len(powers) > 1 else value)
    columns = [ops.reshape(power, (rows, 1)) for power in (powers if increasing else reversed(powers))]
    return ops.concatenate(columns, 1)


def check_terms(name: str, count: int) -> None:
    """CaptureError for sums that are too long to be written out."""
    if count > MOST_TERMS:
        raise CaptureError(
            f"numpy.{name}: more than {MOST_TERMS} terms are not supported; got {count}",
            fix="call it outside of the function",
        )


def polyval(p: Any, x: Any) -> Any:
    """The polynomial with these coefficients, that of the highest power first, by Horner's rule.

    Element types: numbers. Coefficients of rank 1 or more, at most 64 of them.

    >>> polyval([1, 2], np.array([3.0]))
    array([5.])
    """
    coefficients = as_value(p, "polyval")
    if not shape_of(coefficients):
        raise TypeError("numpy.polyval: iteration over a 0-d array")
    check_terms("polyval", shape_of(coefficients)[0])
    value = as_value(x, "polyval")
    result = zeros_like(value)
    for place in range(shape_of(coefficients)[0]):
        number = coefficients[place] if isinstance(coefficients, np.ndarray) else getitem(coefficients, place)
        result = call(np.add, call(np.multiply, result, value), number)
    return result


def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """Sums of products of two vectors, one of them reversed and shifted along the other.

    Element types: any, promoted together. Modes ``full``, ``same`` and ``valid``, as in NumPy. Raises ArgumentError
    for empty vectors, other ranks and other modes.

    >>> convolve(np.array([1, 2, 3]), np.array([0, 1]))
    array([0, 1, 2, 3])
    """
    x, y = (_vector(value, "convolve", name) for value, name in ((a, "a"), (v, "v")))
    if shape_of(y)[0] > shape_of(x)[0]:
        x, y = y, x
    return _slid(x, y, mode, "convolve")


def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """Sums of products of two vectors, the conjugate of the second shifted along the first; as ``convolve``.

    >>> correlate(np.array([1, 2, 3]), np.array([0, 1]), "full")
    array([1, 2, 3, 0])
    """
    x, y = (_vector(value, "correlate", name) for value, name in ((a, "a"), (v, "v")))
    y = call(np.conjugate, y) if dtype_class(dtype_of(y)) == "C" else y
    if shape_of(y)[0] > shape_of(x)[0]:
        return ops.rev(_slid(y, ops.rev(x, (0,)), mode, "correlate"), (0,))
    return _slid(x, ops.rev(y, (0,)), mode, "correlate")


def _vector(value: Any, name: str, argument: str) -> Any:
    found = as_array(as_value(value, name, argument))
    if not shape_of(found):
        found = ops.reshape(found, (1,))
    if len(shape_of(found)) != 1:
        raise ArgumentError(f"numpy.{name}: {argument}: object too deep for desired array")
    if shape_of(found)[0] == 0:
        raise ArgumentError(f"numpy.{name}: {argument} cannot be empty")
    return found


_MODES = {"valid": 0, "same": 1, "full": 2, 0: 0, 1: 1, 2: 2}


def _slid(x: Operand, y: Operand, mode: Any, name: str) -> Any:
    """The convolution with a vector that is not longer: of few elements, as a sum over these of shifted products."""
    if isinstance(mode, bool):
        raise DTypeError(f"numpy.{name}: convolve/correlate mode not understood; got {mode}")
    if mode not in _MODES:
        raise ArgumentError(f"numpy.{name}: mode must be one of 'valid', 'same', or 'full'; got {mode!r}")
    (size,), (count,) = shape_of(x), shape_of(y)
    found = result_type(x, y, name=name)
    dtype = FLOAT32 if found in NARROW_FLOATS else found
    x, y = cast(x, dtype), cast(y, dtype)
    valid, same, full = (count - 1, size), ((count - 1) // 2, (count - 1) // 2 + size), (0, size + count - 1)
    low, high = (valid, same, full)[_MODES[mode]]
    if count > MOST_TERMS:
        return cast(_in_windows(x, y, low, high), found)
    parts = [_partly_over(x, y, low, count - 1)] if low < count - 1 else []
    parts.append(_over(x, y))
    parts += [_partly_over(x, y, size, high)] if high > size else []
    result: Any = cast(ops.concatenate(parts, 0) if len(parts) > 1 else parts[0], found)
    return result


def _in_windows(x: Operand, y: Operand, low: int, high: int) -> Any:
    """The sums from one position up to another as those of windows; truth values are counted."""
    (size,), (count,) = shape_of(x), shape_of(y)
    is_truth = dtype_class(dtype_of(x)) == "P"
    first, second = (cast(one, INT64) if is_truth else one for one in (x, ops.rev(y, (0,))))
    sides = ((count - 1 - low, high - size),)
    image, window = ops.reshape(first, (1, 1, size)), ops.reshape(second, (1, 1, count))
    sums = ops.reshape(ops.conv_general_padding(image, window, (1,), sides), (high - low,))
    return cast(sums, BOOL) if is_truth else sums


def _over(x: Operand, y: Operand) -> Any:
    """The sums in which all of the shorter vector takes part."""
    (size,), (count,) = shape_of(x), shape_of(y)
    combine = np.logical_or if dtype_class(dtype_of(x)) == "P" else np.add
    result: Any = None
    for place in range(count):
        part = ops.slice(x, (count - 1 - place,), (size - place,))
        term = call(np.multiply, part, getitem(y, place))
        result = term if result is None else call(combine, result, term)
    return result


def _partly_over(x: Operand, y: Operand, low: int, high: int) -> Any:
    """The sums at both ends: a product for each two elements that meet, none for those beyond the longer vector.

    To multiply by zeros there would make NaN of infinities.
    """
    (size,), (count,) = shape_of(x), shape_of(y)
    places = np.arange(low, high)[:, None] - np.arange(count)
    meet, dtype = (places >= 0) & (places < size), dtype_of(x)
    products = call(np.multiply, take(x, places.clip(0, size - 1)), y)
    terms = where(meet, products, np.zeros((), dtype))
    return fold("any", np.logical_or, terms, 1) if dtype_class(dtype) == "P" else fold("sum", np.add, terms, 1, dtype)
