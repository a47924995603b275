"""Positions of extremes: of the first one along a dimension.

Along the fastest dimension a kernel notes in which block of elements the extreme was first met, and looks for it
there. Along other dimensions the extreme is found first, and then the least position that holds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import numerics
from xjit.errors import DTypeError, ShapeError
from xjit.ir.inner_graphs import all_graphs
from xjit.ir.node import Graph
from xjit.ir.opdef import Kind, OpDef, Params, Reducer
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, as_operand, aval_of, constant, static_int
from xjit.ops.define.references import Array
from xjit.ops.dynamic.dimension_sizes import at_bound, joint_sizes, sized
from xjit.ops.dynamic.paddings import before_size, filled
from xjit.ops.elements import compare, select
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.whole_arrays.reduce import REDUCERS, reduction
from xjit.ops.whole_arrays.shape import broadcast_in_dim, iota
from xjit.types import INT64, ArrayType, as_dtype, dtype_class

__all__ = ["argmax", "argmin"]

_REFERENCES = {"max": np.argmax, "min": np.argmin}


def _infer(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    (dim,) = params["dims"]
    (operand,) = types
    kept = [axis for axis in range(operand.rank) if axis != dim]
    order = tuple(kept.index(axis) for axis in operand.order if axis != dim)
    return ArrayType(INT64, tuple(operand.dims[axis] for axis in kept), order)


def _reference(operand: Array, *, dims: tuple[int, ...], extreme: Reducer, **_: Any) -> Array:
    return np.asarray(_REFERENCES[extreme.name](operand, dims[0]), np.int64)


ARG_REDUCE = OpDef(
    name="arg_reduce",
    kind=Kind.REDUCE,
    infer=_infer,
    reference=_reference,
    doc="The position of the first extreme along a dimension; the first NaN, where there is one.",
)


def arg_extreme(operand: Any, dim: int, which: str) -> Any:
    """The s64 position of the first ``"max"`` or ``"min"`` along a dimension of at least one element; NaN wins.

    >>> arg_extreme(np.float32([1, 5, 5, 2]), 0, "max")
    array(1)
    """
    array = as_operand(operand, f"arg{which}", "operand")
    type = aval_of(array)
    rules.check_class(f"arg{which}", "operand", type, "PIF")
    rules.check_axis(f"arg{which}", "dimension", static_int(dim, f"arg{which}", "dimension"), type.rank)
    if sizes := joint_sizes(f"arg{which}", (array,)):
        return _of_sized(array, dim, which, sizes)
    extent = type.shape[dim]
    if extent < numerics.ONE_PASS_EXTENT or type.order[-1:] != (dim,):
        return _least_position(array, dim, which)
    if dtype_class(type.dtype) == "P":
        array = _as_bytes(array)
    params = {"dims": (dim,), "reducer": None, "extreme": REDUCERS[which].with_either_zero(), "n": 1}
    return apply(ARG_REDUCE, array, **params)


def _of_sized(array: Operand, dim: int, which: str, sizes: dict[int, Any]) -> Any:
    """The same where padding comes last of all."""
    dims, dtype, plain = aval_of(array).shape, aval_of(array).dtype, at_bound(array)
    if dim in sizes:
        letter = dtype_class(dtype)
        worst = REDUCERS[which].identity(dtype) if letter != "P" else which == "min"
        neutral = filled(constant(np.asarray(worst, dtype)), dims)
        plain = select.select(before_size(dims, [(dim, sizes[dim])]), plain, neutral)
    kept = {axis - (axis > dim): size for axis, size in sizes.items() if axis != dim}
    found = arg_extreme(plain, dim, which)
    return sized(found, kept) if kept else found


def _as_bytes(array: Operand) -> Any:
    """The least and the largest byte: after these no other is looked at."""
    dims = aval_of(array).shape
    least, largest = (broadcast_in_dim(constant(np.asarray(byte, np.uint8)), dims, ()) for byte in (0, 255))
    return select.select(array, largest, least)


def _least_position(array: Operand, dim: int, which: str) -> Any:
    """The extreme itself first, then the least position that holds it: two reductions by vectors or columns."""
    type = aval_of(array)
    best = reduction(array, which if dtype_class(type.dtype) != "P" else {"max": "or", "min": "and"}[which], (dim,))
    dims, kept = type.shape, tuple(axis for axis in range(type.rank) if axis != dim)
    wanted = broadcast_in_dim(best, dims, kept)
    return first_position(apply(compare.SAME, array, wanted), dim)


def first_position(hit: Any, dim: int) -> Any:
    """The s64 position of the first true element along a dimension, the size of the dimension if there is none.

    >>> first_position(np.array([False, True, True]), 0)
    array(1)
    """
    dims = aval_of(hit).shape
    positions = iota(f"s64[{','.join(map(str, dims))}]", dim)
    last = broadcast_in_dim(constant(np.asarray(dims[dim], INT64), by_reference=True), dims, ())
    return reduction(select.select(hit, positions, last), "min", (dim,))


# ---- the public functions


def argmax(operand: Any, dimension: int, index_dtype: Any = "s32") -> Any:
    """The position of the first largest element along a dimension; that of the first NaN, where there is one.

    Element types: integer, float; positions have the integer type ``index_dtype``. Raises DTypeError, ArgumentError
    for a dimension out of range, ShapeError for one without elements.

    >>> argmax(np.float32([[1, 5, 5], [7, 2, 0]]), 1)
    array([1, 0], dtype=int32)
    """
    return _public(operand, dimension, index_dtype, "max")


def argmin(operand: Any, dimension: int, index_dtype: Any = "s32") -> Any:
    """The position of the first smallest element along a dimension; that of the first NaN, where there is one.

    Element types: integer, float; positions have the integer type ``index_dtype``. Raises DTypeError, ArgumentError
    for a dimension out of range, ShapeError for one without elements.

    >>> argmin(np.int8([[1, 5, 1], [7, 2, 0]]), 1, "u8")
    array([0, 2], dtype=uint8)
    """
    return _public(operand, dimension, index_dtype, "min")


def _public(operand: Any, dimension: int, index_dtype: Any, which: str) -> Any:
    name = f"arg{which}"
    array, dtype = as_operand(operand, name, "operand"), as_dtype(index_dtype, f"ops.{name}: index_dtype")
    type = aval_of(array)
    rules.check_class(name, "operand", type, "IF")
    if dtype_class(dtype) != "I":
        raise DTypeError(f"ops.{name}: index_dtype: the element type must be one of: integer; got {index_dtype!r}")
    dim = static_int(dimension, name, "dimension")
    rules.check_axis(name, "dimension", dim, type.rank)
    if not type.shape[dim]:
        raise ShapeError(
            f"ops.{name}: operand: elements along dimension {dim} are required; got {rules.got((type,))}"
        )
    return convert_element_type(arg_extreme(array, dim, which), dtype)


def may_contract(graph: Graph) -> bool:
    """Return whether operations may be fused to one: not where a value is computed a second time to find its place,
    as each computation may be fused otherwise, and then no place has the value.
    """
    return not any("extreme" in node.kwargs for one in all_graphs(graph) for node in one.nodes)
