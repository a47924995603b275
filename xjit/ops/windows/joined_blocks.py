"""Blocks along an axis and what is left over after them, as one axis. Made by the operations over long windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.opdef import Kind, OpDef, Params, Piece
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, register
from xjit.ops.define.references import Array
from xjit.types import ArrayType, array_type

Types = tuple[ArrayType, ...]


def _infer(types: Types, params: Params) -> ArrayType:
    (blocks, rest), axis = types, params["axis"]
    rules.check_same_dtype("joined_blocks", ("blocks", "rest"), types)
    rules.check_axis("joined_blocks", "axis", axis, rest.rank)
    number, length = blocks.shape[axis : axis + 2]
    dims = (*rest.shape[:axis], number * length + rest.shape[axis], *rest.shape[axis + 1 :])
    rules.check_same_dims("joined_blocks", ("blocks", "rest"), [_beside(axis, blocks, 2), _beside(axis, rest, 1)])
    return array_type(rest.dtype, dims)


def _beside(axis: int, type: ArrayType, count: int) -> ArrayType:
    """The dimensions beside those along which blocks lie."""
    return array_type(type.dtype, (*type.shape[:axis], *type.shape[axis + count :]))


def _reference(blocks: Array, rest: Array, axis: int) -> Array:
    flat = blocks.reshape(*blocks.shape[:axis], -1, *blocks.shape[axis + 2 :])
    return np.concatenate((flat, rest), axis)


def _pieces(types: Types, params: Params, out: ArrayType) -> tuple[Piece, ...]:
    (blocks, rest), axis = types, params["axis"]
    number, length = blocks.shape[axis : axis + 2]
    axes = (*range(axis + 1), *range(axis, rest.rank))
    steps = tuple(length if place == axis else 1 for place in range(blocks.rank))
    start = tuple(number * length if place == axis else 0 for place in range(rest.rank))
    return (
        Piece(0, (0,) * blocks.rank, blocks.shape, (0,) * blocks.rank, steps, axes),
        Piece(1, (0,) * rest.rank, rest.shape, start, (1,) * rest.rank, tuple(range(rest.rank))),
    )


JOINED_BLOCKS = register(
    OpDef(
        name="joined_blocks",
        kind=Kind.INDEXING,
        infer=_infer,
        reference=_reference,
        pieces=_pieces,
        doc="The elements of blocks, which lie along two dimensions, one after the other, then the rest.",
    )
)


def joined_blocks(blocks: Operand, rest: Operand, axis: int) -> Any:
    """Blocks, numbered along ``axis``, whose elements lie along the next dimension, then ``rest`` along the axis.

    >>> joined_blocks(np.int32([[1, 2], [3, 4]]), np.int32([5]), 0)
    array([1, 2, 3, 4, 5], dtype=int32)
    """
    return apply(JOINED_BLOCKS, blocks, rest, axis=axis)
