"""Loops over ranges of numbers that the trace holds for only, as the sizes of arrays, have a known length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit import xjit


def _filled(size):
    out = np.zeros(size)
    for i in range(size):
        out[i] = np.sqrt(i) * 2.5
    return out


def _from_the_end(size):
    out = np.zeros(size + 1)
    for i in range(size, -1, -2):
        out[i] = i * 0.5
    return out


def _in_pairs(size, start):
    out = np.ones(size)
    for i in range(start, size):
        out[i] = out[i - 1] * 0.5 + out[i - 2] * 0.25
    return out


def _recurrence(size):
    out = np.ones(size)
    for i in range(2, size):
        out[i] = out[i - 1] * 0.5 + out[i - 2] * 0.25
    return out


def _before_the_array(size):
    total = 0.0
    for i in range(size):
        total += i * 0.5
    return np.zeros(size) + total


def _sum_of_turns(x, steps):
    step = 1 / steps
    for _ in range(steps):
        x = x + step * x
    return x


CALLS = [
    (_filled, [(3000,), (2000,), (5,), (0,), (3000,)]),
    (_from_the_end, [(3000,), (2001,), (4,), (0,)]),
    (_in_pairs, [(3000, 2), (2000, 2), (2000, 7), (2000, 3000)]),
    (_before_the_array, [(100,), (2000,), (0,), (3000,)]),
    (_sum_of_turns, [(np.arange(3.0), 5), (np.arange(3.0), 700)]),
]


@pytest.mark.parametrize(("function", "calls"), CALLS)
def test_results_are_numpys(function: Any, calls: list[Any]) -> None:
    compiled = xjit(function, strict=True)
    for arguments in calls:
        np.testing.assert_array_equal(compiled(*arguments), function(*arguments))


def test_the_size_of_an_array_is_a_known_number_of_turns() -> None:
    compiled = xjit(_filled, strict=True)
    compiled(3000)
    assert "while_loop" not in str(compiled.graph(3000))


def test_places_within_the_size_of_an_array_are_not_checked() -> None:
    compiled = xjit(_recurrence, strict=True)
    np.testing.assert_array_equal(compiled(3000), _recurrence(3000))
    assert "require" not in str(compiled.graph(3000))


def test_turns_that_arguments_count_are_no_operations_of_their_own() -> None:
    compiled = xjit(_sum_of_turns, strict=True)
    compiled(np.arange(3.0), 5)
    compiled(np.arange(3.0), 5)
    assert str(compiled.graph(np.arange(3.0), 5)).count("mul") == 1


def test_a_number_that_no_size_needs_decides_on_no_trace() -> None:
    def total(x, turns):
        for _ in range(turns):
            x = x * 0.5
        return x

    compiled = xjit(total, strict=True)
    for turns in (10, 20, 30, 40):
        np.testing.assert_array_equal(compiled(np.arange(3.0), turns), total(np.arange(3.0), turns))
    assert compiled.stats().traces <= 2
