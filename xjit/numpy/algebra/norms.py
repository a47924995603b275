"""Functions of numpy.linalg that are products and norms."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from xjit import ops
from xjit.errors import ArgumentError, DTypeError
from xjit.numpy.algebra import matmul as linear
from xjit.numpy.algebra import outer_products
from xjit.numpy.algebra.linear_algebra import LinAlgError, inv, svdvals
from xjit.numpy.arrays import diagonals
from xjit.numpy.arrays.sequences import eye
from xjit.numpy.arrays.shaping import as_array, atleast_2d, moveaxis, ravel, reshape, transpose
from xjit.numpy.reducing import axis_reductions
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast, is_inexact
from xjit.numpy.rules.values import (
    as_scalar,
    as_value,
    converted,
    copied,
    numpy_errors,
    order_letter,
    refuse,
    shape_of,
    with_order,
)
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.ufuncs import call, power_operator
from xjit.ops.define.core import Operand, dtype_of
from xjit.types import FLOAT32, FLOAT64, NARROW_FLOATS, dtype_class

# ---- norms


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors along one axis, of matrices in two, or without an axis of all elements.

    Element types: numbers; integers count as float64, the norm of complex numbers is real. Vectors have every order,
    matrices the Frobenius norm and those by sums of columns or rows, or by singular values. Raises ArgumentError for
    other orders and ranks, AxisError.

    >>> norm(np.array([3.0, 4.0]))
    np.float64(5.0)
    """
    value = as_value(x, "linalg.norm")
    value = value if is_inexact(dtype_of(value)) else converted(value, FLOAT64)
    rank = len(shape_of(value))
    if axis is None and (ord is None or (ord in ("f", "fro") and rank == 2) or (ord == 2 and rank == 1)):
        return _length(value, None, keepdims)
    axes = _norm_axes(axis, rank)
    if len(axes) == 1:
        return _vector_norm(value, ord, axes, keepdims)
    if len(axes) != 2:
        raise ArgumentError("numpy.linalg.norm: Improper number of dimensions to norm.")
    with numpy_errors("linalg.norm"):
        row, column = (normalize_axis_index(one, rank) for one in axes)
    if row == column:
        raise ArgumentError("numpy.linalg.norm: Duplicate axes given.")
    return _matrix_norm(value, ord, row, column, keepdims)


