"""Blocks of few columns keep their accumulators in registers, with the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.kernel_executors import KERNEL_EXECUTORS
from xjit import jit


def numbers(*sizes: int, dtype: Any = np.float64) -> Any:
    found = np.random.default_rng(7).standard_normal(sizes)
    return (found * 50.0).astype(dtype)


def layer(x: Any, w: Any) -> Any:
    """Sums over windows of two axes and channels."""
    found = np.empty((x.shape[0] - 2, x.shape[1] - 2, w.shape[3]), x.dtype)
    for i in range(found.shape[0]):
        for j in range(found.shape[1]):
            found[i, j] = np.sum(x[i : i + 3, j : j + 3, :, None] * w, axis=(0, 1, 2))
    return found


def added(x: Any, y: Any) -> Any:
    """Columns of which a block may not run twice."""
    y += x.sum(axis=0)
    return y


def grown(x: Any, y: Any) -> Any:
    """The same in turns."""
    for _ in range(3):
        y[:] = y * 0.5 + (x * y[None, :]).sum(axis=0)
    return y


def spent(x: Any, y: Any) -> Any:
    """Sums over a value that nobody needs any more."""
    return np.cumsum(y) + x.sum(axis=0)


def first(x: Any, count: int) -> Any:
    """As many columns as only the run knows."""
    return x[:, : int(np.sqrt(count))].sum(axis=0)


def lanes(function: Callable[..., Any], *arrays: Any) -> bool:
    return "in lanes(" in jit(function, strict=True).source(*arrays)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("columns", [4, 8])
@pytest.mark.parametrize("rows", [9, 27, 128])
def test_few_rows_of_a_vector_of_columns_have_the_bits_of_numpy(rows: int, columns: int, dtype: Any) -> None:
    x, w = numbers(50, rows, columns, dtype=dtype), numbers(rows, columns, dtype=dtype)
    for function in (lambda x, w: x.sum(axis=1), lambda x, w: np.sum(x[:, :, 0, None] * w, axis=1)):
        np.testing.assert_array_equal(jit(function, strict=True)(x, w), function(x, w))
        assert lanes(function, x, w)


def test_rows_of_other_columns_and_many_rows_are_added_in_lanes() -> None:
    for x in (numbers(50, 27, 5), numbers(50, 129, 4)):
        assert not lanes(lambda x: x.sum(axis=1), x)
        assert "radd" in jit(lambda x: x.sum(axis=1), strict=True).source(x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.int8])
@pytest.mark.parametrize("columns", [9, 15, 16, 17, 31, 32, 33, 47, 100])
def test_sums_down_columns_have_the_bits_of_numpy(columns: int, dtype: Any) -> None:
    x = numbers(60, columns, dtype=dtype)
    np.testing.assert_array_equal(jit(lambda x: x.sum(axis=0), strict=True)(x), x.sum(axis=0))


@pytest.mark.parametrize("run", KERNEL_EXECUTORS)
@pytest.mark.parametrize("columns", [16, 20])
def test_everyone_runs_them(columns: int, run: str) -> None:
    x = numbers(30, columns)
    found = KERNEL_EXECUTORS[run](lambda x: x.max(axis=0) + (x * x).sum(axis=0), (x,))
    np.testing.assert_array_equal(found, x.max(axis=0) + (x * x).sum(axis=0))


@pytest.mark.parametrize("channels", [10, 16, 24, 40])
def test_windows_and_channels_in_turns(channels: int) -> None:
    x, w = numbers(9, 10, 3, dtype=np.float32), numbers(3, 3, 3, channels, dtype=np.float32)
    assert lanes(layer, x, w)
    np.testing.assert_array_equal(jit(layer, strict=True)(x, w), layer(x, w))


@pytest.mark.parametrize("function", [added, grown, spent])
def test_what_may_not_run_twice(function: Callable[..., Any]) -> None:
    x, y = numbers(40, 20), numbers(20)
    np.testing.assert_array_equal(jit(function, strict=True)(x, y.copy()), function(x, y.copy()))


def test_lengths_that_only_the_run_knows() -> None:
    x = numbers(40, 20)
    compiled = jit(first)
    for count in (0, 1, 4, 100, 400):
        np.testing.assert_allclose(compiled(x, count), first(x, count), rtol=1e-12)


def test_long_columns_are_read_along_rows() -> None:
    assert lanes(lambda x: x.sum(axis=0), numbers(50, 40))
    assert lanes(lambda x: x.sum(axis=0), numbers(5000, 16))
    assert not lanes(lambda x: x.sum(axis=0), numbers(5000, 40))


def test_functions_are_not_computed_twice() -> None:
    assert not lanes(lambda x: np.exp(x).sum(axis=0), numbers(50, 40))
    assert not lanes(lambda x: (x * np.exp(x[:, :1])).sum(axis=0), numbers(50, 40))
    assert lanes(lambda x: (x * np.exp(x[:, :1])).sum(axis=0), numbers(50, 16))
