"""Cases of reduce, and of the reductions that the NumPy surface builds on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.helpers.case_values import FLOATS, INTEGERS, NARROW, inf, integers, nan, rounded, wrapped
from tests.helpers.harness import Case, array
from xjit import ops
from xjit.ops.whole_arrays.arg_extreme import arg_extreme
from xjit.ops.whole_arrays.reduce import REDUCERS, reduction
from xjit.ops.whole_arrays.scan import running

Fold = Callable[[Any, Any], Any]


def folded(values: Any, dims: Sequence[int], start: Any, step: Fold) -> Any:
    """A left fold in row-major order over Python numbers, as an object array."""
    kept = [axis for axis in range(values.ndim) if axis not in dims]
    result = np.empty([values.shape[axis] for axis in kept], object)
    for place in itertools.product(*(range(values.shape[axis]) for axis in kept)):
        total = start
        for inner in itertools.product(*(range(values.shape[axis]) for axis in sorted(dims))):
            index = dict(zip(kept, place, strict=True)) | dict(zip(sorted(dims), inner, strict=True))
            total = step(total, values[tuple(index[axis] for axis in range(values.ndim))].item())
        result[place] = total
    return result


def _integer_cases() -> list[Case]:
    rules: dict[str, tuple[Any, Fold, Callable[[Any], int]]] = {
        "add": (ops.add, lambda a, x: a + x, lambda info: 0),
        "mul": (ops.mul, lambda a, x: a * x, lambda info: 1),
        "max": (ops.max, max, lambda info: int(info.min)),
        "min": (ops.min, min, lambda info: int(info.max)),
        "and": (ops.and_, lambda a, x: a & x, lambda info: -1 if info.min else int(info.max)),
        "or": (ops.or_, lambda a, x: a | x, lambda info: 0),
        "xor": (ops.xor, lambda a, x: a ^ x, lambda info: 0),
    }
    found = []
    for dtype in INTEGERS:
        values = integers(dtype, [wrapped(k * 37 - 55, dtype) for k in range(24)]).reshape(2, 3, 4)
        for name, (operation, step, identity) in rules.items():
            start = identity(np.iinfo(values.dtype))
            for dims, layout in (((0,), values), ((2, 1), np.asfortranarray(values)), ((0, 1, 2), values)):
                raw = folded(layout, dims, start, step)
                expected = integers(dtype, [wrapped(int(v), dtype) for v in raw.ravel()]).reshape(raw.shape)

                def function(a: Any, operation: Any = operation, dims: Any = dims, start: Any = start) -> Any:
                    return ops.reduce(a, np.asarray(start, a.dtype), operation, dims)

                found.append(Case("reduce", function, (layout,), expected, label=f"{name}{len(dims)}"))
    return found


def _float_cases() -> list[Case]:
    """Sums and products within rounding of the exact ones; extremes exact, NaN and signed zeros as max and min."""
    found = []
    for dtype in FLOATS:
        values = array(dtype, [[0.5, 1, 2, -1.5], [4, -0.25, 1, 3], [-2, 1.5, 0.5, 1]])
        sums = [math.fsum(row) for row in values.astype(np.float64).tolist()]
        products = [math.prod(column) for column in values.astype(np.float64).T.tolist()]
        found += [
            Case("reduce", lambda a: ops.reduce(a, 0.0, ops.add, (1,)), (values,), array(dtype, sums), label="sum"),
            Case(
                "reduce", lambda a: reduction(a, "mul", (0,)), (values,), array(dtype, products), 1, label="product"
            ),
        ]
        for operation, name, expected in (
            (ops.max, "max", [nan, 1, 0.0, -0.0]),
            (ops.min, "min", [nan, -3, -0.0, -0.0]),
        ):
            start = REDUCERS[name].identity(values.dtype)
            for times in (1, 9):  # written out, and in a loop
                edges = array(dtype, [[nan, 1, -0.0, -0.0], [1, -3, 0.0, -0.0]] * times)

                def extreme(a: Any, operation: Any = operation, start: Any = start) -> Any:
                    return ops.reduce(a, start, operation, (0,))

                found.append(Case("reduce", extreme, (edges,), array(dtype, expected), label=f"{name}{times}"))
    return found


def _accumulator_cases() -> list[Case]:
    """Narrow floats hold their sum in F32 and are rounded once; an arbitrary computation rounds at each step."""
    found = []
    for dtype in NARROW:
        small = array(dtype, np.full(40, 0.25))
        found.append(
            Case("reduce", lambda a: reduction(a, "add", (0,)), (small,), rounded(dtype, [10.0])[0], label="wide")
        )

        def stepwise(a: Any) -> Any:
            return ops.reduce(a, np.zeros((), a.dtype), lambda t, x: t + x * np.ones((), a.dtype), (0,))

        total = np.zeros(())
        for value in small.astype(np.float64):
            total = rounded(dtype, np.asarray(total + value)).astype(np.float64)
        found.append(Case("reduce", stepwise, (small,), rounded(dtype, total), label="stepwise"))
        found.append(
            Case(
                "reduce",
                lambda a: ops.reduce(a, 1.0, ops.add, (0,)),
                (small,),
                rounded(dtype, 11.0),
                label="from_one",
            )
        )
    return found


def _fold_cases() -> list[Case]:
    row, grid = array("s32", [3, 4, 5]), array("s32", [[1, 2, 3], [4, 5, 6]])
    ones = np.full((4, 2), 1, np.float32)
    tiny = array("f32", [1e8, 1, -1e8, 1])
    empty = np.zeros((0, 3), np.float32)

    def argmax(m: Any, place: Any, x: Any, i: Any) -> Any:
        take = ops.ge(x, m)
        return ops.select(take, x, m), ops.select(take, i, place)

    def scaled(a: Any, b: Any) -> Any:
        factor = ops.reshape(ops.slice(b, (0,), (1,)), ())
        return ops.reduce(a, 0, lambda t, x: t + x * factor, (0,))

    pair = array("f32", [1, 5, 5, 2]), array("s32", [0, 1, 2, 3])
    starts = np.float32(-inf), np.int32(-1)
    return [
        Case("reduce", lambda a: ops.reduce(a, 0, lambda t, x: t * 10 + x, (0,)), (row,), array("s32", 345)),
        Case("reduce", lambda a: ops.reduce(a, 0, lambda t, x: t * 10 + x, (0, 1)), (grid,), array("s32", 123456)),
        Case("reduce", lambda a: ops.reduce(a, 0, lambda t, x: t * 10 + x, (1, 0)), (grid.T,), array("s32", 142536)),
        Case(
            "reduce",
            lambda a: ops.reduce(a, 0, lambda t, x: x + t, (1,)),
            (grid,),
            array("s32", [6, 15]),
            label="swapped",
        ),
        Case("reduce", lambda a: ops.reduce(a, 0, lambda t, x: x, (1,)), (grid,), array("s32", [3, 6]), label="last"),
        Case(
            "reduce", lambda a: ops.reduce(a, 9, lambda t, x: t, (1,)), (grid,), array("s32", [9, 9]), label="first"
        ),
        Case("reduce", lambda a: ops.reduce(a, 7.0, ops.add, (0,)), (ones,), array("f32", [11, 11]), label="init"),
        Case("reduce", lambda a: ops.reduce(a, 0.25, ops.add, (0,)), (tiny,), array("f32", 1), label="sequential"),
        Case(
            "reduce",
            lambda a: ops.reduce(a, 5, ops.max, (0,)),
            (array("s32", [3, 4]),),
            array("s32", 5),
            label="init",
        ),
        Case("reduce", lambda a, b: ops.reduce(a, b, ops.add, (0,)), (row, array("s32", 100)), array("s32", 112)),
        Case("reduce", lambda a, b: ops.reduce(a, b, ops.add, (0,)), (ones, array("f32", 0)), array("f32", [4, 4])),
        Case("reduce", lambda a: ops.reduce(a, 1, ops.add, ()), (row,), array("s32", [4, 5, 6]), label="no_dims"),
        Case(
            "reduce", lambda a: ops.reduce(a, -inf, ops.max, (0,)), (empty,), array("f32", [-inf] * 3), label="empty"
        ),
        Case("reduce", lambda a: ops.reduce(a, 2.5, ops.add, (0,)), (empty,), array("f32", [2.5] * 3), label="empty"),
        Case("reduce", lambda a: ops.reduce(a, 0.0, ops.add, (1,)), (empty,), np.zeros(0, np.float32), label="empty"),
        Case("reduce", lambda *a: ops.reduce(a, starts, argmax, (0,)), pair, (array("f32", 5), array("s32", 2))),
        Case("reduce", lambda a: ops.reduce((a,), (0,), ops.add, (0,)), (row,), array("s32", 12), label="sequence"),
        Case("reduce", scaled, (row, array("s32", [2, 9])), array("s32", 24), label="closure"),
        Case("reduce", lambda a: ops.reduce(a, False, ops.add, (0,)), (array("pred", [0, 1]),), array("pred", 1)),
        Case("reduce", lambda a: ops.reduce(a, True, ops.mul, (0,)), (array("pred", [0, 1]),), array("pred", 0)),
        Case("reduce", lambda a: reduction(a, "add", (0,)), (array("c64", [1j, 2 - 1j]),), array("c64", 2)),
        Case(
            "reduce",
            lambda a: reduction(a, "sum", (0,), np.dtype(np.int64)),
            (array("s8", [100, 100]),),
            array("s64", 200),
        ),
        Case(
            "reduce",
            lambda a: reduction(a, "add", (0,)),
            (array("f64", [-0.0, -0.0]),),
            array("f64", 0.0),
            label="zero",
        ),
    ]


def _error_cases() -> list[Case]:
    row = array("s32", [3])
    return [
        Case("reduce", lambda a: ops.reduce(a, np.float32(0), ops.add, (0,)), (row,), ops.DTypeError),
        Case("reduce", lambda a: ops.reduce(a, 0, lambda t, x: t > x, (0,)), (row,), ops.DTypeError),
        Case("reduce", lambda a: ops.reduce(a, 0, ops.add, (0, 0)), (row,), ops.ArgumentError),
        Case("reduce", lambda a: ops.reduce(a, 0, ops.add, (1,)), (row,), ops.ArgumentError),
        Case("reduce", lambda a: ops.reduce(a, 0, ops.add, (-1,)), (row,), ops.ArgumentError),
        Case("reduce", lambda a: ops.reduce((), (), ops.add, (0,)), (row,), ops.ArgumentError),
        Case("reduce", lambda a: ops.reduce((a, a), (0,), ops.add, (0,)), (row,), ops.ArgumentError),
        Case("reduce", lambda a: ops.reduce(a, 0, lambda t, x: (t, x), (0,)), (row,), ops.ArgumentError),
        Case("reduce", lambda a: ops.reduce(a, a, ops.add, (0,)), (row,), ops.ShapeError),
        Case(
            "reduce",
            lambda a, b: ops.reduce((a, b), (0, 0), lambda t, u, x, y: (t, u), (0,)),
            (row, array("s32", [1, 2])),
            ops.ShapeError,
        ),
    ]


def _position_cases() -> list[Case]:
    values = array("f64", [[1, nan, 3, nan], [2, 7, 7, 1], [-inf, -inf, -inf, -inf]])
    found = [
        Case("reduce", lambda a: arg_extreme(a, 1, "max"), (values,), array("s64", [1, 1, 0]), label="argmax"),
        Case("reduce", lambda a: arg_extreme(a, 1, "min"), (values,), array("s64", [1, 3, 0]), label="argmin"),
        Case(
            "reduce",
            lambda a: arg_extreme(a, 0, "max"),
            (array("s8", [-128, -128]),),
            array("s64", 0),
            label="argmax",
        ),
        Case(
            "reduce",
            lambda a: arg_extreme(a, 0, "min"),
            (array("u8", [3, 255, 2, 2]),),
            array("s64", 2),
            label="argmin",
        ),
        Case(
            "reduce", lambda a: arg_extreme(a, 0, "max"), (array("pred", [0, 1, 1]),), array("s64", 1), label="argmax"
        ),
        Case(
            "reduce", lambda a: arg_extreme(a, 0, "max"), (array("bf16", [1, 2, 2]),), array("s64", 1), label="argmax"
        ),
    ]
    return found


def _scan_cases() -> list[Case]:
    """Worked out by hand; narrow floats round after every step."""
    found = []
    rows = [[3, 1, 2], [2, 5, 4]]
    for dtype in ("s8", "u16", "s32", "s64", "f32", "f64", "f16", "bf16", "c64"):
        x = array(dtype, rows)
        found.append(Case("scan", lambda a: ops.cumsum(a, 1), (x,), array(dtype, [[3, 4, 6], [2, 7, 11]])))
        found.append(Case("scan", lambda a: ops.cumsum(a, 0, True), (x,), array(dtype, [[5, 6, 6], [2, 5, 4]])))
        found.append(Case("scan", lambda a: ops.cumprod(a, 1), (x,), array(dtype, [[3, 3, 6], [2, 10, 40]])))
        if dtype != "c64":
            found.append(Case("scan", lambda a: ops.cummax(a, 1), (x,), array(dtype, [[3, 3, 3], [2, 5, 5]])))
            found.append(Case("scan", lambda a: ops.cummin(a, 1), (x,), array(dtype, [[3, 1, 1], [2, 2, 2]])))
    wrapped = array("s8", [100, 100, 100])
    found.append(Case("scan", lambda a: ops.cumsum(a, 0), (wrapped,), array("s8", [100, -56, 44]), label="wraps"))
    half = array("f16", [2048, 1, 1, 1])
    found.append(Case("scan", lambda a: ops.cumsum(a, 0), (half,), array("f16", [2048] * 4), label="rounds"))
    broken = array("f64", [1, nan, 3])
    found.append(Case("scan", lambda a: ops.cummax(a, 0), (broken,), array("f64", [1, nan, nan]), label="nan"))
    truths = array("pred", [0, 1, 0])
    found.append(Case("scan", lambda a: running(a, "max", 0, "maximum"), (truths,), array("pred", [0, 1, 1])))
    found.append(Case("scan", lambda a: ops.cummax(a, 0), (truths,), ops.DTypeError, label="truths"))
    found.append(Case("scan", lambda a: ops.cumsum(a, 1), (broken,), ops.ArgumentError))
    found.append(Case("scan", lambda a: ops.cumsum(a, 0), (array("pred", [1]),), ops.DTypeError))
    found.append(Case("scan", lambda a: ops.cummax(a, 0), (array("c64", [1]),), ops.DTypeError))
    return found


CASES = [
    *_scan_cases(),
    *_integer_cases(),
    *_float_cases(),
    *_accumulator_cases(),
    *_fold_cases(),
    *_error_cases(),
    *_position_cases(),
]
