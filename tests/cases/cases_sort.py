"""Cases of sorts, expected by Python's own sort of Python's numbers, or written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.helpers.case_values import COMPLEX, FLOATS, INTEGERS
from tests.helpers.harness import Case, array
from xjit import ops

NAN, INF = math.nan, math.inf


def _lines(values: Any, axis: int, key: Any, reverse: bool = False) -> Any:
    """Each line along an axis through Python's ``sorted``."""
    moved = np.moveaxis(values, axis, -1)
    result = np.empty_like(moved)
    for place in np.ndindex(moved.shape[:-1]):
        result[place] = np.asarray(sorted(moved[place], key=key, reverse=reverse), moved.dtype)
    return np.moveaxis(result, -1, axis)


def _plain_cases() -> list[Case]:
    found = []
    for dtype in ("pred", *INTEGERS, *FLOATS):
        x = array(dtype, (np.arange(24) * 7 % 11).reshape(2, 3, 4))
        for axis in (0, 1, 2, -1):
            up = _lines(x, axis, lambda value: float(value))
            down = _lines(x, axis, lambda value: -float(value))
            found.append(Case("sort", lambda a, d=axis: ops.sort(a, dimension=d), (x,), up))
            found.append(Case("sort", lambda a, d=axis: ops.sort(a, ops.gt, d), (x,), down, label="gt"))
            if dtype[0] != "p":
                found.append(
                    Case("sort", lambda a, d=axis: ops.sort(a, ops.lt_total_order, d), (x,), up, label="total")
                )
    for dtype in COMPLEX:
        x = array(dtype, [2 + 1j, 1 + 5j, complex(NAN, 0), 1 - 5j, 0])
        expected = array(dtype, [0, 1 - 5j, 1 + 5j, 2 + 1j, complex(NAN, 0)])
        found.append(Case("sort", ops.sort, (x,), expected))
    return found


def _special_cases() -> list[Case]:
    found = []
    for dtype in ("f16", "bf16", "f32", "f64"):
        x = array(dtype, [3, NAN, 0.0, -0.0, -INF, 1])
        last = array(dtype, [-INF, 0.0, -0.0, 1, 3, NAN])
        total = array(dtype, [-INF, -0.0, 0.0, 1, 3, NAN])
        down = array(dtype, [NAN, 3, 1, 0.0, -0.0, -INF])
        found.append(Case("sort", ops.sort, (x,), last, label="nan"))
        found.append(Case("sort", lambda a: ops.sort(a, ops.lt), (x,), last, label="nan"))
        found.append(Case("sort", lambda a: ops.sort(a, ops.lt_total_order), (x,), total, label="nan"))
        found.append(Case("sort", lambda a: ops.sort(a, ops.gt_total_order), (x,), down, label="nan"))
        found.append(Case("sort", lambda a: ops.sort(a, lambda p, q: ops.gt(q, p)), (x,), last, label="mirrored"))
        found.append(Case("sort", lambda a: ops.sort(a, ops.le), (x,), last, label="le"))
    for shape in ((0,), (2, 0), (0, 3), (1, 1)):
        zeros = np.zeros(shape, np.float32)
        found.append(Case("sort", lambda a: ops.sort(a, dimension=0), (zeros,), zeros.copy(), label="small"))
        found.append(Case("sort", lambda a: ops.sort((a,)), (zeros,), (zeros.copy(),), label="small"))
    return found


KEYS = array("s32", [2, 1, 2, 0, 1, 2])
VALUES = array("f32", [5, 6, 3, 8, 6, 4])
PLACES = array("s64", range(6))


def _by(key: Any) -> tuple[Any, ...]:
    rows = sorted(zip(KEYS.tolist(), VALUES.tolist(), PLACES.tolist(), strict=True), key=key)
    return tuple(
        np.asarray(c, one.dtype) for c, one in zip(zip(*rows, strict=True), (KEYS, VALUES, PLACES), strict=True)
    )


def _several_cases() -> list[Case]:
    def then(a: Any, b: Any, p: Any, q: Any, i: Any, j: Any) -> Any:
        return ops.or_(ops.lt(a, b), ops.and_(ops.eq(a, b), ops.gt(p, q)))

    def chosen(a: Any, b: Any, p: Any, q: Any, i: Any, j: Any) -> Any:
        return ops.select(ops.eq(p, q), ops.lt(b, a), ops.lt(p, q))

    def swapped(a: Any, b: Any, p: Any, q: Any, i: Any, j: Any) -> Any:
        return ops.or_(ops.and_(ops.gt(i, j), ops.eq(b, a)), ops.gt(a, b))

    comparators: list[tuple[str, Any, Any]] = [
        ("first", None, lambda row: row[0]),
        ("lt", lambda a, b, *rest: ops.lt(a, b), lambda row: row[0]),
        ("gt", lambda a, b, *rest: ops.gt(a, b), lambda row: -row[0]),
        ("second", lambda a, b, p, q, *rest: ops.lt(p, q), lambda row: row[1]),
        ("tie", then, lambda row: (row[0], -row[1])),
        ("select", chosen, lambda row: (row[1], -row[0])),
        ("swapped", swapped, lambda row: (-row[0], -row[2])),
    ]
    arrays = (KEYS, VALUES, PLACES)
    return [
        Case("sort", lambda *a, by=comparator: ops.sort(a, by), arrays, _by(key), label=name)
        for name, comparator, key in comparators
    ]


