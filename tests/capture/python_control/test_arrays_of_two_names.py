"""Arrays that a loop or a branch leaves under two names: what is written by one of them is seen by the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit


def newest_of_a_loop(x: Any) -> Any:
    turn = 0
    while turn < x[1]:
        newest = x * 0.5 + 1
        x = newest
        turn += 1
    newest[0] = 99
    return x, newest


def newest_of_a_loop_in_a_loop(x: Any) -> Any:
    for _ in range(30):
        turn, end = 0, abs(x[1]) + 1
        while turn < end:
            newest = x * 0.5 + 1
            x = newest
            turn += 1
    newest[0] = 99
    return x, newest


def both_of_an_arm(x: Any) -> Any:
    if x[0] > 0:
        one = other = x * 2
    else:
        one = other = x * 3
    one[0] = 5
    return one, other


def part_of_an_arm(x: Any) -> Any:
    if x[0] > 0:
        one = x * 2
        other = one[1:]
    else:
        one = x * 3
        other = one[1:]
    other[0] = 5
    return one, other


def written_in_the_next_turn(x: Any) -> Any:
    turn, newest, end = 0, x + 1, x[1]
    while turn < end:
        newest[0] += 1
        newest = x * 0.5 + newest[0]
        x = newest
        turn += 1
    return x, newest


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize(
    "function",
    [newest_of_a_loop, newest_of_a_loop_in_a_loop, both_of_an_arm, part_of_an_arm, written_in_the_next_turn],
    ids=lambda one: one.__name__,
)
def test_writes_are_seen_by_both(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "1")
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(function)
    for values in (np.arange(5.0) + 3, np.arange(5.0) - 3):
        wanted = function(values.copy()) if values[1] > 0 or function is not newest_of_a_loop else None
        if wanted is not None:
            for one, other in zip(compiled(values.copy()), wanted, strict=True):
                np.testing.assert_array_equal(one, other)
