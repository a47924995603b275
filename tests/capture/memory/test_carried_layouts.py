"""Views and copies of arrays that loops carry and branches choose, which lie in memory in any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.memory.seen_memory import check_like_numpy
from xjit.errors import CaptureError

MANY = 50
"""Turns that are not unrolled."""


def written_columns(x: Any, n: int) -> Any:
    y = np.zeros(x.shape, order="F")
    for i in range(n):
        y[0, 1] = x[0, 0] + i
        y.ravel()[1] = 5.0  # of a copy
        y.T.reshape(-1)[2] = i  # of a view
    return y


def computed_columns(x: Any, n: int) -> Any:
    y = x.T + 0.0
    for _ in range(n):
        y = y * 0.5 + 1.0
        y.ravel()[1] = 5.0
    return y


def columns_that_go_on(x: Any, n: int) -> Any:
    y = np.asfortranarray(x)
    while n > 0:
        z = np.copy(y)
        z.reshape(-1)[2] = 9.0
        y = z + y
        n -= 1
    return y, y.ravel()


def axes_moved(x: Any, n: int) -> Any:
    y = np.moveaxis(x.reshape(2, 3, 4), 0, 1).copy(order="K")
    for i in range(n):
        y[i % 3, :, 1] += 1.0
        y.reshape(6, 4)[0] = -1.0
    return y


def columns_of_an_arm(x: Any, n: int) -> Any:
    y = np.zeros(x.shape, order="F")
    if x[0, 0] < n:
        y[1] = x[1]
        y.ravel()[0] = 7.0
    else:
        y[0] = x[0]
    y.ravel()[2] = 8.0
    return y


def columns_written_in_arms_of_turns(x: Any, n: int) -> Any:
    for i in range(n):
        if x[i % 4, 1] > 5.0:
            x[i % 4] *= 0.5
        else:
            x[:, i % 6] += 1.0
    return x


def chosen_columns(x: Any, n: int) -> Any:
    y = x.T * 2.0 if x[0, 0] < n else x.T + 1.0
    y.reshape(-1)[1] = 5.0
    return y


def columns_within(x: Any, n: int) -> Any:
    y = np.asfortranarray(x)
    y = y + y
    for i in range(n):
        for j in range(i):
            y[j % 2] += 1.0
            y.ravel()[0] = 3.0
    return y


def columns_of_an_argument(x: Any, n: int) -> Any:
    for i in range(n):
        x[i % 4, 1] += i
        y = x * 2.0
        y.ravel()[0] = 7.0
        x[3] = y[2]
    return x


KNOWN = [
    written_columns,
    computed_columns,
    columns_that_go_on,
    axes_moved,
    columns_of_an_arm,
    columns_written_in_arms_of_turns,
    chosen_columns,
    columns_within,
    columns_of_an_argument,
]


def rows(order: Any) -> Callable[[], tuple[Any, ...]]:
    return lambda: (np.array(np.arange(24.0).reshape(4, 6), order=order), MANY)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("function", KNOWN)
def test_carried_arrays_keep_their_memory_order(function: Any, order: str) -> None:
    check_like_numpy(function, rows(order), strict=True)
    got = xjit.jit(function, strict=True)(*rows(order)())
    for one, other in zip(_tuple(got), _tuple(function(*rows(order)())), strict=True):
        assert one.strides == other.strides


def _tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def turned_rows(x: Any, n: int) -> Any:
    turns = x[0, 0]
    while turns < n:
        turns += 1.0
        x = x[::-1]
        np.putmask(np.ascontiguousarray(x), x > 3.0, x[1])
    return x


def turned_axes(x: Any, n: int) -> Any:
    y = x[:, :4] + 0.0
    turns = x[0, 0]
    while turns < n:
        turns += 1.0
        y = y.T
        z = y * 2.0
        z.ravel()[1] = 7.0
        y = z
    return y


def axes_of_one_arm(x: Any, n: int) -> Any:
    y = x[:, :4].T * 2.0 if x[0, 0] < n else x[:, :4] + 0.0
    y.reshape(-1)[1] = 5.0
    return y


def copy_of_turned_axes(x: Any, n: int) -> Any:
    y = x[:, :4] + 0.0
    turns = x[0, 0]
    while turns < n:
        turns += 1.0
        y = y.T * 0.5
        z = np.copy(y)
        z.ravel()[2] = 7.0
        y = z
    return y


UNKNOWN = [turned_rows, turned_axes, axes_of_one_arm, copy_of_turned_axes]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("function", UNKNOWN)
def test_what_only_the_run_knows_to_be_a_view_is_not_written(function: Any, order: str, monkeypatch: Any) -> None:
    with pytest.raises(CaptureError, match="copy it first"):
        xjit.jit(function, strict=True)(*rows(order)())
    monkeypatch.setenv("XJIT_STRICT", "0")
    check_like_numpy(function, rows(order), strict=False)


def reads_of_turned_axes(x: Any, n: int) -> Any:
    y = x[:, :4] + 0.0
    turns = x[0, 0]
    while turns < n:
        turns += 1.0
        y = y.T * 0.5
        y = y + y.ravel()[1] + y.reshape(2, 8)[0, 3] + np.ascontiguousarray(y)
    return y


def test_what_may_be_a_view_is_read() -> None:
    check_like_numpy(reads_of_turned_axes, rows("C"), strict=True)