def _bits(x: Any) -> Any:
    """Floats as integers in the total order, by the bits: what XLA's own comparators do."""
    bits = ops.bitcast_convert_type(x, "s32")
    return ops.select(ops.lt(bits, np.int32(0)), ops.xor(bits, np.int32(0x7FFFFFFF)), bits)


def _computed_key_cases() -> list[Case]:
    x = array("s32", [5, -3, 2, -8, 3])
    both = (array("s32", [1, 4, 2]), array("s32", [3, -1, 1]))
    floats, in_order = (array("f32", one) for one in ([0.0, NAN, -0.0, 1.5, -INF], [-INF, -0.0, 0.0, 1.5, NAN]))
    ties = (array("f32", [0.0, -0.0, 0.0, -0.0]), array("s32", [1, 1, 2, 2]))

    def by_bits(p: Any, q: Any) -> Any:
        return ops.lt(_bits(p), _bits(q))

    def sums(p: Any, q: Any, r: Any, s: Any) -> Any:
        return ops.lt(ops.add(p, r), ops.add(q, s))

    def then(p: Any, q: Any, r: Any, s: Any) -> Any:
        return ops.or_(ops.gt(_bits(p), _bits(q)), ops.and_(ops.eq(_bits(q), _bits(p)), ops.lt(s, r)))

    def folded(p: Any, q: Any) -> Any:
        return ops.gt(ops.rem(q, np.int32(4)), ops.rem(p, np.int32(4)))

    magnitudes = Case(
        "sort",
        lambda a: ops.sort(a, lambda p, q: ops.lt(ops.abs(p), ops.abs(q))),
        (x,),
        array("s32", [2, -3, 3, 5, -8]),
        label="magnitude",
    )
    return [
        magnitudes,
        Case("sort", lambda a, b: ops.sort((a, b), sums), both, _arrays([4, 2, 1], [-1, 1, 3]), label="sum"),
        Case("sort", lambda a: ops.sort(a, by_bits), (floats,), in_order, label="bits"),
        Case(
            "sort",
            lambda a, b: ops.sort((a, b), then),
            ties,
            (array("f32", [0.0, 0.0, -0.0, -0.0]), array("s32", [2, 1, 2, 1])),
            label="bits then",
        ),
        Case("sort", lambda a: ops.sort(a, folded), (x,), array("s32", [-3, -8, 5, 2, 3]), label="remainder"),
    ]


def _arrays(*values: list[int]) -> tuple[Any, ...]:
    return tuple(array("s32", one) for one in values)


def _general_cases() -> list[Case]:
    """Comparators that compare unlike things."""
    x = array("s32", [1, 1])
    return [
        Case("sort_by", lambda a: ops.sort(a, ops.ne), (x,), x.copy()),
        Case("sort_by", lambda a: ops.sort(a, lambda p, q: ops.lt(p, ops.abs(q))), (x,), x.copy(), label="unlike"),
        Case("sort_by", lambda a: ops.sort(a, lambda p, q: ops.lt(p, p)), (x,), x.copy(), label="one side"),
    ]


def _error_cases() -> list[Case]:
    x, y = np.zeros((2, 3), np.float32), np.zeros((2, 2), np.int32)
    return [
        Case("sort", lambda a: ops.sort(a, dimension=2), (x,), ops.ArgumentError),
        Case("sort", lambda a: ops.sort(a, dimension=-2), (x,), ops.ArgumentError),
        Case("sort", lambda a: ops.sort(()), (x,), ops.ArgumentError),
        Case("sort", ops.sort, (np.float32(1).reshape(()),), ops.ShapeError),
        Case("sort", lambda a, b: ops.sort((a, b)), (x, y), ops.ShapeError),
        Case("sort", lambda a: ops.sort(a, ops.add), (x,), ops.DTypeError),
        Case("sort", lambda a: ops.top_k(a, 4), (x,), ops.ShapeError, label="top_k"),
        Case("sort", lambda a: ops.top_k(a, -1), (x,), ops.ArgumentError, label="top_k"),
        Case("sort", lambda a: ops.top_k(a > 0, 1), (x,), ops.DTypeError, label="top_k"),
    ]


def _top_cases() -> list[Case]:
    x = array("f32", [[1, 5, 5, 2], [NAN, 0.0, -0.0, -1]])
    largest = array("f32", [[5, 5], [NAN, 0.0]]), array("s32", [[1, 2], [0, 1]])
    smallest = array("f32", [[1, 2], [-1, -0.0]]), array("s32", [[0, 3], [3, 2]])
    nothing = array("f32", np.zeros((2, 0))), array("s32", np.zeros((2, 0)))
    return [
        Case("sort", lambda a: ops.top_k(a, 2), (x,), largest, label="top_k"),
        Case("sort", lambda a: ops.top_k(a, 2, largest=False), (x,), smallest, label="top_k"),
        Case("sort", lambda a: ops.top_k(a, 0), (x,), nothing, label="top_k"),
    ]


CASES = [
    *_plain_cases(),
    *_special_cases(),
    *_several_cases(),
    *_computed_key_cases(),
    *_general_cases(),
    *_top_cases(),
    *_error_cases(),
]
