"""``sliding_window_view`` beside NumPy's: windows themselves, computed with, and reduced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import xjit

Array = np.ndarray[Any, Any]

X = np.random.default_rng(3).integers(-50, 50, (9, 60)).astype(np.float64)

CALLS: dict[str, Callable[[Any], Any]] = {
    "windows": lambda x: sliding_window_view(x, (3, 4)),
    "rows": lambda x: sliding_window_view(x, 5, axis=1),
    "last axis": lambda x: sliding_window_view(x, (5,), axis=-1) * 2,
    "axes in turn": lambda x: sliding_window_view(x, (2, 3), axis=(1, 0)),
    "axis named twice": lambda x: sliding_window_view(x, (5, 2), axis=(1, 1)).sum(axis=(2, 3)),
    "of all elements": lambda x: sliding_window_view(x, x.shape).mean(),
    "of no elements": lambda x: sliding_window_view(x, 0, axis=0),
    "every second one": lambda x: sliding_window_view(x, 4, axis=1)[:, ::2].max(axis=-1),
    "largest": lambda x: sliding_window_view(x, (3, 3)).max(axis=(2, 3)),
    "means": lambda x: sliding_window_view(x, 7, axis=1).mean(axis=-1),
    "long sums": lambda x: sliding_window_view(x, 45, axis=1).sum(axis=-1),
    "long extremes": lambda x: np.min(sliding_window_view(x, 40, axis=-1), axis=2),
    "long, kept": lambda x: sliding_window_view(x, 40, axis=-1).max(axis=2, keepdims=True),
    "sums of squares": lambda x: (sliding_window_view(x, 40, axis=-1) ** 2).sum(axis=-1),
    "of other types": lambda x: sliding_window_view(x.astype(np.int16), 40, axis=1).sum(axis=-1),
    "any": lambda x: sliding_window_view(x > 49, 35, axis=1).any(axis=-1),
    "deviations": lambda x: sliding_window_view(x, 36, axis=1).std(axis=-1),
    "some axes of windows": lambda x: sliding_window_view(x, (3, 40)).sum(axis=3),
    "between": lambda x: np.tanh(sliding_window_view(np.abs(x), (2, 2)).prod(axis=(-2, -1))),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_as_numpy(name: str, order: Any) -> None:
    x = np.array(X, order=order)
    expected, got = CALLS[name](x), xjit.xjit(CALLS[name])(x)
    assert got.dtype == expected.dtype and np.allclose(got, expected)


def test_reductions_read_the_array_itself() -> None:
    for name in ("largest", "means", "every second one"):
        explanation = xjit.xjit(CALLS[name]).explain(np.zeros((400, 300)))
        assert not explanation.temporary_bytes, name


@pytest.mark.parametrize(
    "call",
    [
        lambda x: sliding_window_view(x, 3),
        lambda x: sliding_window_view(x, 10, axis=0),
        lambda x: sliding_window_view(x, -1, axis=0),
        lambda x: sliding_window_view(x, (1, 2), axis=0),
        lambda x: sliding_window_view(x, 1, axis=2),
    ],
)
def test_mistakes_raise_what_numpy_raises(call: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match=r"window|axis"):
        call(X)
    with pytest.raises(ValueError, match=r"numpy\.lib\.stride_tricks\.sliding_window_view"):
        xjit.xjit(call)(X)


def test_windows_to_write_to_are_refused() -> None:
    with pytest.raises(xjit.XjitError, match="writeable"):
        xjit.xjit(lambda x: sliding_window_view(x, (2, 2), writeable=True))(X)
