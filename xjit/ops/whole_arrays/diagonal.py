"""Diagonals of matrices inside an array, an operation that XLA lacks: read in place, so that they can be views."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit.ir.opdef import Access, AxisMap, Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import apply, as_operand, register, static_int
from xjit.ops.define.references import Array
from xjit.types import ArrayType, array_type, order_of

Types = tuple[ArrayType, ...]


def _infer(types: Types, params: Params) -> ArrayType:
    (type,), axes = types, params["axes"]
    rules.check_axes("diagonal", "axes", axes, type.rank)
    first, second = axes
    rest = [axis for axis in range(type.rank) if axis not in axes]
    dims = (*(type.shape[axis] for axis in rest), min(type.shape[first], type.shape[second]))
    steps = (*(type.strides[axis] for axis in rest), type.strides[first] + type.strides[second])
    return array_type(type.dtype, dims, order_of(dims, steps))


def _reference(operand: Array, axes: tuple[int, int], writable: bool) -> Array:
    view = np.diagonal(operand, 0, *axes)
    if writable and operand.flags.writeable:
        view.flags.writeable = True
    return view


def _access(types: Types, params: Params, out: ArrayType) -> Access:
    places = iter(range(out.rank - 1))
    axes = range(types[0].rank)
    return Access(tuple(AxisMap(out.rank - 1 if axis in params["axes"] else next(places)) for axis in axes))


DIAGONAL = register(
    OpDef(
        name="diagonal",
        kind=Kind.INDEXING,
        infer=_infer,
        reference=_reference,
        access=_access,
        doc="The elements whose positions along two dimensions are equal, as a new last dimension.",
    )
)


def diagonal(operand: Any, first: int, second: int, *, writable: bool = False) -> Any:
    """The elements at equal positions along two dimensions; these give way to one, the last of the result.

    Any element type; the new dimension is as long as the shorter of the two. ``writable`` says whether a view of this
    kind can be written to, as those of einsum can. Raises ArgumentError for dimensions out of range or the same.

    >>> diagonal(np.float32([[1, 2, 3], [4, 5, 6]]), 0, 1)
    array([1., 5.], dtype=float32)
    """
    array = as_operand(operand, "diagonal", "operand")
    axes = (static_int(first, "diagonal", "first"), static_int(second, "diagonal", "second"))
    return apply(DIAGONAL, array, axes=axes, writable=writable)
