"""Windows of an operand, one for each index vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.errors import ShapeError
from xjit.ir.opdef import Access, AxisMap, Kind, Lookup, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import apply, as_operand, aval_of, register, static_flag, static_int, static_ints
from xjit.ops.define.references import Array
from xjit.ops.define.rules import got
from xjit.ops.whole_arrays.starts import fitting, with_room
from xjit.ops.whole_arrays.windows_at import (
    Dims,
    Names,
    WindowsAt,
    batch_places,
    check_numbers,
    elements_of_vectors,
    sizes_of_batches,
)
from xjit.types import ArrayType, array_type

__all__ = ["gather"]

Types = tuple[ArrayType, ...]

_NAMES = Names(
    operation="gather",
    indices="start_indices",
    windowed="offset_dims",
    dropped="collapsed_slice_dims",
    starting="start_index_map",
    batching="operand_batching_dims",
    batches="start_indices_batching_dims",
)


def _infer(types: Types, params: Params) -> ArrayType:
    at, batches, sizes = params["at"], iter(params["leading"]), iter(params["window"])
    rank = len(params["leading"]) + len(at.windowed)
    dims = tuple(next(sizes if axis in at.windowed else batches) for axis in range(rank))
    return array_type(types[0].dtype, dims)


def _reference(operand: Array, *starts: Array, at: WindowsAt, leading: Dims, window: Dims) -> Array:
    """result[Out] = operand[Sin + Bin + Oin]."""
    rank = len(leading) + len(at.windowed)
    led = at.leading(rank)
    sizes, lengths = dict(zip(led, leading, strict=True)), dict(zip(at.windowed, window, strict=True))
    out = np.ogrid[tuple(slice((sizes | lengths)[axis]) for axis in range(rank))]
    place: list[Any] = [np.zeros((1,) * rank, np.int64)] * operand.ndim
    for axis, start in zip(at.starting, starts, strict=True):
        place[axis] = place[axis] + start.reshape([sizes.get(one, 1) for one in range(rank)])
    for axis, batch in zip(at.batching, at.batches, strict=True):
        place[axis] = place[axis] + out[led[batch]]
    for axis, one in zip(at.kept, at.windowed, strict=True):
        place[axis] = place[axis] + out[one]
    picked: Array = np.broadcast_to(operand[tuple(place)], [(sizes | lengths)[axis] for axis in range(rank)])
    return np.array(picked)


def _access(types: Types, params: Params, out: ArrayType) -> Access:
    at: WindowsAt = params["at"]
    led = at.leading(out.rank)
    positions = tuple(AxisMap(axis) for axis in led)
    along = dict(zip(at.kept, at.windowed, strict=True))
    along |= {axis: led[batch] for axis, batch in zip(at.batching, at.batches, strict=True)}
    found = {axis: (Lookup(1 + number, positions),) for number, axis in enumerate(at.starting)}
    return Access(tuple(AxisMap(along.get(axis), 1, 0, found.get(axis, ())) for axis in range(at.rank)))


GATHER = register(
    OpDef(
        name="gather",
        kind=Kind.INDEXING,
        xla_name="Gather",
        infer=_infer,
        reference=_reference,
        access=_access,
        doc="Windows of the operand that begin at positions which other operands hold.",
    )
)


def gather(
    operand: Any,
    start_indices: Any,
    *,
    offset_dims: Sequence[int],
    collapsed_slice_dims: Sequence[int],
    slice_sizes: Sequence[int],
    start_index_map: Sequence[int],
    index_vector_dim: int,
    operand_batching_dims: Sequence[int] = (),
    start_indices_batching_dims: Sequence[int] = (),
    indices_are_sorted: bool = False,
) -> Any:
    """A window of ``slice_sizes`` for each index vector, moved to where it lies within the operand.

    Index vectors lie along ``index_vector_dim``, which may be the rank of the indices: then each index is one. Their
    elements are starts along the dimensions ``start_index_map``. ``offset_dims`` are the dimensions of the result
    within a window, without the collapsed and batching ones. Any element type, integer indices. Raises DTypeError,
    ArgumentError for bad dimension numbers, ShapeError for windows that do not fit.

    >>> rows = np.float32([[1, 2], [3, 4], [5, 6]])
    >>> numbers = {"collapsed_slice_dims": (0,), "start_index_map": (0,), "index_vector_dim": 1}
    >>> gather(rows, np.int32([2, 0]), offset_dims=(1,), slice_sizes=(1, 2), **numbers)
    array([[5., 6.],
           [1., 2.]], dtype=float32)
    """
    name = "gather"
    array, indices = as_operand(operand, name, "operand"), as_operand(start_indices, name, "start_indices")
    type, places = aval_of(array), aval_of(indices)
    rules.check_class(name, "start_indices", places, "I")
    vector_dim = static_int(index_vector_dim, name, "index_vector_dim")
    batches = static_ints(start_indices_batching_dims, name, "start_indices_batching_dims")
    at = WindowsAt(
        rank=type.rank,
        windowed=static_ints(offset_dims, name, "offset_dims"),
        dropped=static_ints(collapsed_slice_dims, name, "collapsed_slice_dims"),
        starting=static_ints(start_index_map, name, "start_index_map"),
        batching=static_ints(operand_batching_dims, name, "operand_batching_dims"),
        batches=batch_places(batches, vector_dim),
    )
    sizes = static_ints(slice_sizes, name, "slice_sizes")
    static_flag(indices_are_sorted, name, "indices_are_sorted")
    leading = sizes_of_batches(places, vector_dim)
    check_numbers(_NAMES, at, places, vector_dim, batches, len(leading) + len(at.windowed))
    rules.check_length(name, "slice_sizes", sizes, type.rank)
    _check_sizes(at, sizes, type, places, batches, leading)
    starts = zip(at.starting, elements_of_vectors(indices, vector_dim), strict=True)
    clamped = {axis: fitting(start, array, axis, sizes[axis]) for axis, start in starts if _moves(axis, type, sizes)}
    array = with_room(name, array, {axis: sizes[axis] for axis in clamped})
    at = WindowsAt(at.rank, at.windowed, at.dropped, tuple(clamped), at.batching, at.batches)
    return apply(
        GATHER, array, *clamped.values(), at=at, leading=leading, window=tuple(sizes[one] for one in at.kept)
    )


def _moves(axis: int, type: ArrayType, sizes: Dims) -> bool:
    """Return whether a window has several places along a dimension."""
    return sizes[axis] < type.shape[axis]


def _check_sizes(
    at: WindowsAt, sizes: Dims, type: ArrayType, places: ArrayType, batches: Dims, leading: Dims
) -> None:
    name = "gather"
    if len(at.kept) != len(at.windowed):
        raise ShapeError(
            f"ops.{name}: operand: a dimension for each of offset_dims, collapsed_slice_dims and "
            f"operand_batching_dims, {len(at.windowed) + len(at.dropped) + len(at.batching)}, is required; "
            f"got {got((type,))}"
        )
    if any(not 0 <= size <= dim for size, dim in zip(sizes, type.shape, strict=True)):
        raise ShapeError(
            f"ops.{name}: slice_sizes: a window within the operand is required; got {sizes} and {got((type,))}"
        )
    least = 1 if all(leading) else 0  # of nothing there is nothing to leave out
    wrong = next((axis for axis in (*at.dropped, *at.batching) if not least <= sizes[axis] <= 1), None)
    if wrong is not None:
        raise ShapeError(
            f"ops.{name}: slice_sizes: 1 is required in dimension {wrong}, which the result lacks; got {sizes}"
        )
    for axis, other in zip(at.batching, batches, strict=True):
        if type.shape[axis] != places.shape[other]:
            raise ShapeError(
                f"ops.{name}: start_indices: dimension {other} must be as long as dimension {axis} of the operand; "
                f"got {got((type, places))}"
            )
