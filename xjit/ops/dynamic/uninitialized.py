"""Uninitialized memory as an operation: an array of which nobody reads an element before it is written."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.opdef import Access, Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Array, apply, constant, register
from xjit.ops.define.memory_order import pack
from xjit.types import ArrayType, DType

Types = tuple[ArrayType, ...]


def _infer(types: Types, params: Params) -> ArrayType:
    rules.check_rank("uninitialized", "operand", types[0], 0)
    rules.check_at_least("uninitialized", "dims", params["dims"], 0)
    return rules.view_type(types[0], params["dims"], [None] * len(params["dims"]))


def _reference(operand: Array, dims: tuple[int, ...], which: tuple[int, ...]) -> Array:
    return np.broadcast_to(operand, dims)


def _access(types: Types, params: Params, out: ArrayType) -> Access:
    return Access(())


UNINITIALIZED = register(
    OpDef(
        name="uninitialized",
        kind=Kind.INDEXING,
        infer=_infer,
        reference=_reference,
        access=_access,
        unread=True,
        doc="Room for elements, the operand or anything else, which are written before any is read.",
    )
)


def uninitialized(dims: tuple[int, ...], dtype: DType, which: tuple[int, ...] = ()) -> Any:
    """A packed array with room for elements that are written before anybody reads them. Element types: any.

    Arrays that stand for other things say ``which``, so that they are not one value, of which each needs a copy.

    >>> uninitialized((3,), np.dtype(np.int64)).shape
    (3,)
    """
    room = apply(UNINITIALIZED, constant(np.zeros((), dtype)), dims=dims, which=which)
    return pack(room, range(len(dims)))
