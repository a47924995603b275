"""Small programs for each number about a machine, close to where another one makes other loops or pieces of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import xjit
from tests.helpers import formulas
from xjit import ops
from xjit.machine import Machine, processor

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    """A function with its arguments, and the machine that numbers are varied of."""

    function: Callable[..., Any]
    arguments: tuple[Array, ...]
    machine: Machine


def case(function: Callable[..., Any], *arguments: Array, **numbers: Any) -> Case:
    return Case(function, arguments, replace(processor(), **numbers))


def normal(*shape: int, dtype: Any = np.float64) -> Array:
    return RANDOM.standard_normal(shape).astype(dtype)


def read_behind(x: Any) -> Any:
    """A window that is replaced in each turn, and a part of what was there before."""

    def body(turn: Any, state: Any) -> Any:
        y, total = state
        z = ops.dynamic_update_slice(y, x[:20] * 0.5, (np.int64(5),))
        return z, np.cumsum(total + y[10:20] * z[10:20])

    return xjit.fori_loop(0, 5, body, (x, np.zeros(10)))


def rows_added(x: Any, rows: Any, y: Any) -> Any:
    numbers: dict[str, Any] = {
        "index_vector_dim": 1,
        "update_window_dims": (1,),
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (0,),
    }
    return ops.scatter(x, rows, y, ops.add, **numbers)


def columns_in_turns(x: Any) -> Any:
    """Turns that read each column of a matrix nearly five times."""
    y = np.zeros(x.shape[0])
    for column in range(2, x.shape[1] - 2):
        around = x[:, column - 2] + x[:, column - 1] + x[:, column] + x[:, column + 1] + x[:, column + 2]
        y = y * 0.5 + around
    return y


def decayed_in_turns(x: Any) -> Any:
    """Turns of rows that need no others, as many as the end says."""
    y, t = x.copy(), np.float64(0.0)
    while t < x[0, 0]:
        y = y * 0.5 + x
        t = t + 0.25
    return y


def grown_in_turns(x: Any) -> Any:
    """A known number of turns of rows that need no others."""
    y = x.copy()
    for _ in range(400):
        y = y * 0.5 + x
    return y


def halved_in_turns(x: Any) -> Any:
    """Loops of unknown length in independent turns."""
    y = np.empty_like(x)
    for i in range(len(x)):
        value = abs(x[i]) * 1e3
        while value > 1.0:
            value = value * 0.5
        y[i] = value
    return y


def smoothed_in_turns(x: Any) -> Any:
    """A known number of turns of rows that need their neighbours."""
    y, z = x.copy(), x.copy()
    for _ in range(400):
        y[1:-1] = 0.5 * (z[:-2] + z[2:])
        z[1:-1] = 0.5 * (y[:-2] + y[2:])
    return z


def neighbours_in_turns(x: Any) -> Any:
    """Turns that replace a window of a square, nine times as large as its border, by means of neighbours."""
    y = x.copy()
    for _ in range(300):
        y[1:-1, 1:-1] = 0.25 * (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:])
    return y


def neighbours(x: Any) -> Any:
    return x[:-2] + x[1:-1] + x[2:]


def blurred(u: Any) -> Any:
    w = neighbours(np.exp(u))
    return w[:, :-2] + w[:, 1:-1] + w[:, 2:]


def turns(x: Any) -> Any:
    def body(x: Any) -> Any:
        for _ in range(8):
            x = ops.add(x, ops.rev(x, (0,)))
        return x

    def is_small(x: Any) -> Any:
        return ops.lt(ops.abs(ops.reshape(ops.slice(x, (0,), (1,), (1,)), ())), np.float64(1e300))

    return ops.while_loop(is_small, body, x)


def laplacian(v: Any) -> Any:
    return v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1]


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def window_means(x: Any) -> Any:
    c = np.cumsum(x, axis=1)
    return (c[:, 20:] - c[:, :-20]) / 20


def shares(x: Any) -> Any:
    c = np.cumsum(np.abs(x), axis=1)
    return c / c.max(axis=1, keepdims=True)


def normalised(x: Any) -> Any:
    v = 1.0 / (x * x + 1)
    return v / (1 + v.max(axis=1, keepdims=True))


def edges(x: Any) -> Any:
    v = np.pad(x[1:] + x[:-1], 2, mode="edge")
    return v[1:] + v[:-1]


def part(x: Any) -> Any:
    v = np.concatenate([x, np.exp(x)])[: len(x)]
    for _ in range(4):
        v = laplacian(v)
    return v


def three_sums(x: Any) -> Any:
    return x.sum(axis=0), x.max(axis=0), np.exp(x).sum(axis=0)


def three_scans(x: Any) -> Any:
    return np.cumsum(x, axis=1), np.maximum.accumulate(x, axis=1), np.minimum.accumulate(x, axis=1)


def exponential(x: Any) -> Any:
    return np.exp(x) * 2.0


def seven_functions(x: Any) -> Any:
    y = np.exp(x) + np.sin(1e3 * x) + np.cos(x)
    return np.tanh(y) + np.log1p(y * y) + np.arctan(y) + np.cbrt(y)


def windows(x: Any, k: Any) -> Any:
    return ops.conv(x, k, (1, 1), "SAME")


def seven_points(u: Any) -> Any:
    inside = slice(1, -1)
    around = [u[step, inside, inside] for step in (slice(2, None), slice(-2))]
    around += [u[inside, step, inside] for step in (slice(2, None), slice(-2))]
    around += [u[inside, inside, step] for step in (slice(2, None), slice(-2))]
    return sum(around, -6.0 * u[inside, inside, inside])


def exponential_steps(u: Any) -> Any:
    grown = np.exp(u)
    return grown[1:] - grown[:-1]


CUT = {"parallel_work": 1000.0}
BLOCKS = {"blocked_work": 6e6, "most_blocked_work": 12e6, "blocked_turn_work": 20_000.0}
TIME_TILES = {
    "parallel_work": 100.0,
    "time_tiled_bytes": 150_000,
    "time_tile_bytes": 16_384,
    "band_work": 200.0,
    "most_turns": 4,
    "time_tile_work": 300_000.0,
}
LARGE = np.where(np.arange(300) == 0, 5.0, normal(40, 300))


def columns_filled(x: Any) -> Any:
    """A matrix whose columns are functions of one vector."""
    made = np.empty((len(x), 3))
    made[:, 0] = x
    made[:, 1] = np.exp(x)
    made[:, 2] = np.tanh(x) / 3.0
    return made


CASES = {
    "columns filled": case(columns_filled, normal(700)),
    "read behind": case(read_behind, normal(64)),
    "rows added": case(rows_added, normal(9, 64), np.arange(80) % 11, normal(80, 64), parallel_work=1000.0),
    # element by element
    "turns": case(turns, normal(50), longest_turn=25),
    "divisions": case(normalised, normal(50, 600)),
    "remainders": case(
        lambda x, y: neighbours(np.fmod(x, y)), np.arange(300), np.arange(300) % 7 + 1, load_cost=12.0
    ),
    "complex": case(lambda z, w: neighbours(z * w), normal(300) + 1j, normal(300) + 2j),
    "angles": case(lambda x: np.sin(1e6 * x), normal(1500)),
    "pixels": case(lambda x: x - np.float32([1, 2, 3]), normal(50, 60, 3, dtype=np.float32)),
    "pieces": case(exponential, normal(30_000), **CUT, piece_work=10_000.0),
    "pieces of lines": case(exponential, normal(30_000), **CUT, piece_work=100_000.0),
    "lasting pieces": case(exponential, normal(30_000), **CUT, piece_work=100.0, lasting_work=5_000.0),
    "seven functions": case(seven_functions, normal(1500), called_functions=7),
    # borders, stencils, tiles
    "borders": case(lambda x: np.pad(np.exp(x), 2, mode="reflect")[1:] - 1.0, normal(50, 60)),
    "edges": case(edges, normal(50, 60), kernel_operations=2),
    "stencils of a part": case(part, normal(50, 60), kernel_operations=100, most_places=16),
    "blurred": case(blurred, normal(100, 600), tiled_bytes=1),
    "biharmonic": case(lambda u: laplacian(laplacian(u)), normal(60, 70)),
    "seven points": case(seven_points, normal(16, 16, 16), paired_near_bytes=40_000),
    "biharmonic in tiles": case(lambda u: laplacian(laplacian(u)), normal(100, 600), tiled_bytes=1),
    "computed twice": case(exponential_steps, normal(100, 600), tiled_bytes=1, far_bytes=600_000, tiling_cost=17.0),
    # operands across each other
    "transposed": case(lambda x, y: x.T * y + 1.0, normal(90, 300), normal(300, 90)),
    "transposed wide": case(lambda x, y: x.T * y + 1.0, normal(1200, 20), normal(20, 1200)),
    "transposed in few rows": case(
        lambda x, y: x.T * y + 1.0, normal(90, 300), normal(300, 90), transposed_bytes=64 * 8 * 12
    ),
    "columns in turns": case(columns_in_turns, normal(40, 300)),
    "grown in turns": case(grown_in_turns, LARGE, **BLOCKS),
    "grown in small blocks": case(grown_in_turns, LARGE, **BLOCKS, row_blocks=1000),
    "grown in short blocks": case(grown_in_turns, LARGE, **BLOCKS, row_block_bytes=4096),
    "halved in turns": case(halved_in_turns, normal(800)),
    "decayed in turns": case(decayed_in_turns, LARGE, **BLOCKS),
    "neighbours in turns": case(neighbours_in_turns, normal(40, 40)),
    "smoothed in tiles of time": case(smoothed_in_turns, normal(400, 30), **TIME_TILES),
    # reductions along rows
    "product with a column": case(lambda x, y: (x[:, 1] * y).sum(), normal(700, 40), normal(700)),
    "softmax": case(softmax, normal(40, 700)),
    "logarithms of sums": case(lambda x: np.log(np.exp(x).sum(axis=1)), normal(60, 500)),
    "two sums": case(lambda x, y: (x.sum(axis=1), (y * y).sum(axis=1)), normal(50, 300), normal(50, 300)),
    "steps": case(lambda x: x[:, ::2].sum(axis=1), normal(50, 600)),
    "any": case(lambda x: (x > 3.5).any(axis=1), normal(3, 20_000)),
    "argmax": case(lambda x: np.argmax(x, axis=1), normal(60, 500)),
    "nearest": case(formulas.nearest, normal(50, 16), normal(20, 16)),
    "nearest of many": case(formulas.nearest, normal(50, 40), normal(20, 40)),
    "product": case(lambda x: x @ x.T, normal(60, 50)),
    # reductions along columns
    "sums of columns": case(lambda x: (x * x).sum(axis=0), normal(40, 5000)),
    "sums of short columns": case(lambda x: (x * x).sum(axis=0), normal(20, 90)),
    "sums of a vector of columns": case(lambda x: (x * x).sum(axis=0), normal(20, 4, dtype=np.float32)),
    "sums of few columns": case(three_sums, normal(900, 250)),
    "sums of angles": case(lambda x: np.sin(1e3 * x).sum(axis=0), normal(30, 400)),
    "short accumulators": case(lambda x: (x * x).sum(axis=0), normal(70, 500), accumulator_bytes=1000),
    "windows": case(windows, normal(1, 3, 5, 20, dtype=np.float32), normal(8, 3, 2, 3, dtype=np.float32)),
    "gradient": case(lambda x, w: x.T @ np.exp(x @ w), normal(90, 11), normal(11)),
    # scans
    "scans": case(three_scans, normal(60, 500)),
    "scan of few rows": case(lambda x: np.cumsum(x, axis=1), normal(10, 500)),
    "scan of integers": case(lambda x: np.cumsum(x, axis=1), np.arange(30_000).reshape(60, 500)),
    "scan of narrow floats": case(lambda x: np.cumsum(x, axis=1), normal(60, 500, dtype=np.float32), paired_bytes=1),
    "scan of long rows": case(lambda x: np.cumsum(x, axis=1), normal(60, 1500), paired_bytes=1),
    "means of windows": case(window_means, normal(60, 500)),
    "shares": case(shares, normal(60, 500)),
}

SEEN_IN = {
    "division_cost": ("divisions", "shares"),
    "integer_division_cost": ("remainders",),
    "function_cost": ("borders", "logarithms of sums", "sums of angles"),
    "complex_factor": ("complex",),
    "value_cost": ("lasting pieces",),
    "load_cost": ("biharmonic", "borders"),
    "access_cost": ("computed twice",),
    "pass_cost": ("computed twice",),
    "tiling_cost": ("computed twice",),
    "far_bytes": ("computed twice",),
    "row_cost": ("divisions", "shares"),
    "round_trip_cost": ("blurred", "biharmonic in tiles"),
    "vector_bytes": ("pixels", "borders", "windows"),
    "line_bytes": ("transposed",),
    "vector_step_bytes": ("steps",),
    "gathered_steps": ("product with a column", "columns filled"),
    "kernel_operations": ("softmax", "nearest", "biharmonic"),
    "most_parts": ("borders",),
    "nested_elements": ("gradient", "nearest", "nearest of many"),
    "small_reduction": ("two sums",),
    "scanned_row_bytes": ("shares",),
    "skew_steps": ("means of windows",),
    "called_functions": ("seven functions",),
    "written_out_operations": ("nearest", "means of windows", "biharmonic"),
    "baked_extent": ("nearest of many", "gradient"),
    "repeated_cost": ("logarithms of sums", "gradient"),
    "strip_elements": ("angles", "sums of angles"),
    "stop_elements": ("any",),
    "row_scratch_bytes": ("sums of angles", "nearest"),
    "shared_column_blocks": ("sums of few columns",),
    "fewest_shared_columns": ("sums of few columns",),
    "column_block": ("sums of columns", "gradient"),
    "column_bytes": ("sums of columns", "sums of few columns"),
    "accumulator_bytes": ("sums of columns", "sums of few columns"),
    "accumulator_columns": ("short accumulators",),
    "register_bytes": ("sums of short columns",),
    "least_register_bytes": ("sums of a vector of columns",),
    "swept_bytes": ("sums of short columns",),
    "strip_rows": ("gradient",),
    "joined_rows": ("sums of columns", "gradient"),
    "joined_statements": ("sums of columns", "gradient"),
    "joined_results": ("windows",),
    "joined_products": ("windows",),
    "shared_extent": ("borders",),
    "shared_blocks": ("transposed wide",),
    "update_parts": ("rows added",),
    "stored_ahead": ("read behind",),
    "shared_lines": ("rows added",),
    "lone_share": ("borders",),
    "parallel_work": ("sums of angles",),
    "piece_work": ("pieces",),
    "most_pieces": ("pieces",),
    "lasting_work": ("lasting pieces",),
    "blocked_work": ("grown in turns",),
    "most_blocked_work": ("grown in turns",),
    "blocked_turn_work": ("decayed in turns",),
    "row_block_bytes": ("grown in short blocks",),
    "least_row_block": ("grown in small blocks",),
    "row_blocks": ("grown in turns",),
    "longest_turn": ("turns",),
    "long_piece": ("pieces",),
    "piece_steps": ("pieces of lines",),
    "time_tiled_bytes": ("smoothed in tiles of time",),
    "time_tile_bytes": ("smoothed in tiles of time",),
    "least_time_tiles": ("smoothed in tiles of time",),
    "time_tile_work": ("smoothed in tiles of time",),
    "most_turns": ("smoothed in tiles of time",),
    "band_work": ("smoothed in tiles of time",),
    "tiled_bytes": ("biharmonic",),
    "tile_bytes": ("blurred", "biharmonic in tiles"),
    "least_tiles": ("blurred", "biharmonic in tiles"),
    "narrowest_tile": ("blurred",),
    "transposed_columns": ("transposed",),
    "transposed_bytes": ("transposed",),
    "transposed_rows": ("transposed",),
    "fewest_transposed_rows": ("transposed in few rows",),
    "transposed_item_bytes": ("transposed",),
    "window_share": ("neighbours in turns",),
    "visits_of_copies": ("columns in turns",),
    "fewest_paired_rows": ("scan of few rows",),
    "paired_scans": ("scans",),
    "paired_bytes": ("scan of integers", "scans"),
    "paired_item_bytes": ("scan of narrow floats",),
    "paired_row_bytes": ("scan of long rows",),
    "paired_loads": ("biharmonic",),
    "paired_near_bytes": ("seven points",),
    "paired_far_loads": ("seven points",),
    "packed_terms": ("nearest",),
    "packed_results": ("nearest",),
    "packed_rows": ("nearest",),
    "packed_bytes": ("nearest",),
}
"""For each number the programs in which another one is seen."""

AT_RUN_TIME = {
    "shared_sums": "loops that add integers to arrays are parts of kernels of their own",
    "masked_row_block": "a loop of unknown length has kernels of its own, inside of steps",
    "masked_share": "the same",
    "masked_turns": "the same",
    "masked_integer_turns": "the same",
    "most_turns_at_a_time": "a bound on the time that signals wait",
    "copied_work": "no program here writes into arguments",
    "tested_ahead": "no program here writes into arguments",
    "tested_work": "the same",
    "most_siblings": "a bound on the effort of planning: of many kernels the last ones are asked",
    "most_places": "a bound on the effort of planning, which stores what would need as many parts before it is met",
    "product_cost": "a product by BLAS is one piece, whose work says only whether other threads may run meanwhile",
    "lasting_products": "a product by BLAS that lasts runs where signals need not wait for it",
}
"""The numbers that change neither texts nor plans nor pieces, with the reason."""
