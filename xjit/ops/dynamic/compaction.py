"""Compaction: the elements that a mask chooses, put next to each other; their number only the run knows.

Elements lie in blocks. The chosen ones of each block are counted, sums of the counts say where those of a block begin
and end, and then all blocks are packed, each into its part of the result::

    mask     0 1 1 0 | 0 0 0 0 | 1 1 0 1      counts  2 0 3      ends  2 2 5
    packed   1 2 | | 8 9 11 ...               the last end is their number

Results have a bound in place of that number: what lies behind it nobody reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.opdef import BlockRoutine, Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, register
from xjit.ops.define.references import Array
from xjit.types import INT64, ArrayType, DType

Types = tuple[ArrayType, ...]

BLOCK = 1 << 14
"""Elements of a block: few enough for a thread's cache, and so many that their counts are few."""

_WIDEST = 16


def blocks_of(count: int) -> int:
    """The number of blocks that elements lie in."""
    return -(-count // BLOCK)


def _line(dtype: DType, count: int) -> ArrayType:
    return ArrayType(dtype, (count,), (0,))


def _infer_counts(types: Types, params: Params) -> ArrayType:
    mask, size = types
    rules.check_class("count_chosen", "mask", mask, "P")
    rules.check_rank("count_chosen", "size", size, 0)
    return _line(INT64, blocks_of(mask.shape[0]))


def _counts(mask: Array, size: Array) -> Array:
    chosen = mask[: int(size)].astype(INT64)
    chosen = np.concatenate([chosen, np.zeros(blocks_of(len(mask)) * BLOCK - len(chosen), INT64)])
    found: Array = chosen.reshape(-1, BLOCK).sum(axis=1)
    return found


COUNT_CHOSEN = register(
    OpDef(
        name="count_chosen",
        kind=Kind.STRUCTURED,
        infer=_infer_counts,
        reference=_counts,
        in_blocks=lambda types, params: BlockRoutine("count_chosen", BLOCK),
        fresh=True,
        silent=True,
        doc="How many elements a mask chooses in each block, of the first so many.",
    )
)


def count_chosen(mask: Operand, size: Operand) -> Any:
    """The number of elements that a mask of rank 1 chooses in each block, of the first ``size``, an S64 of rank 0.

    Raises DTypeError for another mask, ShapeError for another rank of the size.
    """
    return apply(COUNT_CHOSEN, mask, size)


def _padded(found: Array, bound: int) -> Array:
    result: Array = np.zeros(bound, found.dtype)
    result[: len(found)] = found
    return result


def _first(mask: Array, ends: Array) -> Array:
    """The positions that a mask chooses, as many as the ends say."""
    return np.flatnonzero(mask)[: int(ends[-1]) if len(ends) else 0]


def _infer_compact(types: Types, params: Params) -> ArrayType:
    operand, mask, _ = types
    rules.check_class("compact", "mask", mask, "P")
    rules.check_same_dims("compact", ["operand", "mask"], (operand, mask))
    return _line(operand.dtype, params["bound"])


def _compact(operand: Array, mask: Array, ends: Array, bound: int) -> Array:
    return _padded(operand[_first(mask, ends)], bound)


def _packing(types: Types, params: Params) -> BlockRoutine | None:
    size = types[0].dtype.itemsize
    return BlockRoutine(f"compact_{size}", BLOCK, strided=True, ends=2) if size <= _WIDEST else None


COMPACT = register(
    OpDef(
        name="compact",
        kind=Kind.STRUCTURED,
        infer=_infer_compact,
        reference=_compact,
        in_blocks=_packing,
        fresh=True,
        silent=True,
        doc="The elements that a mask chooses, in their order, in front of what nobody reads.",
    )
)


def compact(operand: Operand, mask: Operand, ends: Operand, bound: int) -> Any:
    """The elements of a line that a mask chooses, where the ends of each block are known, within a bound.

    Any element type. Raises DTypeError for another mask, ShapeError for other dimensions.
    """
    return apply(COMPACT, operand, mask, ends, bound=bound)


def _infer_positions(types: Types, params: Params) -> ArrayType:
    rules.check_class("chosen_positions", "mask", types[0], "P")
    return _line(INT64, params["bound"])


def _positions(mask: Array, ends: Array, bound: int) -> Array:
    return _padded(_first(mask, ends).astype(INT64), bound)


CHOSEN_POSITIONS = register(
    OpDef(
        name="chosen_positions",
        kind=Kind.STRUCTURED,
        infer=_infer_positions,
        reference=_positions,
        in_blocks=lambda types, params: BlockRoutine("chosen_positions", BLOCK, ends=1),
        fresh=True,
        silent=True,
        doc="The positions that a mask chooses, in their order, in front of what nobody reads.",
    )
)


def chosen_positions(mask: Operand, ends: Operand, bound: int) -> Any:
    """The positions in a line that a mask chooses, where the ends of each block are known, within a bound.

    Raises DTypeError for another mask.
    """
    return apply(CHOSEN_POSITIONS, mask, ends, bound=bound)
