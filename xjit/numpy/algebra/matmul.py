"""Products of vectors and matrices: dot and matmul, through the contraction records."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ShapeError
from xjit.numpy.rules.broadcasting import broadcast_to_shape, common_shape, shape_text
from xjit.numpy.rules.promotion import cast, loop_types, requested, result_type, typed
from xjit.numpy.rules.values import Shape, as_scalar, as_value, converted, refuse, shape_of, with_order
from xjit.numpy.selecting.selection import where
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, aval_of, dtype_of
from xjit.types import c_order

_SIGNATURE = "(n?,k),(k,m?)->(n?,m?)"


def matmul(x1: Any, x2: Any, *, dtype: Any = None, casting: str = "same_kind", **options: Any) -> Any:
    """The matrix product; leading axes are stacks of matrices and broadcast, vectors have no second axis.

    Raises ShapeError for operands of rank 0 and for inner sizes that differ.
    """
    refuse("matmul", **{key: value for key, value in options.items() if key != "subok"})
    values = [as_value(value, "matmul") for value in (x1, x2)]
    for place, value in enumerate(values):
        if not shape_of(value):
            raise ShapeError(
                f"numpy.matmul: Input operand {place} does not have enough dimensions (has 0, gufunc core with "
                f"signature {_SIGNATURE} requires 1)",
                fix="multiply by numbers with *",
            )
    specs = tuple(dtype_of(value) for value in values)
    loop = loop_types(np.matmul, specs, requested(dtype, "matmul"), casting)
    x, y = (cast(value, found) for value, found in zip(values, loop, strict=False))
    _check_inner(shape_of(x)[-1], shape_of(y)[-2:][0])
    return as_scalar(_product(x, y))


def _check_inner(columns: int, rows: int) -> None:
    if columns != rows:
        raise ShapeError(
            "numpy.matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"{_SIGNATURE} (size {rows} is different from {columns})",
            fix=_inner(columns, rows),
        )


def _inner(columns: int, rows: int) -> str:
    return f"the first operand has {columns} columns and the second {rows} rows: transpose one, or slice"


def _product(x: Operand, y: Operand) -> Any:
    left, right = shape_of(x), shape_of(y)
    if len(right) <= 2 and (len(left) <= 2 or len(right) == 2):
        return _contracted(x, y, len(left) - 1, 0)
    stack = common_shape("matmul", [left[:-2], right[:-2]])
    x = broadcast_to_shape(x, (*stack, *left[-2:])) if len(left) > 1 else x
    y = broadcast_to_shape(y, (*stack, *right[-2:])) if len(right) > 1 else y
    return _stacked(x, y, len(stack))


def _stacked(x: Operand, y: Operand, depth: int) -> Any:
    """Stacks of matrices contracted pairwise; a vector meets each matrix of the other stack."""
    if len(shape_of(y)) == 1:
        return _contracted(x, y, depth + 1, 0)
    if len(shape_of(x)) == 1:
        return _contracted(y, x, depth, 0)
    return _contracted(x, y, depth + 1, depth, tuple(range(depth)))


def _contracted(x: Operand, y: Operand, left: int, right: int, batch: Shape = ()) -> Any:
    return ops.dot_general(x, y, (((left,), (right,)), (batch, batch)))


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Sum of products over the last axis of ``a`` and the second to last (or only) axis of ``b``.

    With an operand of rank 0 this is the product. Raises ShapeError if the sizes differ.
    """
    refuse("dot", out=out)
    x, y = as_value(a, "dot"), as_value(b, "dot")
    left, right = shape_of(x), shape_of(y)
    if not left or not right:
        return scaled(x, y)
    axis = max(len(right) - 2, 0)
    if left[-1] != right[axis]:
        raise ShapeError(
            f"numpy.dot: shapes {shape_text(left)} and {shape_text(right)} not aligned: {left[-1]} "
            f"(dim {len(left) - 1}) != {right[axis]} (dim {axis})",
            fix=_inner(left[-1], right[axis]),
        )
    found = result_type(x, y, name="dot")
    return as_scalar(_contracted(typed(x, found), typed(y, found), len(left) - 1, axis))


def scaled(x: Operand, y: Operand) -> Any:
    """The product of two operands, one of which has rank 0, as ``dot`` and ``inner`` have it.

    Up to rank 2, NumPy lets BLAS add the product to a row-major array of zeros: no zero is negative, and a factor of
    zero adds nothing, not even to infinities. One element alone is multiplied.
    """
    found = result_type(x, y, name="dot")
    product = call(np.multiply, converted(x, found), converted(y, found))
    rank = len(shape_of(product))
    if not 0 < rank < 3 or dtype_of(product).char not in "fdFD":
        return product
    if aval_of(product).size > 1:
        zero = np.zeros((), dtype_of(product))
        factor = cast(y if shape_of(x) else x, found)
        product = call(np.add, where(call(np.equal, factor, zero), zero, product), zero)
    return with_order(product, c_order(rank))
