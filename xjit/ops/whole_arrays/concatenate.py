"""Shape operations whose result is put together from pieces: pad and concatenate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.errors import ArgumentError, ShapeError
from xjit.ir.opdef import Kind, OpDef, Params, Piece
from xjit.ops.define import rules
from xjit.ops.define.core import apply, operands_like_each_other, register, static_int, static_ints
from xjit.ops.define.references import Array
from xjit.ops.define.rules import got
from xjit.types import ArrayType, c_order

__all__ = ["concatenate", "pad"]

Types = tuple[ArrayType, ...]

# ---- pad


def _infer_pad(types: Types, params: Params) -> ArrayType:
    name, (type, value), config = "pad", types, params["config"]
    rules.check_same_dtype(name, ("operand", "padding_value"), types)
    rules.check_length(name, "padding_config", config, type.rank)
    rules.check_at_least(name, "padding_config: interior", (interior for _, _, interior in config), 0)
    rules.check_rank(name, "padding_value", value, 0)
    dims = tuple(
        low + size + max(size - 1, 0) * interior + high
        for size, (low, high, interior) in zip(type.shape, config, strict=True)
    )
    if any(size < 0 for size in dims):
        raise ShapeError(
            f"ops.{name}: padding_config: more is cut off than there is; got {config} and {got((type,))}"
        )
    return ArrayType(type.dtype, dims, c_order(len(dims)))


def _pad(operand: Array, value: Array, config: Sequence[tuple[int, int, int]]) -> Array:
    sizes = tuple(
        low + n + max(n - 1, 0) * step + high for n, (low, high, step) in zip(operand.shape, config, strict=True)
    )
    result = np.full(sizes, value, operand.dtype)
    source, target = [], []
    for (first, count, start, step), _ in zip(_visible(operand.shape, sizes, config), sizes, strict=True):
        source.append(slice(first, first + count))
        target.append(slice(start, start + count * step, step))
    result[tuple(target)] = operand[tuple(source)]
    return result


def _visible(
    dims: Sequence[int], sizes: Sequence[int], config: Sequence[tuple[int, int, int]]
) -> list[tuple[int, int, int, int]]:
    """For each dimension: first operand element inside the result, their count, position of the first, step."""
    found = []
    for n, size, (low, _, interior) in zip(dims, sizes, config, strict=True):
        step = interior + 1
        first = min(max(0, -(low // step)), n)
        last = min(n, -((low - size) // step))
        count = max(0, last - first)
        found.append((first, count, low + first * step if count else 0, step))
    return found


def _pieces_pad(types: Types, params: Params, out: ArrayType) -> tuple[Piece, ...]:
    sizes, rank = out.shape, out.rank
    rows = _visible(types[0].shape, sizes, params["config"])
    source, count, start, step = (tuple(row[k] for row in rows) for k in range(4))
    data = Piece(0, source, count, start, step)
    if count == sizes:
        return (data,)
    fill = Piece(1, (0,) * rank, sizes, (0,) * rank, (1,) * rank)
    return (fill,) if 0 in count else (fill, data)


PAD = register(
    OpDef(
        name="pad",
        kind=Kind.INDEXING,
        xla_name="Pad",
        infer=_infer_pad,
        reference=_pad,
        pieces=_pieces_pad,
        doc="Puts a value around and between the elements; negative edges cut elements off.",
    )
)


def pad(operand: Any, padding_value: Any, padding_config: Sequence[Sequence[int]]) -> Any:
    """The operand with ``(low, high, interior)`` copies of a value before, after and between, for each dimension.

    Any element type, the same for both. Interior padding comes first; negative low or high then remove elements.
    Raises DTypeError, ArgumentError for a wrong length or a negative interior, ShapeError if nothing is left to cut.

    >>> pad(np.int8([1, 2]), np.int8(0), ((1, 2, 1),))
    array([0, 1, 0, 2, 0, 0], dtype=int8)
    """
    name = "pad"
    array, value = operands_like_each_other(name, operand=operand, padding_value=padding_value)
    rows = tuple(static_ints(row, name, "padding_config") for row in padding_config)
    if any(len(row) != 3 for row in rows):
        raise ArgumentError(f"ops.{name}: padding_config: (low, high, interior) is required; got {rows}")
    return apply(PAD, array, value, config=rows)


# ---- concatenate


def _infer_concatenate(types: Types, params: Params) -> ArrayType:
    name, axis, names = "concatenate", params["axis"], [f"operands[{k}]" for k in range(len(types))]
    rules.check_same_dtype(name, names, types)
    rank = types[0].rank
    if rank == 0:
        raise ShapeError(f"ops.{name}: operands[0]: rank 1 or more is required; got {got(types[:1])}")
    rules.check_axis(name, "dimension", axis, rank)
    rest = [ArrayType(t.dtype, (*t.dims[:axis], 0, *t.dims[axis + 1 :]), t.order) for t in types]
    if any(a.dims != rest[0].dims for a in rest):
        wrong = next(k for k, a in enumerate(rest) if a.dims != rest[0].dims)
        raise ShapeError(
            f"ops.{name}: {names[wrong]}: only dimension {axis} may differ; got {got((types[0], types[wrong]))}"
        )
    size = sum(type.shape[axis] for type in types)
    dims = (*types[0].dims[:axis], size, *types[0].dims[axis + 1 :])
    return ArrayType(types[0].dtype, dims, _joint_order(types))


def _joint_order(types: Types) -> tuple[int, ...]:
    """NumPy's memory order of a concatenation: axes sorted by stride, slowest first; in a conflict C order wins."""
    order: list[int] = []
    for axis in range(types[0].rank):
        place = len(order)
        for position in reversed(range(len(order))):
            verdict = _moves_before(types, axis, order[position])
            if verdict is False:
                break
            place = position if verdict else place
        order.insert(place, axis)
    return tuple(order)


