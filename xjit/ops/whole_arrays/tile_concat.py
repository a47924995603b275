"""Arrays put side by side along several dimensions at once, so that borders and corners need no copy in between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.errors import ShapeError
from xjit.ir.opdef import Kind, OpDef, Params, Piece
from xjit.ops.define import rules
from xjit.ops.define.core import apply, as_operand, register, static_ints
from xjit.ops.define.references import Array
from xjit.ops.define.rules import got
from xjit.types import ArrayType

Types = tuple[ArrayType, ...]


def _infer(types: Types, params: Params) -> ArrayType:
    name, dims, starts = "mosaic", params["dims"], params["starts"]
    rules.check_same_dtype(name, [f"operands[{k}]" for k in range(len(types))], types)
    rules.check_permutation(name, "order", params["order"], len(dims))
    rules.check_length(name, "starts", starts, len(types))
    for k, (type, start) in enumerate(zip(types, starts, strict=True)):
        rules.check_rank(name, f"operands[{k}]", type, len(dims))
        if any(first < 0 or first + n > size for first, n, size in zip(start, type.shape, dims, strict=True)):
            raise ShapeError(
                f"ops.{name}: operands[{k}]: a part lies outside of {dims}; got {got((type,))} at {start}"
            )
    if sum(type.size for type in types) != math.prod(dims):
        raise ShapeError(f"ops.{name}: operands: parts that fill {dims} are required; got {got(types)}")
    return ArrayType(types[0].dtype, dims, tuple(params["order"]))


def _reference(
    *operands: Array, starts: tuple[tuple[int, ...], ...], dims: tuple[int, ...], order: tuple[int, ...]
) -> Array:
    packed = np.empty([dims[axis] for axis in order], operands[0].dtype)
    result = packed.transpose(np.argsort(order))
    for operand, start in zip(operands, starts, strict=True):
        result[tuple(slice(a, a + n) for a, n in zip(start, operand.shape, strict=True))] = operand
    return result


def _pieces(types: Types, params: Params, out: ArrayType) -> tuple[Piece, ...]:
    none, ones = (0,) * out.rank, (1,) * out.rank
    pieces = (Piece(k, none, type.shape, params["starts"][k], ones) for k, type in enumerate(types))
    return tuple(piece for piece in pieces if 0 not in piece.count)


MOSAIC = register(
    OpDef(
        name="mosaic",
        kind=Kind.INDEXING,
        infer=_infer,
        reference=_reference,
        pieces=_pieces,
        doc="Puts arrays into the places of a larger one that they fill together.",
    )
)


def mosaic(
    operands: Sequence[Any], starts: Sequence[tuple[int, ...]], dims: Sequence[int], order: Sequence[int]
) -> Any:
    """The array of dimensions ``dims`` that the operands fill, each from its start on; nobody checks for overlaps.

    Any element type, the same for all; ``order`` is that of the axes in memory. Raises DTypeError, ArgumentError for
    no permutation or another number of starts, ShapeError for other ranks and parts that do not fill the whole.

    >>> mosaic([np.float32([1, 2]), np.float32([3])], [(1,), (0,)], (3,), (0,))
    array([3., 1., 2.], dtype=float32)
    """
    name = "mosaic"
    arrays = [as_operand(one, name, f"operands[{k}]") for k, one in enumerate(operands)]
    places = tuple(static_ints(start, name, "starts") for start in starts)
    return apply(
        MOSAIC,
        *arrays,
        starts=places,
        dims=static_ints(dims, name, "dims"),
        order=static_ints(order, name, "order"),
    )
