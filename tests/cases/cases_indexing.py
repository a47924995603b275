"""Cases of windows, gathers and scatters at positions from data, with results of loops over the index equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases.case_values import ALL, INTEGERS
from tests.cases.cases_shape import layouts, numbered
from tests.helpers.harness import Case, array
from tests.ops.index_equations import gathered, scattered, sliced, updated
from xjit import ops

COLLAPSED: dict[str, Any] = {"collapsed_slice_dims": (0,), "start_index_map": (0,), "index_vector_dim": 1}
INSERTED: dict[str, Any] = {
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
    "index_vector_dim": 1,
}

# ---- windows that begin where data says


def _starts(dtype: str, *values: int) -> tuple[Any, ...]:
    return tuple(np.array(value, array(dtype, 0).dtype) for value in values)


def _slice_case(operand: Any, starts: tuple[Any, ...], sizes: tuple[int, ...], label: str = "") -> Case:
    def function(a: Any, *starts: Any) -> Any:
        return ops.dynamic_slice(a, starts, sizes)

    return Case("dynamic_slice", function, (operand, *starts), sliced(operand, starts, sizes), label=label)


def _update_case(operand: Any, update: Any, starts: tuple[Any, ...], label: str = "") -> Case:
    def function(a: Any, b: Any, *starts: Any) -> Any:
        return ops.dynamic_update_slice(a, b, starts)

    expected = updated(operand, update, starts)
    return Case("dynamic_update_slice", function, (operand, update, *starts), expected, label=label)


def _edges(dtype: str) -> list[int]:
    ends = np.iinfo(array(dtype, 0).dtype)
    return sorted({max(ends.min, -1), 0, 1, 4, 5, ends.min, ends.max})


def _slice_cases() -> list[Case]:
    line, grid = numbered("f32", 6), numbered("s32", 5, 7)
    found = [_slice_case(numbered(dtype, 4, 3), _starts("s32", 1, 1), (2, 2)) for dtype in ALL]
    found += [
        _slice_case(line, _starts(dtype, start), (2,), f"from-{start}")
        for dtype in INTEGERS
        for start in _edges(dtype)
    ]
    found += [_slice_case(one, _starts("s64", 2, -3), (2, 4)) for one in layouts(grid)]
    long = numbered("u8", 300)
    found += [
        _slice_case(long, _starts("u8", 255), (2,), "beyond-the-type"),
        _slice_case(long, _starts("u64", 2**63), (2,), "beyond-s64"),
        _slice_case(grid, _starts("s8", 0, 3), (5, 7), "whole"),
        _slice_case(grid, _starts("s8", 9, 3), (0, 2), "nothing"),
        _slice_case(numbered("f64", 0, 3), _starts("s16", 1, 1), (0, 2), "of-nothing"),
        _slice_case(numbered("f64"), (), (), "rank-0"),
    ]

    def by_array(a: Any, starts: Any) -> Any:
        return ops.dynamic_slice(a, starts, (2, 2))

    starts = np.array([3, 6], np.int16)
    found.append(
        Case("dynamic_slice", by_array, (grid, starts), sliced(grid, starts, (2, 2)), label="array-of-starts")
    )
    return found


def _update_cases() -> list[Case]:
    line, grid = numbered("f32", 6), numbered("s32", 5, 7)
    window = -numbered("s32", 2, 3)
    found = [_update_case(numbered(dtype, 4, 3), numbered(dtype, 3, 2)[::-1], _starts("s32", 1, 1)) for dtype in ALL]
    found += [
        _update_case(line, -line[:2] - 1, _starts(dtype, start), f"at-{start}")
        for dtype in INTEGERS
        for start in _edges(dtype)
    ]
    found += [_update_case(one, window, _starts("s64", 2, 9)) for one in layouts(grid)]
    found += [_update_case(grid, one, _starts("u8", 2, 1)) for one in layouts(window)]
    found += [
        _update_case(grid, -grid, _starts("s8", 5, 3), "whole"),
        _update_case(grid, window[:0], _starts("s8", 5, 3), "nothing"),
        _update_case(numbered("f64", 0, 3), numbered("f64", 0, 2), _starts("s16", 1, 1), "of-nothing"),
        _update_case(numbered("f64"), np.array(7.0), (), "rank-0"),
    ]

    def twice(a: Any, b: Any, start: Any) -> Any:
        once = ops.dynamic_update_slice(a, b, (start, start))
        return ops.dynamic_update_slice(once, ops.neg(b), (start, ops.neg(start)))

    start = np.array(3, np.int32)
    expected = updated(updated(grid, window, (start, start)), -window, (start, -start))
    found.append(Case("dynamic_update_slice", twice, (grid, window, start), expected, label="twice"))
    return found


def _window_mistakes() -> list[Case]:
    line, grid = numbered("f32", 6), numbered("f32", 5, 7)
    one, half = np.int32(1), np.float32(0.5)
    slices: list[tuple[Any, Any, Any, Any]] = [
        (line, (one,), (7,), ops.ShapeError),
        (line, (half,), (2,), ops.DTypeError),
        (line, (one, one), (2,), ops.ArgumentError),
        (line, (one,), (2, 2), ops.ArgumentError),
        (line, (one,), (-1,), ops.ArgumentError),
        (line, (np.ones(1, np.int32),), (2,), ops.ShapeError),
        (grid, (one, np.int64(1)), (2, 2), ops.DTypeError),
        (grid, np.ones(3, np.int32), (2, 2), ops.ArgumentError),
        (grid, np.ones((1, 2), np.int32), (2, 2), ops.ShapeError),
    ]
    found = [
        Case("dynamic_slice", lambda a, i=i, n=n: ops.dynamic_slice(a, i, n), (a,), error)
        for a, i, n, error in slices
    ]
    updates: list[tuple[Any, Any, Any, Any]] = [
        (line, line[:2].astype(np.float64), (one,), ops.DTypeError),
        (line, line[:2], (half,), ops.DTypeError),
        (line, line[:2], (one, one), ops.ArgumentError),
        (line, grid[:1, :1], (one,), ops.ShapeError),
        (line, np.zeros(7, np.float32), (one,), ops.ShapeError),
    ]
    found += [
        Case("dynamic_update_slice", lambda a, b, i=i: ops.dynamic_update_slice(a, b, i), (a, b), error)
        for a, b, i, error in updates
    ]
    return found


# ---- gathers


def _gather_case(operand: Any, indices: Any, label: str = "", **numbers: Any) -> Case:
    def function(a: Any, i: Any) -> Any:
        return ops.gather(a, i, **numbers)

    return Case("gather", function, (operand, indices), gathered(operand, indices, **numbers), label=label)


def _rows(operand: Any, indices: Any, label: str = "") -> Case:
    return _gather_case(operand, indices, label, offset_dims=(1,), slice_sizes=(1, operand.shape[1]), **COLLAPSED)


def _gather_cases() -> list[Case]:
    grid, block = numbered("s32", 5, 7), numbered("f32", 3, 4, 5)
    rows = np.array([[2], [0], [9], [-1], [2]], np.int32)
    found = [_rows(numbered(dtype, 4, 3), rows) for dtype in ALL]
    found += [_rows(grid, array(dtype, [0, 4, 100]), f"by-{dtype}") for dtype in INTEGERS]
    found += [_rows(one, rows) for one in layouts(grid)]
    pairs = np.array([[0, 0], [3, 2], [4, 9], [-3, 1]], np.int64)
    corners = {"start_index_map": (0, 1), "index_vector_dim": 1}
    crossed = {"start_index_map": (1, 0), "index_vector_dim": 1}
    found += [
        _gather_case(
            grid, pairs, "windows", offset_dims=(1, 2), collapsed_slice_dims=(), slice_sizes=(2, 3), **corners
        ),
        _gather_case(
            grid, pairs, "apart", offset_dims=(0, 2), collapsed_slice_dims=(), slice_sizes=(2, 3), **corners
        ),
        _gather_case(
            grid, pairs, "points", offset_dims=(), collapsed_slice_dims=(0, 1), slice_sizes=(1, 1), **crossed
        ),
        _gather_case(
            grid,
            pairs.T.copy(),
            "vectors-first",
            offset_dims=(1,),
            collapsed_slice_dims=(1,),
            slice_sizes=(2, 1),
            start_index_map=(0, 1),
            index_vector_dim=0,
        ),
        _gather_case(
            block,
            np.array([[1, 3], [0, 2], [4, 0]], np.uint8),
            "batches",
            offset_dims=(2,),
            collapsed_slice_dims=(1,),
            slice_sizes=(1, 1, 5),
            start_index_map=(1,),
            index_vector_dim=2,
            operand_batching_dims=(0,),
            start_indices_batching_dims=(0,),
            indices_are_sorted=True,
        ),
        _gather_case(
            block,
            np.zeros((4, 0), np.int32),
            "empty-vectors",
            offset_dims=(0, 1, 2),
            collapsed_slice_dims=(),
            slice_sizes=(1, 2, 3),
            start_index_map=(),
            index_vector_dim=1,
        ),
        _rows(grid, np.zeros((0, 1), np.int32), "no-indices"),
        _rows(numbered("f64", 3, 0), rows, "empty-rows"),
        _rows(numbered("u8", 300, 2), np.array([255, 0], np.uint8), "long"),
        _rows(grid, np.array([2**63, 2**64 - 1, 3], np.uint64), "beyond-s64"),
    ]
    scalar: dict[str, Any] = {"offset_dims": (), "collapsed_slice_dims": (), "slice_sizes": (), "start_index_map": ()}
    found.append(_gather_case(numbered("s32"), np.zeros((2, 0), np.int32), "rank-0", index_vector_dim=1, **scalar))
    return found


# ---- scatters


def _scatter_case(
    operands: tuple[Any, ...],
    indices: Any,
    updates: tuple[Any, ...],
    combine: Any,
    plain: Any,
    label: str = "",
    **numbers: Any,
) -> Case:
    n = len(operands)

    def function(*arrays: Any) -> Any:
        old, i, new = arrays[:n], arrays[n], arrays[n + 1 :]
        return ops.scatter(old if n > 1 else old[0], i, new if n > 1 else new[0], combine, **numbers)

    with np.errstate(all="ignore"):
        found = scattered(operands, indices, updates, plain, **numbers)
    expected = found if n > 1 else found[0]
    return Case("scatter", function, (*operands, indices, *updates), expected, label=label)


def _latest(old: Any, new: Any) -> Any:
    return new


def _digits(old: Any, new: Any) -> Any:
    return ops.add(ops.mul(old, 3), new)


def _scatter_cases() -> list[Case]:
    points = np.array([[2], [0], [9], [-1], [2], [2]], np.int32)
    flat = {"update_window_dims": (), **INSERTED}
    rows = {"update_window_dims": (1,), **INSERTED}
    found = [
        _scatter_case((numbered(dtype, 4),), points, (numbered(dtype, 6)[::-1],), _latest, _latest, **flat)
        for dtype in ALL
    ]
    line, values = numbered("s32", 5), numbered("s32", 6) + 10
    found += [
        _scatter_case((line,), array(dtype, [[0], [4], [100]]), (values[:3],), *ADD, f"by-{dtype}", **flat)
        for dtype in INTEGERS
    ]
    grid, more = numbered("s32", 5, 7), -numbered("s32", 6, 7)
    found += [_scatter_case((one,), points, (more,), *ADD, **rows) for one in layouts(grid)]
    found += [_scatter_case((grid,), points, (one,), *ADD, **rows) for one in layouts(more)]
    found += [
        _scatter_case((line,), points, (values,), _digits, lambda old, new: old * 3 + new, "digits", **flat),
        _scatter_case((line,), points, (values,), ops.max, max, "max", **flat),
        _scatter_case(
            (numbered("bf16", 5),),
            points,
            (numbered("bf16", 6),),
            ops.add,
            lambda old, new: (old.astype(np.float32) + new.astype(np.float32)).astype(old.dtype),
            "narrow",
            **flat,
        ),
        _scatter_case((line,), np.array([2**63, 3, 2**64 - 1], np.uint64), (values[:3],), *ADD, "beyond-s64", **flat),
        _scatter_case((line,), points[:0], (values[:0],), *ADD, "no-updates", **flat),
        _scatter_case((line[:0],), points, (values,), *ADD, "of-nothing", **flat),
        _scatter_case(
            (line, numbered("f32", 5)),
            points,
            (values, numbered("f32", 6)),
            lambda a, b, x, y: (ops.max(a, x), ops.add(b, y)),
            lambda a, b, x, y: (max(a, x), b + y),
            "several",
            **flat,
        ),
    ]
    hanging: dict[str, Any] = {
        "index_vector_dim": 1,
        "update_window_dims": (1,),
        "inserted_window_dims": (),
        "scatter_dims_to_operand_dims": (0,),
    }
    starts = np.array([[4], [-1], [2], [3], [-9]], np.int8)
    windows = numbered("s32", 5, 3) + 1
    found.append(_scatter_case((line,), starts, (windows,), *ADD, "hanging-over", **hanging))
    turned = {**hanging, "update_window_dims": (0,)}
    found.append(
        _scatter_case(
            (line,), starts, (windows.T.copy(),), _digits, lambda a, b: a * 3 + b, "windows-first", **turned
        )
    )
    batches: dict[str, Any] = {
        "index_vector_dim": 2,
        "update_window_dims": (2,),
        "inserted_window_dims": (1,),
        "scatter_dims_to_operand_dims": (1,),
        "input_batching_dims": (0,),
        "scatter_indices_batching_dims": (1,),
        "unique_indices": True,
        "indices_are_sorted": True,
    }
    plain_batches = {key: value for key, value in batches.items() if key[:1] != "u" or key == "update_window_dims"}
    del plain_batches["indices_are_sorted"]
    block, places = numbered("s32", 2, 3, 4), np.array([[0, 2], [0, 2], [1, 5]], np.int16)
    part = numbered("s32", 3, 2, 4)
    (expected,) = scattered((block,), places, (part,), ADD[1], **plain_batches)

    def by_batches(a: Any, i: Any, u: Any) -> Any:
        return ops.scatter(a, i, u, ops.add, **batches)

    found.append(Case("scatter", by_batches, (block, places, part), expected, label="batches"))
    whole: dict[str, Any] = {**hanging, "scatter_dims_to_operand_dims": (), "update_window_dims": ()}
    found.append(
        _scatter_case((numbered("s32"),), np.zeros((3, 0), np.int32), (values[:3],), *ADD, "rank-0", **whole)
    )
    return found


ADD = (ops.add, lambda old, new: old + new)


def _closures() -> list[Case]:
    def scaled(a: Any, i: Any, u: Any, by: Any) -> Any:
        factor = ops.add(by, 1)
        return ops.scatter(a, i, u, lambda old, new: old + factor * new, update_window_dims=(), **INSERTED)

    line, points, values = numbered("s32", 5), np.array([1, 1, 3], np.int32), numbered("s32", 3) + 1
    (expected,) = scattered(
        (line,), points, (values,), lambda old, new: old + 5 * new, update_window_dims=(), **INSERTED
    )
    found = [Case("scatter", scaled, (line, points, values, np.array(4, np.int32)), expected, label="closure")]

    def tripled(a: Any, i: Any, u: Any) -> Any:
        def combine(old: Any, new: Any) -> Any:
            return ops.reduce(ops.broadcast(new, (3,)), old, ops.add, (0,))

        return ops.scatter(a, i, u, combine, index_vector_dim=1, **hanging)

    hanging: dict[str, Any] = {
        "update_window_dims": (1,),
        "inserted_window_dims": (),
        "scatter_dims_to_operand_dims": (0,),
    }
    starts, windows = np.array([[4], [-1], [2], [3], [-9]], np.int8), numbered("s32", 5, 3) + 1
    combine = lambda old, new: old + 3 * new  # noqa: E731
    (expected,) = scattered((line,), starts, (windows,), combine, index_vector_dim=1, **hanging)
    return [*found, Case("scatter", tripled, (line, starts, windows), expected, label="sums-inside")]


CASES = [
    *_slice_cases(),
    *_update_cases(),
    *_window_mistakes(),
    *_gather_cases(),
    *_scatter_cases(),
    *_closures(),
]
