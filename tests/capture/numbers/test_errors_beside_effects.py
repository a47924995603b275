"""Errors of Python's numbers in loops, and around what a program prints: raised where Python raises them."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import FallbackWarning


def in_a_loop(x: Any, n: int) -> Any:
    s = 3.0
    for i in range(n):
        s = 1.0 / (s - 1.0) + 0.5
        x[i] = s
    return s


def in_a_loop_before_text(x: Any, n: int) -> Any:
    s = in_a_loop(x, n)
    print("done", s)
    return s


def in_a_loop_behind_text(x: Any, n: int) -> Any:
    print("first")
    return in_a_loop(x, n)


def in_a_loop_with_text(x: Any, n: int) -> Any:
    s = 3.0
    for i in range(n):
        s = 1.0 / (s - 1.0) + 0.5
        x[i] = s
        if i % 10 == 0:
            print(i, s)
    return s


def before_a_loop_with_text(x: Any, n: int) -> Any:
    t = 1.0 / float(x[0])
    for i in range(n):
        x[i] = t
        if i % 10 == 0:
            print(i, t)
    return t


def behind_text(x: Any, n: int) -> Any:
    x[1] = 5.0
    print("first", n)
    t = math.sqrt(float(x[0]) - 1.0) / float(x[0])
    x[:] = t
    return t


PROGRAMS = (
    in_a_loop,
    in_a_loop_before_text,
    in_a_loop_behind_text,
    in_a_loop_with_text,
    before_a_loop_with_text,
    behind_text,
)


@pytest.fixture(autouse=True)
def _splitting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")


@pytest.mark.parametrize("first", (0.0, 2.0))
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda one: one.__name__)
def test_errors_come_where_python_raises_them(function: Callable[..., Any], first: float) -> None:
    compiled = xjit.jit(function)
    expected = _outcome(function, first)
    assert [_outcome(compiled, first) for _ in range(2)] == [expected, expected]


def test_calls_without_errors_are_compiled_beside_text() -> None:
    compiled = xjit.jit(behind_text)
    assert _outcome(compiled, 2.0) == _outcome(behind_text, 2.0)
    assert compiled.stats().fallbacks == 0


def _outcome(function: Callable[..., Any], first: float) -> tuple[Any, ...]:
    x = np.zeros(40)
    x[0] = first
    with contextlib.redirect_stdout(io.StringIO()) as text, warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        try:
            result = function(x, x.size)
        except (ArithmeticError, ValueError) as error:
            result = (type(error), str(error))
    return result, x.tolist(), text.getvalue()


def test_turns_that_may_divide_by_zero_are_taken_at_once() -> None:
    def function(x: Any, y: Any) -> None:
        for i in range(len(x)):
            y[i] = 1.0 / float(x[i])

    compiled = xjit.jit(function, strict=True)
    x, y = np.arange(1.0, 1000.0), np.zeros(999)
    compiled(x, y)
    np.testing.assert_array_equal(y, 1.0 / x)
    assert "while" not in compiled.source(x, y)
    x[500] = 0.0
    y[:] = 0.0
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        compiled(x, y)
    np.testing.assert_array_equal(y, np.where(np.arange(999) < 500, 1.0 / np.where(x == 0.0, 1.0, x), 0.0))
