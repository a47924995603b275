"""Errors of calls in Python beside writes to arguments: the call ends as NumPy's does, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit


def written_before(x: Any, y: Any, n: int) -> Any:
    y[1] = 7.0
    return np.linalg.inv(np.stack([x, x]) * n)


def changed_before(x: Any, y: Any, n: int) -> Any:
    x += 1.0
    y *= 2.0
    return np.linalg.inv(np.stack([x, x]))


def written_around(x: Any, y: Any, n: int) -> Any:
    x += 1.0
    found = np.linalg.inv(np.stack([y, y]))
    y += found[0, 0]
    return found


def stored(x: Any, y: Any, n: int) -> None:
    y[1] = 7.0
    x[:] = np.arange(n % 3.0)


def product_stored(x: Any, y: Any, n: int) -> None:
    y[1] = 7.0
    x[:] = np.arange(n % 3.0) * np.sum(y)


def unpacked_and_reshaped(x: Any, y: Any, n: int) -> None:
    found = np.arange(n % 3.0)
    y[0] = 3.0
    first, second = found.T
    x[:] = found.reshape(-1).sum() - first + second


def of_another_type(x: Any, y: Any, n: int) -> None:
    for row in (x, y):
        row += -1.0
    for number in x.astype(np.float16):
        y //= max(number, -1.5)


ERRORS = [
    *(written_before, changed_before, written_around, stored, product_stored, unpacked_and_reshaped, of_another_type)
]


def _outcome(function: Callable[..., Any], n: int) -> tuple[Any, ...]:
    x, y = np.arange(2.0), np.arange(2.0) - 3
    error = None
    try:
        function(x, y, n)
    except Exception as found:
        inner = found.__traceback__ and found.__traceback__.tb_next
        error = type(found).__mro__[-3], inner and inner.tb_lineno
    return error, x.tolist(), y.tolist()


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", ERRORS)
def test_errors_of_steps_leave_what_numpy_leaves(function: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")
    compiled = xjit.jit(function)
    with np.errstate(all="ignore"):
        for n in (2, 5, 3, 4):
            assert _outcome(compiled, n) == _outcome(function, n)


G = np.array([0.5, 1.5, 2.0], np.float32)


def test_slices_of_floats_are_errors() -> None:
    def read(x: Any) -> Any:
        for place in G:
            x = x[place:]
        return x

    def stepped(x: Any) -> None:
        for place in G:
            x[::place] = 1.0

    for function in (read, stepped):
        with pytest.raises(TypeError, match="slice indices must be integers"):
            xjit.jit(function)(np.arange(4.0))


def unread_in_turns(x: Any, y: Any, n: int) -> None:
    found = x[x > -1]
    for i in range(300):
        y[0] += 1
        last = found[i]  # noqa: F841


def unread_in_arms(x: Any, y: Any, n: int) -> None:
    found = x[x > -1]
    y[0] += 1
    if x[0] < 5:
        last = found[n]  # noqa: F841


@pytest.mark.parametrize("function", [unread_in_turns, unread_in_arms])
def test_errors_of_variables_that_nobody_reads_are_raised(function: Any) -> None:
    compiled = xjit.jit(function)
    for n in (1, 5):
        assert _outcome(compiled, n) == _outcome(function, n)
