"""Repetition: each element of a line as often as its number says; how many that are in all only the run knows.

    elements  a b c d      numbers  2 0 3 1      ends  2 2 5 6
    repeated  a a c c c d | | ...                 the last end is their number

Results have a bound in place of that number: what lies behind it nobody reads. Threads share blocks of elements, of
whose parts of the result the ends tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.opdef import BlockRoutine, Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, register
from xjit.ops.define.references import Array
from xjit.types import ArrayType

Types = tuple[ArrayType, ...]

BLOCK = 1 << 12
"""Elements of a block, each of which may be many in the result."""

_WIDEST = 16


def _infer(types: Types, params: Params) -> ArrayType:
    operand, ends, size = types
    rules.check_class("repeat_each", "ends", ends, "I")
    rules.check_same_dims("repeat_each", ["operand", "ends"], (operand, ends))
    rules.check_rank("repeat_each", "size", size, 0)
    return ArrayType(operand.dtype, (params["bound"],), (0,))


def _repeat(operand: Array, ends: Array, size: Array, bound: int) -> Array:
    there = slice(int(size))
    found = np.repeat(operand[there], np.diff(ends[there], prepend=0))
    result: Array = np.zeros(bound, operand.dtype)
    result[: len(found)] = found
    return result


def _routine(types: Types, params: Params) -> BlockRoutine | None:
    size = types[0].dtype.itemsize
    return BlockRoutine(f"repeat_{size}", BLOCK, strided=True) if size <= _WIDEST else None


REPEAT_EACH = register(
    OpDef(
        name="repeat_each",
        kind=Kind.STRUCTURED,
        infer=_infer,
        reference=_repeat,
        in_blocks=_routine,
        fresh=True,
        silent=True,
        doc="Each element as often as numbers say, in front of what nobody reads.",
    )
)


def repeat_each(operand: Operand, ends: Operand, size: Operand, bound: int) -> Any:
    """The first ``size`` elements of a line, an S64 of rank 0, each up to where its repetitions end, within a bound.

    Any element type; the ends are S64, and do not decrease. Raises DTypeError for other ends, ShapeError for other
    dimensions.
    """
    return apply(REPEAT_EACH, operand, ends, size, bound=bound)
