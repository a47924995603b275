"""Small arrays that a function makes and writes to in turns which are tried one by one, then taken as one loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit


def work(x: Any) -> Any:
    """Many operations, so that a few turns are too many to be traced one by one."""
    for _ in range(12):
        x = np.sqrt(x * x + 1.0) * 0.5 + x[::-1] * 0.25 - x.mean() + 0.125
    return x


def element(x: Any) -> Any:
    counts = np.zeros(3)
    turns = 0.0
    while turns < 30:
        counts[1] += 1.0
        x = work(x)
        turns += 1
    return x, counts


def in_a_counted_loop(x: Any) -> Any:
    counts = np.zeros(4, np.int64)
    for k in range(40):
        counts[k % 4] += k
        x = work(x)
    return x, counts


def by_ufuncs(x: Any) -> Any:
    weights, turns = np.ones(3), 0.0
    while turns < 30:
        weights *= 1.5
        np.add(weights, 0.25, out=weights)
        np.subtract.at(weights, [0, 0, 2], 0.5)
        x = work(x) + weights[0]
        turns += 1
    return x, weights


def by_functions(x: Any) -> Any:
    table, order, turns = np.arange(6.0), np.array([3, 1, 2]), 0.0
    while turns < 30:
        np.copyto(table[:2], table[4:])
        np.put(table, [5], turns)
        table[2:4].fill(turns)
        order.sort()
        order[0] += 4
        x = work(x) * 0.5
        turns += 1
    return x, table, order


def through_a_view(x: Any) -> Any:
    table, turns = np.zeros((2, 3)), 0.0
    row = table[1]
    while turns < 30:
        row += 1.0
        table[0, 0] = row[1] * 2.0
        x = work(x)
        turns += 1
    return x, table, row


def then_something_traced(x: Any) -> Any:
    table, turns = np.zeros(3), 0.0
    while turns < 30:
        table[0] += 1.0
        table[1] = x[0]
        table[2] += 1.0
        x = work(x)
        turns += 1
    return x, table


def in_nested_loops(x: Any) -> Any:
    table, turns = np.ones(3), 0.0
    while turns < 4:
        for _ in x:
            x = x * table.mean()
        table[1] //= 2.0
        turns += 1
    return x, table


def in_an_inner_loop(x: Any) -> Any:
    table, turns = np.ones(3), 0.0
    while turns < 6:
        for k in range(30):
            table[k % 3] += 0.5
            x = work(x) + table[0]
        turns += 1
    return x, table


def in_a_list(x: Any) -> Any:
    tables, turns = [np.zeros(2), np.ones(2)], 0.0
    while turns < 30:
        tables[0][0] += 1.0
        tables[1] *= 0.5
        x = work(x)
        turns += 1
    return x, tables[0], tables[1]


def in_a_branch(x: Any) -> Any:
    table, turns = np.zeros(2), 0.0
    while turns < 30:
        if turns % 2:
            table[1] += 1.0
        x = work(x)
        if x[0] > 0.5:
            table[0] += 1.0
        turns += 1
    return x, table


def helper(table: Any) -> Any:
    table[0] += 1.0
    return table[0]


def in_a_helper(x: Any) -> Any:
    table, turns = np.zeros(2), 0.0
    while turns < 30:
        x = work(x) * (1.0 + 0.01 * helper(table))
        turns += 1
    return x, table


def before_and_behind(x: Any) -> Any:
    table, turns = np.zeros(2), 0.0
    table[1] = 7.0
    while turns < 30:
        table[0] += table[1]
        x = work(x)
        turns += 1
    table[1] += table[0]
    return x, table


@pytest.mark.parametrize(
    "function",
    [
        *(element, in_a_counted_loop, by_ufuncs, by_functions, through_a_view, then_something_traced),
        *(in_nested_loops, in_an_inner_loop, in_a_list, in_a_branch, in_a_helper, before_and_behind),
    ],
)
def test_trials_leave_nothing_behind(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    x = np.linspace(0.1, 0.9, 4)
    for _ in range(2):
        for found, wanted in zip(compiled(x.copy()), function(x.copy()), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
