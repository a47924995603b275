"""Rows of arrays whose length only the run knows: views, and integers of NumPy's that pick them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.capture.memory.seen_memory import check_like_numpy
from tests.helpers.gaps import lenient
from xjit import xjit
from xjit.errors import CaptureError

X = np.random.default_rng(0).random((20, 3))


def kept(x: Any) -> Any:
    return x[(x > 0.2).any(axis=1)]


def picked(x: Any) -> Any:
    c = kept(x)
    n = np.argmin(c[:, 0])
    return c[n] + 1.0, c[n, 1], c[n, -1], c[-n - 1, 0:2] * 2.0


def front(x: Any) -> Any:
    c, index, n = x, np.arange(len(x)), 0
    while n < len(c):
        better = (c < c[n]).any(axis=1)
        better[n] = True
        index, c = index[better], c[better]
        n = better[:n].sum() + 1
    return index


def written_in_between(x: Any) -> Any:
    c = kept(x)
    first = c[0] * 1.0
    c[0] = 7.0
    return c * 1.0, first


@pytest.mark.parametrize("function", [picked, front, written_in_between])
def test_integers_of_the_run_pick_rows(function: Any) -> None:
    check_like_numpy(function, lambda: (X.copy(),), strict=True)


def row_is_written(x: Any) -> Any:
    c = kept(x)
    row = c[2]
    row[0] = 7.0
    return c * 1.0


def array_is_written(x: Any) -> Any:
    c = kept(x)
    row = c[(x > 2.0).sum()]
    c[0] = 7.0
    return row * 1.0


def written_in_place(x: Any) -> Any:
    c = kept(x) * 1.0
    row = c[1]
    c += 1.0
    return row * 1.0, c.sum()


@pytest.mark.parametrize("function", [row_is_written, array_is_written, written_in_place])
def test_writes_to_what_rows_show_are_numpys(function: Any) -> None:
    with pytest.raises(CaptureError, match="written"):
        xjit(strict=True)(function)(X.copy())
    with lenient():
        check_like_numpy(function, lambda: (X.copy(),), strict=False)
