"""Trials of turns: how often the body of a loop is traced."""

from __future__ import annotations

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
