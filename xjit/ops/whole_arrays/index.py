"""Reading at positions that data decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.opdef import Access, AxisMap, Kind, Lookup, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, as_operand, aval_of, register
from xjit.ops.define.references import Array
from xjit.types import ArrayType, c_order

__all__ = ["look_up"]

Types = tuple[ArrayType, ...]


def _result_axes(rank: int, params: Params, places: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The result axes of the operand axes that stay, and those of the positions."""
    at = params["place"]
    kept = rank - len(params["axes"])
    stay = tuple(axis if axis < at else axis + places for axis in range(kept))
    return stay, tuple(range(at, at + places))


def _infer(types: Types, params: Params) -> ArrayType:
    operand, *positions = types
    rules.check_axes("look_up", "axes", params["axes"], operand.rank)
    for number, type in enumerate(positions):
        rules.check_class("look_up", f"positions[{number}]", type, "I")
    rules.check_same_dims("look_up", [f"positions[{number}]" for number in range(len(positions))], positions)
    stay, found = _result_axes(operand.rank, params, positions[0].rank)
    dims = [0] * (len(stay) + len(found))
    kept = [size for axis, size in enumerate(operand.shape) if axis not in params["axes"]]
    for axis, size in (*zip(stay, kept, strict=True), *zip(found, positions[0].shape, strict=True)):
        dims[axis] = size
    order = _order(operand, params, positions[0].rank)
    return ArrayType(operand.dtype, tuple(dims), order)


def _order(operand: ArrayType, params: Params, places: int) -> tuple[int, ...]:
    """The memory order: row-major, or positions first and the rest as in the operand."""
    stay, found = _result_axes(operand.rank, params, places)
    if not params["positions_first"]:
        return c_order(len(stay) + len(found))
    kept = [axis for axis in range(operand.rank) if axis not in params["axes"]]
    by_memory = [axis for axis in operand.order if axis in kept]
    by_memory += [axis for axis in kept if axis not in by_memory]
    return (*found, *(stay[kept.index(axis)] for axis in by_memory))


def _reference(operand: Array, *positions: Array, **params: Any) -> Array:
    axes, places = params["axes"], positions[0].ndim
    kept = tuple(axis for axis in range(operand.ndim) if axis not in axes)
    stay, found = _result_axes(operand.ndim, params, places)
    # Behind the limit of an axis positions are any numbers, and what is found there is not looked at.
    within = tuple(
        np.clip(one, 0, max(operand.shape[axis] - 1, 0)) for one, axis in zip(positions, axes, strict=True)
    )
    picked = np.transpose(operand, (*axes, *kept))[within]
    order = _order(aval_of(operand), params, places)
    by_memory = np.array(np.transpose(picked, [(*found, *stay).index(axis) for axis in order]), order="C")
    return by_memory.transpose([order.index(axis) for axis in range(len(order))])


def _access(types: Types, params: Params, out: ArrayType) -> Access:
    operand, *positions = types
    stay, found = _result_axes(operand.rank, params, positions[0].rank)
    where = tuple(AxisMap(axis) for axis in found)
    kept = iter(stay)
    return Access(
        tuple(
            AxisMap(None, 1, 0, (Lookup(1 + params["axes"].index(axis), where),))
            if axis in params["axes"]
            else AxisMap(next(kept))
            for axis in range(operand.rank)
        )
    )


LOOK_UP = register(
    OpDef(
        name="look_up",
        kind=Kind.INDEXING,
        infer=_infer,
        reference=_reference,
        access=_access,
        doc="The elements at positions, along some dimensions, that other operands hold.",
    )
)


def look_up(
    operand: Any, positions: tuple[Operand, ...], axes: tuple[int, ...], place: int, *, positions_first: bool = False
) -> Any:
    """The elements of ``operand`` at positions along ``axes``, all others along the other dimensions.

    ``positions`` are integer arrays of equal dimensions, one for each of ``axes``; every number has to be a valid
    position, which nobody checks. Their dimensions stand in the result from dimension ``place`` on, among the others
    of the operand, and first in memory if ``positions_first``. Any element type.

    >>> look_up(np.array([[1, 2], [3, 4]]), (np.array([1, 0, 1]),), (0,), 0)
    array([[3, 4],
           [1, 2],
           [3, 4]])
    """
    array = as_operand(operand, "look_up", "operand")
    values = tuple(as_operand(one, "look_up", f"positions[{k}]") for k, one in enumerate(positions))
    return apply(LOOK_UP, array, *values, axes=axes, place=place, positions_first=positions_first)
