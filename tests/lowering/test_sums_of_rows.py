"""Sums over rows that an index array picks: all of their elements are one line, which is added in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit

RNG = np.random.default_rng(7)


def total(x: Any, t: Any) -> Any:
    return x[t].sum()


def total_of_magnitudes(x: Any, t: Any) -> Any:
    return np.abs(x[t] - x[np.roll(t, 1)]).sum()


def extremes(x: Any, t: Any) -> Any:
    return x[t].max() - x[t].min() + x[t].mean()


SHAPES = [(8, 2), (20, 2), (8, 3), (8, 2, 2), (100, 5), (1000, 2), (70, 40, 9), (3, 2000), (5, 1), (1, 7), (4, 0)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "complex128"])
def test_totals_are_those_of_a_copy(shape: tuple[int, ...], dtype: str) -> None:
    x = (RNG.standard_normal(shape) * 9).astype(dtype)
    t = RNG.integers(-shape[0], shape[0], shape[0] + 3)
    found = xjit.jit(total, strict=True)(x, t)
    alone = xjit.jit(lambda y: y.sum(), strict=True)(x[t].copy())
    assert found.tobytes() == alone.tobytes()
    np.testing.assert_allclose(found, total(x, t), rtol=1e-4 if dtype == "float32" else 1e-11)


@pytest.mark.parametrize("function", [total_of_magnitudes, extremes])
@pytest.mark.parametrize("shape", SHAPES[:-1])
def test_of_what_is_computed_of_rows(function: Any, shape: tuple[int, ...]) -> None:
    x = RNG.standard_normal(shape)
    t = RNG.permutation(shape[0])
    np.testing.assert_allclose(xjit.jit(function, strict=True)(x, t), function(x, t), rtol=1e-11)


@pytest.mark.parametrize("shape", [(8, 2), (1000, 2), (70, 40, 9)])
@pytest.mark.parametrize("place", [0, -1])
def test_positions_outside_raise(shape: tuple[int, ...], place: int) -> None:
    compiled = xjit.jit(total, strict=True)
    t = np.arange(shape[0])
    compiled(np.ones(shape), t)
    t[place] = shape[0]
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(np.ones(shape), t)


def windows(images: Any, weights: Any) -> Any:
    return np.sum(images[:, :3, :3, :, np.newaxis] * weights[np.newaxis], axis=(1, 2, 3))


@pytest.mark.parametrize(("channels", "is_short"), [(3, True), (7, True), (8, False)])
def test_a_line_of_fewer_elements_than_lanes_is_added_up_in_scalars(channels: int, is_short: bool) -> None:
    """Vectors would have to wait for what short loops have just stored."""
    images = RNG.random((5, 6, 6, channels)).astype(np.float32)
    weights = RNG.random((3, 3, channels, 5)).astype(np.float32)
    compiled = xjit.jit(windows, strict=True)
    np.testing.assert_allclose(compiled(images, weights), windows(images, weights), rtol=1e-6)
    assert ("LanesInScalars" in str(compiled.explain(images, weights))) is is_short
