"""Arrays of values that are known while tracing."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.errors import ArgumentError, DTypeError
from xjit.ir.context import TracedValue
from xjit.ops.define import core, rules
from xjit.ops.define.core import Array, as_operand, as_shape, aval_of
from xjit.ops.define.references import convert
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.whole_arrays.shape import broadcast_in_dim
from xjit.types import NAMES, ArrayType, DType, array_type, as_dtype, dtype_class

__all__ = ["constant", "full", "zeros"]

_FITS = {"P": "P", "I": "IFC", "F": "FC", "C": "C"}


def constant(value: Any, dtype: Any = None) -> Any:
    """An array of literals: a scalar, a nested sequence or an array, of this element type or that which NumPy gives.

    Element types: any whose kind the values fit, as integers fit floats. An array may be a value of the program, a
    sequence has literals only. Raises DTypeError for others, ArgumentError for sequences of unequal lengths.

    >>> constant([[1, 2], [3, 4]], "f32")
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    name = "constant"
    if isinstance(value, TracedValue):
        own = aval_of(value)
        return convert_element_type(value, own.dtype if dtype is None else _fitting(own, dtype, name))
    array = _literals(value, name)
    if dtype is not None:
        array = convert(array, _fitting(aval_of(array), dtype, name))
    return core.constant(np.array(array, order="C"))


def _fitting(type: ArrayType, dtype: Any, name: str) -> DType:
    """The element type that is asked for; DTypeError unless the values fit."""
    wanted = as_dtype(dtype, f"ops.{name}: dtype")
    if type.size and dtype_class(wanted) not in _FITS[dtype_class(type.dtype)]:
        raise DTypeError(
            f"ops.{name}: dtype: the values do not fit this element type; got {NAMES[type.dtype]} and {NAMES[wanted]}"
        )
    return wanted


def _literals(value: Any, name: str) -> Array:
    if _is_traced(value):
        raise DTypeError(f"ops.{name}: value: literals are required; got a traced value")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ArgumentError(f"ops.{name}: value: sequences of equal lengths are required; got {value!r}") from error
    if array.dtype not in NAMES:
        raise DTypeError(f"ops.{name}: value: this element type is not supported; got {array.dtype}")
    return array


def _is_traced(value: Any) -> bool:
    return isinstance(value, TracedValue) or (isinstance(value, tuple | list) and any(map(_is_traced, value)))


def full(shape: Any, value: Any) -> Any:
    """An array of this shape whose elements are all ``value``, a scalar of its element type.

    A Python scalar takes the type when its kind fits. Element types: any. Raises DTypeError, ArgumentError for
    negative sizes, ShapeError for a value that is no scalar.

    >>> full("s8[3]", 7)
    array([7, 7, 7], dtype=int8)
    """
    name = "full"
    described = as_shape(shape, name)
    operand = as_operand(value, name, "value", described.dtype)
    rules.check_same_dtype(name, ("shape", "value"), (array_type(described.dtype, described.dims), aval_of(operand)))
    rules.check_at_least(name, "shape", described.dims, 0)
    rules.check_rank(name, "value", aval_of(operand), 0)
    return broadcast_in_dim(operand, described.dims, ())


def zeros(shape: Any) -> Any:
    """An array of this shape whose elements are zero, false for PRED. Element types: any.

    Raises ArgumentError for negative sizes.

    >>> zeros("f32[2,2]")
    array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    described = as_shape(shape, "zeros")
    rules.check_at_least("zeros", "shape", described.dims, 0)
    return broadcast_in_dim(core.constant(np.zeros((), described.dtype)), described.dims, ())
