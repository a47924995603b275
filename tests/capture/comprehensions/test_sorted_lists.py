"""Lists of the run that are sorted and reversed, by their entries or by a key, in place or as new lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole, outcome
from tests.capture.splits.split_calls import split

LINES = [(np.round(np.random.default_rng(seed).normal(size=size), 1),) for seed, size in enumerate((100, 100, 7, 1))]
POINTS = [(np.random.default_rng(seed).random((9, 2)),) for seed in range(3)]


def numbers(x: Any) -> Any:
    found = []
    for v in x:
        if v > -9:
            found.append(float(v))
    found.sort()
    return found


def falling(x: Any) -> Any:
    found = []
    for i in range(len(x)):
        if x[i] > -9:
            found.append(int(10 * x[i]))
    found.sort(reverse=True)
    return found, found[0]


def pairs(x: Any) -> Any:
    found = []
    for i in range(len(x)):
        if x[i] > -9:
            found.append((x[i], -i))
    found.sort()
    total = 0.0
    for k, (v, i) in enumerate(found):
        total += k * v + i
    return total, found


def by_key(x: Any) -> Any:
    found = []
    for i in range(len(x)):
        if x[i] > -9:
            found.append((i, x[i]))
    total = 0.0
    for i, v in sorted(found, key=lambda pair: pair[1]):
        total = 0.5 * total + v * i
    return total, found[0], sorted(found, key=lambda pair: -pair[1], reverse=True)


def by_two_keys(x: Any) -> Any:
    found = []
    for i in range(len(x)):
        if x[i] > -9:
            found.append((i, int(x[i]), x[i] > 0))
    found.sort(key=lambda one: (one[2], -one[1]), reverse=True)
    return found


def backwards(x: Any) -> Any:
    found = []
    for i in range(len(x)):
        if x[i] > -9:
            found.append((i, x[i]))
    found.reverse()
    found.append((0, x[0]))
    found.reverse()
    return found


def shortest_edges(p: Any) -> Any:
    n = len(p)
    edges = []
    for i in range(n):
        for j in range(i + 1, n):
            edges.append((np.hypot(p[i, 0] - p[j, 0], p[i, 1] - p[j, 1]), i, j))
    edges.sort()
    parent = list(range(n))
    total = 0.0
    for d, i, j in edges:
        while parent[i] != i:
            i = parent[i]
        while parent[j] != j:
            j = parent[j]
        if i != j:
            parent[i] = j
            total += d
    return total


def medians(x: Any) -> Any:
    window: list[float] = []
    found = np.zeros(len(x))
    for i in range(len(x)):
        window.append(x[i])
        if len(window) > 5:
            window.pop(0)
        ordered = sorted(window)
        found[i] = ordered[len(window) // 2]
    return found


@pytest.mark.parametrize("function", [numbers, falling, pairs, by_key, by_two_keys, backwards])
def test_lists_are_put_in_order(function: Any) -> None:
    check_whole(function, *LINES)


def test_edges_in_order() -> None:
    check_whole(shortest_edges, *POINTS)


def test_sorts_in_turns() -> None:
    check_whole(medians, *LINES[:2])


def test_the_sign_of_zeros_does_not_count() -> None:
    x = np.array([0.0, 3.0, -0.0, 0.0, -1.0, -0.0] * 10)
    check_whole(pairs, (x,))
    check_whole(numbers, (x,))
    check_whole(by_key, (x,))


@pytest.mark.parametrize("function", [numbers, pairs, by_key])
def test_nan_leaves_the_order_to_python(function: Any) -> None:
    x = np.random.default_rng(0).normal(size=50)
    x[20] = np.nan
    compiled = xjit.jit(function)
    with split():
        for arguments in (*LINES[:1], (x,)):
            assert outcome(compiled, arguments) == outcome(function, arguments)
