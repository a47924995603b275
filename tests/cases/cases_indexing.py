"""Cases of windows, gathers and scatters at positions from data, with results of loops over the index equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases.case_values import ALL, INTEGERS
from tests.cases.cases_shape import layouts, numbered
from tests.helpers.harness import Case, array
from tests.helpers.index_equations import sliced, updated
from xjit import ops

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


CASES = [*_slice_cases(), *_update_cases(), *_window_mistakes()]
