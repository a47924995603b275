"""Masks that choose nearly all elements: eight are moved at a time, and no element more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit import xjit
from xjit.ops.dynamic.compaction import BLOCK

LENGTHS = (7, 8, 9, 100, BLOCK - 1, BLOCK + 5, 2 * BLOCK + 1000)


def chosen(x: Any, mask: Any) -> Any:
    return x[mask] + x.dtype.type(1)


def numbers(count: int, dtype: Any) -> Any:
    return (np.random.default_rng(count).standard_normal(count) * 50).astype(dtype)


def masks(count: int) -> list[Any]:
    """All elements, all but a few in a row, all but some here and there, all but the last ones, every other one."""
    places = np.arange(count)
    gaps = np.random.default_rng(1).random(count) < 0.01
    return [places >= 0, places % 900 != 3, ~gaps, places < count - 5, places % 2 == 0]


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("count", LENGTHS)
def test_elements_of_all_sizes(count: int, dtype: Any) -> None:
    compiled, x = xjit(chosen, strict=True), numbers(count, dtype)
    for mask in masks(count):
        np.testing.assert_array_equal(compiled(x, mask), chosen(x, mask))


@pytest.mark.parametrize("step", [2, 3, -1])
def test_elements_that_lie_apart(step: int) -> None:
    x = numbers(9000, np.float64)[::step]
    for mask in masks(len(x)):
        np.testing.assert_array_equal(xjit(chosen, strict=True)(x, mask), chosen(x, mask))


def test_nothing_is_written_behind_what_is_chosen() -> None:
    def shortened(x: Any, turns: int) -> Any:
        y = x * 1.0
        for n in range(turns):
            y = y[y > 0.01 * n - 3.0] + 0.001
        return y

    x = numbers(3 * BLOCK, np.float64) / 50
    np.testing.assert_array_equal(xjit(shortened, strict=True)(x, 40), shortened(x, 40))
