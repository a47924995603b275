"""Writes at positions whose number only the run knows: ``x[i[:n]] = v``, ``x[p * p :: p] = 0``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.ir.opdef import Access, AxisMap, Kind, Lookup, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, register
from xjit.ops.define.references import Array
from xjit.ops.dynamic.limited_windows import Range, limited_window
from xjit.types import ArrayType, c_order

Types = tuple[ArrayType, ...]


def _positions(several: Sequence[Any], params: Params) -> Sequence[Any]:
    return several[: params["places"]]


def _infer(types: Types, params: Params) -> ArrayType:
    name, (operand, update, *others) = "store_at", types
    rules.check_same_dtype(name, ("operand", "update"), (operand, update))
    for number, type in enumerate(_positions(others, params)):
        rules.check_class(name, f"positions[{number}]", type, "I")
    rules.check_same_dims(name, ["update", "positions"], (update, others[0]))
    order = operand.order if len(operand.order) == operand.rank else c_order(operand.rank)
    return ArrayType(operand.dtype, operand.dims, order)


def _access(types: Types, params: Params, out: ArrayType) -> Access:
    where = tuple(map(AxisMap, range(types[1].rank)))
    return Access(tuple(AxisMap(None, 1, 0, (Lookup(2 + axis, where),)) for axis in range(out.rank)))


def _reference(operand: Array, update: Array, *others: Array, **params: Any) -> Array:
    ends = [int(others[one]) if one >= 0 else None for one in params["counts"]]
    there = tuple(map(slice, ends))
    result = np.array(operand, order="K")
    result[tuple(one[there] for one in _positions(others, params))] = update[there]
    return result


STORE_AT = register(
    OpDef(
        name="store_at",
        kind=Kind.UPDATE,
        infer=_infer,
        reference=_reference,
        access=_access,
        silent=True,
        doc="The operand with elements replaced at positions that other operands hold, as many as exist.",
    )
)


def store_at(operand: Operand, update: Operand, positions: Sequence[Operand], counts: Sequence[Any]) -> Any:
    """The operand with elements of the update at positions along all its axes, of equal ones the last.

    The update and the positions have the same dimensions, along each of which so many exist as ``counts`` say: an
    integer for all, or an operand of rank 0. Positions have to lie within, which nobody checks. Any element type.
    Raises DTypeError for another type of the update, ShapeError for other dimensions.
    """

    def cut(value: Any) -> Any:
        dims = value.shape
        ranges = [Range(0, 1, count, bound) for count, bound in zip(counts, dims, strict=True)]
        return limited_window(value, ranges) if any(one.is_limited for one in ranges) else value

    numbers = [one for one in counts if not isinstance(one, int)]
    place = itertools.count(len(positions))
    places = [-1 if isinstance(one, int) else next(place) for one in counts]
    operands = (operand, cut(update), *map(cut, positions), *numbers)
    return apply(STORE_AT, *operands, n=1, places=len(positions), counts=tuple(places))
