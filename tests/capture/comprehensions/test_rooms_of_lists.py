"""Rooms of lists that loops make longer: memory of which only the entries are ever written, and read."""

from __future__ import annotations

import re
from collections import deque
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from xjit.ops.dynamic.uninitialized import uninitialized


def reached(edges: Any, start: int) -> int:
    seen = np.zeros(len(edges), dtype=bool)
    stack, count = [start], 0
    while stack:
        k = stack.pop()
        if not seen[k]:
            seen[k] = True
            count += 1
            for j in range(edges.shape[1]):
                stack.append(edges[k, j])
    return count


def levels(edges: Any, start: int) -> Any:
    found = np.full(len(edges), -1)
    found[start] = 0
    queue = deque([(start, 0.5)])
    while queue:
        k, weight = queue.popleft()
        for j in range(edges.shape[1]):
            if found[edges[k, j]] < 0:
                found[edges[k, j]] = found[k] + 1
                queue.append((edges[k, j], weight + 1.0))
    return found


def doubled(x: Any) -> Any:
    pairs = []
    for k in range(len(x)):
        if x[k] > 0.0:
            pairs.append((x[k], 2.0 * x[k]))
    return np.array(pairs), len(pairs)


def distinct_numbers(x: Any) -> Any:
    counts: dict[Any, Any] = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    return len(counts), max(counts.values())


def edges(seed: int, count: int) -> Any:
    return np.random.default_rng(seed).integers(0, count, (count, 3))


EDGES = [(edges(0, 30), 0), (edges(1, 30), 0)]
CALLS = [(reached, EDGES), (levels, EDGES)]


@pytest.mark.parametrize(("function", "calls"), CALLS)
def test_no_kernel_fills_the_room_of_a_list(function: Any, calls: Any) -> None:
    check_whole(function, *calls)
    compiled = xjit.jit(function, strict=True)
    compiled(*calls[0])
    domains = [one.domain for one in compiled.explain(*calls[0]).kernels]
    assert domains and all(max(one, default=0) <= 30 for one in domains), domains


def test_entries_are_those_of_python_after_calls_that_left_others_in_the_memory() -> None:
    rng = np.random.default_rng(3)
    calls = [(rng.standard_normal(50) + shift,) for shift in (2.0, 0.0, -1.0, 1.0)]
    check_whole(doubled, *calls)
    check_whole(distinct_numbers, (rng.integers(0, 9, 60),), (rng.integers(-90, 90, 60),), (np.zeros(60, int),))


def test_uninitialized_memory_has_room_for_so_many_elements() -> None:
    found = uninitialized((3, 2), np.dtype(np.float32))
    assert found.shape == (3, 2) and found.dtype == np.float32


def test_lists_have_arrays_without_elements() -> None:
    def chosen(x: Any) -> Any:
        found = []
        for row in x:
            if np.sum(row) >= 0:
                found.append(row * 2)
        return np.array(found)

    for shape in ((2, 0), (0, 2), (3, 2)):
        one, other = xjit.jit(chosen, strict=True)(np.ones(shape)), chosen(np.ones(shape))
        np.testing.assert_array_equal(one, other, strict=True)


def in_bursts(x: Any, size: int) -> Any:
    stack, total, k = [0], 0, 0
    while stack:
        total += stack.pop()
        if k < size:
            stack.append(k)
            stack.append(x[k % len(x)])
            stack.append(k + 1)
            stack.append(k + 2)
        k += 1
    return total, k


@pytest.mark.parametrize("size", range(5455, 5468))
def test_lists_around_the_end_of_their_room(size: int) -> None:
    x = np.arange(7)
    compiled = xjit.jit(in_bursts)
    for _ in range(2):
        assert compiled(x, size) == in_bursts(x, size)


def ends(x: Any) -> Any:
    """Numbers of a list that is as long as the argument, and of one of each turn."""
    found = []
    for k in range(len(x)):
        if x[k] >= 0:
            found.append(x[k])
    total = 0
    for _ in range(2):
        again = []
        for k in range(len(x)):
            if x[k] > 0:
                again.append(x[k])
        total += len(again)
    return len(found), total, np.array(found)[-1]


def test_a_list_has_room_for_as_many_numbers_as_the_arguments_have() -> None:
    x = np.arange(100_000)
    compiled = xjit.jit(ends)
    assert compiled(x) == ends(x)
    assert compiled(x[::-1].copy()) == ends(x[::-1])
    assert (compiled.stats().traces, compiled.stats().fallbacks) == (1, 0)


def singles(x: Any) -> Any:
    found = []
    for k in range(len(x)):
        if x[k] > 0.0:
            found.append(x[k])
    return np.array(found), len(found)


def rooms_of(function: Any) -> int:
    """Return the numbers that the lists of a function have room for at first."""
    text = str(xjit.jit(function).graph(np.ones(30)))
    return sum(map(int, re.findall(r"= uninitialized .*f64\[(\d+)\]", text)))


def test_entries_of_several_numbers_share_the_room_of_those_of_one() -> None:
    check_whole(doubled, (np.random.default_rng(0).standard_normal(30),))
    assert rooms_of(doubled) < 1.1 * rooms_of(singles)
