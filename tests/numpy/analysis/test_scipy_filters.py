"""Filters of scipy.ndimage that are operations over windows, beside SciPy's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage

import xjit
from xjit.errors import XjitError

Array = np.ndarray[Any, Any]

RANDOM = np.random.default_rng(7)
GRID = RANDOM.normal(size=(11, 47)) * 40
MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-wrap", "grid-mirror", "grid-constant")
ONE_AXIS = (scipy.ndimage.uniform_filter1d, scipy.ndimage.maximum_filter1d, scipy.ndimage.minimum_filter1d)
ALL_AXES = (scipy.ndimage.uniform_filter, scipy.ndimage.maximum_filter, scipy.ndimage.minimum_filter)


def same(call: Callable[[Any], Any], x: Array) -> None:
    """As SciPy has it; means of integers may lie on either side of a whole number."""
    got, expected = xjit.xjit(call)(x), call(x)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert np.allclose(got, expected, rtol=1e-6, atol=1 if x.dtype.kind in "iu" else 1e-5)


@pytest.mark.parametrize("function", ONE_AXIS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("mode", MODES)
def test_one_axis(function: Callable[..., Any], mode: str) -> None:
    for size, axis, origin in ((4, 0, 1), (5, -1, -2), (40, 1, 7))[MODES.index(mode) // 5 * 2 :]:
        options = {"size": size, "axis": axis, "mode": mode, "cval": 3, "origin": origin}
        same(lambda x, options=options: function(x, **options), GRID)


@pytest.mark.parametrize("function", ALL_AXES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_all_axes(function: Callable[..., Any], dtype: str) -> None:
    x = np.abs(GRID).astype(dtype)
    same(lambda a: function(a, 3), x)
    same(lambda a: function(a, size=(2, 5), mode=["wrap", "nearest"], origin=(0, -1)), x)
    same(lambda a: function(a, size=4, axes=(1,)), x)


def test_extremes_are_exact() -> None:
    x = RANDOM.integers(-(2**31), 2**31, (9, 200)).astype(np.int32)
    for function in ONE_AXIS[1:]:
        compiled = xjit.xjit(lambda a, function=function: function(a, 50))
        assert np.array_equal(compiled(x), function(x, 50))


@pytest.mark.parametrize("function", [scipy.ndimage.correlate1d, scipy.ndimage.convolve1d], ids=lambda f: f.__name__)
@pytest.mark.parametrize("weights", [[2.0], [1, 2, 4], [0.5, 0.25], list(range(12))], ids=len)
def test_weights(function: Callable[..., Any], weights: Any) -> None:
    for axis, mode, origin in ((1, "reflect", 0), (0, "wrap", 0), (1, "constant", -(len(weights) > 2))):
        options = {"axis": axis, "mode": mode, "cval": 2.0, "origin": origin}
        for x in (GRID, GRID.astype(np.float32)):
            same(lambda x, options=options: function(x, weights, **options), x)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: scipy.ndimage.uniform_filter1d(x, 0), ValueError),
        (lambda x: scipy.ndimage.uniform_filter1d(x, 3, origin=2), ValueError),
        (lambda x: scipy.ndimage.uniform_filter1d(x, 3, mode="round"), ValueError),
        (lambda x: scipy.ndimage.uniform_filter1d(x, 3, axis=2), IndexError),
        (lambda x: scipy.ndimage.maximum_filter(x, (3, 3, 3)), ValueError),
        (lambda x: scipy.ndimage.correlate1d(x, []), ValueError),
        (lambda x: scipy.ndimage.maximum_filter1d(x + 1j, 3), TypeError),
        (lambda x: scipy.ndimage.maximum_filter(x, footprint=np.ones((3, 3))), XjitError),
        (lambda x: scipy.ndimage.uniform_filter1d(x, 3, output=np.float32), XjitError),
    ],
)
def test_mistakes(call: Callable[[Any], Any], error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        xjit.xjit(call)(GRID)
    assert isinstance(caught.value, XjitError)


def test_long_filters_move_no_more_than_running_results() -> None:
    compiled = xjit.xjit(lambda x: scipy.ndimage.maximum_filter1d(x, 100, mode="constant"))
    assert compiled.explain(np.zeros(100_000)).bytes_moved < 11 * 8 * 100_000
