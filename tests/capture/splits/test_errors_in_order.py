"""Errors that only the run finds, among text and stores: what comes before them is seen, and nothing else."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import FallbackWarning


def ahead_of_text(x: Any, i: Any) -> Any:
    y = x[i]
    print("later", float(x[0]))
    return y


def between_texts(x: Any, i: Any) -> Any:
    y = x * 2
    print("first", float(y[0]))
    z = y[i]
    print("later")
    return z.sum()


def read_by_nobody(x: Any, i: Any) -> Any:
    print("first")
    x[i]
    return x * 2


def in_a_loop_ahead_of_text(x: Any, i: Any) -> Any:
    s = 0.0
    for k in range(40):
        s += x[i[k % 2]]
    print("later")
    return s


def in_a_branch_ahead_of_text(x: Any, i: Any) -> Any:
    s = x[i[0]] * x[i[1]] if x[0] > 0.0 else 0.0
    print("later")
    return s


def of_a_library_ahead_of_text(x: Any, i: Any) -> Any:
    y = np.linalg.inv(x[:4].reshape(2, 2) * (i[1] < 10))
    print("later")
    return y


def short_loop(x: Any, i: Any) -> Any:
    for k in range(4):
        print("turn", k)
        x[i[k % 2]] += 1
    return x


def long_loop(x: Any, i: Any) -> Any:
    for k in range(40):
        print("turn", k)
        x[i[k // 20]] += 1
        x[0] = k
    return x


def loop_with_text_at_times(x: Any, i: Any) -> Any:
    s = 0.0
    for k in range(60):
        s += x[i[k // 30]]
        if k % 7 == 0:
            print("turn", k)
    return s


def stores_between(x: Any, i: Any) -> Any:
    print("first")
    x[1] += 1.0
    y = x[i]
    x[2] += 1.0
    return y


def stores_between_texts(x: Any, i: Any) -> Any:
    print("first")
    x[1] += 1.0
    y = x[i] * 2
    print("second")
    x[2] = y[0]
    return y


def windows_stored_behind_text(x: Any, i: Any) -> Any:
    x[3:] *= 2.0
    print("first", x.sum())
    x[:3] = x[i][::-1].sum()
    return x


FUNCTIONS = [
    ahead_of_text,
    between_texts,
    read_by_nobody,
    in_a_loop_ahead_of_text,
    in_a_branch_ahead_of_text,
    of_a_library_ahead_of_text,
    short_loop,
    long_loop,
    loop_with_text_at_times,
    stores_between,
    stores_between_texts,
    windows_stored_behind_text,
]


def compiled(function: Callable[..., Any], monkeypatch: Any) -> Any:
    """The compiled function, whose steps are no cause for a warning."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")
    fast = xjit.jit(function)

    def call(*arguments: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*runs a step in Python", FallbackWarning)
            return fast(*arguments)

    return call


def outcome(function: Callable[..., Any], index: list[int]) -> tuple[Any, ...]:
    """The text, the result or the kind of the error, and the argument that is written to."""
    x, text = np.arange(1.0, 11.0), io.StringIO()
    with contextlib.redirect_stdout(text):
        try:
            result: Any = np.asarray(function(x, np.array(index))).tolist()
        except (IndexError, np.linalg.LinAlgError) as error:
            result = next(one for one in type(error).__mro__ if not one.__module__.startswith("xjit"))
    return text.getvalue(), result, x.tolist()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_errors_come_in_their_place(function: Any, monkeypatch: Any) -> None:
    fast = compiled(function, monkeypatch)
    for index in ([1, 2], [1, 2], [1, 30], [30, 1], [1, 2]):
        assert outcome(fast, index) == outcome(function, index), index


class Full(io.StringIO):
    """A stream that takes so many pieces of text."""

    def __init__(self, pieces: int) -> None:
        super().__init__()
        self.left = pieces

    def write(self, text: str) -> int:
        self.left -= 1
        if self.left < 0:
            raise OSError("no space is left")
        return super().write(text)


def short_loop_that_stores(x: Any) -> None:
    for k in range(4):
        print("turn", end="")
        x[k] += 1


def long_loop_that_stores(x: Any) -> None:
    for k in range(40):
        x[k % 10] += k
        print("turn", end="")
        x[0] = k


def loops_within(x: Any) -> None:
    x[1:] *= 2.0
    for k in range(40):
        for j in range(k % 5):
            x[j] += k
            if j == 3:
                print("turn", end="")


@pytest.mark.parametrize("pieces", [0, 1, 2, 3, 100])
@pytest.mark.parametrize("function", [short_loop_that_stores, long_loop_that_stores, loops_within])
def test_errors_of_steps_leave_what_was_stored(function: Any, pieces: int, monkeypatch: Any) -> None:
    fast = compiled(function, monkeypatch)
    for limit in (100, pieces):
        mine, numpys = np.arange(1.0, 11.0), np.arange(1.0, 11.0)
        for one, x in ((fast, mine), (function, numpys)):
            with contextlib.redirect_stdout(Full(limit)), contextlib.suppress(OSError):
                one(x)
        assert np.array_equal(mine, numpys)


def stores_ahead_of_inner_loops(x: Any, size: int) -> None:
    for k in range(2):
        x[k] = x[1] * np.ones(size)
        for _ in range(3):
            print("now", x[0])
            x[0] += 1


def test_shapes_fail_ahead_of_the_store_in_a_turn(monkeypatch: Any) -> None:
    fast = compiled(stores_ahead_of_inner_loops, monkeypatch)
    for size in (1, 4, 2, 2, 1):
        mine, numpys = np.arange(8.0).reshape(2, 4), np.arange(8.0).reshape(2, 4)
        texts = io.StringIO(), io.StringIO()
        for one, x, text in zip((fast, stores_ahead_of_inner_loops), (mine, numpys), texts, strict=True):
            with contextlib.redirect_stdout(text), contextlib.suppress(ValueError):
                one(x, size)
        assert texts[0].getvalue() == texts[1].getvalue()
        np.testing.assert_array_equal(mine, numpys)
