"""Lists whose lengths change in loops and branches that only the run decides: objects of the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_same, check_split, split

X = np.random.default_rng(0).standard_normal(12)


def chosen(x: Any) -> Any:
    found = []
    for i in range(len(x)):
        if x[i] > 0.0:
            found.append(i)
    return np.array(found)


def until(x: Any) -> Any:
    sums: Any = []
    steps = 0
    while x[0] < 4.0 and steps < 9:
        x = x + 1.0
        sums.append(x.max())
        steps += 1
    return sums, len(sums), sums[-1] * 2.0, np.mean(sums)


def several_names(x: Any) -> Any:
    one: Any = []
    two: Any = []
    both = {"one": one, "two": two}
    if x[0] > 0.0:
        both["one"].append((x[0], "first"))
        current = one
    else:
        two.extend([x[1], 3])
        current = one
    current.insert(0, 5)
    return one, both["two"]


def stack(x: Any) -> Any:
    waiting: Any = []
    order: Any = []
    waiting.append(0)
    total, turns = 0.0, 0
    while waiting:
        order.append(waiting.pop())
        turns += 1
        if turns < 6 and x[turns] < 9.0:
            waiting.append(turns)
            waiting.append(turns)
        total += x[turns]
    return total, turns, order


@pytest.mark.parametrize("function", [chosen, until, several_names, stack])
def test_lists_are_as_pythons(function: Any) -> None:
    for x in (X, -X):
        check_split(function, x)


def test_lists_in_short_loops_are_known() -> None:
    def f(x: Any) -> Any:
        found = []
        for one in x:
            found.append(one * 2.0)
        return np.array(found), found[3]

    np.testing.assert_equal(xjit.jit(strict=True)(f)(X), f(X))


def arrays(x: Any) -> Any:
    found, k = [], 0
    while x[0] < 3.0 and k < 5:
        x = x + 1.0
        found.append(x)
        k += 1
    return found


def later(x: Any) -> Any:
    found: Any = []
    if x[0] > 0.0:
        found.append(1.0)
    found += [x]
    return found


@pytest.mark.parametrize("function", [arrays, later])
def test_arrays_in_lists_stay_the_functions(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for _ in range(2):
            check_same(compiled(X), function(X))
        assert compiled.stats().fallbacks > 0
