"""Cases of convolutions, with expected values from loops written from their index equations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.helpers.case_values import COMPLEX, FLOATS, INTEGERS, integers, rounded, wrapped
from tests.helpers.harness import Case, array
from tests.helpers.oracles.convolving import convolved
from xjit import ops
from xjit.types import DTYPES

Row = tuple[Any, Any, Any, Any, Any, Any, tuple[int, int]]
ROWS: list[Row] = [
    ((2, 3, 6), (4, 3, 3), (1,), ((1, 1),), (1,), (1,), (1, 1)),
    ((2, 3, 6), (4, 3, 3), (2,), ((0, 0),), (1,), (1,), (1, 1)),
    ((1, 2, 5), (5, 2, 2), (1,), ((3, 2),), (2,), (3,), (1, 1)),
    ((1, 2, 7), (2, 2, 3), (2,), ((-2, 1),), (1,), (1,), (1, 1)),
    ((1, 2, 7), (2, 2, 3), (1,), ((-1, -2),), (1,), (2,), (1, 1)),
    ((2, 3), (4, 3), (), (), (), (), (1, 1)),
    ((1, 2, 20), (6, 2, 4), (1,), ((2, 1),), (1,), (1,), (1, 1)),
    ((2, 2, 5, 18), (4, 2, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), (1, 1)),
    ((1, 2, 5, 19), (5, 2, 2, 3), (2, 2), ((0, 1), (1, 1)), (1, 1), (1, 1), (1, 1)),
    ((1, 1, 3, 4, 5), (2, 1, 2, 2, 3), (1, 2, 1), ((0, 1), (1, 0), (1, 1)), (1, 1, 1), (1, 1, 1), (1, 1)),
    ((2, 4, 6), (6, 2, 3), (1,), ((1, 1),), (1,), (1,), (2, 1)),
    ((2, 3, 6), (3, 1, 3), (1,), ((1, 1),), (1,), (1,), (3, 1)),
    ((1, 3, 17), (6, 1, 3), (1,), ((1, 1),), (1,), (1,), (3, 1)),
    ((4, 2, 6), (6, 2, 3), (1,), ((1, 1),), (1,), (1,), (1, 2)),
    ((4, 2, 6), (4, 2, 3), (1,), ((0, 0),), (1,), (1,), (1, 4)),
    ((1, 1, 2), (1, 1, 3), (1,), ((0, 0),), (1,), (1,), (1, 1)),
    ((1, 0, 3), (2, 0, 2), (1,), ((0, 0),), (1,), (1,), (1, 1)),
    ((1, 2, 3), (2, 2, 0), (1,), ((0, 0),), (1,), (1,), (1, 1)),
    ((0, 2, 3), (2, 2, 2), (1,), ((0, 0),), (1,), (1,), (1, 1)),
    ((1, 2, 0), (2, 2, 2), (1,), ((2, 1),), (2,), (1,), (1, 1)),
    ((1, 2, 3), (2, 2, 2), (1,), ((-3, 0),), (1,), (1,), (1, 1)),
    ((1, 1, 1), (1, 1, 3), (1,), ((1, 1),), (1,), (1,), (1, 1)),
    ((1, 1, 1), (1, 1, 2), (1,), ((0, 1),), (1,), (1,), (1, 1)),
    ((1, 8, 1, 1), (4, 8, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), (1, 1)),
    ((1, 1, 1), (1, 1, 1), (1,), ((1, -1),), (1,), (1,), (1, 1)),
    ((1, 1, 3), (1, 1, 1), (1,), ((-3, -2),), (1,), (1,), (1, 1)),
]


def _numbers(dtype: str, shape: tuple[int, ...], first: int) -> Any:
    values = (np.arange(int(np.prod(shape, dtype=int))) * 7 + first) % 11 - (0 if dtype[0] == "u" else 4)
    if dtype in COMPLEX:
        return array(dtype, (values + 1j * (values[::-1] % 5 - 2)).reshape(shape))
    return array(dtype, values.reshape(shape))


def _expected(dtype: str, exact: Any) -> Any:
    if dtype in INTEGERS:
        return integers(dtype, [wrapped(int(value), dtype) for value in exact.ravel()]).reshape(exact.shape)
    return array(dtype, exact.astype(np.complex128 if dtype in COMPLEX else np.float64))


def _general_cases() -> list[Case]:
    found = []
    for number, (left, right, strides, padding, one, other, groups) in enumerate(ROWS):
        for dtype in ("f32", *(("s8", "u16", "f64", "c64") if number % 3 == 0 else ())):
            x, k = _numbers(dtype, left, 3), _numbers(dtype, right, 5)

            def function(a: Any, b: Any, rest: Any = (strides, padding, one, other), groups: Any = groups) -> Any:
                return ops.conv_general_padding(a, b, *rest, *groups)

            expected = _expected(dtype, convolved(x, k, strides, padding, one, other, groups))
            found.append(Case("conv_general_dilated", function, (x, k), expected, label=str(number)))
    return found


def _types() -> list[Case]:
    found = []
    for dtype in (*INTEGERS, *FLOATS, *COMPLEX):
        x, k = _numbers(dtype, (1, 2, 5), 3), _numbers(dtype, (2, 2, 2), 5)
        if dtype in FLOATS:
            x, k = array(dtype, x.astype(np.float32) / 4), array(dtype, k.astype(np.float32) / 4)
        exact = convolved(x, k, (1,), ((0, 1),), (1,), (1,), (1, 1))
        expected = rounded(dtype, exact.astype(np.float64)) if dtype in FLOATS else _expected(dtype, exact)
        found.append(
            Case(
                "conv_general_dilated", lambda a, b: ops.conv_general_padding(a, b, (1,), ((0, 1),)), (x, k), expected
            )
        )
    return found


def _orders() -> list[Case]:
    """Dimensions in other orders, which are those of the transposed arrays."""
    found = []
    x, k = _numbers("f32", (2, 3, 5, 18), 3), _numbers("f32", (4, 3, 2, 3), 5)
    straight = _expected("f32", convolved(x, k, (1, 2), ((1, 0), (1, 1)), (1, 1), (1, 1), (1, 1)))
    for numbers in (("NHWC", "HWIO", "NHWC"), ("CWHN", "IHOW", "WNHC"), ("nchw", "oihw", "nhcw")):
        lhs, rhs, out = (text.upper() for text in numbers)
        left, right = x.transpose(["NCHW".index(one) for one in lhs]), k.transpose(["OIHW".index(one) for one in rhs])
        expected = straight.transpose(["NCHW".index(one) for one in out])

        def function(a: Any, b: Any, numbers: Any = numbers) -> Any:
            return ops.conv_general_dilated(a, b, (1, 2), ((1, 0), (1, 1)), dimension_numbers=numbers)

        for one, other in itertools.product((left, np.ascontiguousarray(left)), (np.ascontiguousarray(right),)):
            found.append(Case("conv_general_dilated", function, (one, other), expected))
    return found


def _padding() -> list[Case]:
    """Infinities meet real elements only; words for padding."""
    inf, nan = np.inf, np.nan
    x, k = array("f32", [[[1, 2, 3]]]), array("f32", [[[inf, 1, nan]]])
    wide = array("f32", [[[inf, 1, 2]]])
    image = array("f32", np.arange(1, 17).reshape(1, 1, 4, 4))
    ones = np.ones((1, 1, 3, 3), np.float32)

    def same(a: Any, b: Any) -> Any:
        return ops.conv(a, b, (1,) * (a.ndim - 2), "same")

    def apart(a: Any, b: Any) -> Any:
        return ops.conv_general_padding(a, b, (1,), ((0, 0),), (2,))

    return [
        Case("conv_general_dilated", same, (x, array("f32", [[[inf, 1, 0]]])), array("f32", [[[1, inf, inf]]])),
        Case("conv_general_dilated", same, (x, k), array("f32", [[[nan, nan, inf]]])),
        Case("conv_general_dilated", same, (wide, array("f32", [[[0, 1, 0]]])), array("f32", [[[inf, nan, 2]]])),
        Case("conv_general_dilated", apart, (x, array("f32", [[[1, inf]]])), array("f32", [[[1, inf, 2, inf]]])),
        Case(
            "conv_general_dilated",
            same,
            (image, ones),
            array("f32", [[[[14, 24, 30, 22], [33, 54, 63, 45], [57, 90, 99, 69], [46, 72, 78, 54]]]]),
        ),
        Case(
            "conv_general_dilated",
            lambda a, b: ops.conv(a, b, (2, 2), "SAME"),
            (image, ones),
            array("f32", [[[[54, 45], [72, 54]]]]),
        ),
        Case(
            "conv_general_dilated",
            lambda a, b: ops.conv(a, b, (1, 1), "VALID"),
            (image, ones),
            array("f32", [[[[54, 63], [90, 99]]]]),
        ),
    ]


def _preferred() -> list[Case]:
    found = []
    rows = [("s8", "s32"), ("u8", "u64"), ("f16", "f32"), ("bf16", "f64"), ("f32", "f64"), ("f32", "bf16")]
    for dtype, wide in rows:
        x, k = array(dtype, [[[100, 100, 50]]]), array(dtype, [[[2, 100]]])

        def function(a: Any, b: Any, wide: str = wide) -> Any:
            return ops.conv(a, b, (1,), "VALID", preferred_element_type=wide)

        exact = np.array([[[10200, 5200]]])
        expected = rounded(wide, exact.astype(np.float64)) if wide in FLOATS else exact.astype(DTYPES[wide])
        found.append(Case("conv_general_dilated", function, (x, k), expected))
    x, k = array("s8", [[[100]]]), array("s32", [[[1000]]])
    both = array("s32", [[[100000]]])
    found.append(
        Case(
            "conv_general_dilated",
            lambda a, b: ops.conv(a, b, (1,), "SAME", preferred_element_type="s32"),
            (x, k),
            both,
        )
    )
    return found


def _mistakes() -> list[Case]:
    x, k = np.zeros((1, 2, 4), np.float32), np.zeros((2, 2, 2), np.float32)

    def call(*rest: Any, **others: Any) -> Any:
        return lambda a, b: ops.conv_general_dilated(a, b, *rest, **others)

    rows = [
        (call((1, 1), "SAME"), ops.ArgumentError),
        (call((1,), ((0, 0), (0, 0))), ops.ArgumentError),
        (call((1,), "SAME", feature_group_count=2), ops.ShapeError),
        (call((1,), "SAME", batch_group_count=2), ops.ShapeError),
        (call((1,), "SAME", dimension_numbers=("NCW", "OIX", "NCW")), ops.ArgumentError),
        (call((1,), "SAME", preferred_element_type="s32"), ops.DTypeError),
    ]
    return [Case("conv_general_dilated", function, (x, k), error) for function, error in rows]


CASES = [*_general_cases(), *_types(), *_orders(), *_padding(), *_preferred(), *_mistakes()]
