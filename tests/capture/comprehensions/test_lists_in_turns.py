"""Lists of arrays that turns of loops make: by loops and by comprehensions, each with room of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole, outcome


def neighbours(start: Any, target: Any, root: int) -> Any:
    distance = np.full(len(start) - 1, -1)
    distance[root] = 0
    frontier = np.array([root])
    level = 0
    while frontier.size:
        level += 1
        reached = [target[start[node] : start[node + 1]] for node in frontier]
        candidates = np.unique(np.concatenate(reached))
        frontier = candidates[distance[candidates] < 0]
        distance[frontier] = level
    return distance, level


def neighbours_by_a_loop(start: Any, target: Any, root: int) -> Any:
    distance = np.full(len(start) - 1, -1)
    distance[root] = 0
    frontier = np.array([root])
    while frontier.size:
        reached = []
        for node in frontier:
            reached.append(target[start[node] : start[node + 1]])
        candidates = np.unique(np.concatenate(reached))
        frontier = candidates[distance[candidates] < 0]
        distance[frontier] = distance.max() + 1
    return distance


def graph(nodes: int, degree: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(nodes)
    counts = rng.integers(1, degree, nodes)
    start = np.concatenate(([0], np.cumsum(counts)))
    return start, rng.integers(0, nodes, start[-1])


@pytest.mark.parametrize("function", [neighbours, neighbours_by_a_loop])
def test_a_search_through_a_graph(function: Any) -> None:
    compiled = check_whole(function, *((*graph(n, 5), n // 2) for n in (30, 30, 30)))
    assert compiled.stats().traces == 1


def test_turns_may_need_more_room() -> None:
    few, many = (*graph(600, 6), 3), (*graph(600, 60), 3)
    compiled = check_whole(neighbours, few, many, many, few, many)
    assert compiled.stats().fallbacks == 0


def lasting(x: Any, n: int) -> Any:
    total, number = 0.0, 0
    while number < x[0]:
        parts, k = [], 0
        while k < n:
            parts.append(x[x > number])
            k += 1
        joined = np.concatenate(parts)
        total += joined[len(joined) - 1]
        number += 1
    return total


def test_what_lacks_room_raises_nothing_and_ends() -> None:
    x = np.arange(3.0, 300.0)
    check_whole(lasting, (x, 2), (x, 40), (x, 40), (x, 2))


def of_numbers(x: Any) -> Any:
    total, level = 0, 1
    while level < x.sum():
        found, k = [], 0
        while k < level * 2:
            found.append(k)
            k += 1
        total += np.array(found, dtype=np.int64).sum()
        level += 1
    return total


def of_rows(x: Any) -> Any:
    total = np.zeros(3)
    while total[0] < 40.0:
        found, row = [], x.copy()
        while row.max() > 0.5:
            row = row * 0.5
            found.append(row)
        total = total + np.array(found).sum(axis=0)
    return total


def by_conditions(x: Any, y: Any) -> Any:
    found = [y[: int(v)] for v in x if v > 1.0]
    return np.concatenate(found), len(found)


@pytest.mark.parametrize("function", [of_numbers, of_rows])
def test_lists_of_turns(function: Any) -> None:
    check_whole(function, (np.array([3.0, 2.0, 4.0]),), (np.array([1.0, 9.0, 2.0]),))


def test_comprehensions_of_arrays() -> None:
    y = np.arange(40.0)
    check_whole(by_conditions, (np.array([3.0, 0.5, 7.0]), y), (np.array([0.0, 30.0, 39.0, 2.0, 0.0]), y))


def with_an_error(x: Any, n: int) -> Any:
    number = 0
    while number < x[0]:
        parts, k = [], 0
        while k < n:
            parts.append(x[x > number])
            k += 1
        if np.concatenate(parts).sum() > 2000.0:
            raise ValueError("too much")
        number += 1
    return number


def test_errors_of_the_users_own_come_from_numpy() -> None:
    compiled = xjit.jit(with_an_error, strict=True)
    x = np.arange(3.0, 30.0)
    for n in (2, 2, 9, 9, 2):
        assert outcome(compiled, (x, n)) == outcome(with_an_error, (x, n))
    assert compiled.stats().traces <= 3


def used_behind_the_loop(x: Any, y: Any) -> Any:
    for value in x:
        found: list[Any] = []
        k = 0
        while k < len(y) and y[k] < value:
            found.append(y[k] * 2)
            k += 1
        doubled = np.array(found)
    return found, doubled, k


def test_list_of_the_last_turn_is_used_behind_the_loop() -> None:
    compiled, y = xjit.jit(used_behind_the_loop), np.arange(6.0)
    for x in (np.array([2.5, 4.0, 1.5]), np.array([9.0, 0.0, 3.5])):
        assert outcome(compiled, (x, y)) == outcome(used_behind_the_loop, (x, y))
