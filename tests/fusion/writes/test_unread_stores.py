"""Stores in front of loops that nothing reads: turns write over them first."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on

Function = Callable[..., Any]

X = np.random.default_rng(3).standard_normal((40, 70))
LINE = X.ravel()
FILLED = (np.nan, 7.25)
"""Numbers in memory that arrays may get, so that elements that nobody has written show."""


def running(x: Any) -> Any:
    total = np.empty(len(x))
    value = 0.0
    for i in range(len(x)):
        value = value * 0.5 + x[i]
        total[i] = value
    return total


def recurrence(x: Any) -> Any:
    """Reads what turns before have written, up to two of them."""
    y = np.zeros_like(x)
    y[:, 0] = x[:, 0]
    y[:, 1] = 0.5 * x[:, 1] + x[:, 0]
    for j in range(2, x.shape[1]):
        y[:, j] = x[:, j] + 0.25 * y[:, j - 1] - 0.125 * y[:, j - 2]
    return y


def backwards(x: Any) -> Any:
    y = np.zeros_like(x)
    y[:, -1] = x[:, -1]
    for j in range(x.shape[1] - 2, -1, -1):
        y[:, j] = x[:, j] - 0.5 * y[:, j + 1]
    return y


def chosen_by_turn(x: Any) -> Any:
    """Arms of which the first one alone does not read."""
    y = np.zeros_like(x)
    for j in range(x.shape[1]):
        if j == 0:
            y[:, 0] = x[:, 0]
        else:
            y[:, j] = x[:, j] + 0.5 * y[:, j - 1]
    return y


def copied(x: Any) -> Any:
    y = x.copy()
    for i in range(len(x)):
        y[i] = x[i] * 2.0
    return y


def window_ahead(x: Any) -> Any:
    """A window is written in front of the loop, and over by it."""
    y, value = np.zeros(len(x)), 0.0
    y[7:90] = x[7:90] * 3.0
    for i in range(len(x)):
        value = 0.5 * value + x[i]
        y[i] = value
    return y


NOTHING_STORED = (window_ahead, running, chosen_by_turn, copied)
LESS_STORED = (recurrence, backwards)


def read_ahead(x: Any) -> Any:
    """Every turn reads an element before the next one writes it."""
    y, value = np.ones(len(x) + 1), 0.0
    for i in range(len(x)):
        value = 0.5 * value + x[i]
        y[i] = value + y[i + 1]
    return y


def left_out(x: Any) -> Any:
    """The element in the middle of a half is never written, nor is the other half."""
    y, value = np.ones(2 * len(x)), 0.0
    for i in range(len(x)):
        value = 0.5 * value + x[i]
        if i != 1400:
            y[i] = value
    return y


def every_other(x: Any) -> Any:
    y, value = np.ones(len(x) + 2), 0.0
    for i in range(1, len(x), 2):
        value = 0.5 * value + x[i]
        y[i] = value
    return y


def decided_by_data(x: Any) -> Any:
    y, value = np.ones(len(x)), 0.0
    for i in range(len(x)):
        value = 0.5 * value + x[i]
        if value > 0.0:
            y[i] = value
    return y


def ended_by_data(x: Any) -> Any:
    y, value = np.ones(len(x)), 0.0
    for i in range(len(x)):
        value = 0.5 * value + x[i]
        if value > 2.5:
            break
        y[i] = value
    return y


def read_whole(x: Any) -> Any:
    y = np.ones(len(x))
    for i in range(len(x)):
        y[i] = x[i] + y.max()
    return y


def added(x: Any) -> Any:
    y, value = np.ones(len(x)), 0.0
    for i in range(len(x)):
        value = 0.5 * value + x[i]
        y[i] += value
    return y


def seen_before(x: Any) -> Any:
    """The memory in front of the loop is a result as well."""
    y, value = x * 2.0 + 1.0, 0.0
    before = y[::-1] + 1.0
    for i in range(len(x)):
        value = 0.5 * value + x[i]
        y[i] = value
    return before, y


def two_exchanged(x: Any) -> Any:
    """Arrays that change places."""
    y, z, value = np.ones(len(x)), np.zeros(len(x)), 0.0
    for i in range(len(x)):
        value = 0.5 * value + x[i]
        y[i] = value
        y, z = z, y
    return y, z


def part_of_rows(x: Any) -> Any:
    """Positions are written in half of the columns alone."""
    y, value = np.ones_like(x), np.zeros(35)
    for i in range(len(x)):
        value = 0.5 * value + x[i, :35]
        y[i, :35] = value
    return y


STORED = (
    *(read_ahead, left_out, every_other, decided_by_data, ended_by_data, read_whole),
    *(added, seen_before, two_exchanged, part_of_rows),
)
OF_ROWS = (recurrence, backwards, chosen_by_turn, copied, part_of_rows)


def argument(function: Function) -> Any:
    return X if function in OF_ROWS else LINE


def stored_ahead(function: Function) -> int:
    """Return how many bytes kernels store in front of the loop."""
    lines = str(xjit.jit(function).explain(argument(function))).splitlines()
    loop = next(at for at, line in enumerate(lines) if "while_loop" in line and "no work" not in line)
    found = (re.search(r"writes ([\d,]+)", line) for line in lines[:loop])
    return sum(int(one[1].replace(",", "")) for one in found if one)


def assert_equal(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True) if isinstance(expected, tuple) else ((found, expected),):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("function", [*NOTHING_STORED, *LESS_STORED, *STORED], ids=lambda one: one.__name__)
def test_values_are_those_of_numpy(function: Function) -> None:
    x = argument(function)
    wanted, compiled = function(x), xjit.jit(strict=True)(function)
    for value in FILLED:
        earlier = [np.full_like(x, value) for _ in range(4)]
        del earlier  # arrays may be made in its memory
        assert_equal(compiled(x), wanted)


@pytest.mark.parametrize("function", [*NOTHING_STORED, *LESS_STORED], ids=lambda one: one.__name__)
def test_what_turns_write_first_is_not_stored(function: Function) -> None:
    assert stored_ahead(function) <= (0 if function in NOTHING_STORED else 4 * X[:, 0].nbytes)


@pytest.mark.parametrize("function", [*NOTHING_STORED, *LESS_STORED], ids=lambda one: one.__name__)
def test_loops_of_steps_start_in_memory_as_well(function: Function) -> None:
    steps = on(replace(PROCESSOR, longest_turn=0, blocked_work=float("inf")))
    x = argument(function)
    assert_equal(xjit.jit(function, target=steps, strict=True)(x), function(x))


@pytest.mark.parametrize("function", STORED, ids=lambda one: one.__name__)
def test_what_may_be_read_is_stored(function: Function) -> None:
    assert stored_ahead(function) >= argument(function).nbytes - 2 * X[0].nbytes


def test_loops_in_the_turns_of_a_kernel() -> None:
    def relaxed(x: Any, first: Any, turns: int) -> Any:
        x = x.copy()
        for _ in range(turns):
            y = np.zeros_like(x)
            for i in range(len(x)):
                y[i] = x[first[i] :].sum()
            x += 0.01 * y
        return x

    first = np.arange(50)[::-1].copy()
    np.testing.assert_allclose(
        xjit.jit(strict=True)(relaxed)(LINE[:50], first, 10), relaxed(LINE[:50], first, 10), rtol=1e-12
    )


def test_numbers_of_turns_as_arrays() -> None:
    """A number that each turn makes an array of rank 0, and a reduction of it, are known in all turns."""

    def raised(x: Any) -> Any:
        for i in range(len(x)):
            if np.max(x) < np.max(i):
                x[...] = i
        return x

    for start in (np.zeros(6), np.arange(6.0), np.full(6, 2.5)):
        assert_equal(xjit.jit(raised, strict=True)(start.copy()), raised(start.copy()))
