"""Elements at positions that are looked up are written beside those that are read, where no two can be the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

Function = Callable[..., Any]

SQUARE = np.random.default_rng(8).integers(-50, 50, (90, 90))


def anti_diagonals(x: Any) -> Any:
    y = x.copy()
    n = len(y)
    for d in range(2, 2 * n - 1):
        i = np.arange(max(1, d - n + 1), min(n - 1, d - 1) + 1)
        j = d - i
        y[i, j] = np.maximum(y[i - 1, j - 1] + 2, np.maximum(y[i - 1, j], y[i, j - 1]) - 1)
    return y


def diagonals(x: Any) -> Any:
    y = x.copy()
    n = len(y)
    for d in range(1, n):
        i = np.arange(n - d)
        y[i, i + d] += y[i, i + d - 1] - y[i + 1, i + d]
    return y


def same_line(x: Any) -> Any:
    """Elements of the line that is written, further on."""
    y = x.copy()
    n = len(y)
    for d in range(2, n):
        i = np.arange(1, d)
        y[i, d - i] = y[i - 1, d - i + 1] + 1
    return y


def crossing_lines(x: Any) -> Any:
    y = x.copy()
    n = len(y)
    for d in range(2, n):
        i = np.arange(1, d)
        y[i, d - i] = y[i, i - 1] + y[d - i, d - i]
    return y


def twice_there(x: Any) -> Any:
    y = x.copy()
    for d in range(2, len(y)):
        i = np.arange(0, d) // 2
        y[i, d - i] = y[i, d - i] + 1
    return y


def from_behind(x: Any) -> Any:
    """Rows before the first one are the last ones."""
    y = x.copy()
    n = len(y)
    for d in range(2, n):
        i = np.arange(0, d)
        y[i, d - i] = y[i - 1, d - i] - y[i, d - i - 1]
    return y


def all_functions() -> list[Function]:
    return [anti_diagonals, diagonals, same_line, crossing_lines, twice_there, from_behind]


@pytest.mark.parametrize("function", all_functions())
def test_as_numpy(function: Function) -> None:
    np.testing.assert_array_equal(xjit.jit(function)(SQUARE), function(SQUARE), strict=True)


@pytest.mark.parametrize("function", all_functions())
def test_elements_wait_where_others_need_what_was_there(function: Function) -> None:
    """Nothing waits where none does: the loop over a line is the only one in a turn."""
    source = xjit.jit(function).source(SQUARE)
    turns = source.split("while ")[1]
    assert (turns.count("for ") == 1) == (function in (anti_diagonals, diagonals))
