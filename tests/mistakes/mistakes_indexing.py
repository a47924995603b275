"""Mistakes in calls of windows, gathers and scatters at positions from data."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.mistakes import Mistake
from xjit import ops

GRID = np.zeros((5, 7), np.float32)
LINE = np.zeros(6, np.float32)
ROWS = np.zeros((4, 1), np.int32)
UPDATES = np.zeros((4, 7), np.float32)
HALF = np.float32(0.5)


def slices(**other: Any) -> dict[str, Any]:
    """The dimension numbers of a gather of rows, with others."""
    numbers: dict[str, Any] = {
        "offset_dims": (1,),
        "collapsed_slice_dims": (0,),
        "slice_sizes": (1, 7),
        "start_index_map": (0,),
        "index_vector_dim": 1,
    }
    return {**numbers, **other}


def rows(**other: Any) -> dict[str, Any]:
    """The dimension numbers of a scatter of rows, with others."""
    numbers: dict[str, Any] = {
        "update_window_dims": (1,),
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
        "index_vector_dim": 1,
    }
    return {**numbers, **other}


SLICES = [
    Mistake("window too long", lambda x: ops.dynamic_slice(x, (0,), (7,)), ops.ShapeError, (LINE,)),
    Mistake("start between elements", lambda x, i: ops.dynamic_slice(x, (i,), (2,)), ops.DTypeError, (LINE, HALF)),
    Mistake("starts of two types", lambda x, i: ops.dynamic_slice(x, (i, 0.5), (2, 2)), ops.DTypeError, (GRID, ROWS)),
    Mistake("too few starts", lambda x: ops.dynamic_slice(x, (1,), (2, 2)), ops.ArgumentError, (GRID,)),
    Mistake("start of rank 2", lambda x, i: ops.dynamic_slice(x, (i,), (2,)), ops.ShapeError, (LINE, ROWS)),
    Mistake("negative size", lambda x: ops.dynamic_slice(x, (1,), (-2,)), ops.ArgumentError, (LINE,)),
    Mistake(
        "update of another type", lambda x, y: ops.dynamic_update_slice(x, y, (0,)), ops.DTypeError, (LINE, ROWS)
    ),
    Mistake(
        "update of another rank", lambda x, y: ops.dynamic_update_slice(x, y, (0,)), ops.ShapeError, (LINE, GRID)
    ),
    Mistake(
        "update too long",
        lambda x, y: ops.dynamic_update_slice(x, y, (0,)),
        ops.ShapeError,
        (LINE, np.zeros(7, np.float32)),
    ),
]

GATHERS = [
    Mistake("indices between elements", lambda x, i: ops.gather(x, i, **slices()), ops.DTypeError, (GRID, UPDATES)),
    Mistake(
        "no vector dimension",
        lambda x, i: ops.gather(x, i, **slices(index_vector_dim=3)),
        ops.ArgumentError,
        (GRID, ROWS),
    ),
    Mistake(
        "offset dimensions fall",
        lambda x, i: ops.gather(x, i, **slices(offset_dims=(1, 0))),
        ops.ArgumentError,
        (GRID, ROWS),
    ),
    Mistake(
        "starts for two",
        lambda x, i: ops.gather(x, i, **slices(start_index_map=(0, 1))),
        ops.ArgumentError,
        (GRID, ROWS),
    ),
    Mistake(
        "window past the end",
        lambda x, i: ops.gather(x, i, **slices(slice_sizes=(1, 8))),
        ops.ShapeError,
        (GRID, ROWS),
    ),
    Mistake(
        "two rows collapsed",
        lambda x, i: ops.gather(x, i, **slices(slice_sizes=(2, 7))),
        ops.ShapeError,
        (GRID, ROWS),
    ),
    Mistake(
        "a dimension is left",
        lambda x, i: ops.gather(x, i, **slices(collapsed_slice_dims=())),
        ops.ShapeError,
        (GRID, ROWS),
    ),
    Mistake(
        "batch without a partner",
        lambda x, i: ops.gather(x, i, **slices(operand_batching_dims=(1,))),
        ops.ArgumentError,
        (GRID, ROWS),
    ),
    Mistake(
        "batches of two sizes",
        lambda x, i: ops.gather(
            x,
            i,
            **slices(
                offset_dims=(),
                slice_sizes=(1, 1),
                operand_batching_dims=(1,),
                start_indices_batching_dims=(0,),
            ),
        ),
        ops.ShapeError,
        (GRID, ROWS),
    ),
]

SCATTERS = [
    Mistake(
        "updates of another type",
        lambda x, i, u: ops.scatter(x, i, i, ops.add, **rows()),
        ops.DTypeError,
        (GRID, ROWS, UPDATES),
    ),
    Mistake(
        "result of another type",
        lambda x, i, u: ops.scatter(x, i, u, lambda old, new: ops.lt(old, new), **rows()),
        ops.DTypeError,
        (GRID, ROWS, UPDATES),
    ),
    Mistake(
        "two results for one",
        lambda x, i, u: ops.scatter(x, i, u, lambda old, new: (old, new), **rows()),
        ops.ArgumentError,
        (GRID, ROWS, UPDATES),
    ),
    Mistake(
        "counts differ",
        lambda x, i, u: ops.scatter((x, x), i, (u,), ops.add, **rows()),
        ops.ArgumentError,
        (GRID, ROWS, UPDATES),
    ),
    Mistake(
        "updates too wide",
        lambda x, i, u: ops.scatter(x, i, u, ops.add, **rows()),
        ops.ShapeError,
        (GRID[:, :3], ROWS, UPDATES),
    ),
    Mistake(
        "too few updates",
        lambda x, i, u: ops.scatter(x, i, u, ops.add, **rows()),
        ops.ShapeError,
        (GRID, ROWS, UPDATES[:2]),
    ),
    Mistake(
        "places for one dimension twice",
        lambda x, i, u: ops.scatter(x, i, u, ops.add, **rows(scatter_dims_to_operand_dims=(0, 0))),
        ops.ArgumentError,
        (GRID, ROWS, UPDATES),
    ),
]

MISTAKES = [*SLICES, *GATHERS, *SCATTERS]
