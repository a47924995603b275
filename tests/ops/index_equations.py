"""Windows, gathers and scatters as loops over the index equations of their definitions, one element at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Index = tuple[int, ...]


def clamped(start: Any, size: int, window: int) -> int:
    """The start moved to where the window lies within the axis."""
    return min(max(int(start), 0), size - window)


def sliced(operand: Any, starts: Sequence[Any], sizes: Sequence[int]) -> Any:
    """result[i] = operand[s + i]."""
    first = [clamped(*one) for one in zip(starts, operand.shape, sizes, strict=True)]
    result = np.empty(tuple(sizes), operand.dtype)
    for index in itertools.product(*map(range, sizes)):
        result[index] = operand[tuple(a + b for a, b in zip(first, index, strict=True))]
    return result


def updated(operand: Any, update: Any, starts: Sequence[Any]) -> Any:
    """result[i] = update[i - s] where that exists, else operand[i]."""
    first = [clamped(*one) for one in zip(starts, operand.shape, update.shape, strict=True)]
    result = operand.copy()
    for index in itertools.product(*map(range, operand.shape)):
        inside = tuple(i - s for i, s in zip(index, first, strict=True))
        if all(0 <= i < size for i, size in zip(inside, update.shape, strict=True)):
            result[index] = update[inside]
    return result


def index_vectors(indices: Any, vector_dim: int) -> tuple[Any, Index]:
    """The indices with their vectors along ``vector_dim``, implied or not, and the other dimensions."""
    if vector_dim == indices.ndim:
        indices = indices.reshape(*indices.shape, 1)
    return indices, tuple(size for axis, size in enumerate(indices.shape) if axis != vector_dim)


def _position(batch: Index, axis: int, vector_dim: int) -> int:
    return batch[axis - (axis > vector_dim)]


def gathered(
    operand: Any,
    start_indices: Any,
    *,
    offset_dims: Index,
    collapsed_slice_dims: Index,
    slice_sizes: Index,
    start_index_map: Index,
    index_vector_dim: int,
    operand_batching_dims: Index = (),
    start_indices_batching_dims: Index = (),
    indices_are_sorted: bool = False,
) -> Any:
    """result[Out] = operand[Sin + Bin + Oin]."""
    indices, batches = index_vectors(start_indices, index_vector_dim)
    dropped = {*collapsed_slice_dims, *operand_batching_dims}
    window = [axis for axis in range(operand.ndim) if axis not in dropped]
    rank = len(batches) + len(offset_dims)
    batch_dims = [axis for axis in range(rank) if axis not in offset_dims]
    shape = [0] * rank
    for axis, size in (
        *zip(batch_dims, batches, strict=True),
        *((d, slice_sizes[w]) for d, w in zip(offset_dims, window, strict=True)),
    ):
        shape[axis] = size
    result = np.empty(tuple(shape), operand.dtype)
    for out in itertools.product(*map(range, shape)):
        batch = tuple(out[axis] for axis in batch_dims)
        place = [0] * operand.ndim
        vector = indices[(*batch[:index_vector_dim], slice(None), *batch[index_vector_dim:])]
        for k, axis in enumerate(start_index_map):
            place[axis] += clamped(vector[k], operand.shape[axis], slice_sizes[axis])
        for axis, other in zip(operand_batching_dims, start_indices_batching_dims, strict=True):
            place[axis] += _position(batch, other, index_vector_dim)
        for axis, dim in zip(window, offset_dims, strict=True):
            place[axis] += out[dim]
        result[out] = operand[tuple(place)]
    return result


def places(
    shape: Index,
    indices: Any,
    update_shape: Index,
    *,
    index_vector_dim: int,
    update_window_dims: Index,
    inserted_window_dims: Index,
    scatter_dims_to_operand_dims: Index,
    input_batching_dims: Index = (),
    scatter_indices_batching_dims: Index = (),
) -> Iterator[tuple[Index, Index]]:
    """Yield each position U of the updates, in row-major order, with its I = Sin + Bin + Win, in or out of bounds."""
    vectors, _ = index_vectors(indices, index_vector_dim)
    dropped = {*inserted_window_dims, *input_batching_dims}
    window = [axis for axis in range(len(shape)) if axis not in dropped]
    for at in itertools.product(*map(range, update_shape)):
        batch = tuple(at[axis] for axis in range(len(at)) if axis not in update_window_dims)
        place = [0] * len(shape)
        vector = vectors[(*batch[:index_vector_dim], slice(None), *batch[index_vector_dim:])]
        for k, axis in enumerate(scatter_dims_to_operand_dims):
            place[axis] += int(vector[k])
        for axis, other in zip(input_batching_dims, scatter_indices_batching_dims, strict=True):
            place[axis] += _position(batch, other, index_vector_dim)
        for axis, dim in zip(window, update_window_dims, strict=True):
            place[axis] += at[dim]
        yield at, tuple(place)


def scattered(
    operands: Sequence[Any], indices: Any, updates: Sequence[Any], combine: Callable[..., Any], **dims: Any
) -> tuple[Any, ...]:
    """output[I] = combine(output[I], updates[U]) for each U in row-major order whose I is in bounds."""
    results = tuple(operand.copy() for operand in operands)
    shape = operands[0].shape
    for at, place in places(shape, indices, updates[0].shape, **dims):
        if all(0 <= i < size for i, size in zip(place, shape, strict=True)):
            found = combine(*(one[place] for one in results), *(one[at] for one in updates))
            for result, value in zip(results, found if isinstance(found, tuple) else (found,), strict=True):
                result[place] = value
    return results
