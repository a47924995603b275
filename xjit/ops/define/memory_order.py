"""Copies and memory order as an operation: the same elements, packed with the axes in a given order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.ir.opdef import Kind, OpDef, Params
from xjit.ir.scalar_expr import Arg, Expr, bitcast
from xjit.ops.define import rules
from xjit.ops.define.core import Array, apply, as_operand, register, static_ints
from xjit.ops.define.formulas import bit_type
from xjit.types import NARROW_FLOATS, ArrayType


def _infer(types: tuple[ArrayType, ...], params: Params) -> ArrayType:
    rules.check_permutation("pack", "order", params["order"], types[0].rank)
    return ArrayType(types[0].dtype, types[0].dims, tuple(params["order"]))


def _reference(operand: Array, order: tuple[int, ...]) -> Array:
    pattern = np.empty(tuple(operand.shape[axis] for axis in order), operand.dtype)
    result = np.empty_like(pattern.transpose(np.argsort(order)), order="K")
    result[...] = operand
    return result


def _element(types: tuple[ArrayType, ...], params: Params, out: ArrayType) -> Expr:
    value = Arg(0, out.dtype)
    if out.dtype not in NARROW_FLOATS:
        return value
    return bitcast(bitcast(value, bit_type(out.dtype)), out.dtype)  # as it is, not through a wider type


PACK = register(
    OpDef(
        name="pack",
        kind=Kind.ELEMENTWISE,
        infer=_infer,
        reference=_reference,
        element=_element,
        doc="A copy, with the axes in a given memory order. It is a step of its own: the result is not the operand.",
    )
)


def pack(operand: Any, order: Sequence[int]) -> Any:
    """The operand's elements in packed memory whose axes, from the slowest to the fastest, are ``order``.

    Any element type. Raises ArgumentError unless ``order`` is a permutation of all dimensions.
    """
    array = as_operand(operand, "pack", "operand")
    return apply(PACK, array, order=static_ints(order, "pack", "order"))
