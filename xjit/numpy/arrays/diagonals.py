"""Diagonals and triangles: read in place as views, or selected by comparing positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit import ops
from xjit.errors import ArgumentError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.sequences import positions
from xjit.numpy.arrays.shaping import as_array, ravel
from xjit.numpy.reducing.axis_reductions import sum as sum_of
from xjit.numpy.rules.compositions import full_like
from xjit.numpy.rules.promotion import cast, requested
from xjit.numpy.rules.static import order_by, static_integer
from xjit.numpy.rules.values import as_value, as_view, numpy_errors, refuse, shape_of, with_order
from xjit.numpy.selecting.indexing import getitem
from xjit.numpy.selecting.selection import where
from xjit.ops.define.core import Operand, dtype_of
from xjit.ops.whole_arrays.diagonal import diagonal as main_diagonal
from xjit.types import FLOAT64


def diagonal(a: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of the matrices in the plane of two axes, as the last axis; a view that cannot be written to.

    Any element type; ``offset`` counts diagonals above the main one. Raises AxisError, ArgumentError below rank 2 or
    for one axis that is given twice.

    >>> diagonal(np.array([[1, 2], [3, 4]]), 1)
    array([2])
    """
    value = as_value(a, "diagonal")
    shape = shape_of(value)
    if len(shape) < 2:
        raise ArgumentError("numpy.diagonal: diag requires an array of at least two dimensions")
    with numpy_errors("diagonal"):
        first = normalize_axis_index(axis1, len(shape), "axis1")
        second = normalize_axis_index(axis2, len(shape), "axis2")
    if first == second:
        raise ArgumentError("numpy.diagonal: axis1 and axis2 cannot be the same")
    above = static_integer(offset, "diagonal", "offset")
    moved, start = (second, above) if above >= 0 else (first, -above)
    if start:
        value = getitem(value, (*(slice(None),) * moved, slice(start, None), Ellipsis))
    result = as_view(main_diagonal(value, first, second))
    if isinstance(result, TracedValue):
        result.frozen = True
    return result


def trace(a: Any, offset: Any = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """The sum of the diagonal of the matrices in the plane of two axes; element types as in ``sum``.

    >>> trace(np.array([[1, 2], [3, 4]]))
    np.int64(5)
    """
    refuse("trace", out=out)
    return sum_of(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def diag(v: Any, k: Any = 0) -> Any:
    """The diagonal of a matrix, as a view; or the matrix with a vector on one diagonal and zeros elsewhere.

    Any element type. Raises ArgumentError for other ranks.

    >>> diag(np.array([1, 2]))
    array([[1, 0],
           [0, 2]])
    """
    value = as_value(v, "diag")
    if len(shape_of(value)) == 2:
        return diagonal(value, k)
    if len(shape_of(value)) != 1:
        raise ArgumentError("numpy.diag: Input must be 1- or 2-d.")
    return _matrix(value, static_integer(k, "diag", "k"))


def diagflat(v: Any, k: Any = 0) -> Any:
    """The matrix with all elements, flattened, on one diagonal and zeros elsewhere. Any element type."""
    return _matrix(ravel(as_value(v, "diagflat")), static_integer(k, "diagflat", "k"))


def _matrix(line: Operand, k: int) -> Any:
    """In row-major order each element is followed by as many zeros as the matrix has columns."""
    (count,) = shape_of(line)
    size = count + abs(k)
    before = max(k, 0) + max(-k, 0) * size
    inside = count + max(count - 1, 0) * size
    flat = ops.pad(line, np.zeros((), dtype_of(line)), ((before, size * size - before - inside, size),))
    return ops.reshape(flat, (size, size))


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, like: Any = None) -> Any:
    """Ones on a diagonal and below, zeros above; ``k`` counts diagonals above the main one.

    >>> tri(2, 3)
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """
    rows = static_integer(N, "tri", "N")
    columns = rows if M is None else static_integer(M, "tri", "M")
    ones = _lower((max(rows, 0), max(columns, 0)), static_integer(k, "tri", "k"))
    return cast(ones, requested(dtype, "tri") or FLOAT64)


def _lower(shape: tuple[int, int], k: int) -> Any:
    row, column = positions(shape, 0), positions(shape, 1)
    return ops.le(column, ops.add(row, full_like(row, k)))


def tril(m: Any, k: Any = 0) -> Any:
    """The matrices in the last two axes with zeros above a diagonal; a vector is every row of a square matrix.

    Any element type. Raises TypeError for rank 0.

    >>> tril(np.array([[1, 2], [3, 4]]))
    array([[1, 0],
           [3, 4]])
    """
    return _triangle("tril", m, static_integer(k, "tril", "k"))


def triu(m: Any, k: Any = 0) -> Any:
    """As ``tril``, with zeros below a diagonal."""
    return _triangle("triu", m, static_integer(k, "triu", "k"))


def _triangle(name: str, m: Any, k: int) -> Any:
    value = as_array(as_value(m, name))
    if not shape_of(value):
        raise TypeError(f"numpy.{name}: an array of rank 1 or more is required; got rank 0")
    rows, columns = (shape_of(value) * 2)[-2:] if len(shape_of(value)) == 1 else shape_of(value)[-2:]
    zero = np.zeros((), dtype_of(value))
    if name == "tril":
        result = where(_lower((rows, columns), k), value, zero)
    else:
        result = where(_lower((rows, columns), k - 1), zero, value)
    return with_order(result, order_by(getattr(np, name), value))
