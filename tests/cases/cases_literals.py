"""Cases of literals, of positions of extremes, of reductions over all dimensions, and of single replicas."""

from __future__ import annotations

import numpy as np

from tests.helpers.case_values import ALL, FLOATS, INTEGERS, inf, nan
from tests.helpers.harness import Case, array
from xjit import ops


def _literals() -> list[Case]:
    found = []
    for dtype in ALL:
        values = [[1, 0, 1], [0, 0, 1]]
        held = [[True, False, True], [False, False, True]] if dtype == "pred" else values
        found += [
            Case("constant", lambda v=held, d=dtype: ops.constant(v, d), (), array(dtype, values), label=dtype),
            Case("zeros", lambda d=dtype: ops.zeros(f"{d}[2,3]"), (), array(dtype, np.zeros((2, 3))), label=dtype),
            Case("full", lambda x, d=dtype: ops.full(f"{d}[2]", x), (array(dtype, 1),), array(dtype, [1, 1])),
        ]
    found += [
        Case("constant", lambda: ops.constant(3), (), np.array(3), label="scalar"),
        Case("constant", lambda: ops.constant(np.float16([1, 2])), (), np.float16([1, 2]), label="array"),
        Case("constant", lambda: ops.constant([[], []], "s32"), (), np.zeros((2, 0), np.int32), label="no values"),
        Case("constant", lambda: ops.constant([300, -1], "u8"), (), np.uint8([44, 255]), label="wraps"),
        Case("constant", lambda x: ops.constant(x, "f32"), (np.int8([1, -2]),), np.float32([1, -2]), label="value"),
        Case("constant", lambda x: ops.constant(x), (np.float64([0.5]),), np.float64([0.5]), label="value"),
        Case("constant", lambda x: ops.constant(x, "s32"), (np.float32([1.5]),), ops.DTypeError, label="value"),
        Case("constant", lambda: ops.constant([1.5], "s32"), (), ops.DTypeError),
        Case("constant", lambda: ops.constant([True], "s32"), (), ops.DTypeError, label="truths"),
        Case("constant", lambda: ops.constant([[1], [2, 3]]), (), ops.ArgumentError),
        Case("constant", lambda: ops.constant(["a"]), (), ops.DTypeError, label="text"),
        Case("zeros", lambda: ops.zeros("f32[]"), (), np.float32(0), label="rank 0"),
        Case("zeros", lambda: ops.zeros("f32[2,0]"), (), np.zeros((2, 0), np.float32), label="empty"),
        Case("zeros", lambda: ops.zeros(ops.Shape((-1,), "f32")), (), ops.ArgumentError),
        Case("full", lambda: ops.full("f32[2]", 3), (), np.float32([3, 3]), label="python"),
        Case("full", lambda: ops.full("f32[0]", 3.5), (), np.zeros(0, np.float32), label="empty"),
        Case("full", lambda: ops.full("s32[2]", 3.5), (), ops.DTypeError, label="python"),
        Case("full", lambda x: ops.full("f32[2]", x), (array("f64", 1),), ops.DTypeError),
        Case("full", lambda x: ops.full("f32[2]", x), (array("f32", [1]),), ops.ShapeError),
        Case("replica_id", ops.replica_id, (), np.uint32(0)),
        Case("partition_id", ops.partition_id, (), np.uint32(0)),
    ]
    return found


def _positions() -> list[Case]:
    found = []
    for dtype in (*INTEGERS, *FLOATS):
        x = array(dtype, [[1, 5, 5, 0], [7, 2, 0, 0]])
        found += [
            Case("argmax", lambda x: ops.argmax(x, 1), (x,), np.int32([1, 0])),
            Case("argmax", lambda x: ops.argmax(x, 0), (x,), np.int32([1, 0, 0, 0]), label="columns"),
            Case("argmin", lambda x: ops.argmin(x, 1), (x,), np.int32([3, 2])),
            Case("argmin", lambda x: ops.argmin(x, 0, "u8"), (x,), np.uint8([0, 1, 1, 0]), label="columns"),
        ]
    for dtype in FLOATS:
        x = array(dtype, [1, nan, 3, nan])
        found.append(Case("argmax", lambda x: ops.argmax(x, 0), (x,), np.int32(1), label="nan"))
        found.append(Case("argmin", lambda x: ops.argmin(x, 0), (x,), np.int32(1), label="nan"))
    zeros = array("f32", [-0.0, 0.0, -0.0])
    row, empty = array("f32", [inf, -inf, 3]), np.zeros((0, 3), np.float32)
    found += [
        Case("argmax", lambda x: ops.argmax(x, 0), (zeros,), np.int32(0), label="zeros"),
        Case("argmin", lambda x: ops.argmin(x, 0), (zeros,), np.int32(0), label="zeros"),
        Case("argmin", lambda x: ops.argmin(x, 0, "s64"), (row,), np.int64(1), label="s64"),
        Case("argmax", lambda x: ops.argmax(x, 1), (empty,), np.zeros(0, np.int32), label="rows"),
        Case("argmax", lambda x: ops.argmax(x, 0), (empty,), ops.ShapeError, label="empty"),
        Case("argmax", lambda x: ops.argmax(x, 1), (row,), ops.ArgumentError),
        Case("argmax", lambda x: ops.argmax(x, -1), (row,), ops.ArgumentError, label="negative"),
        Case("argmax", lambda x: ops.argmax(x, 0), (array("f32", 1),), ops.ArgumentError, label="rank 0"),
        Case("argmax", lambda x: ops.argmax(x, 0, "f32"), (row,), ops.DTypeError),
        Case("argmax", lambda x: ops.argmax(x, 0), (array("pred", [1]),), ops.DTypeError),
        Case("argmin", lambda x: ops.argmin(x, 0), (array("c64", [1]),), ops.DTypeError),
    ]
    return found


def _reductions() -> list[Case]:
    found = []
    for dtype in ALL:
        x, start = array(dtype, [[1, 0], [1, 1]]), array(dtype, 0)
        total = array(dtype, 1 if dtype == "pred" else 3)
        found.append(Case("reduce_all", lambda x, s: ops.reduce_all(x, s, ops.add), (x, start), total))
    x, y = array("s32", [[3, 1], [2, 5]]), array("s32", [[0, 1], [2, 3]])
    best = Case(
        "reduce_all",
        lambda x, y: ops.reduce_all((x, y), (-9, 0), lambda a, i, b, j: (ops.max(a, b), ops.add(i, j))),
        (x, y),
        (np.int32(5), np.int32(6)),
        label="several",
    )
    found += [
        best,
        Case("reduce_all", lambda x: ops.reduce_all(x, 7, ops.add), (array("s32", 3),), np.int32(10), label="rank 0"),
        Case("reduce_all", lambda x: ops.reduce_all(x, 7, ops.add), (np.zeros((0, 2), np.int32),), np.int32(7)),
        Case("reduce_all", lambda x: ops.reduce_all(x, 0.5, ops.add), (x,), ops.DTypeError),
        Case("reduce_all", lambda x: ops.reduce_all(x, x, ops.add), (x,), ops.ShapeError),
        Case("reduce_all", lambda x: ops.reduce_all((x, x), 0, ops.add), (x,), ops.ArgumentError),
    ]
    return found


CASES = [*_literals(), *_positions(), *_reductions()]
