"""Windows of updates combined with an operand, one for each index vector, in the order of the updates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xjit.errors import ArgumentError, ShapeError
from xjit.ir.current import current
from xjit.ir.node import Graph
from xjit.ir.opdef import Access, AxisMap, Kind, Lookup, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.computation import captured, traced_scalars
from xjit.ops.define.core import (
    Shape,
    apply,
    as_operand,
    aval_of,
    constant,
    register,
    static_flag,
    static_int,
    static_ints,
)
from xjit.ops.define.evaluate import evaluate_elementwise
from xjit.ops.define.memory_order import pack
from xjit.ops.define.references import Array
from xjit.ops.define.rules import got
from xjit.ops.elements.elementwise import add
from xjit.ops.whole_arrays.shape import broadcast, broadcast_in_dim, iota
from xjit.ops.whole_arrays.starts import exact
from xjit.ops.whole_arrays.windows_at import (
    Dims,
    Names,
    WindowsAt,
    batch_places,
    check_numbers,
    elements_of_vectors,
    sizes_of_batches,
)
from xjit.types import ArrayType, TupleType, c_order, scalar_type

__all__ = ["scatter"]

Types = tuple[ArrayType, ...]

_NAMES = Names(
    operation="scatter",
    indices="scatter_indices",
    windowed="update_window_dims",
    dropped="inserted_window_dims",
    starting="scatter_dims_to_operand_dims",
    batching="input_batching_dims",
    batches="scatter_indices_batching_dims",
)


def _infer(types: Types, params: Params) -> ArrayType | TupleType:
    results = tuple(_own_type(type) for type in types[: params["n"]])
    return results[0] if params["n"] == 1 else TupleType(results)


def _own_type(type: ArrayType) -> ArrayType:
    order = type.order if len(type.order) == type.rank else c_order(type.rank)
    return ArrayType(type.dtype, type.dims, order)


def _access(types: Types, params: Params, out: ArrayType) -> Access:
    at, n = params["at"], params["n"]
    led = at.leading(types[n].rank)
    positions = tuple(AxisMap(axis) for axis in led)
    along = dict(zip(at.kept, at.windowed, strict=True))
    along |= {axis: led[batch] for axis, batch in zip(at.batching, at.batches, strict=True)}
    found = {axis: (Lookup(2 * n + number, positions),) for number, axis in enumerate(at.starting)}
    return Access(tuple(AxisMap(along.get(axis), 1, 0, found.get(axis, ())) for axis in range(at.rank)))


def _reference(*arrays: Array, at: WindowsAt, computation: Graph, n: int) -> Any:
    """output[I] = computation(output[I], updates[U]) for each U whose I is in bounds, one after the other.

    Of the updates of each element the first ones are taken together, then the second ones, and so on.
    """
    results, updates = [np.array(one) for one in arrays[:n]], arrays[n : 2 * n]
    starts, extra = arrays[2 * n : 2 * n + len(at.starting)], arrays[2 * n + len(at.starting) :]
    inside, place = _places(at, starts, results[0].shape, updates[0].shape)
    flat = np.zeros(np.count_nonzero(inside), np.int64)
    for one, size in zip(place, results[0].shape, strict=True):
        flat = flat * size + one[inside]
    values = [np.asarray(update)[inside] for update in updates]
    buffers = [result.reshape(-1) for result in results]
    for now in _in_turns(flat):
        old, new = [one[flat[now]] for one in buffers], [one[now] for one in values]
        combined = evaluate_elementwise(computation, (*old, *new, *extra), now.shape)
        for buffer, value in zip(buffers, combined, strict=True):
            buffer[flat[now]] = value
    found = tuple(buffer.reshape(result.shape) for buffer, result in zip(buffers, results, strict=True))
    return found[0] if n == 1 else found


def _in_turns(flat: Array) -> Iterator[Array]:
    """The first update of each position, then the second ones, and so on."""
    order = np.argsort(flat, kind="stable")
    begins = np.flatnonzero(np.diff(flat[order], prepend=-1))
    turn = np.arange(flat.size) - np.repeat(begins, np.diff(begins, append=flat.size))
    by_turn = order[np.argsort(turn, kind="stable")]
    return iter(np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]) if flat.size else ())


def _places(at: WindowsAt, starts: Sequence[Array], dims: Dims, sizes: Dims) -> tuple[Array, list[Array]]:
    """For each update: is it in bounds, and its position along each dimension of the operand."""
    led = at.leading(len(sizes))
    update: tuple[Array, ...] = np.indices(sizes, sparse=True)
    place: list[Array] = [np.zeros(sizes, np.int64) for _ in dims]
    for axis, start in zip(at.starting, starts, strict=True):
        place[axis] = place[axis] + start.reshape([sizes[one] if one in led else 1 for one in range(len(sizes))])
    for axis, batch in zip(at.batching, at.batches, strict=True):
        place[axis] = place[axis] + update[led[batch]]
    for axis, window in zip(at.kept, at.windowed, strict=True):
        place[axis] = place[axis] + update[window]
    inside = np.ones(sizes, bool)
    for one, size in zip(place, dims, strict=True):
        inside &= (one >= 0) & (one < size)
    return inside, [np.broadcast_to(one, sizes) for one in place]


SCATTER = register(
    OpDef(
        name="scatter",
        kind=Kind.UPDATE,
        xla_name="Scatter",
        infer=_infer,
        reference=_reference,
        access=_access,
        doc="Windows of updates combined with the elements at positions which other operands hold, in their order.",
    )
)


def scatter(
    operands: Any,
    scatter_indices: Any,
    updates: Any,
    update_computation: Callable[..., Any],
    *,
    index_vector_dim: int,
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    input_batching_dims: Sequence[int] = (),
    scatter_indices_batching_dims: Sequence[int] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
) -> Any:
    """The operands with ``update_computation(*old, *new)`` at the places of the updates, in row-major order of these.

    Index vectors lie along ``index_vector_dim``, which may be the rank of the indices: then each index is one. Their
    elements are starts along ``scatter_dims_to_operand_dims``; ``update_window_dims`` are the dimensions of the
    updates within a window, without the inserted and batching ones. Updates out of bounds are left out one by one.
    One operand by itself gives one array, a sequence gives a tuple. Any element types, integer indices. Raises
    DTypeError, ArgumentError for bad dimension numbers, ShapeError.

    >>> numbers = {"update_window_dims": (), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,)}
    >>> indices, updates = np.int32([2, 0, 2, 9]), np.float32([1, 5, 10, 100])
    >>> scatter(np.zeros(3, np.float32), indices, updates, lambda old, new: old + new, index_vector_dim=1, **numbers)
    array([ 5.,  0., 11.], dtype=float32)
    """
    name = "scatter"
    arrays, values = _sequence(operands, "operands"), _sequence(updates, "updates")
    if not arrays or len(arrays) != len(values):
        raise ArgumentError(
            f"ops.{name}: updates: one for each of at least one operand is required; "
            f"got {len(arrays)} operands and {len(values)} updates"
        )
    indices = as_operand(scatter_indices, name, "scatter_indices")
    types, parts, places = [*map(aval_of, arrays)], [*map(aval_of, values)], aval_of(indices)
    rules.check_class(name, "scatter_indices", places, "I")
    for k, (type, part) in enumerate(zip(types, parts, strict=False)):
        rules.check_same_dtype(name, (f"operands[{k}]", f"updates[{k}]"), (type, part))
    scalars = [scalar_type(type.dtype) for type in types]
    graph = traced_scalars(name, update_computation, (*scalars, *scalars), [type.dtype for type in types])
    vector_dim = static_int(index_vector_dim, name, "index_vector_dim")
    batches = static_ints(scatter_indices_batching_dims, name, "scatter_indices_batching_dims")
    at = WindowsAt(
        rank=types[0].rank,
        windowed=static_ints(update_window_dims, name, "update_window_dims"),
        dropped=static_ints(inserted_window_dims, name, "inserted_window_dims"),
        starting=static_ints(scatter_dims_to_operand_dims, name, "scatter_dims_to_operand_dims"),
        batching=static_ints(input_batching_dims, name, "input_batching_dims"),
        batches=batch_places(batches, vector_dim),
    )
    static_flag(indices_are_sorted, name, "indices_are_sorted")
    static_flag(unique_indices, name, "unique_indices")
    check_numbers(_NAMES, at, places, vector_dim, batches, parts[0].rank)
    _check_shapes(at, types, parts, places, vector_dim, batches)
    if parts[0].size:
        starts = [exact(one) for one in elements_of_vectors(indices, vector_dim)]
        found = _scattered(graph, arrays, values, starts, at)
    else:
        copies = tuple(pack(array, range(type.rank)) for array, type in zip(arrays, types, strict=True))
        found = copies if len(copies) > 1 else copies[0]
    return (found,) if len(arrays) == 1 and isinstance(operands, tuple | list) else found


def _scattered(graph: Graph, arrays: list[Any], values: list[Any], starts: list[Any], at: WindowsAt) -> Any:
    from xjit.ops.control.each_element import fits_kernels
    from xjit.ops.control.folds import scattered_in_turns

    if current() is None or fits_kernels(graph):
        return apply(SCATTER, *arrays, *values, *starts, *captured(graph), at=at, computation=graph, n=len(arrays))
    sizes = aval_of(values[0]).shape
    found = scattered_in_turns(graph, arrays, values, _positions(at, starts, sizes))
    return found if len(found) > 1 else found[0]


def _positions(at: WindowsAt, starts: Sequence[Any], sizes: Dims) -> list[Any]:
    """The place of each update along each dimension of the operand."""
    led, of_start = at.leading(len(sizes)), dict(zip(at.starting, starts, strict=True))
    along = dict(zip(at.kept, at.windowed, strict=True))
    along |= {axis: led[batch] for axis, batch in zip(at.batching, at.batches, strict=True)}
    found = []
    for axis in range(at.rank):
        place = broadcast(constant(np.zeros((), np.int64)), sizes)
        if axis in along:
            place = iota(Shape(sizes, np.int64), along[axis])
        if axis in of_start:
            place = add(place, broadcast_in_dim(of_start[axis], sizes, led))
        found.append(place)
    return found


def _sequence(values: Any, argument: str) -> list[Any]:
    several = list(values) if isinstance(values, tuple | list) else [values]
    return [as_operand(value, "scatter", f"{argument}[{k}]") for k, value in enumerate(several)]


def _check_shapes(
    at: WindowsAt,
    types: Sequence[ArrayType],
    parts: Sequence[ArrayType],
    places: ArrayType,
    vector_dim: int,
    batches: Dims,
) -> None:
    name, (type, *_), (part, *_) = "scatter", types, parts
    rules.check_same_dims(name, [f"operands[{k}]" for k in range(len(types))], types)
    rules.check_same_dims(name, [f"updates[{k}]" for k in range(len(parts))], parts)
    if len(at.kept) != len(at.windowed):
        raise ShapeError(
            f"ops.{name}: operands[0]: a dimension for each of update_window_dims, inserted_window_dims and "
            f"input_batching_dims, {len(at.windowed) + len(at.dropped) + len(at.batching)}, is required; "
            f"got {got((type,))}"
        )
    leading = sizes_of_batches(places, vector_dim)
    rules.check_rank(name, "updates[0]", part, len(leading) + len(at.windowed))
    for axis, one in zip(at.kept, at.windowed, strict=True):
        if part.shape[one] > type.shape[axis]:
            raise ShapeError(
                f"ops.{name}: updates[0]: dimension {one}, a window, must not be longer than dimension {axis} of the "
                f"operand; got {got((type, part))}"
            )
    if tuple(part.shape[axis] for axis in at.leading(part.rank)) != leading:
        raise ShapeError(
            f"ops.{name}: updates[0]: {leading} are required for the dimensions apart from update_window_dims; "
            f"got {got((part, places))}"
        )
    for axis, other in zip(at.batching, batches, strict=True):
        if type.shape[axis] != places.shape[other]:
            raise ShapeError(
                f"ops.{name}: scatter_indices: dimension {other} must be as long as dimension {axis} of the operand; "
                f"got {got((type, places))}"
            )
