"""Deques, and lists that are filled, cleared and taken from in the middle, where only the run decides."""

from __future__ import annotations

import collections
from collections import deque
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.comprehensions.test_work_lists import LINES, grids
from tests.capture.numbers.beside_python import check_whole
from tests.capture.splits.split_calls import check_same, split


def by_a_deque(mask: Any, i: int, j: int) -> Any:
    n, m = mask.shape
    dist = np.full((n, m), np.inf)
    dist[i, j] = 0
    queue = deque([(i, j)])
    while queue:
        i, j = queue.popleft()
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < m and mask[a, b] and dist[a, b] == np.inf:
                dist[a, b] = dist[i, j] + 1
                queue.append((a, b))
    return dist


def by_an_empty_deque(mask: Any, i: int, j: int) -> Any:
    n, m = mask.shape
    seen = np.zeros((n, m), bool)
    queue = collections.deque()
    queue.append((i, j))
    order = 0
    while len(queue) > 0:
        i, j = queue.popleft()
        if not (0 <= i < n and 0 <= j < m) or seen[i, j] or not mask[i, j]:
            continue
        seen[i, j] = True
        order += i * j
        queue.extend([(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)])
    return seen, order


@pytest.mark.parametrize("function", [by_a_deque, by_an_empty_deque])
def test_deques_are_lists_with_two_ends(function: Any) -> None:
    check_whole(function, *grids(0.65))


def given_back(x: Any) -> Any:
    queue = deque([x[0]])
    while queue[-1] < 50.0:
        queue.append(queue[-1] * 2 + queue[0])
        if len(queue) > 3:
            queue.popleft()
    return queue


def of_a_largest_length(x: Any) -> Any:
    queue = deque(maxlen=3)
    for v in x:
        if v > 4.0:
            queue.append(v)
    return sum(queue)


def turned(x: Any) -> Any:
    queue = deque([1.0, 2.0, 3.0])
    for v in x:
        if v > 5.0:
            queue.rotate(1)
    return queue[0]