def _norm_axes(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    if isinstance(axis, tuple):
        return axis
    try:
        return (int(axis),)
    except (TypeError, ValueError) as error:
        raise DTypeError("numpy.linalg.norm: 'axis' must be None, an integer or a tuple of integers") from error


def _length(value: Operand, axes: Any, keepdims: bool) -> Any:
    """The root of the sum of squared magnitudes; narrow floats are summed in float32 and rounded before the root."""
    dtype = dtype_of(value)
    if dtype_class(dtype) == "C":
        parts = (ops.real(value), ops.imag(value))
        square = ops.add(*(ops.mul(part, part) for part in parts))
        return call(np.sqrt, axis_reductions.sum(square, axis=axes, keepdims=keepdims))
    wide = cast(value, FLOAT32) if dtype in NARROW_FLOATS else value
    total = axis_reductions.sum(ops.mul(wide, wide), axis=axes, keepdims=keepdims)
    return call(np.sqrt, as_scalar(cast(total, dtype)))


def _vector_norm(value: Operand, ord: Any, axis: Any, keepdims: bool) -> Any:
    if isinstance(ord, str):
        raise ArgumentError(f"numpy.linalg.norm: Invalid norm order '{ord}' for vectors")
    if ord is None or ord == 2:
        return _length(value, axis, keepdims)
    size = call(np.absolute, value)
    if ord == np.inf:
        return axis_reductions.max(size, axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return axis_reductions.min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return axis_reductions.sum(cast(call(np.not_equal, value, 0), dtype_of(size)), axis=axis, keepdims=keepdims)
    if ord == 1:
        return axis_reductions.sum(size, axis=axis, keepdims=keepdims)
    powers = cast(power_operator(size, ord), dtype_of(size))
    total = axis_reductions.sum(powers, axis=axis, keepdims=keepdims)
    return call(np.power, total, np.reciprocal(ord, dtype=dtype_of(total)))


_BY_SUMS = {1: ("columns", "max"), -1: ("columns", "min"), np.inf: ("rows", "max"), -np.inf: ("rows", "min")}
_BY_SINGULAR_VALUES: dict[Any, Any] = {
    2: functools.partial(axis_reductions.max, initial=0),
    -2: axis_reductions.min,
    "nuc": functools.partial(axis_reductions.sum, initial=0),
}


def _matrix_norm(value: Operand, ord: Any, row: int, column: int, keepdims: bool) -> Any:
    if ord in _BY_SINGULAR_VALUES:
        values = svdvals(moveaxis(value, (row, column), (-2, -1)))
        return _without(_BY_SINGULAR_VALUES[ord](values, axis=-1), value, row, column, keepdims)
    if ord is None or ord in ("fro", "f"):
        return _length(value, (row, column), keepdims)
    if ord not in _BY_SUMS:
        raise ArgumentError("numpy.linalg.norm: Invalid norm order for matrices.")
    along, which = _BY_SUMS[ord]
    first, second = (row, column) if along == "columns" else (column, row)
    sums = axis_reductions.sum(call(np.absolute, value), axis=first, keepdims=True)
    if which == "max":
        result = axis_reductions.max(sums, axis=second, keepdims=True, initial=0)
    else:
        result = axis_reductions.min(sums, axis=second, keepdims=True)
    return _without(result, value, row, column, keepdims)


def _without(result: Operand, value: Operand, row: int, column: int, keepdims: bool) -> Any:
    """The result in the shape of the operand without two axes, or with one element along them."""
    sizes = [1 if axis in (row, column) else n for axis, n in enumerate(shape_of(value))]
    rest = [n for axis, n in enumerate(sizes) if axis not in (row, column)]
    return as_scalar(ops.reshape(result, tuple(sizes if keepdims else rest)))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """``norm`` of the matrices in the last two axes."""
    return norm(x, axis=(-2, -1), keepdims=keepdims, ord=ord)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """``norm`` of vectors whose elements lie along one or several axes, or are all there are.

    >>> vector_norm(np.array([[3.0], [4.0]]))
    np.float64(5.0)
    """
    value = as_array(as_value(x, "linalg.vector_norm"))
    rank = len(shape_of(value))
    if axis is None:
        result = norm(ravel(value), axis=0, ord=ord)
    elif isinstance(axis, tuple):
        with numpy_errors("linalg.vector_norm", ArgumentError):
            places = normalize_axis_tuple(axis, rank)
        rest = tuple(place for place in range(rank) if place not in places)
        sizes = (math.prod(shape_of(value)[place] for place in places), *(shape_of(value)[place] for place in rest))
        result = norm(reshape(transpose(value, (*places, *rest)), sizes), axis=0, ord=ord)
    else:
        result = norm(value, axis=axis, ord=ord)
    if not keepdims:
        return result
    with numpy_errors("linalg.vector_norm", ArgumentError):
        gone = normalize_axis_tuple(range(rank) if axis is None else axis, rank)
    return as_scalar(ops.reshape(result, tuple(1 if place in gone else n for place, n in enumerate(shape_of(value)))))


# ---- products of several matrices


def matrix_power(a: Any, n: Any) -> Any:
    """The product of ``n`` equal matrices in the last two axes, by repeated squaring as in NumPy.

    Any element type; a negative number is that of inverse matrices. Raises LinAlgError unless the matrices are
    square, DTypeError for no integer, and as ``inv``.

    >>> matrix_power(np.array([[1, 1], [0, 1]]), 3)
    array([[1, 3],
           [0, 1]])
    """
    value = as_value(a, "linalg.matrix_power")
    shape = shape_of(value)
    _check_rank("matrix_power", len(shape), 2)
    if shape[-1] != shape[-2]:
        raise LinAlgError(f"numpy.linalg.matrix_power: Last 2 dimensions of the array must be square; got {shape}")
    try:
        count = operator.index(n)
    except TypeError as error:
        raise DTypeError("numpy.linalg.matrix_power: exponent must be an integer") from error
    if count < 0:
        return matrix_power(inv(value), -count)
    if count == 0:
        ones = broadcast_to_shape(eye(shape[-1], dtype=dtype_of(value)), shape)
        return with_order(copied(ones), order_letter(value, "K", "linalg.matrix_power"))
    if count == 3:
        return linear.matmul(linear.matmul(value, value), value)
    return _power(value, count)


def _check_rank(name: str, rank: int, least: int, most: float = math.inf) -> None:
    if not least <= rank <= most:
        wanted = "two-dimensional" if most == least else "at least two-dimensional"
        raise LinAlgError(f"numpy.linalg.{name}: {rank}-dimensional array given. Array must be {wanted}")


def _power(value: Any, count: int) -> Any:
    square, result = value, None
    while count:
        count, bit = divmod(count, 2)
        if bit:
            result = square if result is None else linear.matmul(result, square)
        square = linear.matmul(square, square) if count else square
    return result


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """The product of matrices, and of a vector at either end, in the order that takes the fewest multiplications.

    Any element types, promoted pair by pair. Raises ArgumentError for less than two operands, LinAlgError for other
    ranks, ShapeError for sizes that differ.

    >>> multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones(4)])
    array([12., 12.])
    """
    refuse("linalg.multi_dot", out=out)
    if len(arrays) < 2:
        raise ArgumentError("numpy.linalg.multi_dot: Expecting at least two arrays.")
    if len(arrays) == 2:
        return linear.dot(*arrays)
    values = [as_value(one, "linalg.multi_dot") for one in arrays]
    ranks = len(shape_of(values[0])), len(shape_of(values[-1]))
    values[0] = atleast_2d(values[0]) if ranks[0] == 1 else values[0]
    values[-1] = transpose(atleast_2d(values[-1])) if ranks[1] == 1 else values[-1]
    for value in values:
        _check_rank("multi_dot", len(shape_of(value)), 2, 2)
    result = _chain(
        values, _splits([shape_of(values[0])[0], *(shape_of(value)[1] for value in values)]), 0, len(values) - 1
    )
    if ranks == (1, 1):
        return getitem(result, (0, 0))
    return ravel(result) if 1 in ranks else result


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Behind which matrix to split each run of matrices; the matrix k has sizes[k] rows and sizes[k + 1] columns."""
    count = len(sizes) - 1
    if count == 3:
        a, b, c, d = sizes
        return {(0, 2): 1, (0, 1): 0} if a * c * (b + d) < b * d * (a + c) else {(0, 2): 0, (1, 2): 1}
    costs = {(k, k): 0 for k in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            options = {
                middle: costs[first, middle]
                + costs[middle + 1, last]
                + sizes[first] * sizes[middle + 1] * sizes[last + 1]
                for middle in range(first, last)
            }
            splits[first, last] = min(options, key=lambda middle: options[middle])
            costs[first, last] = options[splits[first, last]]
    return splits


def _chain(values: list[Any], splits: dict[tuple[int, int], int], first: int, last: int) -> Any:
    if first == last:
        return values[first]
    middle = splits[first, last]
    return linear.dot(_chain(values, splits, first, middle), _chain(values, splits, middle + 1, last))


# ---- numpy.linalg's own versions of other functions


def outer(x1: Any, x2: Any, /) -> Any:
    """``outer`` of two vectors; ArgumentError for other ranks."""
    ranks = [len(shape_of(as_value(value, "linalg.outer"))) for value in (x1, x2)]
    if ranks != [1, 1]:
        raise ArgumentError(
            f"numpy.linalg.outer: Input arrays must be one-dimensional, but they are x1.ndim={ranks[0]} and "
            f"x2.ndim={ranks[1]}."
        )
    return outer_products.outer(x1, x2)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """``cross`` of vectors of three components; ArgumentError for others, IndexOutOfBoundsError for the axis."""
    with numpy_errors("linalg.cross"):
        sizes = [shape_of(as_value(value, "linalg.cross"))[axis] for value in (x1, x2)]
    if sizes != [3, 3]:
        raise ArgumentError(
            "numpy.linalg.cross: Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{sizes[0]} and {sizes[1]} dimensional instead."
        )
    return outer_products.cross(x1, x2, axis=axis)


def trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    """``trace`` of the matrices in the last two axes."""
    return diagonals.trace(x, offset, -2, -1, dtype)


def diagonal(x: Any, /, *, offset: Any = 0) -> Any:
    """``diagonal`` of the matrices in the last two axes."""
    return diagonals.diagonal(x, offset, -2, -1)


def matmul(x1: Any, x2: Any, /) -> Any:
    """``matmul`` without options."""
    return linear.matmul(x1, x2)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """``tensordot`` with the axes by name."""
    return outer_products.tensordot(x1, x2, axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """``vecdot`` without options."""
    return outer_products.vecdot(x1, x2, axis=axis)
