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


LINE = np.linspace(0.0, 1.0, 5)


def sum_with_zeros(c: Any) -> Any:
    zeros = np.zeros(5)
    found = zeros + LINE
    zeros[0] = 5.0
    return c + 1 if found[0] > 1 else c - 1


def sum_that_is_written(c: Any) -> Any:
    found = LINE * 2
    doubled = found + 0.0
    found[0] += c
    return c + 1 if doubled[0] > 0 else c - 1


def turns_until_nothing_is_left(c: Any) -> Any:
    left, count = LINE * 2, np.zeros(5, int)
    for _ in range(30):
        many = left > 0.1
        left[many] -= c
        count += many
        if not many.any():
            break
    return left, count


def options_of_a_ufunc(c: Any) -> Any:
    return c if np.add.reduce(LINE, axis=0) > 2 and np.add(LINE, LINE, dtype=np.float32)[1] > 0.1 else -c


@pytest.mark.parametrize(
    "function", [sum_with_zeros, sum_that_is_written, turns_until_nothing_is_left, options_of_a_ufunc]
)
def test_numbers_are_known_until_they_are_written_over(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    for c in (0.3, 0.4, 0.3):
        for found, wanted in zip(np.atleast_1d(compiled(c)), np.atleast_1d(function(c)), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


def lengths_of_cycles(order: Any) -> Any:
    seen, found = np.zeros(len(order), bool), np.zeros(len(order), int)
    for start in range(len(order)):
        place = start
        while not seen[place]:
            seen[place] = True
            found[start] += 1
            place = order[place]
    return found


def permuted_in_place(order: Any) -> Any:
    values, seen = np.arange(len(order)) * 1.5, np.zeros(len(order), bool)
    for start in range(len(order)):
        place, first = start, values[start]
        while not seen[place]:
            seen[place] = True
            source = order[place]
            values[place] = first if seen[source] else values[source]
            place = source
    return values


def constant_at_a_place(order: Any) -> Any:
    seen = np.zeros(len(order), bool)
    seen[0] = True
    return order + 1 if seen[order[0]] else order - 1


@pytest.mark.parametrize("function", [lengths_of_cycles, permuted_in_place, constant_at_a_place])
def test_constants_at_places_that_only_the_run_knows(function: Any) -> None:
    compiled, rng = xjit.jit(function, strict=True), np.random.default_rng(4)
    for _ in range(4):
        order = rng.permutation(16)
        np.testing.assert_array_equal(compiled(order), function(order))


def view_in_a_counted_body(x: Any, number: Any) -> Any:
    table = np.ones(3)
    for _ in range(int(x[0])):
        every_other = table[::2]
        every_other[...] = number
    return table


def view_in_a_body(x: Any, number: Any) -> Any:
    table, turns = np.ones(3, int), 0
    while turns < x[0]:
        row = table[1:]
        row += 2
        turns += 1
    return table, turns


@pytest.mark.parametrize("function", [view_in_a_counted_body, view_in_a_body])
def test_views_that_bodies_make_of_constants(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    for first in (0.0, 3.0, 0.0, 40.0):
        x = np.array([first])
        found, wanted = compiled(x, 2.0), function(x, 2.0)
        pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
        for one, other in pairs:
            np.testing.assert_array_equal(one, other)
