"""Effects in conditions: each happens as often as Python evaluates the condition, in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.capture.splits.split_calls import check_same, printed, split
from xjit import xjit

LINE = np.arange(5.0)


def draws_while(x: Any) -> Any:
    count = 0
    while np.random.rand() < 0.7:
        count += 1
    return count, x[count % 5]


def draws_as_long_as(x: Any) -> Any:
    count = 0
    while np.random.rand() < 0.9 and x[0] < 4:
        x[0] += 1
        count += 1
    return x, count


def draws_behind(x: Any) -> Any:
    count = 0
    while x[0] < 4 and np.random.rand() < 0.9:
        x[0] += 1
        count += 1
    return x, count


def prints(x: Any) -> Any:
    count = 0
    while print(count) is None and x[0] < 4:
        x[0] += 1
        count += 1
    return x, count


def in_turns(x: Any) -> Any:
    for i in range(3):
        count = 0
        while np.random.rand() < 0.6 and count < 6:
            count += 1
        x[i] += count
    return x


def until_a_break(x: Any) -> Any:
    while np.random.rand() < 0.95:
        x[0] += 1
        if x[0] > 6:
            break
    return x


def leaves_a_variable(x: Any) -> Any:
    last = 0.0
    while np.random.rand() < 0.7:
        last = x[1] * 2
        x[1] += 1
    return x, last


@pytest.mark.parametrize(
    "function",
    [draws_while, draws_as_long_as, draws_behind, prints, in_turns, until_a_break, leaves_a_variable],
    ids=lambda one: one.__name__,
)
def test_conditions_of_loops_have_effects_once(function: Callable[..., Any]) -> None:
    compiled = xjit(function)
    with split():
        for seed in range(5):
            outcomes = []
            for tried in (compiled, function):
                np.random.seed(seed)
                x = LINE.copy()
                outcomes.append((*printed(tried, (x,)), x, np.random.rand()))
            check_same(*outcomes)
        assert compiled.stats().fallbacks == 0


def bound_by_a_turn(x: Any) -> Any:
    while np.random.rand() < 0.7:
        last = x[1] * 2
        x[1] += 1
    return last


def test_variables_that_only_a_turn_binds_are_left_to_numpy() -> None:
    compiled = xjit(bound_by_a_turn)
    with split():
        for seed in range(5):
            outcomes = []
            for tried in (compiled, bound_by_a_turn):
                np.random.seed(seed)
                try:
                    found = tried(LINE.copy())
                except UnboundLocalError:
                    found = None
                outcomes.append((found, np.random.rand()))
            check_same(*outcomes)
