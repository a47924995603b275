"""Counts of how often each number occurs, in an array of a length that only the run knows: NumPy's ``bincount``."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, register
from xjit.ops.define.references import Array
from xjit.types import FLOAT64, INT64, ArrayType

Types = tuple[ArrayType, ...]


def _infer(types: Types, params: Params) -> ArrayType:
    operand, *weights, size, length = types
    rules.check_class("count_numbers", "operand", operand, "IP")
    rules.check_rank("count_numbers", "operand", operand, 1)
    for name, type in (("size", size), ("length", length)):
        rules.check_rank("count_numbers", name, type, 0)
    return ArrayType(FLOAT64 if weights else INT64, (params["bound"],), (0,))


def _count(operand: Array, *others: Array, bound: int) -> Array:
    *weights, size, length = others
    result: Array = np.zeros(bound, FLOAT64 if weights else INT64)
    if length <= bound:  # else the program ends with an error
        there = slice(int(size))
        found = np.bincount(operand[there], weights[0][there] if weights else None, int(length))
        if len(found) == bound:
            return found
        result[: len(found)] = found
    return result


COUNT_NUMBERS = register(
    OpDef(
        name="count_numbers",
        kind=Kind.STRUCTURED,
        infer=_infer,
        reference=_count,
        fresh=True,
        silent=True,
        doc="How often each number occurs, or the sums of weights, in front of what nobody reads.",
    )
)


def count_numbers(operand: Operand, weights: Operand | None, size: Operand, length: Operand, bound: int) -> Any:
    """The occurrences of each number among the first ``size`` ones, as S64, or the sums of their weights, as F64.

    The numbers are no negative ones, and below ``length``; both sizes are S64 of rank 0. Where the length is more
    than the bound nothing is counted. Raises DTypeError for other elements, ShapeError for other ranks.
    """
    others = () if weights is None else (weights,)
    return apply(COUNT_NUMBERS, operand, *others, size, length, bound=bound)
