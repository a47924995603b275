"""Trials of turns: how often the body of a loop is traced."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.capture.python_control import python_loops


def _turns(monkeypatch: pytest.MonkeyPatch, function: Any, *arguments: Any) -> int:
    """Return how many turns of loops are traced for a function, which is right."""
    seen: list[int] = []
    traced_turn = python_loops.traced_turn

    def counted(*args: Any) -> Any:
        seen.append(1)
        return traced_turn(*args)

    monkeypatch.setattr(python_loops, "traced_turn", counted)
    np.testing.assert_array_equal(xjit.jit(strict=True)(function)(*arguments), function(*arguments))
    return len(seen)


def test_the_last_trial_is_the_turn_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def summed(x: Any) -> Any:
        total = 0.0
        for value in x:
            total = total + value
        return total

    assert _turns(monkeypatch, summed, np.arange(1000.0)) == 2


def test_the_trial_for_exchanges_is_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def moved(x: Any, v: Any) -> Any:
        for _ in range(1000):
            x = x + 0.5 * v
            v = v - 0.25 * x
        return x

    assert _turns(monkeypatch, moved, np.arange(8.0), np.ones(8)) == 2


def test_trials_of_a_nested_loop_begin_where_earlier_ones_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def nested(x: Any) -> Any:
        total = 0.0
        for row in x:
            for value in row:
                total = total + value
        return total

    assert _turns(monkeypatch, nested, np.arange(40_000.0).reshape(200, 200)) <= 8


def _labels(free: Any) -> Any:
    """Labels of connected places, by a work list that each turn of the loops around makes anew."""
    labels, last = np.zeros(free.shape, int), 0
    for i in range(free.shape[0]):
        for j in range(free.shape[1]):
            if free[i, j] and labels[i, j] == 0:
                last += 1
                stack = [(i, j)]
                while stack:
                    a, b = stack.pop()
                    if 0 <= a < free.shape[0] and 0 <= b < free.shape[1] and free[a, b] and labels[a, b] == 0:
                        labels[a, b] = last
                        stack += [(a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)]
    return labels


def _different(free: Any) -> Any:
    """Numbers of different values in rows, by a set that each turn makes anew."""
    found = np.zeros(free.shape[0], int)
    for i in range(free.shape[0]):
        seen = set()
        for j in range(free.shape[1]):
            seen.add(int(free[i, j]))
        found[i] = len(seen)
    return found


def test_lists_that_turns_make_anew_need_no_further_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    free = np.random.default_rng(3).random((70, 90)) < 0.6
    assert _turns(monkeypatch, _labels, free) <= 22


def test_sets_that_turns_make_anew_need_no_further_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(3).integers(0, 9, (70, 90))
    assert _turns(monkeypatch, _different, numbers) <= 12


def test_a_counter_settles_in_three_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(x: Any) -> Any:
        found = 0
        for value in x:
            if value > 0.5:
                found += 1
        return found

    assert _turns(monkeypatch, counted, np.linspace(0, 1, 1000)) == 3


def test_values_pinned_in_a_trial_that_is_taken_back_are_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text grows with each turn, so that each condition is pinned; the loop is traced in two ways."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")

    def marked(x: Any, least: Any) -> Any:
        place, text = int(least[0]), ""
        for turn in range(6):
            if place > 3:
                break
            text += "a"
            if turn == 0:
                x += 1
            place = x.argmax()
        return text

    compiled = xjit.jit(marked)
    for largest, first in ((1, 1), (1, 5), (5, 1), (1, 1)):
        x, least = np.where(np.arange(8) == largest, 5.0, 1.0), np.array([first])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", xjit.errors.FallbackWarning)
            found = compiled(x.copy(), least)
        assert found == marked(x.copy(), least)