def _moves_before(types: Types, axis: int, other: int) -> bool | None:
    """Return whether axis is slower than other in every operand; None if no operand has an opinion."""
    steps = [type.strides for type in types if type.dims[axis] != 1 and type.dims[other] != 1]
    return all(one[axis] > one[other] for one in steps) if steps else None


def _pieces_concatenate(types: Types, params: Params, out: ArrayType) -> tuple[Piece, ...]:
    axis, at, pieces = params["axis"], 0, []
    for operand, type in enumerate(types):
        start = tuple(at if d == axis else 0 for d in range(type.rank))
        pieces.append(Piece(operand, (0,) * type.rank, type.shape, start, (1,) * type.rank))
        at += type.shape[axis]
    return tuple(piece for piece in pieces if 0 not in piece.count)


CONCATENATE = register(
    OpDef(
        name="concatenate",
        kind=Kind.INDEXING,
        xla_name="ConcatInDim",
        infer=_infer_concatenate,
        reference=lambda *operands, axis: np.concatenate(operands, axis),
        pieces=_pieces_concatenate,
        doc="Puts arrays behind each other along one dimension.",
    )
)


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Arrays of one element type, any, behind each other along ``dimension``; the other sizes must agree.

    Raises ArgumentError for no operands or a bad dimension, ShapeError for rank 0 or sizes that differ.

    >>> concatenate((np.int8([1, 2]), np.int8([3])), 0)
    array([1, 2, 3], dtype=int8)
    """
    name = "concatenate"
    if not isinstance(operands, Sequence):
        raise ArgumentError(f"ops.{name}: operands: a tuple of arrays is required; got {type(operands).__name__}")
    if len(operands) == 0:
        raise ArgumentError(f"ops.{name}: operands: at least one array is required; got ()")
    named = {f"operands[{k}]": value for k, value in enumerate(operands)}
    arrays = operands_like_each_other(name, **named)
    return apply(CONCATENATE, *arrays, axis=static_int(dimension, name, "dimension"))
