"""Choices, pieces, comparisons of arrays, interpolation: against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.oracles.numpy_oracle import Traced, check
from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts
from xjit import xjit as jit
from xjit.errors import CaptureError

DTYPES = ["?", "i1", "u1", "i4", "u4", "i8", "f2", "f4", "f8", "c8", "c16"]
FLOATS = ["f2", "f4", "f8", "c8", "c16"]

CHOICES = """
choose(a, [b, -1.5])
choose(a, [b, b[::-1]])
choose(a, b)
choose(a, (1, 2))
choose(a, [1, 2.5])
choose(a, [b[:, None], b], mode="clip")
choose(a, [b, b, b], mode="wrap")
choose(a, [b], mode="wrap")
choose(a, [b, b], mode="no")
choose(a, [])
choose(a + 1, [b, b])
choose(a - 5, [b, b], mode="clip")
choose(a - 5, [b, b], mode="wrap")
choose(0, [b, 2])
choose(7, [b, 2])
choose(True, [b, 2])
a.choose([b, 3])
a.choose(b, mode="clip")
"""

PIECES = """
piecewise(a, [a < 1, a > 2], [1, 2])
piecewise(a, [a < 1, a > 2], [1, 2, 3])
piecewise(a, [a < 1], [1, 2, 3])
piecewise(a, a < 1, [lambda v: -v, lambda v: v * 2])
piecewise(a, [a < 1, a >= 1], [lambda v: v * v, 1.75])
piecewise(a, [a > 0, a > 1], [1, 2])
piecewise(a, [a > 0], [lambda v, k: v + k], 3)
piecewise(a, [a > 0], [lambda v, k: v + k], k=3)
piecewise(a, [a > 0], [lambda v: 5])
piecewise(a, [a > 0], [lambda v: np.where(v > 1, v, 0)])
"""

NEAR = """
isclose(a, b)
isclose(a, b, rtol=0.5)
isclose(a, b, atol=2)
isclose(a, b, 0, 0, True)
isclose(a, 1)
isclose(a, 2.5, equal_nan=True)
isclose(1, b)
isclose(a, b[:1], atol=np.float32(0.5))
isclose(a, [1, 2])
allclose(a, b)
allclose(a, a)
allclose(a, b, rtol=100, atol=100)
allclose(a, a, equal_nan=True)
array_equal(a, b)
array_equal(a, a)
array_equal(a, a, equal_nan=True)
array_equal(a, a[:1])
array_equal(a, 1)
array_equiv(a, a[:1])
array_equiv(a, b)
array_equiv(a, [[1], [2]])
array_equiv(a, a)
"""

KINDS = """
isreal(a)
iscomplex(a)
isposinf(a)
isneginf(a)
nan_to_num(a)
nan_to_num(a, nan=7)
nan_to_num(a, nan=1.5, posinf=2, neginf=-3)
nan_to_num(a, nan=1j)
fix(a)
"""

LINES = """
interp(a, [1, 2, 4], [3.0, 2, 0])
interp(a, [1, 2, 4], [3, 2, 7], left=-1)
interp(a, [1, 2, 4], [3, 2, 7], right=2.5)
interp(a, [1], [3])
interp(a, [1, 2, 2, 4], [3, 2, 5, 7])
interp(a, [1, 2], [np.inf, 3])
interp(a, [1, 2, 3], [np.inf, np.inf, 3])
interp(a, [1, 2, 3], [np.nan, 2, 3])
interp(a, [1, 2, 4], [3j, 2, 0])
interp(a, [1, 2, 4], [3j, 2, 0], left=1j, right=2)
interp(a, [1, 2, 4], [3, 2, 7], period=3)
interp(a, [3, 1, 2], [3, 2, 7], period=-4)
interp(a, [1, 2, 4], [3, 2, 7], period=0)
interp(a, [1, 2], [3])
interp(a, [], [])
interp(a, [[1]], [3])
interp(a, b, np.arange(5.0))
interp(a, b, b)
interp(a, [1, 2, 3, 4, 5], b, left=b[0])
"""

WAVES = """
sinc(a)
i0(a)
"""


def special(dtype: str) -> Any:
    """Numbers with NaN, infinities and both zeros among them."""
    x = np.array([1.5, np.nan, np.inf, -np.inf, 0.0, -0.0, -2.5], dtype)
    if x.dtype.kind == "c":
        x.imag = x.real[::-1]
    return x


def test_choices() -> None:
    for index in (np.array([0, 1]), np.array([True, False]), np.uint8([1, 1]), np.array([0.5, 1]), np.uint64([0, 1])):
        check_lines(CHOICES, [(index, array(dtype, 2, seed=2)) for dtype in ("i1", "f4", "c8")])
    check_lines(
        CHOICES,
        [
            (np.array(1), array("f8", 2)),
            (np.zeros((3, 2), np.int32), array("f4", 2)),
            (array("i4", 0), array("f4", 2)),
        ],
    )
    check_lines("choose(a, [b, b])", [(np.zeros((2, 3), int, "F"), np.asfortranarray(array("f8", 2, 3)))])


def test_choices_out_of_range() -> None:
    picked = jit(lambda i, x: np.choose(i, [x, -x, x * 2]))
    x = array("f8", 3)
    np.testing.assert_array_equal(picked(np.array([0, 1, 2]), x), np.choose([0, 1, 2], [x, -x, x * 2]))
    for bad in ([0, 3, 1], [-1, 0, 0]):
        with pytest.raises(ValueError, match="invalid entry in choice array"):
            picked(np.array(bad), x)


def test_pieces() -> None:
    check_lines(PIECES, [one for shape in ((4,), (2, 3), (0,)) for one in layouts(array("f8", *shape))])
    check_lines(PIECES, [array(dtype, 4) for dtype in ("i4", "f4", "i1")])
    check_lines("piecewise(a, [a < 1, a >= 1], [1, lambda v: v * 2])", [array("f8"), np.float32(2)])
    check_lines("piecewise(a, [[True, False, False], [False, True, True]], [1, 2])", [array("i2", 3)])
    check_lines("piecewise(a, b, [1, 2])", [(array("f8", 3), array("?", 2, 3)), (array("f8", 3), array("?", 3))])


def test_near() -> None:
    pairs = [(array(dtype, 2, 3), array(other, 2, 3, seed=4)) for dtype in DTYPES for other in (dtype, "f4", "i8")]
    check_lines(NEAR, pairs)
    check_lines(NEAR, [(special(dtype), special(dtype)[::-1]) for dtype in FLOATS])
    check_lines(NEAR, [(special(dtype), special(dtype)) for dtype in FLOATS])
    check_lines(NEAR, [(array("f8", 0), array("f8", 0)), (np.int8([-128, 127]), np.int8([127, -128]))])
    check_lines(
        "isclose(a, b)\nallclose(a, b)\narray_equal(a, b)",
        [(array("f8"), array("f8")), (np.float32(1), np.float32(1))],
    )


def test_kinds() -> None:
    check_lines(KINDS, [array(dtype, 2, 3) for dtype in DTYPES] + [special(dtype) for dtype in FLOATS])
    check_lines(KINDS, layouts(special("f8").reshape(7, 1) + np.zeros(2)))
    check_lines(KINDS, [np.array(np.nan), np.float32(np.inf), array("i4")])
    check_lines("nan_to_num(a, nan=b)", [(special("f8"), np.arange(7.0)), (special("f4"), np.arange(7))])


def test_lines() -> None:
    table = np.array([0.5, 1, 2, 2.5, 4])
    places = [
        np.linspace(-1, 6, 29),
        array("f4", 2, 3),
        array("i4", 5),
        np.asfortranarray(array("f8", 2, 3)),
        special("f8"),
    ]
    check_lines(LINES, [(place, table) for place in (*places, np.array(1.7), np.float32(2.2), np.zeros(0))])


def test_lines_between_many_points() -> None:
    points = np.cumsum(np.abs(array("f8", 200)))
    places = [np.linspace(-3, points[-1] + 3, 501), points, array("f4", 2, 3), np.array(1.7), special("f8")]
    table = """
    interp(a, b, b[::-1])
    interp(a, b, np.sqrt(b), left=-1, right=2)
    interp(a, b, b * 1j)
    """
    check_lines(table, [(place, points) for place in places])
    check_compiled(table, places[0], points)


def test_waves() -> None:
    check_lines(WAVES, [array(dtype, 5) for dtype in DTYPES if dtype[0] != "c"] + [array("f8"), np.float32(0)], ulp=8)
    check_lines(WAVES, [np.linspace(-20, 20, 41), special("f8"), np.asfortranarray(array("f4", 2, 3))], ulp=8)
    check_lines(WAVES, [array("c16", 3)], ulp=32)


def test_without_a_trace() -> None:
    check_eager(NEAR, array("f8", 2, 3), array("f8", 2, 3))
    check_eager(KINDS, special("f8"))
    check_eager(LINES, array("f8", 4), np.array([0.5, 1, 2, 2.5, 4]))


def test_compiled() -> None:
    check_compiled(CHOICES, np.array([0, 1]), array("f4", 2))
    check_compiled(PIECES, array("f8", 2, 3))
    check_compiled(NEAR, special("f8"), special("f8")[::-1])
    check_compiled(KINDS, special("f4"))
    check_compiled(LINES, np.linspace(-1, 6, 29), np.array([0.5, 1, 2, 2.5, 4]))
    check_compiled(WAVES, np.linspace(-20, 20, 41), ulp=8)


def test_real_arrays_stay_real() -> None:
    check(lambda xp, a: xp.real_if_close(a), array("f8", 3))
    check(lambda xp, a: xp.nan_to_num(a, copy=False), array("i8", 3))


def test_truth_of_equal_arrays_is_a_python_bool() -> None:
    x, y = array("f8", 3), array("f8", 3, seed=7)
    same = jit(lambda a, b: np.array_equal(a, b))
    assert same(x, x.copy()) is True and same(x, y) is False
    assert jit(lambda a, b: np.allclose(a, b))(x, x + 1e-12) is True
    assert jit(lambda a, b: {"near": np.allclose(a, b)})(x, y) == {"near": False}


def test_refusals() -> None:
    x = array("f8", 4)
    for words, call in {
        "mixes elements, by reduce": lambda xp, a: xp.piecewise(a, [a > 0], [lambda v: v - v.mean()]),
        "mixes elements, by rev": lambda xp, a: xp.piecewise(a, [a > 0], [lambda v: v[::-1]]),
        "mixes elements, by add": lambda xp, a: xp.piecewise(a, [a > 0], [lambda v: v + xp.arange(4.0)]),
        "mixes elements, by slice|mixes elements, by reshape": lambda xp, a: xp.piecewise(
            a, [a > 0], [lambda v: v[0]]
        ),
        "conditions of the shape": lambda xp, a: xp.piecewise(a.reshape(2, 2), [(a > 0)[:2]], [1]),
        "real_if_close: the elements": lambda xp, a: xp.real_if_close(a + 0j),
        "copy=False is not supported": lambda xp, a: xp.nan_to_num(a, copy=False),
        "period= with traced points": lambda xp, a: xp.interp(a, a, a, period=2),
    }.items():
        with pytest.raises(CaptureError, match=words):
            Traced(call, [x])
