"""Cases of operations over windows, with expected values from loops written from their index equations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.cases.cases_shape import layouts, numbered, picked
from tests.helpers.case_values import ALL
from tests.helpers.harness import Case, array
from xjit import ops
from xjit.ops.windows.joined_blocks import joined_blocks
from xjit.ops.windows.window_view import window_view


def _view_cases() -> list[Case]:
    found = []
    rows: list[tuple[Any, Any, Any, Any, Any]] = [
        ((7,), (3,), (1,), (1,), (0,)),
        ((7,), (3,), (2,), (2,), (0,)),
        ((7,), (1,), (3,), (1,), (0,)),
        ((7,), (7,), (1,), (1,), (0,)),
        ((2,), (3,), (1,), (1,), (0,)),
        ((0,), (1,), (1,), (1,), (0,)),
        ((4, 5), (2, 3), (1, 2), (3, 1), (0, 1)),
        ((4, 5), (3,), (1,), (2,), (1,)),
        ((4, 5), (3, 2), (2, 1), (1, 1), (1, 0)),
        ((3, 0), (2,), (1,), (1,), (0,)),
        ((3, 4, 2), (), (), (), ()),
    ]
    for shape, window, strides, dilations, axes in rows:
        counts = list(shape)
        for axis, size, stride, dilation in zip(axes, window, strides, dilations, strict=True):
            counts[axis] = len(range(0, shape[axis] - (size - 1) * dilation, stride))
        moves = list(zip(axes, strides, dilations, strict=True))

        def place(index: tuple[int, ...], rank: int = len(shape), moves: Any = moves) -> tuple[int, ...]:
            at = list(index[:rank])
            for k, (axis, stride, dilation) in enumerate(moves, rank):
                at[axis] = at[axis] * stride + index[k] * dilation
            return tuple(at)

        x = numbered("f32", *shape)
        expected = picked(x, (*counts, *window), place)
        for outer, one in itertools.product((True, False), layouts(x)):

            def function(a: Any, rest: Any = (window, strides, dilations, axes), outer: Any = outer) -> Any:
                return window_view(a, *rest, outer=outer)

            found.append(Case("window_view", function, (one,), expected))
    for dtype in ALL:
        x = numbered(dtype, 4)
        found.append(Case("window_view", lambda a: window_view(a, (3,)), (x,), np.array([x[:3], x[1:]])))
    x = numbered("s32", 4)
    found += [
        Case("window_view", lambda a: window_view(a, (0,)), (x,), ops.ArgumentError),
        Case("window_view", lambda a: window_view(a, (2,), (0,)), (x,), ops.ArgumentError),
        Case("window_view", lambda a: window_view(a, (2, 2)), (x,), ops.ArgumentError),
        Case("window_view", lambda a: window_view(a, (2,), axes=(1,)), (x,), ops.ArgumentError),
    ]
    return found


# ---- reduce_window

HIGHEST = np.float32(3.4028235e38)
POWERS = np.float32([10000, 1000, 100, 10, 1])


def _reduce_cases() -> list[Case]:
    found = []
    for operation, init, args, x, expected in _rows():
        start = np.array(init).astype(x.dtype)

        def function(a: Any, z: Any, operation: Any = operation, args: Any = args) -> Any:
            return ops.reduce_window(a, z, operation, *args)

        found.append(Case("reduce_window", function, (x, start), np.array(expected).astype(x.dtype)))
    for dtype in ALL:
        x = numbered(dtype, 4)
        last = Case(
            *("reduce_window", lambda a, z: ops.reduce_window(a, z, lambda m, e: e, (2,)), (x, x[0]), x[1:]),
            label="last",
        )
        found.append(last)
    for dtype in ("f16", "bf16", "f8e5m2"):
        x = array(dtype, [1, 0.25, 0.25, 0.25, 0.25])  # 1.25 + 0.25 is rounded where elements have two bits
        sums = Case(
            *("reduce_window", lambda a, z: ops.reduce_window(a, z, ops.add, (5,)), (x, array(dtype, 0))),
            array(dtype, [2]),
        )
        found.append(sums)
    return found


def _rows() -> list[tuple[Any, Any, tuple[Any, ...], Any, Any]]:
    """Computation, init value, further arguments, operand, result."""
    grid = numbered("f32", 4, 6)
    line = np.float32([1, 2, 3])
    return [
        (ops.min, HIGHEST, ((3,), (2,)), POWERS, [100, 1]),
        (ops.min, HIGHEST, ((3,), (2,), None, None, "SAME"), POWERS, [1000, 10, 1]),
        (ops.max, -HIGHEST, ((2, 3), (2, 3)), grid, [[8, 11], [20, 23]]),
        (ops.add, 0, ((2,), (1,), (2,), (3,)), line, [1, 3]),
        (ops.add, 0, ((2,), (1,), None, None, ((-1, -1),)), POWERS, [1100, 110]),
        (ops.add, 100, ((3,), (2,), None, None, "same"), np.float32([1, 2, 3, 4, 5]), [203, 109, 209]),
        (ops.add, 0, ((4,), None, None, None, ((3, 0),)), np.int32([1, 2, 3, 4]), [1, 3, 6, 10]),
        (ops.add, 0, ((3,),), np.float32([1, 2]), np.zeros(0)),
        (ops.add, 5, ((1,),), np.int16([1, 2]), [6, 7]),
        (ops.add, 5, ((1,), (2,), None, None, ((1, 1),)), np.int16([1, 2]), [10, 7]),
        (ops.add, 3, ((2,), (1,), None, None, ((2, 2),)), np.zeros(0, np.int32), [9, 9, 9]),
        (ops.mul, 1, ((2, 1), (1, 1)), np.int64([[1, 2], [3, 4], [5, 6]]), [[3, 8], [15, 24]]),
        (ops.max, 0, ((2,),), np.uint8([1, 0, 200, 7]), [1, 200, 200]),
        (ops.and_, True, ((2,),), np.array([True, True, False]), [True, False]),
        (lambda a, x: a * 10 + x, 0, ((3,), None, None, (2,)), np.int32([1, 2, 3, 4, 5, 6]), [135, 246]),
        (lambda a, x: a * 10 + x, 0, ((2, 2),), np.int32([[1, 2, 3], [4, 5, 6]]), [[1245, 2356]]),
        (ops.add, 0, ((40,), None, None, None, ((39, 0),)), np.int32([1, 2, 3, 4, 5]), [1, 3, 6, 10, 15]),
        (ops.max, -1, ((), ()), np.array(4, np.int32), 4),
    ]


# ---- joined_blocks


def _joined_cases() -> list[Case]:
    found = []
    for dtype in ALL:
        x, rest = numbered(dtype, 2, 3), numbered(dtype, 2)
        joined = np.concatenate([x[0], x[1], rest])
        found.append(Case("joined_blocks", lambda a, r: joined_blocks(a, r, 0), (x, rest), joined))
    wide, rest = numbered("s32", 2, 3, 2, 4), numbered("s32", 2, 1, 4)
    middle = np.concatenate([*(wide[:, k] for k in range(3)), rest], axis=1)
    rows = numbered("f32", 2, 3), numbered("f32", 0)
    return [
        *found,
        Case("joined_blocks", lambda a, r: joined_blocks(a, r, 1), (wide, rest), middle),
        Case("joined_blocks", lambda a, r: joined_blocks(a, r, 0), rows, rows[0].reshape(6)),
        Case("joined_blocks", lambda a, r: joined_blocks(a, r, 1), (wide, rest[:1]), ops.ShapeError),
        Case("joined_blocks", lambda a, r: joined_blocks(a, r, 1), rows, ops.ArgumentError),
    ]


# ---- select_and_scatter

GRID = [[7, 2, 5, 3, 10, 2], [3, 8, 9, 3, 4, 2], [1, 5, 7, 5, 6, 1], [0, 6, 2, 7, 2, 8]]
NARROW = [[7, 2, 5, 3, 8], [3, 8, 9, 3, 4], [1, 5, 7, 5, 6], [0, 6, 2, 10, 2]]


def _select_cases() -> list[Case]:
    apart = [[0, 0, 0, 0, 6, 0], [0, 0, 2, 0, 0, 0], [0, 0, 3, 0, 0, 0], [0, 0, 0, 0, 0, 1]]
    twice = [[0, 0, 0, 0, 0], [0, 0, 8, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 1, 0]]
    nan = np.nan
    rows: list[tuple[Any, Any, Any, Any, Any, Any, Any]] = [
        (GRID, ops.ge, (2, 3), (2, 3), "VALID", [[2, 6], [3, 1]], apart),
        (NARROW, ops.ge, (2, 3), (2, 2), "VALID", [[2, 6], [3, 1]], twice),
        ([0, 0, 0, 0], ops.ge, (3,), (1,), "SAME", [1, 2, 3, 4], [3, 3, 4, 0]),
        ([-5, -7], ops.ge, (2,), (1,), ((1, 1),), [1, 2, 4], [3, 4]),
        ([1, nan, 3, nan, 5], ops.ge, (5,), (1,), "VALID", [10], [0, 0, 0, 0, 10]),
        ([4, 1, 3, 2], ops.le, (2,), None, "VALID", [1, 2, 3], [0, 3, 0, 3]),
        ([4, 1, 3, 2], ops.ge, (2,), (2,), ((2, 0),), [1, 2, 3], [2, 0, 3, 0]),
        ([4, 1, 3, 2], ops.ge, (2,), (1,), ((-1, -1),), [5], [0, 0, 5, 0]),
        ([1, 2], ops.ge, (3,), (1,), "VALID", np.zeros(0), [0, 0]),
        (np.zeros(0), ops.ge, (2,), (1,), ((1, 1),), [5], np.zeros(0)),
        (3, ops.ge, (), (), "VALID", 5, 5),
    ]
    found = []
    for operand, select, window, strides, padding, source, expected in rows:

        def function(a: Any, s: Any, z: Any, rest: Any = (select, window, strides, padding)) -> Any:
            return ops.select_and_scatter(a, *rest, s, z, ops.add)

        for dtype in ("f32", "f64", "f16") if np.isnan(operand).any() else ("f32", "s32", "bf16", "u8"):
            if dtype == "u8" and np.min(operand, initial=0) < 0:
                continue
            arrays = array(dtype, operand), array(dtype, source), array(dtype, 0)
            found.append(Case("select_and_scatter", function, arrays, array(dtype, expected)))
    x, c = numbered("f32", 3), numbered("c64", 3)
    larger = Case(
        "select_and_scatter",
        lambda a, s, z: ops.select_and_scatter(
            a, lambda p, q: ops.ge(ops.real(p), ops.real(q)), (2,), (1,), "VALID", s, z, lambda p, q: p * q
        ),
        (c, c[1:], c[1]),
        array("c64", [1, 1, 1 * 2]),
    )
    wrong = Case(
        *("select_and_scatter", _scattered_at_largest, (x, x[:2]), ops.ShapeError),
    )
    return [*found, larger, wrong]


def _scattered_at_largest(x: Any, source: Any) -> Any:
    return ops.select_and_scatter(x, ops.ge, (3,), (1,), "VALID", source, np.float32(0), ops.add)


CASES = [*_view_cases(), *_reduce_cases(), *_joined_cases(), *_select_cases()]
