"""Functions of ``heapq`` and ``bisect`` on lists that only the run knows: the same lists as Python's own leave."""

from __future__ import annotations

import bisect
import heapq
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from xjit.errors import FallbackWarning

RNG = np.random.default_rng(5)
FLOATS = RNG.standard_normal(40)
WITH_NAN = np.where(np.arange(40) % 13 == 3, np.nan, FLOATS)
WHOLE = RNG.integers(0, 9, 40)
LINES = [(FLOATS,), (WITH_NAN,), (np.zeros(0),)]


def kept(x: Any) -> Any:
    heap: list[Any] = []
    for v in x:
        heappush(heap, v)
        if len(heap) > 7:
            heappop(heap)
    return heap


def in_order(x: Any) -> Any:
    heap: list[Any] = []
    for v in x:
        heapq.heappush(heap, v)
    found = []
    while heap:
        found.append(heapq.heappop(heap))
    return found


def least_cost(x: Any) -> Any:
    heap = list(x)
    heapify(heap)
    total = 0.0
    while len(heap) > 1:
        both = heappop(heap) + heappop(heap)
        total += both
        heappush(heap, both)
    return total


def largest(x: Any) -> Any:
    heap = [-1.0, 0.0, 0.5]
    for v in x:
        if v > heap[0]:
            heapreplace(heap, v)
    return heap


def places_in_order(x: Any) -> Any:
    heap: list[Any] = []
    for k in range(len(x)):
        heappush(heap, (x[k], k))
    found = []
    while heap:
        _, k = heappop(heap)
        found.append(k)
    return found


def first_of(x: Any) -> Any:
    heap: list[Any] = []
    for v in x:
        if v > 0:
            heappush(heap, v)
    return heappop(heap)


@pytest.mark.parametrize("function", [kept, in_order, least_cost, places_in_order, first_of])
def test_heaps_are_those_of_python(function: Any) -> None:
    check_whole(function, *LINES)


def test_first_entries_that_are_replaced_are_those_of_python() -> None:
    check_whole(largest, (FLOATS,), (WITH_NAN,), (np.zeros(0),))


@pytest.mark.parametrize("function", [kept, places_in_order])
def test_heaps_of_integers_are_those_of_python(function: Any) -> None:
    check_whole(function, (WHOLE,), (WHOLE[::-1].copy(),))


def distances(starts: Any, ends: Any, lengths: Any, source: int) -> Any:
    count = len(starts) - 1
    found = np.full(count, np.inf)
    found[source] = 0.0
    queue = [(0.0, source)]
    while queue:
        d, u = heappop(queue)
        if d > found[u]:
            continue
        for edge in range(starts[u], starts[u + 1]):
            v, length = ends[edge], d + lengths[edge]
            if length < found[v]:
                found[v] = length
                heappush(queue, (length, v))
    return found


def test_shortest_paths_by_a_heap_of_pairs() -> None:
    edges = RNG.random((30, 30)) < 0.15
    starts, ends = np.concatenate([[0], np.cumsum(edges.sum(1))]), np.nonzero(edges)[1]
    check_whole(distances, *((starts, ends, RNG.random(len(ends)), source) for source in (0, 7)))


def rising(x: Any) -> Any:
    tails: list[Any] = []
    for v in x:
        k = bisect.bisect_left(tails, v)
        if k == len(tails):
            tails.append(v)
        else:
            tails[k] = v
    return tails, len(tails)


def inversions(x: Any) -> Any:
    found: list[Any] = []
    count = 0
    for v in x:
        count += len(found) - bisect.bisect(found, v)
        bisect.insort(found, v)
    return found, count


def from_the_left(x: Any) -> Any:
    found: list[Any] = []
    for v in x:
        bisect.insort_left(found, v)
    return found


def in_an_array(x: Any) -> Any:
    borders, count = np.sort(x), 0
    for v in x:
        count += bisect.bisect_left(borders, v) + bisect.bisect_right(borders, v)
    return count


@pytest.mark.parametrize("function", [rising, inversions, from_the_left, in_an_array])
def test_places_in_sorted_lists_are_those_of_python(function: Any) -> None:
    check_whole(function, *LINES)


def in_the_middle(x: Any) -> Any:
    found = [0.5]
    for v in x:
        if v > 0:
            found.insert(len(found) // 2, v)
    return found


def in_front(x: Any) -> Any:
    found: list[Any] = []
    for v in x:
        if v > 0:
            found.insert(0, v)
    return found


@pytest.mark.parametrize("function", [in_the_middle, in_front])
def test_insert_puts_entries_where_python_does(function: Any) -> None:
    check_whole(function, (FLOATS,), (-np.abs(FLOATS),))


def behind_all(x: Any) -> Any:
    found = [0.5]
    for v in x:
        if v > 0:
            found.insert(len(found) + 3, v)
    return found


def test_insert_behind_the_end_is_pythons() -> None:
    compiled = xjit.jit(behind_all)
    for _ in range(3):
        assert compiled(FLOATS) == behind_all(FLOATS)


def of_texts(x: Any) -> Any:
    heap: list[Any] = []
    for name in ("b", "a", "c"):
        heappush(heap, name)
    return heap, x + 1.0


def test_heaps_that_python_knows_are_its_own() -> None:
    heap, array = xjit.jit(of_texts, strict=True)(FLOATS)
    assert heap == ["a", "b", "c"] and (array == FLOATS + 1.0).all()


def within(x: Any) -> Any:
    found: list[Any] = []
    for v in x:
        found.insert(bisect.bisect(found, v, 0, len(found)), v)
    return found


def test_bounds_of_a_search_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(within)
    with pytest.warns(FallbackWarning):
        assert compiled(FLOATS) == within(FLOATS)
    assert compiled(FLOATS) == within(FLOATS)
