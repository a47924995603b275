"""Windows that begin where data says: read, and written."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.errors import ShapeError
from xjit.ir.opdef import Access, AxisMap, Kind, Lookup, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, as_operand, aval_of, register, static_ints
from xjit.ops.define.memory_order import pack
from xjit.ops.define.references import Array
from xjit.ops.define.rules import got
from xjit.ops.dynamic.dimension_sizes import at_bound, sized
from xjit.ops.dynamic.extents import dynamic_axes, extent
from xjit.ops.whole_arrays.starts import check_scalars, check_starts, fitting, scalar_starts, with_room
from xjit.types import ArrayType, array_type, c_order

__all__ = ["dynamic_slice", "dynamic_update_slice"]

Types = tuple[ArrayType, ...]


def _window(axes: Sequence[int], rank: int, first_start: int) -> Access:
    """The window whose start along each of ``axes`` is an operand of rank 0, from this one on; along others 0."""
    starts = {axis: first_start + number for number, axis in enumerate(axes)}
    return Access(
        tuple(AxisMap(axis, 1, 0, (Lookup(starts[axis], ()),) if axis in starts else ()) for axis in range(rank))
    )


def _slices(starts: Sequence[Array], axes: Sequence[int], sizes: Sequence[int]) -> tuple[builtins.slice, ...]:
    first = dict(zip(axes, map(int, starts), strict=True))
    return tuple(builtins.slice(first.get(axis, 0), first.get(axis, 0) + size) for axis, size in enumerate(sizes))


# ---- dynamic_slice


def _infer_slice(types: Types, params: Params) -> ArrayType:
    return array_type(types[0].dtype, params["sizes"])


def _slice(operand: Array, *starts: Array, axes: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    return np.array(operand[_slices(starts, axes, sizes)])


def _access_slice(types: Types, params: Params, out: ArrayType) -> Access:
    return _window(params["axes"], out.rank, 1)


DYNAMIC_SLICE = register(
    OpDef(
        name="dynamic_slice",
        kind=Kind.INDEXING,
        xla_name="DynamicSlice",
        infer=_infer_slice,
        reference=_slice,
        access=_access_slice,
        doc="The window of the operand that begins at positions which other operands hold, along some dimensions.",
    )
)


def dynamic_slice(operand: Any, start_indices: Any, size_indices: Sequence[int]) -> Any:
    """The window of these sizes that begins at ``start_indices``, moved to where it lies within the operand.

    Starts are one integer of rank 0 for each dimension, all of one type, or an array of rank 1. Any element type.
    Raises DTypeError, ArgumentError for wrong counts or negative sizes, ShapeError for a window that does not fit.

    >>> dynamic_slice(np.float32([0, 1, 2, 3, 4]), (np.int32(4),), (2,))
    array([3., 4.], dtype=float32)
    """
    name = "dynamic_slice"
    array, starts = as_operand(operand, name, "operand"), scalar_starts(name, start_indices)
    type = aval_of(array)
    sizes = static_ints(size_indices, name, "size_indices")
    rules.check_length(name, "size_indices", sizes, type.rank)
    check_starts(name, starts, type.rank)
    rules.check_at_least(name, "size_indices", sizes, 0)
    if any(size > dim for size, dim in zip(sizes, type.shape, strict=True)):
        raise ShapeError(
            f"ops.{name}: size_indices: a window within the operand is required; got {sizes} of {got((type,))}"
        )
    check_scalars(name, starts)
    axes, places = _moving(starts, array, sizes)
    array = with_room(name, array, {axis: sizes[axis] for axis in axes})
    return apply(DYNAMIC_SLICE, array, *places, axes=axes, sizes=sizes)


def _moving(starts: Sequence[Operand], operand: Operand, sizes: Sequence[int]) -> tuple[tuple[int, ...], list[Any]]:
    """The dimensions along which a window has several places, and the place along each."""
    dims = aval_of(operand).shape
    axes = tuple(axis for axis, (dim, size) in enumerate(zip(dims, sizes, strict=True)) if size < dim)
    return axes, [fitting(starts[axis], operand, axis, sizes[axis]) for axis in axes]


# ---- dynamic_update_slice


def _infer_update(types: Types, params: Params) -> ArrayType:
    operand = types[0]
    order = operand.order if len(operand.order) == operand.rank else c_order(operand.rank)
    return ArrayType(operand.dtype, operand.dims, order)


def _update(operand: Array, update: Array, *starts: Array, axes: tuple[int, ...], n: int) -> Array:
    result = np.array(operand)
    result[_slices(starts, axes, update.shape)] = update
    return result


def _access_update(types: Types, params: Params, out: ArrayType) -> Access:
    return _window(params["axes"], out.rank, 2)


DYNAMIC_UPDATE_SLICE = register(
    OpDef(
        name="dynamic_update_slice",
        kind=Kind.UPDATE,
        xla_name="DynamicUpdateSlice",
        infer=_infer_update,
        reference=_update,
        access=_access_update,
        doc="The operand with a window replaced that begins at positions which other operands hold.",
    )
)


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Any:
    """The operand with the window at ``start_indices``, moved to where it lies within, replaced by ``update``.

    Starts are one integer of rank 0 for each dimension, all of one type, or an array of rank 1. Any element type.
    Raises DTypeError, ArgumentError for a wrong number of starts, ShapeError for a window that does not fit.

    >>> dynamic_update_slice(np.float32([0, 1, 2, 3, 4]), np.float32([5, 6]), (np.int32(2),))
    array([0., 1., 5., 6., 4.], dtype=float32)
    """
    name = "dynamic_update_slice"
    array = as_operand(operand, name, "operand")
    window = as_operand(update, name, "update", aval_of(array).dtype)
    starts = scalar_starts(name, start_indices)
    type, part = aval_of(array), aval_of(window)
    rules.check_same_dtype(name, ("operand", "update"), (type, part))
    check_starts(name, starts, type.rank)
    rules.check_rank(name, "update", part, type.rank)
    if any(size > dim for size, dim in zip(part.shape, type.shape, strict=True)):
        raise ShapeError(f"ops.{name}: update: a window within the operand is required; got {got((type, part))}")
    check_scalars(name, starts)
    if not part.size:
        return pack(array, range(type.rank))
    axes, places = _moving(starts, array, part.shape)
    sizes = {axis: extent(array, axis) for axis in dynamic_axes(array)}
    array = at_bound(with_room(name, array, {axis: part.shape[axis] for axis in axes}))
    result = apply(DYNAMIC_UPDATE_SLICE, array, window, *places, axes=axes, n=1)
    return sized(result, sizes) if sizes else result
