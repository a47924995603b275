"""Summaries built of other reductions: ptp, average, count_nonzero."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from xjit import ops
from xjit.errors import ArgumentError, DTypeError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.creation import filled
from xjit.numpy.reducing import axis_reductions, moments
from xjit.numpy.reducing.axis_reductions import fold
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import as_scalar, as_value, converted, copied, numpy_errors, refuse, shape_of
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, aval_of, dtype_of
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import BOOL, FLOAT64, INT64, dtype_class

OTHER_SHAPE = "numpy.average: Axis must be specified when shapes of a and weights differ."
ZERO_WEIGHTS = "numpy.average: Weights sum to zero, can't be normalized"


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = np._NoValue) -> Any:
    """The largest element less the smallest one. Element types: numbers, which wrap; raises as ``max``.

    >>> ptp(np.array([3, 9, 4]))
    np.int64(6)
    """
    refuse("ptp", out=out)
    value = as_value(a, "ptp")
    ends = (fold("ptp", ufunc, value, axis, None, keepdims) for ufunc in (np.maximum, np.minimum))
    return call(np.subtract, *ends)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """Count the elements that are not zero, as int64. Raises AxisError.

    >>> count_nonzero(np.array([3, 0, 4]))
    np.int64(2)
    """
    return axis_reductions.sum(
        converted(as_value(a, "count_nonzero"), BOOL), axis=axis, dtype=INT64, keepdims=keepdims
    )


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = np._NoValue
) -> Any:
    """The mean, or the sum of products with weights over the sum of the weights; with ``returned`` that sum too.

    Element types: integers count as float64. Weights have the shape of the operand, or of the axes. Raises AxisError,
    DTypeError and ArgumentError for weights of another shape, ZeroDivisionError when the weights sum to zero.

    >>> average(np.array([1.0, 2.0]), weights=[3, 1])
    np.float64(1.25)
    """
    value = as_value(a, "average")
    rank = len(shape_of(value))
    if axis is not None:
        with numpy_errors("average", ArgumentError):
            axis = normalize_axis_tuple(axis, rank, argname="axis")
    if weights is None:
        result = moments.mean(value, axis, keepdims=keepdims)
        number = np.asarray(aval_of(value).size / aval_of(result).size, dtype_of(result))
        return (result, as_scalar(filled(shape_of(result), number))) if returned else result
    result, scale = _weighted(value, _fitted(as_value(weights, "average", "weights"), value, axis), axis, keepdims)
    if not returned:
        return result
    same = shape_of(scale) == shape_of(result)
    return result, scale if same else copied(broadcast_to_shape(scale, shape_of(result)))


def _fitted(weights: Operand, value: Operand, axis: Any) -> Operand:
    """The weights along the axes that they are for."""
    shape, own = shape_of(value), shape_of(weights)
    if own == shape:
        return weights
    if axis is None:
        raise DTypeError(f"{OTHER_SHAPE}; got {own}")
    if own != tuple(shape[place] for place in axis):
        raise ArgumentError(
            f"numpy.average: Shape of weights must be consistent with shape of a along specified axis.; got {own}"
        )
    order, sizes = np.argsort(axis).tolist(), tuple(n if place in axis else 1 for place, n in enumerate(shape))
    if isinstance(weights, np.ndarray):
        return weights.transpose(order).reshape(sizes)
    fitted: Operand = ops.reshape(ops.transpose(weights, tuple(order)), sizes)
    return fitted


def _weighted(value: Operand, weights: Operand, axis: Any, keepdims: Any) -> tuple[Any, Any]:
    types = [dtype_of(value), dtype_of(weights)]
    dtype = np.result_type(*types, *([FLOAT64] if dtype_class(types[0]) in "PI" else []))
    scale = axis_reductions.sum(weights, axis=axis, dtype=dtype, keepdims=keepdims)
    products = call(np.multiply, cast(value, dtype), cast(weights, dtype))
    result = call(np.divide, axis_reductions.sum(products, axis=axis, keepdims=keepdims), scale)
    if isinstance(weights, TracedValue):
        return as_scalar(require(result, call(np.not_equal, scale, 0.0), "division", ZERO_WEIGHTS)), scale
    with np.errstate(all="ignore"):
        if np.any(np.sum(weights, axis, dtype) == 0.0):
            raise ZeroDivisionError(ZERO_WEIGHTS)
    return result, scale
