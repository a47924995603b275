"""Padding of windows: words and pairs, the number of windows, mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit.errors import ArgumentError, DTypeError
from xjit.ops.windows.window_padding import Windows, static_windows


def _count(positions: list[bool], window: int, dilation: int, stride: int) -> int:
    """The number of starts, a stride apart, at which a whole window lies among the positions."""
    return sum(start + (window - 1) * dilation < len(positions) for start in range(0, len(positions), stride))


@pytest.mark.parametrize("seed", range(30))
def test_number_of_windows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k, stride, base, step = (int(rng.integers(low, 6)) for low in (0, 1, 1, 1, 1))
    low, high = int(rng.integers(-3, 4)), int(rng.integers(-3, 4))
    windows = static_windows("f", (n,), (k,), (stride,), (base,), (step,), ((low, high),))
    array = [True] + ([False] * (base - 1) + [True]) * (n - 1) if n else []
    left = max(low + len(array) + high, 0)
    assert windows.counts((n,)) == (_count([True] * left, k, step, stride),)


@pytest.mark.parametrize(
    ("n", "k", "stride", "base", "step", "expected"),
    [
        (5, 3, 1, 1, 1, (1, 1)),
        (5, 4, 1, 1, 1, (1, 2)),
        (5, 3, 2, 1, 1, (1, 1)),
        (6, 3, 2, 1, 1, (0, 1)),
        (6, 1, 4, 1, 1, (0, 0)),
        (3, 2, 1, 3, 2, (1, 1)),
        (0, 3, 1, 1, 1, (1, 1)),
    ],
)
def test_same_padding(n: int, k: int, stride: int, base: int, step: int, expected: tuple[int, int]) -> None:
    args = (k,), (stride,), (base,), (step,)
    assert static_windows("f", (n,), *args, "Same").padding == (expected,)
    assert static_windows("f", (n,), *args, "valid").padding == ((0, 0),)


def test_pairs_stay_as_they_are() -> None:
    windows = static_windows("f", (5, 6), (2, 3), padding=[(-1, 2), (0, 0)])
    assert windows == Windows((2, 3), (1, 1), (1, 1), (1, 1), ((-1, 2), (0, 0)))
    assert windows.config == ((-1, 2, 0), (0, 0, 0)) and windows.pads


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"sizes": (0,)}, ArgumentError, "window_dimensions: values of at least 1 are required; got (0,)"),
        ({"sizes": (1, 1)}, ArgumentError, "window_dimensions: 1 values are required"),
        ({"sizes": np.array([1])}, DTypeError, "window_dimensions: static integers are required"),
        ({"strides": (0,)}, ArgumentError, "window_strides: values of at least 1"),
        ({"base_dilations": (0,)}, ArgumentError, "base_dilations: values of at least 1"),
        ({"window_dilations": (-1,)}, ArgumentError, "window_dilations: values of at least 1"),
        ({"padding": "full"}, ArgumentError, "padding: 'SAME', 'VALID' or pairs are required; got 'full'"),
        ({"padding": 3}, ArgumentError, "padding: 'SAME', 'VALID' or pairs are required; got 3"),
        ({"padding": ((1, 1), (1, 1))}, ArgumentError, "padding: 1 values are required"),
        ({"padding": ((1,),)}, ArgumentError, "padding: (low, high) is required for each dimension"),
    ],
)
def test_mistakes(changes: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        static_windows("f", (5,), **{"sizes": (2,), **changes})
    assert text in str(caught.value)
