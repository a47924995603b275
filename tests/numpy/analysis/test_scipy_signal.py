"""``scipy.signal`` in compiled functions: SciPy's answers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.signal

from xjit import jit
from xjit.errors import ArgumentError

RANDOM = np.random.default_rng(0)
IMAGE = RANDOM.integers(-5, 6, (5, 6)).astype(np.float64)
KERNELS = [RANDOM.integers(-5, 6, sizes).astype(np.float64) for sizes in ((3, 3), (2, 3), (4, 1), (1, 1), (4, 5))]


def assert_scipys(function: Any, *arguments: Any, tolerance: float = 0) -> None:
    got, want = jit(function, strict=True)(*arguments), function(*arguments)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_images(mode: str, boundary: str) -> None:
    def convolved(x: Any, k: Any) -> Any:
        return scipy.signal.convolve2d(x, k, mode, boundary, 2)

    def correlated(x: Any, k: Any) -> Any:
        return scipy.signal.correlate2d(x, k, mode=mode, boundary=boundary)

    for kernel, function in itertools.product(KERNELS, (convolved, correlated)):
        assert_scipys(function, IMAGE, kernel)
        assert_scipys(function, kernel, IMAGE)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "f4", "f8", "c8", "c16"])
def test_types_of_images(dtype: str) -> None:
    kernel = (KERNELS[0] * (1 + 2j if dtype[0] == "c" else 1)).astype(dtype)
    for function in (scipy.signal.convolve2d, scipy.signal.correlate2d):
        assert_scipys(lambda x, k, f=function: f(x, k), IMAGE.astype(dtype), kernel)
        assert_scipys(lambda x, k, f=function: f(x, k, "same"), IMAGE.astype(np.float32), kernel)


FILTERS = [
    ([1.0], [1.0, -0.5]),
    ([0.2, 0.3, 0.1], [2.0, -0.4]),
    ([0.2], [1.0, -0.3, 0.2, 0.1]),
    ([1.0, 2.0, 3.0], [2.0]),
    ([1.0], [4.0]),
]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize(("b", "a"), FILTERS, ids=str)
def test_filters(b: Any, a: Any, dtype: str) -> None:
    x = RANDOM.standard_normal((3, 7)).astype(dtype)
    one, other = np.array(b, dtype), np.array(a, dtype)
    tolerance = 1e-5 if dtype in ("f4", "c8") else 1e-12
    for axis in (-1, 0):
        assert_scipys(
            lambda x, b, a, axis=axis: scipy.signal.lfilter(b, a, x, axis), x, one, other, tolerance=tolerance
        )


def test_mistakes() -> None:
    for call in (
        lambda x: scipy.signal.convolve2d(x, x, "all"),
        lambda x: scipy.signal.convolve2d(x, x, "full", "none"),
        lambda x: scipy.signal.convolve2d(x, x[0]),
        lambda x: scipy.signal.convolve2d(x[:2], x[:, :2], "valid"),
    ):
        with pytest.raises(ValueError):
            call(IMAGE)
        with pytest.raises(ArgumentError, match=r"scipy\.signal\.convolve2d"):
            jit(call, strict=True)(IMAGE)
