"""Weighted sums over all axes of ``scipy.ndimage`` in compiled functions: SciPy's answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage

from xjit import jit
from xjit.errors import ArgumentError

RANDOM = np.random.default_rng(0)
IMAGE = RANDOM.integers(-9, 9, (7, 20)).astype(np.float64)
FUNCTIONS = (scipy.ndimage.correlate, scipy.ndimage.convolve)


def assert_scipys(function: Callable[..., Any], *arguments: Any) -> None:
    got, want = jit(function, strict=True)(*arguments), function(*arguments)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("mode", ["reflect", "constant", "nearest", "mirror", "wrap"])
def test_modes(function: Callable[..., Any], mode: str) -> None:
    for sizes, origin in (((3, 3), 0), ((2, 3), (0, -1)), ((4, 1), (1, 0)), ((1, 1), 0), ((5, 4), (-2, 1))):
        weights = RANDOM.integers(-4, 5, sizes).astype(np.float64)
        assert_scipys(lambda x, k, o=origin: function(x, k, mode=mode, cval=2.0, origin=o), IMAGE, weights)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_types_and_ranks(function: Callable[..., Any]) -> None:
    for dtype in ("f4", "i4", "u1"):
        image, weights = np.abs(IMAGE).astype(dtype), np.abs(RANDOM.integers(0, 3, (3, 2))).astype(dtype)
        assert_scipys(function, image, weights)
    assert_scipys(function, IMAGE[0], np.array([1.0, -2.0, 1.0]))
    assert_scipys(function, RANDOM.integers(-9, 9, (4, 5, 6)).astype(np.float64), np.ones((3, 2, 3)))


def test_mistakes() -> None:
    for call in (
        lambda x: scipy.ndimage.convolve(x, x[0]),
        lambda x: scipy.ndimage.correlate(x, x[:3, :3], origin=5),
    ):
        with pytest.raises((ValueError, RuntimeError)):
            call(IMAGE)
        with pytest.raises(ArgumentError, match=r"scipy\.ndimage"):
            jit(call, strict=True)(IMAGE)
