"""Convolutions in terms of loops: windows with what lies around an array, and sums of products over them.

Made by the compiler, never by users: :mod:`xjit.passes.convolutions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.ir.index_map import affine
from xjit.ir.opdef import Access, Kind, OpDef, Params, Reducer
from xjit.ops.define.references import Array
from xjit.types import ArrayType, DType, c_order

Types = tuple[ArrayType, ...]


def _infer_around(types: Types, params: Params) -> ArrayType:
    (type,), counts, sizes = types, params["counts"], params["sizes"]
    dims = (*type.dims[: type.rank - len(counts)], *counts, *sizes)
    return ArrayType(type.dtype, dims, c_order(len(dims)))


def _around(operand: Array, **params: Any) -> Array:
    counts, sizes = params["counts"], params["sizes"]
    first = operand.ndim - len(counts)
    result = operand
    for axis in range(len(counts)):
        places = _places(params, axis)
        inside = (places >= 0) & (places < operand.shape[first + axis])
        taken = np.take(result, np.where(inside, places, 0).reshape(-1), first + axis)
        taken[(*[slice(None)] * (first + axis), ~inside.reshape(-1))] = 0
        split = taken.reshape(*taken.shape[: first + axis], *places.shape, *taken.shape[first + axis + 1 :])
        result = np.moveaxis(split, first + axis + 1, -1)
    assert result.shape[first:] == (*counts, *sizes)
    return result


def _places(params: Params, axis: int) -> Any:
    """The position of every element of every window along an axis."""
    count, size, stride, dilation, low = (params[name][axis] for name in _NAMES)
    return np.arange(count)[:, None] * stride + np.arange(size) * dilation - low


_NAMES = ("counts", "sizes", "strides", "dilations", "lows")


def _access_around(types: Types, params: Params, out: ArrayType) -> Access:
    rank, space = types[0].rank, len(params["counts"])
    maps = [affine([(axis, 1)]) for axis in range(rank - space)]
    rows = zip(params["strides"], params["dilations"], params["lows"], strict=True)
    for axis, (stride, dilation, low) in enumerate(rows, rank - space):
        maps.append(affine([(axis, stride), (axis + space, dilation)], -low))
    return Access(tuple(maps))


WINDOWS_AROUND = OpDef(
    name="windows_around",
    kind=Kind.INDEXING,
    infer=_infer_around,
    reference=_around,
    access=_access_around,
    doc="Windows over the last dimensions, of which parts may lie outside: nobody may look at the elements there.",
)


def _infer_sum(types: Types, params: Params) -> ArrayType:
    kept = [dim for axis, dim in enumerate(types[0].dims) if axis not in params["dims"]]
    return ArrayType(types[0].dtype, tuple(kept), c_order(len(kept)))


def _sum(lhs: Array, rhs: Array, *inside: Array, dims: Sequence[int], filled: bool, **params: Any) -> Array:
    if inside and filled:
        lhs = np.where(inside[0], lhs, lhs.dtype.type(0))
    products = lhs * rhs
    terms = np.where(inside[0], products, 0) if inside and not filled else products
    return np.asarray(np.add.reduce(terms, tuple(dims), dtype=lhs.dtype))


def _nothing(dtype: DType) -> Any:
    return np.zeros((), dtype)[()]


PRODUCTS = Reducer("products", "muladd", _nothing, reassociates=True, factors=True, classes="IF", spoken="sum")
"""Each product is added with one rounding, in row-major order, to what there is so far."""

SUM_OF_PRODUCTS = OpDef(
    name="sum_of_products",
    kind=Kind.REDUCE,
    infer=_infer_sum,
    reference=_sum,
    doc="Sums products of two operands over dimensions where a third one holds, or with zeros elsewhere.",
)
