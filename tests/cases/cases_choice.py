"""Cases of clamp, select, map and require."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers.case_values import ALL, FLOATS, INTEGERS, inf, nan
from tests.helpers.harness import Case, array
from xjit import ops
from xjit.ops.whole_arrays.runtime_check import require, warned


def _clamp_cases() -> list[Case]:
    found = []
    for dtype in INTEGERS:
        operands = array(dtype, 2), array(dtype, [0, 1, 2, 3, 100]), array(dtype, 50)
        found.append(Case("clamp", ops.clamp, operands, array(dtype, [2, 2, 2, 3, 50])))
    for dtype in FLOATS:
        operands = array(dtype, 0), array(dtype, [nan, -1, 5, 0.5, -0.0]), array(dtype, 1)
        found.append(Case("clamp", ops.clamp, operands, array(dtype, [nan, 0, 1, 0.5, 0.0])))
        bounds = array(dtype, [0, nan, 3, 1]), array(dtype, [2, 2, 2, 2]), array(dtype, [nan, 1, 1, 1])
        found.append(Case("clamp", ops.clamp, bounds, array(dtype, [nan, nan, 1, 1]), label="bounds"))
    s32 = array("s32", [-3, 3, 9])
    found += [
        Case("clamp", ops.clamp, (array("s32", [0, 2, 4]), s32, array("s32", 8)), array("s32", [0, 3, 8])),
        Case("clamp", lambda x: ops.clamp(0, x, 6), (s32,), array("s32", [0, 3, 6]), label="python_bounds"),
        Case("clamp", ops.clamp, (array("pred", 0), array("pred", [0, 1]), array("pred", 0)), array("pred", [0, 0])),
        Case("clamp", ops.clamp, (array("s32", [0]), s32, array("s32", 8)), ops.ShapeError),
        Case("clamp", ops.clamp, (array("s32", 0), s32, array("s32", [[8, 8, 8]])), ops.ShapeError),
        Case("clamp", ops.clamp, (array("f32", 0), s32, array("s32", 8)), ops.DTypeError),
        Case("clamp", ops.clamp, tuple(array("c64", [k]) for k in range(3)), ops.DTypeError),
    ]
    return found


def _select_cases() -> list[Case]:
    found = []
    for dtype in ALL:
        x, y = array(dtype, [[1, 0], [1, 1]]), array(dtype, [[0, 1], [0, 0]])
        mask = array("pred", [[1, 0], [0, 1]])
        found.append(Case("select", lambda a, b, m=mask: ops.select(m, a, b), (x, y), array(dtype, [[1, 1], [0, 1]])))
        found.append(Case("select", lambda a, b: ops.select(False, a, b), (x, y), y.copy(), label="scalar"))
    payload = np.array([0x7FC12345, 0xFFA00001], np.uint32).view(np.float32)
    kept = Case(
        "select",
        lambda m, a, b: ops.bitcast_convert_type(ops.select(m, a, b), "u32"),
        (array("pred", [1, 0]), payload, payload),
        np.array([0x7FC12345, 0xFFA00001], np.uint32),
        label="payload",
    )
    half = np.array([0x7E01, 0xFD55], np.uint16).view(np.float16)
    kept_half = Case(
        "select",
        lambda m, a, b: ops.bitcast_convert_type(ops.select(m, a, b), "u16"),
        (array("pred", [1, 0]), half, half),
        np.array([0x7E01, 0xFD55], np.uint16),
        label="payload",
    )
    one, two = array("s32", [1, 2]), array("s32", [3, 4])

    def both(p: Any, a: Any, b: Any) -> Any:
        return ops.select(p, (a, ops.neg(a)), (b, ops.neg(b)))

    found += [
        kept,
        kept_half,
        Case(
            "select",
            both,
            (array("pred", 0), one, two),
            (array("s32", [3, 4]), array("s32", [-3, -4])),
            label="tuple",
        ),
        Case("select", both, (array("pred", [0, 1]), one, two), ops.ShapeError, label="tuple"),
        Case("select", lambda p, a, b: ops.select(p, (a, b), (a,)), (array("pred", 0), one, two), ops.ShapeError),
        Case("select", ops.select, (array("pred", [1]), one, two), ops.ShapeError, label="pred"),
        Case("select", ops.select, (array("pred", 1), one, two[:1]), ops.ShapeError, label="values"),
        Case("select", ops.select, (array("s32", 1), one, two), ops.DTypeError, label="pred"),
        Case("select", ops.select, (array("pred", 1), one, two.reshape(1, 2)), ops.ShapeError, label="ranks"),
        Case("select", ops.select, (array("pred", 1), one, array("f32", two)), ops.DTypeError, label="values"),
    ]
    return found


def _map_cases() -> list[Case]:
    x, y = array("f32", [[1, 2], [3, 4]]), array("f32", [[5, 6], [7, 8]])
    empty = np.zeros((0, 2), np.float32)

    def nested(a: Any) -> Any:
        """Holds an operation that is not elementwise, so that it runs as one step."""
        return ops.reduce(ops.broadcast(a, (3,)), 0.0, ops.add, (0,))

    def closed(a: Any, b: Any) -> Any:
        doubled = ops.reshape(ops.slice(b, (0, 0), (1, 1)), ())
        return ops.map((a,), lambda v: v * doubled)

    return [
        Case("map", lambda a, b: ops.map((a, b), lambda v, w: ops.sub(w, v)), (x, y), array("f32", [[4, 4], [4, 4]])),
        Case("map", lambda a: ops.map((a,), lambda v: v > 2), (x,), array("pred", [[0, 0], [1, 1]])),
        Case("map", lambda a: ops.map((a,), lambda v: v), (x,), x.copy(), label="itself"),
        Case(
            "map",
            lambda a: ops.map((a,), lambda v: np.float32(7)),
            (x,),
            np.full((2, 2), 7, np.float32),
            label="constant",
        ),
        Case("map", lambda a: ops.map((a,), lambda v, p: v * p, static_operands=(np.float32(3),)), (x,), x * 3),
        Case("map", lambda a: ops.map((a,), lambda v: v + v, dimensions=(0, 1)), (x,), x + x),
        Case("map", lambda a: ops.map((a,), nested), (x,), x * 3, label="step"),
        Case("map", closed, (x, y), x * 5, label="closure"),
        Case("map", lambda a: ops.map((a,), lambda v: v + 1.0), (empty,), empty.copy(), label="empty"),
        Case("map", lambda a: ops.map((a,), lambda v: v, dimensions=(1, 0)), (x,), ops.ArgumentError),
        Case("map", lambda a: ops.map((), lambda: 1), (x,), ops.ArgumentError),
        Case("map", lambda a, b: ops.map((a, b), lambda v, w: v), (x, y[:1]), ops.ShapeError),
        Case("map", lambda a: ops.map((a,), lambda v: (v, v)), (x,), ops.ArgumentError, label="two_results"),
        Case("map", lambda a: ops.map((a,), lambda v: ops.broadcast(v, (2,))), (x,), ops.ShapeError, label="rank"),
    ]


def _infinite_cases() -> list[Case]:
    x = array("f64", [-inf, inf, 3])
    return [Case("clamp", lambda a: ops.clamp(-1.0, a, 1.0), (x,), array("f64", [-1, 1, 1]))]


def _require_cases() -> list[Case]:
    def checked(a: Any, holds: Any) -> Any:
        return require(a, holds, "value", "never")

    yes = np.array(True)
    found = [Case("require", checked, (array(dtype, [1, 2]), yes), array(dtype, [1, 2])) for dtype in ALL]
    return [
        *found,
        Case("require", checked, (array("f32", [1]), np.array(1)), ops.DTypeError),
        Case("require", checked, (array("f32", [1]), np.array([[True], [True]])), array("f32", [1])),
        Case("require", checked, (array("f32", [1]), np.zeros((0, 2), bool)), array("f32", [1])),
    ]


def _warn_cases() -> list[Case]:
    def quiet(a: Any, holds: Any) -> Any:
        return warned(a, holds, "rank", "never")

    yes = np.array(True)
    found = [Case("warn", quiet, (array(dtype, [1, 2]), yes), array(dtype, [1, 2])) for dtype in ALL]
    return [*found, Case("warn", quiet, (array("f32", [1]), np.array(1)), ops.DTypeError)]


CASES = [
    *_clamp_cases(),
    *_select_cases(),
    *_map_cases(),
    *_infinite_cases(),
    *_require_cases(),
    *_warn_cases(),
]
