"""Borders, differences, slopes, integrals, polynomials and convolutions, against NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.helpers.oracles.numpy_oracle import Traced
from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts
from xjit import xjit as jit
from xjit.errors import CaptureError

PADS = """
pad(a, 1)
pad(a, (2, 1), "constant", constant_values=3)
pad(a, ((1, 2),), constant_values=(4, 5))
pad(a, 0)
pad(a, {0: 1})
pad(a, {-1: (2, 1)}, "edge")
pad(a, (2, 3), "edge")
pad(a, (2, 3), "reflect")
pad(a, (7, 9), "reflect")
pad(a, (2, 3), "symmetric")
pad(a, (9, 8), "symmetric")
pad(a, (2, 3), "wrap")
pad(a, (9, 11), "wrap")
pad(a, (2, 0), "reflect", reflect_type="odd")
pad(a, (7, 8), "reflect", reflect_type="odd")
pad(a, (5, 6), "symmetric", reflect_type="odd")
pad(a, 2, "maximum")
pad(a, (1, 2), "minimum")
pad(a, 2, "maximum", stat_length=2)
pad(a, 2, "minimum", stat_length=(1, 5))
pad(a, 2, "maximum", stat_length=0)
pad(a, (3, 2), "linear_ramp")
pad(a, (3, 2), "linear_ramp", end_values=(7, 2))
pad(a, (0, 4), "linear_ramp", end_values=2.5)
pad(a, 1, "nonsense")
pad(a, 1, "edge", constant_values=1)
pad(a, -1)
pad(a, 1.5)
pad(a, ((1, 2), (3, 4), (5, 6), (7, 8)))
"""

PAIRS = """
pad(a, ((1, 2), (3, 0)))
pad(a, ((1, 2), (3, 0)), constant_values=((1, 2), (3, 4)))
pad(a, ((1, 2), (3, 0)), "reflect")
pad(a, ((1, 2), (3, 0)), "wrap")
pad(a, ((0, 0), (2, 2)), "edge")
pad(a, ((2, 1), (0, 1)), "symmetric")
pad(a, ((2, 1), (0, 1)), "linear_ramp", end_values=((1, 2), (3, 4)))
pad(a, ((2, 1), (0, 1)), "maximum", stat_length=((1, 2), (3, 1)))
"""

MEANS = """
pad(a, 2, "mean")
pad(a, (1, 2), "mean", stat_length=2)
pad(a, (1, 2), "mean", stat_length=(1, 3))
"""

DIFFERENCES = """
diff(a)
diff(a, 2)
diff(a, 0)
diff(a, -1)
diff(a, 9)
diff(a, axis=0)
diff(a, axis=3)
diff(a, n=1.5)
diff(a, prepend=0)
diff(a, append=2.5)
diff(a, prepend=a, append=a[..., :1])
diff(a, 2, 0, prepend=1)
ediff1d(a)
ediff1d(a, to_begin=0)
ediff1d(a, [1, 2], 0)
ediff1d(a, to_end=1.5)
ediff1d(a, to_end=a)
"""

GRADIENTS = """
gradient(a)
gradient(a, 2)
gradient(a, 0.1)
gradient(a, np.float32(0.3))
gradient(a, np.float64(0.3), edge_order=2)
gradient(a, 3, edge_order=2)
gradient(a, axis=0)
gradient(a, axis=-1, edge_order=2)
gradient(a, 0.5, axis=(0, 1))
gradient(a, axis=5)
gradient(a, 1.0, 2.0, 3.0, 4.0)
gradient(a, edge_order=3)
gradient(a, [1, 2, 4, 8, 9], axis=0)
gradient(a, [1, 2, 4, 8, 9], axis=0, edge_order=2)
gradient(a, [1.0, 1.5, 2.0, 2.5, 3.0], axis=0)
gradient(a, [1, 2], axis=0)
gradient(a, [[1, 2]], axis=0)
gradient(a, 0.5, [0, 1, 3, 7])
"""

COORDINATES = """
gradient(a, b)
gradient(a, b, edge_order=2)
gradient(a, b[0])
trapezoid(a, b)
trapezoid(a, b, axis=0)
trapezoid(a, a)
"""

INTEGRALS = """
trapezoid(a)
trapezoid(a, dx=0.5)
trapezoid(a, axis=0)
trapezoid(a, axis=5)
trapezoid(a, [1, 2, 4, 8, 9])
trapezoid(a, dx=np.float32(2))
"""

POLYNOMIALS = """
vander(a)
vander(a, 3)
vander(a, 5, increasing=True)
vander(a, 1)
vander(a, 0)
vander(a, -1)
vander(a, 2.5)
polyval([1, 2, 3], a)
polyval([0.5, 2], a)
polyval(a, 2)
polyval(a, 0.5)
polyval(a, [1, 2])
polyval(3, a)
polyval([], a)
"""

BORDERS_OF_NOTHING = """
pad(a, ((3,), (0,), (1,)), mode="constant", constant_values=2)
pad(a, ((3,), (0,), (1,)), mode="edge")
pad(a, ((3,), (0,), (1,)), mode="linear_ramp")
pad(a, ((3,), (0,), (1,)), mode="maximum")
pad(a, ((3,), (0,), (1,)), mode="mean")
pad(a, ((3,), (0,), (1,)), mode="median")
pad(a, ((3,), (0,), (1,)), mode="minimum")
pad(a, ((3,), (0,), (1,)), mode="reflect")
pad(a, ((3,), (0,), (1,)), mode="reflect", reflect_type="odd")
pad(a, ((3,), (0,), (1,)), mode="symmetric")
pad(a, ((3,), (0,), (1,)), mode="wrap")
pad(a, ((3, 2), (0, 0), (0, 1)), mode="wrap")
pad(a, 1, mode="wrap")
pad(a, 0, mode="wrap")
"""

CONVOLUTIONS = """
convolve(a, b)
convolve(a, b, "same")
convolve(a, b, "valid")
convolve(b, a)
convolve(b, a, "same")
convolve(b, a, mode="valid")
convolve(a, 2)
convolve(a, [])
convolve(a, [[1]])
convolve(a, b, "no")
correlate(a, b)
correlate(a, b, "same")
correlate(a, b, "full")
correlate(b, a)
correlate(b, a, "same")
correlate(b, a, mode="full")
correlate(a, [])
"""

JUMPS = """
unwrap(a)
unwrap(a, 4)
unwrap(a, axis=0)
unwrap(a, axis=5)
unwrap(a, period=6)
unwrap(a, period=5)
unwrap(a, discont=1.5, period=2.5)
"""

DTYPES = ["?", "i1", "u1", "i4", "u4", "i8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="errors of pad had other types before")
def test_borders() -> None:
    check_lines(
        PADS,
        [one for shape in ((), (1,), (4,), (0,), (2, 3), (1, 3), (3, 0)) for one in layouts(array("f8", *shape))],
    )
    check_lines(PADS, [array(dtype, 4) for dtype in DTYPES])
    check_lines(PAIRS, [array("f4", 2, 4), np.asfortranarray(array("i4", 5, 3)), array("c8", 4, 1), array("?", 3, 3)])
    check_lines(MEANS, [array(dtype, 3, 4) for dtype in DTYPES], ulp=2)
    check_lines(BORDERS_OF_NOTHING, [array("f8", 2, 0, 2), array("i4", 2, 0, 2), array("f8", 0, 0, 2)])


def test_an_empty_border_leaves_the_inside_alone() -> None:
    x = array("f4", 2, 3)
    got = jit(lambda a: np.pad(a, ((1, 0), (2, 2)), "empty"))(x)
    np.testing.assert_array_equal(got[1:, 2:-2], x)
    assert got.shape == (3, 7) and got.dtype == np.float32


def test_differences() -> None:
    check_lines(
        DIFFERENCES, [one for shape in ((), (1,), (4,), (0,), (2, 3)) for one in layouts(array("f8", *shape))]
    )
    check_lines(DIFFERENCES, [array(dtype, 3, 4) for dtype in DTYPES])


def test_slopes() -> None:
    check_lines(GRADIENTS, [array(dtype, 5) for dtype in DTYPES if dtype[0] != "c"])
    check_lines(GRADIENTS, [one for shape in ((), (2,), (5, 4), (2, 3, 4)) for one in layouts(array("f8", *shape))])
    check_lines(GRADIENTS, [array("c16", 5, 4)], ulp=2)
    pairs = [(array("f8", 5, seed=1), np.cumsum(array(dtype, 5))) for dtype in ("f4", "f8", "i4")]
    check_lines(
        COORDINATES, [*pairs, (array("f4", 5), np.arange(5.0)), (array("f4", 5), np.float32([1, 2, 4, 5, 7]))], ulp=1
    )


def test_integrals() -> None:
    check_lines(
        INTEGRALS, [array(dtype, 5) for dtype in DTYPES] + [array("f8", 3, 5), array("f8"), array("f4", 5, 0)], ulp=8
    )


def test_polynomials() -> None:
    check_lines(POLYNOMIALS, [array(dtype, 4) for dtype in DTYPES], ulp=2)
    check_lines(POLYNOMIALS, [array("f8"), array("f8", 0), array("f8", 2, 3)])


def test_convolutions() -> None:
    few = array("i4", 3, seed=5)
    check_lines(CONVOLUTIONS, [(array(dtype, 6), few.astype(dtype)) for dtype in DTYPES], ulp=32)
    check_lines(
        CONVOLUTIONS,
        [(array("f4", 5), array("f8", 4)), (array("i4", 3), array("f4", 3)), (array("i2", 1), few)],
        ulp=8,
    )


def test_nothing_beyond_the_ends_takes_part_in_a_convolution() -> None:
    special = np.array([np.inf, 1, -0.0, np.nan, -np.inf])
    for dtype in ("f2", "f4", "f8"):
        x, y = array(dtype, 7), special.astype(dtype)
        check_lines(CONVOLUTIONS, [(x, y), (x, y[:2]), (x, y[1:3]), (x[:3], y), (y, y)], ulp=8, zeros=False)
    check_lines(CONVOLUTIONS, [(array("f8", 70), np.append(special, array("f8", 40)))], ulp=1e4, zeros=False)


def test_jumps_are_taken_back() -> None:
    angles = [np.cumsum(array(dtype, 9)) * 2 for dtype in ("f4", "f8")]
    check_lines(
        JUMPS, [(one % 7).astype(one.dtype) for one in angles] + [np.cumsum(array("i4", 9)) % 6, array("i1", 2, 5)]
    )
    check_lines(
        JUMPS, [np.asfortranarray(array("f8", 3, 4) * 9), array("f8"), array("f8", 0), array("f4", 1), array("?", 4)]
    )
    check_lines("unwrap(a)", [np.array([0, np.pi, 0, -np.pi, 3 * np.pi]), np.array([0.0, np.nan, 9])])


def test_without_a_trace() -> None:
    check_eager(PADS + DIFFERENCES + GRADIENTS + INTEGRALS, array("f8", 5, 4), ulp=2)


def test_compiled() -> None:
    check_compiled(PADS, array("f8", 5))
    check_compiled(DIFFERENCES + GRADIENTS + INTEGRALS, np.asfortranarray(array("f4", 5, 4)), ulp=4)
    check_compiled(PAIRS, array("i2", 3, 4)[:, ::-1])
    check_compiled(POLYNOMIALS + GRADIENTS, array("i4", 5))


def test_compiled_with_two_operands() -> None:
    check_compiled(COORDINATES, array("f4", 5), np.float32([1, 2, 4, 5, 7]), ulp=1)
    check_compiled(CONVOLUTIONS, array("f8", 6), array("f4", 3), ulp=4)
    check_compiled(CONVOLUTIONS, array("f8", 70), np.append(array("f8", 40), np.inf), ulp=1e4)


def test_distances_may_change_from_call_to_call() -> None:
    x = array("f4", 5, 4)
    slopes = jit(lambda a, dx: (np.gradient(a, dx, 0.5), np.trapezoid(a, dx=dx)))
    for dx in (0.25, 0.5, 3.0):
        (rows, columns), area = slopes(x, dx)
        np.testing.assert_array_equal(rows, np.gradient(x, dx, 0.5)[0], strict=True)
        np.testing.assert_array_equal(columns, np.gradient(x, dx, 0.5)[1], strict=True)
        np.testing.assert_allclose(area, np.trapezoid(x, dx=dx), rtol=1e-6)
    assert slopes.stats().traces == 1


def test_border_values_may_be_traced() -> None:
    x = array("f4", 2, 3)
    got = jit(lambda a: np.pad(a, 1, constant_values=a.max()))(x)
    np.testing.assert_array_equal(got, np.pad(x, 1, constant_values=x.max()))


@pytest.mark.parametrize("dtype", DTYPES)
def test_convolutions_of_many_elements(dtype: str) -> None:
    x, y = (np.random.default_rng(size).integers(-5, 6, size).astype(dtype) for size in (150, 80))
    if dtype[0] == "c":
        y = (y * (1 + 2j)).astype(dtype)
    for function, mode in itertools.product((np.convolve, np.correlate), ("full", "same", "valid")):
        for a, b in ((x, y), (y, x), (x, x)):
            got, want = jit(lambda a, b, f=function, m=mode: f(a, b, m))(a, b), function(a, b, mode)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


def test_infinities_beyond_the_ends_meet_nothing() -> None:
    x = np.full(100, np.inf)
    assert np.array_equal(jit(np.convolve)(x, x), np.full(199, np.inf))


def test_refusals() -> None:
    x = array("f8", 200)
    for words, call in {
        "a function": lambda xp, a: xp.pad(a, 1, lambda *rest: None),
        "pad_width: values known": lambda xp, a: xp.pad(a, a),
        "vander: more than 64": lambda xp, a: xp.vander(a),
        "polyval: more than 64": lambda xp, a: xp.polyval(a, 2.0),
    }.items():
        with pytest.raises(CaptureError, match=words):
            Traced(call, [x])