@pytest.mark.parametrize("function", [given_back, of_a_largest_length, turned])
def test_deques_are_pythons_where_they_are_more_than_that(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for (x,) in LINES:
            check_same(compiled(x), function(x))


def means(x: Any) -> Any:
    last, found = [], []
    for v in x:
        last.append(v)
        if len(last) > 4:
            last.pop(0)
        found.append(sum(last) / len(last))
    return np.array(found), last


def kept_short(x: Any) -> Any:
    last, total = [x[1]], 0.0
    for v in x:
        last.append(v * 2)
        total += last.pop(0)
        if v > 5:
            while len(last) > 1:
                total += last.pop()
        if v > 7:
            last.append(v)
        total = total * 0.5 + last[-1]
    return total, last


def in_threes(x: Any) -> Any:
    some, found = [], []
    for v in x:
        if v > 3.0:
            some.append(v)
        if len(some) == 3:
            found.append(sum(some) / 3)
            some.clear()
    return np.array(found), len(some), some


def out_of_the_middle(x: Any) -> Any:
    left, order, k = [0], [], 0
    while len(left) < x[0] + 5:
        left.append(len(left) * 3)
    while len(left) > 1:
        k = (k + 2) % len(left)
        order.append(left.pop(k))
    return order, left


def of_arrays(x: Any) -> Any:
    found = [1.0]
    while len(found) < x[0] * 10:
        found.extend(x[:3])
        found += (x[3], x[4])
    return found


@pytest.mark.parametrize("function", [means, kept_short, in_threes, out_of_the_middle, of_arrays])
def test_lists_are_cleared_extended_and_taken_from(function: Any) -> None:
    check_whole(function, *LINES)


def halves(x: Any) -> Any:
    stack, parts, total = [x.copy()], 0, 0.0
    while stack:
        part = stack.pop()
        part[0] += 0.001
        parts += 1
        if part.sum() < 20.0:
            total += part[0]
        else:
            stack.append(part * 0.5)
            stack.append(part * 0.25 + 0.01)
    return parts, total


def settled(x: Any) -> Any:
    history = [x.copy()]
    for _ in range(200):
        history.append(0.5 * (history[-1] + np.roll(history[-1], 1)))
        if np.abs(history[-1] - history[-2]).max() < 1e-2:
            break
    return history[-1], len(history)


@pytest.mark.parametrize("function", [halves, settled])
def test_arrays_of_one_shape_are_taken_from_lists(function: Any) -> None:
    check_whole(function, *LINES)


def written_in_the_list(x: Any) -> Any:
    history = [x.copy()]
    while history[-1][0] < 40.0:
        history.append(history[-1] * 1.5 + 1.0)
        history[-1][1] = 7.0
    return history[-1]


def written_by_its_name(x: Any) -> Any:
    history = [x.copy()]
    while history[-1][0] < 40.0:
        last = history[-1] * 1.5 + 1.0
        history.append(last)
        last[1] = 7.0
    return history[-1]


@pytest.mark.parametrize("function", [written_in_the_list, written_by_its_name])
def test_writes_to_arrays_of_a_list_are_seen_in_it(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for (x,) in LINES:
            check_same(compiled(x), function(x))


def chosen_then_popped(x: Any) -> Any:
    some = [v for v in x if v > 5]
    total = 0.0
    while some:
        total = total * 0.5 + some.pop()
        if total > 12:
            some.append(1.0 * x[0])
            total -= 11
    return total, some


def joined_in_pairs(x: Any) -> Any:
    work = [(k, v) for k, v in enumerate(x) if v > 5]
    found = []
    while len(work) > 1:
        a, b = work.pop(0), work.pop(0)
        work.append((a[0] + b[0], max(a[1], b[1])))
        found.append(a[0])
    return found, work


def in_turns(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        near = [j for j in range(len(x)) if abs(x[i] - x[j]) < 2 and j != i]
        while near:
            total = total * 0.9 + x[near.pop()]
    return total


def order_of(edges: Any) -> Any:
    n = len(edges)
    left = edges.sum(axis=0)
    ready, order = [i for i in range(n) if left[i] == 0], []
    while ready:
        v = ready.pop()
        order.append(v)
        for w in range(n):
            if edges[v, w]:
                left[w] -= 1
                if left[w] == 0:
                    ready.append(w)
    return order


def test_lists_of_comprehensions_grow_and_shrink() -> None:
    for function in (chosen_then_popped, joined_in_pairs, in_turns):
        check_whole(function, *LINES)
    rngs = map(np.random.default_rng, range(3))
    check_whole(order_of, *((np.triu(rng.random((14, 14)) < 0.3, 1).astype(int),) for rng in rngs))


def cascade(energy: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    particles, ends = [(energy[0], 0)], []
    while particles:
        e, generation = particles.pop()
        if e < 1.0:
            ends.append((e, generation))
            continue
        share = rng.random()
        particles.append((e * share, generation + 1))
        particles.append((e * (1 - share), generation + 1))
    return len(ends), ends[0], rng.random()


def two_generators(x: Any, seed: int) -> Any:
    one, other = np.random.default_rng(seed), np.random.default_rng(seed)
    found = [x[0]]
    while found[-1] < 20.0:
        found.append(found[-1] + one.random())
    return len(found), one.random(), other.random()


@pytest.mark.parametrize("function", [cascade, two_generators])
def test_generators_that_the_function_makes_draw_beside_stacks(function: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for seed in range(3):
            energy = np.array([15.0 + seed])
            check_same(compiled(energy, seed), function(energy, seed))
    assert compiled.stats().fallbacks == 0


def unzipped(x: Any) -> Any:
    rows, t = [], 0.0
    while t < x[0]:
        rows.append((t, x[1] - t * x[2], len(rows)))
        t += 0.25
    times, values, numbers = zip(*rows)  # noqa: B905
    return np.array(times), np.array(values).max(), numbers, values[-1], len(times), sum(numbers)


def unzipped_choices(x: Any) -> Any:
    places, values = zip(*[(k, v) for k, v in enumerate(x) if v > 5.0])  # noqa: B905
    return np.array(places), np.array(values), values


def test_zip_gives_the_columns_of_lists_of_tuples() -> None:
    none = (np.zeros(40) - 1.0,)
    check_whole(unzipped, *LINES, none)
    check_whole(unzipped_choices, *LINES, none)
