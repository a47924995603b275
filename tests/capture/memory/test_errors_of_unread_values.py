"""Errors of what nobody reads, which NumPy raises all the same: solvers, loops, and arrays that are written over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit import jit


def _solver(x: Any, at: Any) -> Any:
    np.linalg.inv(x)
    return x + 1


def _solver_in_turns(x: Any, at: Any) -> Any:
    for i in range(len(at)):
        np.linalg.inv(x + i)
    return at


def _solver_in_an_arm(x: Any, at: Any) -> Any:
    if x[0, 0] <= 0:
        np.linalg.inv(x)
    return at


def _loop(x: Any, at: Any) -> None:
    line = np.arange(2)
    for i in range(at[0]):
        line[i] += 1


def _carried_beside(x: Any, at: Any) -> Any:
    line, total = np.zeros(2), 0
    for i in range(len(at)):
        line[at[i]] = total
        total += i
    return total


def _loop_in_a_loop(x: Any, at: Any) -> Any:
    for i in range(len(at)):
        line = np.zeros(2)
        for k in range(len(at)):
            line[at[k]] = k
        x[i] += 1
    return x


def _summed_and_left(x: Any, at: Any) -> Any:
    total = 0.0
    for i in range(16 * len(at)):
        total += x[at[i % 2], 0]
    return at


def _summed_beside(x: Any, at: Any) -> Any:
    total, turns = 0.0, 0
    for _ in range(20):
        for place in at:
            total += x[place, 0]
        turns += 1
    return turns


def _written_over(x: Any, at: Any) -> Any:
    at[1] = x[1, 1]
    at[at]
    for i in range(len(at)):
        at[i] = i
    return at


def _outcome(function: Any, x: Any, at: Any) -> Any:
    x, at = x.copy(), at.copy()
    try:
        return str(function(x, at)), x.tolist(), at.tolist()
    except (IndexError, ValueError) as error:
        kind = next(one for one in (np.linalg.LinAlgError, IndexError) if isinstance(error, one))
        return kind, x.tolist(), at.tolist()


@pytest.mark.parametrize("at", [[0, 1], [2, 1], [1, 7], [3, 0]])
@pytest.mark.parametrize("x", [np.eye(2), np.zeros((2, 2)), np.array([[2.0, 0.0], [0.0, -6.0]])])
@pytest.mark.parametrize(
    "function",
    [
        *(_solver, _solver_in_turns, _solver_in_an_arm, _loop, _carried_beside, _loop_in_a_loop, _written_over),
        *(_summed_and_left, _summed_beside),
    ],
)
def test_errors_are_numpys(function: Any, x: Any, at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    places = np.array(at)
    assert _outcome(jit(function), x, places) == _outcome(function, x, places)
