"""Turns that write an array over the last one: what they read of it elsewhere is stored ahead, if it is little."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on, run_uncompiled

Function = Callable[..., Any]

SMALL = replace(PROCESSOR, piece_work=1.0, parallel_work=1.0, blocked_work=float("inf"))
"""No loop is a kernel on this one."""


def shortest(x: Any, turns: int) -> None:
    for k in range(turns):
        x[:] = np.minimum(x, x[:, k, np.newaxis] + x[k])


def eliminated(x: Any, turns: int) -> Any:
    for k in range(turns):
        x = x - 0.125 * x[:, k, np.newaxis] * x[k] / (1.0 + x[k, k] * x[k, k])
    return x


def both_from_one(x: Any, turns: int) -> Any:
    """Two arrays, each of which is read elsewhere for itself alone."""
    y = x + 1.0
    for k in range(turns):
        x, y = x * 0.5 + x[k], y * 0.25 - y[:, k, np.newaxis]
    return x, y


def decayed(x: Any, turns: int) -> Any:
    """Nothing is read elsewhere."""
    for k in range(turns):
        x = x * 0.5 + k
        x = np.where(x > 1.0, x - 1.0, x)
    return x


def neighbours(x: Any, turns: int) -> Any:
    for k in range(turns):
        x = 0.5 * x + 0.25 * np.roll(x, 1, axis=0) - x[k]
    return x


def across(x: Any, turns: int) -> Any:
    for k in range(turns):
        x = 0.5 * x + 0.25 * x.T - x[k]
    return x


def with_the_last(x: Any, turns: int) -> Any:
    """The last array is carried, too."""
    last = x - 1.0
    for k in range(turns):
        x, last = np.maximum(x, x[k] - 0.5), x
    return x, last


def exchanged(x: Any, turns: int) -> Any:
    y = x + 1.0
    for k in range(turns):
        x, y = y * 0.5 + y[k], x * 0.25 - x[:, k, np.newaxis]
    return x, y


def read_by_two(x: Any, turns: int) -> Any:
    y = x + 1.0
    for k in range(turns):
        x, y = x * 0.5 + x[k], y * 0.25 - x[:, k, np.newaxis] * x
    return x, y


def with_large_windows(x: Any, turns: int) -> Any:
    """Most of the array is a window of it."""
    for k in range(turns):
        x = 0.5 * x + np.append(x[1:], x[:1], axis=0) + x[k]
    return x


def stopped(x: Any, turns: int) -> Any:
    """A turn that fails has read arrays that others have been written over."""
    for k in range(turns):
        x = 0.5 * x + x[k % len(x)]
        if x[0, 0] > 1e3:
            raise ValueError("too large")
    return x


IN_PLACE = (shortest, eliminated, both_from_one, decayed)
APART = (neighbours, across, with_the_last, with_large_windows)
OTHERS = (*APART, exchanged, read_by_two)


def array(size: int) -> Any:
    return np.random.default_rng(5).random((size, size))


def outcome(function: Function, size: int, turns: int) -> list[Any]:
    x = array(size)
    result = function(x, turns)
    return [x, *(result if isinstance(result, tuple) else [] if result is None else [result])]


def same(found: list[Any], wanted: list[Any]) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("function", [*IN_PLACE, *OTHERS], ids=lambda one: one.__name__)
def test_turns_have_numpys_bits(function: Function) -> None:
    compiled = xjit.jit(function, target=on(SMALL))
    for size, turns in ((5, 4), (23, 23), (9, 0)):
        same(outcome(compiled, size, turns), outcome(function, size, turns))


@pytest.mark.parametrize("function", [*IN_PLACE, *OTHERS], ids=lambda one: one.__name__)
def test_large_turns_have_numpys_bits(function: Function) -> None:
    same(outcome(xjit.jit(function), 190, 12), outcome(function, 190, 12))


@pytest.mark.parametrize("function", [*IN_PLACE, *OTHERS], ids=lambda one: one.__name__)
def test_uncompiled_turns_have_numpys_answers(function: Function) -> None:
    found = run_uncompiled(lambda x, turns: (x, function(x, turns))[0], (array(9), 5), SMALL)
    x = array(9)
    function(x, 5)
    np.testing.assert_array_equal(found, x)


@pytest.mark.parametrize("size", [40, 190, 640])
@pytest.mark.parametrize("function", [shortest, eliminated, both_from_one], ids=lambda one: one.__name__)
def test_a_turn_writes_over_the_last_array(function: Function, size: int) -> None:
    """Loops in kernels and those around them."""
    arrays = 2 if function is both_from_one else 1
    assert str(xjit.jit(function).explain(array(size), 12)).count("WriteOver") == arrays


@pytest.mark.parametrize("function", APART, ids=lambda one: one.__name__)
def test_a_turn_that_reads_much_elsewhere_writes_another_array(function: Function) -> None:
    for size in (40, 640):
        assert "WriteOver" not in str(xjit.jit(function).explain(array(size), 12))


def test_errors_of_turns_are_numpys() -> None:
    compiled = xjit.jit(stopped)
    same(outcome(compiled, 190, 3), outcome(stopped, 190, 3))
    with pytest.raises(ValueError, match="too large"):
        compiled(1e3 * array(190) + 1e3, 5)
