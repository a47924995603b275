"""Mistakes in dimension numbers of slices, gathers and scatters: rules that other tables leave out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

LINE = np.arange(5, dtype=np.float32)
GRID = np.zeros((3, 4), np.float32)
STARTS = np.zeros((2, 1), np.int32)
WHERE: dict[str, Any] = {
    "index_vector_dim": 1,
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
}


def zeros(*dims: int, dtype: Any = np.float32) -> Any:
    """Zeros of these dimensions."""
    return np.zeros(dims, dtype)


def _gather(**changes: Any) -> Any:
    numbers: dict[str, Any] = {"offset_dims": (1,), "collapsed_slice_dims": (0,), "slice_sizes": (1, 4)}
    numbers |= {"start_index_map": (0,), "index_vector_dim": 1, **changes}
    return lambda a, starts: ops.gather(a, starts, **numbers)


def _scatter(combine: Any = ops.add, **changes: Any) -> Any:
    numbers: dict[str, Any] = {"index_vector_dim": 1, "update_window_dims": (1,), "inserted_window_dims": (0,)}
    numbers |= {"scatter_dims_to_operand_dims": (0,), **changes}
    return lambda a, starts, updates: ops.scatter(a, starts, updates, combine, **numbers)


MISTAKES = [
    Mistake(
        "dynamic_slice: size_indices",
        lambda a, s: ops.dynamic_slice(a, (s,), (1, 1)),
        ops.ArgumentError,
        (LINE, np.int32(0)),
    ),
    Mistake(
        "dynamic_slice: start_indices",
        lambda a, s: ops.dynamic_slice(a, (s, s), (1,)),
        ops.ArgumentError,
        (LINE, np.int32(0)),
    ),
    Mistake(
        "dynamic_slice: start_indices[1]",
        lambda a, s, u: ops.dynamic_slice(a, (s, u), (1, 1)),
        ops.DTypeError,
        (GRID, np.int32(0), np.int64(0)),
    ),
    Mistake(
        "dynamic_update_slice: start_indices[0]",
        lambda a, u, s: ops.dynamic_update_slice(a, u, (s,)),
        ops.DTypeError,
        (LINE, zeros(2), np.float32(0)),
    ),
    Mistake(
        "dynamic_update_slice: start_indices",
        lambda a, u, s: ops.dynamic_update_slice(a, u, (s, s)),
        ops.ArgumentError,
        (LINE, zeros(2), np.int32(0)),
    ),
    Mistake("gather: offset_dims", _gather(offset_dims=(2,)), ops.ArgumentError, (GRID, STARTS)),
    Mistake("gather: collapsed_slice_dims", _gather(collapsed_slice_dims=(2,)), ops.ArgumentError, (GRID, STARTS)),
    Mistake(
        "gather: collapsed_slice_dims, 2",
        _gather(collapsed_slice_dims=(1, 0), slice_sizes=(1, 1, 5)),
        ops.ArgumentError,
        (zeros(3, 4, 5), STARTS),
    ),
    Mistake(
        "gather: start_index_map",
        _gather(start_index_map=(0, 0)),
        ops.ArgumentError,
        (GRID, zeros(2, 2, dtype=np.int32)),
    ),
    Mistake("gather: start_index_map, 2", _gather(), ops.ArgumentError, (GRID, zeros(2, 2, dtype=np.int32))),
    Mistake("gather: slice_sizes", _gather(slice_sizes=(1,)), ops.ArgumentError, (GRID, STARTS)),
    Mistake(
        "gather: start_indices",
        _gather(
            operand_batching_dims=(0,),
            start_indices_batching_dims=(0,),
            collapsed_slice_dims=(),
            slice_sizes=(1, 2),
            start_index_map=(1,),
        ),
        ops.ShapeError,
        (GRID, zeros(2, 1, dtype=np.int32)),
    ),
    Mistake(
        "gather: operand_batching_dims",
        _gather(
            operand_batching_dims=(0,),
            start_indices_batching_dims=(0,),
            collapsed_slice_dims=(0,),
            slice_sizes=(1, 2),
            start_index_map=(1,),
            offset_dims=(1,),
        ),
        ops.ArgumentError,
        (GRID, zeros(3, 1, dtype=np.int32)),
    ),
    Mistake(
        "scatter: update_window_dims",
        _scatter(update_window_dims=(2, 1)),
        ops.ArgumentError,
        (zeros(3, 4, 5), STARTS, zeros(2, 4, 5)),
    ),
    Mistake(
        "scatter: update_window_dims, 2",
        _scatter(update_window_dims=(2,)),
        ops.ArgumentError,
        (GRID, STARTS, zeros(2, 4)),
    ),
    Mistake(
        "scatter: inserted_window_dims",
        _scatter(inserted_window_dims=(2,)),
        ops.ArgumentError,
        (GRID, STARTS, zeros(2, 4)),
    ),
    Mistake(
        "scatter: inserted_window_dims, 2",
        _scatter(inserted_window_dims=(0, 0)),
        ops.ArgumentError,
        (zeros(3, 4, 5), STARTS, zeros(2, 4)),
    ),
    Mistake(
        "scatter: scatter_dims_to_operand_dims",
        _scatter(),
        ops.ArgumentError,
        (GRID, zeros(2, 2, dtype=np.int32), zeros(2, 4)),
    ),
    Mistake(
        "scatter: index_vector_dim",
        _scatter(index_vector_dim=3),
        ops.ArgumentError,
        (GRID, STARTS, zeros(2, 4)),
    ),
    Mistake("scatter: operands[0]", _scatter(inserted_window_dims=()), ops.ShapeError, (GRID, STARTS, zeros(2, 4))),
    Mistake("scatter: updates[0]", _scatter(), ops.ShapeError, (GRID, STARTS, zeros(2, 2, 4))),
    Mistake("scatter: updates[0], 2", _scatter(), ops.ShapeError, (GRID, STARTS, zeros(3, 4))),
    Mistake("scatter: scatter_indices", _scatter(), ops.DTypeError, (GRID, zeros(2, 1), zeros(2, 4))),
    Mistake(
        "scatter: computation",
        _scatter(lambda p, q: ops.broadcast(p, (2,))),
        ops.ShapeError,
        (GRID, STARTS, zeros(2, 4)),
    ),
    Mistake(
        "scatter: operands[1]",
        lambda a, b, j, w: ops.scatter((a, b), j, (w, w), lambda a, b, c, d: (a, b), **WHERE),
        ops.ShapeError,
        (GRID, zeros(4, 4), STARTS, zeros(2, 4)),
    ),
]
