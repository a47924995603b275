"""Static values: arguments known while tracing, and results that NumPy itself tells from small or hollow arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from xjit.errors import CaptureError, DTypeError
from xjit.ir.context import CONSTANT, TracedValue
from xjit.numpy.rules.promotion import concrete_integer
from xjit.numpy.rules.values import Shape, numpy_errors, shape_of
from xjit.ops.define.core import Array, Operand, aval_of
from xjit.ops.define.formulas import bit_type
from xjit.types import ArrayType, order_of


def static_array(value: Any, name: str, argument: str) -> Array:
    """The elements of an argument that steers shapes: numbers, nested sequences, arrays known while tracing.

    Raises CaptureError for traced arrays whose elements are not known.

    >>> static_array([1, 2], "repeat", "repeats")
    array([1, 2])
    """
    if isinstance(value, TracedValue):
        if value.node.op is CONSTANT:
            known: Array = value.node.param("value").array()
            return known
        if not hasattr(value, "known"):
            raise CaptureError(
                f"numpy.{name}: {argument}: values known while tracing are required; got a traced array",
                fix="use numbers, or a small array from outside of the function",
            )
    if isinstance(value, list | tuple) and any(isinstance(part, TracedValue) for part in value):
        return np.asarray([static_array(part, name, argument) for part in value])
    return np.asarray(value)


def only_run_tells(value: Any) -> bool:
    """Return whether an argument, or an item of a list or tuple of them, has no elements while tracing."""
    if isinstance(value, list | tuple):
        return any(map(only_run_tells, value))
    if not isinstance(value, TracedValue) or value.node.op is CONSTANT:
        return False
    return not hasattr(type(value), "value") and not hasattr(value, "known")


def static_integer(value: Any, name: str, argument: str) -> int:
    """A Python int of an argument; DTypeError for anything that is no integer known while tracing."""
    return concrete_integer(value, f"numpy.{name}: {argument}")


def static_size(value: Any, name: str, argument: str) -> int:
    """``static_integer`` of what becomes a size: DTypeError for truth values too."""
    if isinstance(value, bool):
        raise DTypeError(f"numpy.{name}: {argument}: an integer is required; got {value}")
    return static_integer(value, name, argument)


def hollow(value: Operand) -> Array:
    """An array of the operand's shape in the memory of one byte: NumPy checks shapes and axes on it."""
    return np.broadcast_to(np.False_, shape_of(value))


def permutation_by(name: str, rank: int, move: Callable[[Array], Array]) -> tuple[int, ...]:
    """The places that a function of NumPy moves axes to, with its errors: it moves those of an empty array."""
    labelled = np.empty(tuple(range(rank)), np.bool_)
    with numpy_errors(name):
        return tuple(move(labelled).shape)


def example(value: Operand, whole: tuple[int, ...] = ()) -> Array:
    """Zeros in the operand's memory order, along most axes no more than two; along those in ``whole`` all of them."""
    found = aval_of(value)
    return _packed(found, tuple(n if axis in whole else min(n, 2) for axis, n in enumerate(found.shape)))


def _packed(type: ArrayType, sizes: Shape) -> Array:
    """Zeros of other sizes in the memory order of a type; NumPy cannot stride over some types of others."""
    dtype = bit_type(type.dtype) if type.dtype.name in ml_dtypes.__all__ else type.dtype
    packed = np.zeros([sizes[axis] for axis in type.order], dtype)
    strides = dict(zip(type.order, packed.strides, strict=True))
    steps = tuple(strides.get(axis, 0) for axis in range(len(sizes)))
    result: Array = np.lib.stride_tricks.as_strided(packed, sizes, steps)
    return result


def order_by(function: Callable[..., Array], *values: Operand, whole: tuple[int, ...] = ()) -> tuple[int, ...]:
    """The memory order of a result of NumPy: that of the same function on small arrays."""
    result = function(*(example(value, whole) for value in values))
    return order_of(result.shape, result.strides)


def rank_of(value: Any) -> int:
    """The number of dimensions; Python numbers have none."""
    return 0 if isinstance(value, bool | int | float | complex) else len(shape_of(value))


def miniatures(*values: Operand) -> list[Array]:
    """Zeros in the operands' ranks, types and memory orders, small, with sizes equal where those of the operands are.

    A function of NumPy on them raises the errors that it would raise, and shows type and memory order of its result.
    """
    sizes = sorted({size for value in values for size in aval_of(value).shape} - {0, 1})
    smaller = {0: 0, 1: 1} | {size: place for place, size in enumerate(sizes, 2)}
    return [_packed(aval_of(value), tuple(smaller[size] for size in aval_of(value).shape)) for value in values]
