"""``scipy.signal``: convolutions of images, and filters of signals, as operations over windows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit import ops
from xjit.errors import ArgumentError, CaptureError
from xjit.numpy.arrays.padding import pad
from xjit.numpy.arrays.shaping import moveaxis
from xjit.numpy.rules.promotion import cast, result_type
from xjit.numpy.rules.values import as_value, numpy_errors, refuse, shape_of
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, NARROW_FLOATS, dtype_class

_BORDERS = {"fill": "constant", "pad": "constant", "wrap": "wrap", "circular": "wrap", "symm": "symmetric"}
_BORDERS["symmetric"] = "symmetric"


def convolve2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    """Sums of products of two images, one of them reversed and shifted along the other.

    Element types: integers, float32, float64, complex numbers, promoted together. Modes ``full``, ``same`` and
    ``valid``; beyond its borders an image is filled with a value, repeated, or reflected. Raises ArgumentError for
    other ranks, modes and boundaries, and for images of which none holds the other in mode ``valid``.

    >>> convolve2d(np.array([[1, 2]]), np.array([[1, 10]])).tolist()
    [[1, 12, 20]]
    """
    x, y = _images(in1, in2, "convolve2d")
    if _is_swapped(x, y, mode, "convolve2d"):
        x, y = y, x
    return _slid(x, ops.rev(y, (0, 1)), (mode, boundary, fillvalue), "convolve2d")


def correlate2d(in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    """Sums of products of two images, the conjugate of the second shifted along the first; as ``convolve2d``.

    >>> correlate2d(np.array([[1, 2]]), np.array([[1, 10]])).tolist()
    [[10, 21, 2]]
    """
    x, y = _images(in1, in2, "correlate2d")
    y = ops.conj(y) if dtype_class(dtype_of(y)) == "C" else y
    if not _is_swapped(x, y, mode, "correlate2d"):
        return _slid(x, y, (mode, boundary, fillvalue), "correlate2d")
    return ops.rev(_slid(y, x, (mode, boundary, fillvalue), "correlate2d"), (0, 1))


def _images(in1: Any, in2: Any, name: str) -> tuple[Operand, Operand]:
    first, second = (as_value(value, name, argument) for value, argument in ((in1, "in1"), (in2, "in2")))
    if len(shape_of(first)) != 2 or len(shape_of(second)) != 2:
        raise ArgumentError(f"scipy.signal.{name}: {name} inputs must both be 2-D arrays")
    dtype = result_type(first, second, name=name)
    if dtype in NARROW_FLOATS or dtype == BOOL:
        raise ArgumentError(f"scipy.signal.{name}: convolve2d not available for this type; got {dtype}")
    return cast(first, dtype), cast(second, dtype)


def _is_swapped(x: Operand, y: Operand, mode: Any, name: str) -> bool:
    """Return whether the second image is the one that holds the other, where one has to."""
    if mode != "valid":
        return False
    pairs = list(zip(shape_of(x), shape_of(y), strict=True))
    if all(one >= other for one, other in pairs):
        return False
    if all(one <= other for one, other in pairs):
        return True
    rule = "For 'valid' mode, one must be at least as large as the other in every dimension"
    raise ArgumentError(f"scipy.signal.{name}: {rule}; got {shape_of(x)} and {shape_of(y)}")


def _slid(x: Operand, window: Operand, borders: tuple[Any, Any, Any], name: str) -> Any:
    """The sums of products with a window at every place that the mode asks for."""
    mode, boundary, value = borders
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(
            f"scipy.signal.{name}: Acceptable mode flags are 'valid', 'same', or 'full'; got {mode!r}"
        )
    if boundary not in _BORDERS:
        flags = "'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm')"
        raise ArgumentError(f"scipy.signal.{name}: Acceptable boundary flags are {flags}; got {boundary!r}")
    if 0 in (*shape_of(x), *shape_of(window)):
        raise CaptureError(f"scipy.signal.{name} of no elements is not supported")
    widths = [_beyond(count, mode, name) for count in shape_of(window)]
    if any(map(any, widths)):
        kind = _BORDERS[boundary]
        x = pad(x, widths, kind, **({"constant_values": value} if kind == "constant" else {}))
    image, weights = (ops.reshape(one, (1, 1, *shape_of(one))) for one in (x, window))
    sums = ops.conv(image, weights, (1, 1), "VALID")
    return ops.reshape(sums, shape_of(sums)[2:])


def _beyond(count: int, mode: str, name: str) -> tuple[int, int]:
    """The elements beyond either border that windows of so many reach."""
    if mode == "full":
        return count - 1, count - 1
    if mode == "valid":
        return 0, 0
    return (count // 2, (count - 1) // 2) if name == "convolve2d" else ((count - 1) // 2, count // 2)


def lfilter(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """A signal along an axis, filtered by the quotient of two polynomials.

    Element types: float32, float64, complex numbers, promoted together. Raises ArgumentError for coefficients of
    another rank than 1 and for a signal of rank 0; a first state is not supported.

    >>> lfilter(np.array([1.0]), np.array([1.0, -0.5]), np.array([4.0, 0.0, 0.0])).tolist()
    [4.0, 2.0, 1.0]
    """
    name = "lfilter"
    refuse(name, zi=zi)
    values = [as_value(value, name, argument) for value, argument in ((b, "b"), (a, "a"), (x, "x"))]
    if any(len(shape_of(one)) != 1 or not shape_of(one)[0] for one in values[:2]):
        raise ArgumentError("scipy.signal.lfilter: b and a: vectors of coefficients are required")
    if not shape_of(values[2]):
        raise ArgumentError("scipy.signal.lfilter: x must be at least 1-D")
    dtype = result_type(*values, name=name)
    if dtype not in (FLOAT32, FLOAT64, COMPLEX64, COMPLEX128):
        raise CaptureError(f"scipy.signal.lfilter: input type {dtype} is not supported")
    weights, feedback, signal = (cast(one, dtype) for one in values)
    with numpy_errors(name):
        place = normalize_axis_index(axis, len(shape_of(signal)))
    rows = moveaxis(signal, place, -1)
    flat = ops.reshape(rows, (math.prod(shape_of(rows)[:-1]), shape_of(rows)[-1]))
    scale = getitem(feedback, 0)
    if shape_of(feedback) == (1,):
        found = _summed(call(np.divide, weights, scale), flat)
    else:
        found = _fed_back(call(np.divide, weights, scale), call(np.divide, feedback, scale), flat)
    return moveaxis(ops.reshape(found, shape_of(rows)), -1, place)


def _summed(weights: Operand, rows: Operand) -> Any:
    """Each row with the weighted sum of what comes before its elements."""
    (count,), (number, size) = shape_of(weights), shape_of(rows)
    image, window = ops.reshape(rows, (number, 1, size)), ops.reshape(ops.rev(weights, (0,)), (1, 1, count))
    return ops.conv_general_padding(image, window, (1,), ((count - 1, 0),))


def _fed_back(weights: Operand, feedback: Operand, rows: Operand) -> Any:
    """The rows by the transposed direct form: a state of one sum for each coefficient after the first."""
    order = max(shape_of(weights)[0], shape_of(feedback)[0])
    number, size = shape_of(rows)
    dtype = dtype_of(rows)
    ahead, back = (_column(one, order) for one in (weights, feedback))
    columns = ops.transpose(rows, (1, 0))
    zero = np.int64(0)

    def step(state: Any) -> Any:
        place, sums, results = state
        x = ops.dynamic_slice(columns, (place, zero), (1, number))
        y = call(np.add, getitem(sums, slice(0, 1)), call(np.multiply, getitem(ahead, slice(0, 1)), x))
        following = ops.pad(sums, zero.astype(dtype), ((-1, 1, 0), (0, 0, 0)))
        fed = call(np.multiply, getitem(ahead, slice(1, None)), x)
        returned = call(np.multiply, getitem(back, slice(1, None)), y)
        after = call(np.subtract, call(np.add, following, fed), returned)
        return ops.add(place, np.int64(1)), after, ops.dynamic_update_slice(results, y, (place, zero))

    start = (zero, np.zeros((order - 1, number), dtype), np.zeros((size, number), dtype))
    _, _, results = ops.while_loop(lambda state: ops.lt(state[0], np.int64(size)), step, start)
    return ops.transpose(results, (1, 0))


def _column(coefficients: Operand, order: int) -> Any:
    """Coefficients below each other, with zeros up to the order."""
    (count,) = shape_of(coefficients)
    zero = np.zeros((), dtype_of(coefficients))
    return ops.reshape(ops.pad(coefficients, zero, ((0, order - count, 0),)), (order, 1))
