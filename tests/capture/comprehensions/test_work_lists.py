"""Lists that loops make longer and shorter, and of which they read entries: stacks, queues, histories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from tests.capture.splits.split_calls import check_same, split


def grids(density: float) -> list[Any]:
    rngs = map(np.random.default_rng, range(3))
    found = [(rng.random((13, 17)) < density, 2, 3) for rng in rngs]
    for grid, i, j in found:
        grid[i, j] = True
    return found


def points(count: int) -> list[Any]:
    found = [np.random.default_rng(seed).random((count, 2)) for seed in range(3)]
    return [(one[np.argsort(one[:, 0])],) for one in found]


LINES = [(np.random.default_rng(seed).random(40) * 10.0,) for seed in range(3)]


def flood(mask: Any, i: int, j: int) -> Any:
    n, m = mask.shape
    seen = np.zeros((n, m), bool)
    stack, count = [(i, j)], 0
    while stack:
        i, j = stack.pop()
        if i < 0 or j < 0 or i >= n or j >= m:
            continue
        if seen[i, j] or not mask[i, j]:
            continue
        seen[i, j] = True
        count += 1
        stack.append((i + 1, j))
        stack.append((i - 1, j))
        stack.append((i, j + 1))
        stack.append((i, j - 1))
    return seen, count, len(stack)


def distances(mask: Any, i: int, j: int) -> Any:
    n, m = mask.shape
    dist = np.full((n, m), -1)
    dist[i, j] = 0
    queue = [(i, j)]
    while queue:
        i, j = queue.pop(0)
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < m and mask[a, b] and dist[a, b] < 0:
                dist[a, b] = dist[i, j] + 1
                queue.append((a, b))
    return dist


def by_a_head(mask: Any, i: int, j: int) -> Any:
    n, m = mask.shape
    dist = np.full((n, m), -1)
    dist[i, j] = 0
    queue, head = [(i, j)], 0
    while head < len(queue):
        i, j = queue[head]
        head += 1
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < m and mask[a, b] and dist[a, b] < 0:
                dist[a, b] = dist[i, j] + 1
                queue.append((a, b))
    return dist, queue


@pytest.mark.parametrize("function", [flood, distances, by_a_head])
def test_pairs_wait_on_stacks_and_in_queues(function: Any) -> None:
    compiled = check_whole(function, *grids(0.65))
    assert compiled.stats().traces == 1


def hull(p: Any) -> Any:
    found = []
    for k in range(len(p)):
        x, y = p[k, 0], p[k, 1]
        while (
            len(found) >= 2
            and (found[-1][0] - found[-2][0]) * (y - found[-2][1])
            - (found[-1][1] - found[-2][1]) * (x - found[-2][0])
            <= 0
        ):
            found.pop()
        found.append((x, y))
    return np.array(found)


def hull_by_places(p: Any) -> Any:
    found = []
    for k in range(len(p)):
        while len(found) >= 2:
            a, b = found[-2], found[-1]
            turn = (p[b, 0] - p[a, 0]) * (p[k, 1] - p[a, 1]) - (p[b, 1] - p[a, 1]) * (p[k, 0] - p[a, 0])
            if turn > 0:
                break
            found.pop()
        found.append(k)
    return found


@pytest.mark.parametrize("function", [hull, hull_by_places])
def test_conditions_look_at_the_last_entries(function: Any) -> None:
    check_whole(function, *points(60))


def next_larger(x: Any) -> Any:
    found, stack = np.full(len(x), -1), []
    for i in range(len(x)):
        while stack and x[stack[-1]] < x[i]:
            found[stack.pop()] = i
        stack.append(i)
    return found, stack


def newton(x: Any) -> Any:
    history = [x[0]]
    while True:
        history.append(history[-1] - (history[-1] ** 2 - x[1]) / (2 * history[-1]))
        if abs(history[-1] - history[-2]) < 1e-10:
            break
    return history[-1], history[0], len(history)


def first_ones(x: Any) -> Any:
    found = []
    for v in x:
        if v > 5 and len(found) < 3:
            found.append(v)
    return np.array(found), len(found)


def merged(x: Any) -> Any:
    starts = np.sort(x)
    found = [(starts[0], starts[0] + 0.1)]
    for a in starts[1:]:
        if a <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], a + 0.1))
        else:
            found.append((a, a + 0.1))
    return np.array(found)


def merged_lists(x: Any) -> Any:
    starts = np.sort(x)
    found = [[starts[0], starts[0] + 0.1]]
    for k in range(1, len(starts)):
        if starts[k] <= found[-1][1]:
            found[-1][1] = starts[k] + 0.1
        else:
            found.append([starts[k], starts[k] + 0.1])
    return np.array(found)


def gone_through_between(x: Any) -> Any:
    found, total = [x[0]], 0.0
    while found[-1] < 100.0:
        for one in found:
            total = total * 0.5 + one
        found.append(found[-1] * 1.5 + 1.0)
    return total, found


@pytest.mark.parametrize("function", [next_larger, newton, first_ones, merged, merged_lists, gone_through_between])
def test_loops_read_and_assign_entries(function: Any) -> None:
    compiled = check_whole(function, *LINES)
    assert compiled.stats().traces == 1


def of_two_classes(x: Any) -> Any:
    found = [1.0]
    while found[-1] > 1e-3 and len(found) < 50:
        found.append(found[-1] * x[0] / 11)
    return found, found[0], found[-1]


def of_integers_and_floats(x: Any) -> Any:
    found = [0]
    for v in x:
        if v > 5:
            found.append(found[-1] + v)
    return found, found[-1]


def of_integers_that_floats_do_not_hold(x: Any) -> Any:
    found, k = [0], int(x[0] * 2**50)
    for v in x:
        if v > 5:
            found.append(found[-1] + v)
        elif v > 3 and k < 2**61:
            k = k * 2 + 1
            found.append(k)
    return found


def while_the_largest_is_small(x: Any) -> Any:
    found = [1.0]
    while max(found) < 30:
        found.append(found[-1] + x[0])
        if len(found) > 4:
            found.pop(0)
    return found, min(found)


def reached(first: Any, after: Any, begin: int) -> Any:
    seen = np.zeros(len(first) - 1, bool)
    order, stack = [], [begin]
    while stack:
        v = stack.pop()
        if seen[v]:
            continue
        seen[v] = True
        order.append(v)
        for k in range(first[v], first[v + 1]):
            if not seen[after[k]]:
                stack.append(after[k])
    return order


def test_numbers_of_python_stand_beside_those_of_numpy() -> None:
    check_whole(of_two_classes, *LINES)
    check_whole(of_integers_and_floats, *LINES)
    for function in (of_integers_that_floats_do_not_hold, while_the_largest_is_small):
        compiled = xjit.jit(function)
        with split():
            for (x,) in LINES:
                check_same(compiled(x), function(x))
    rngs = map(np.random.default_rng, range(3))
    check_whole(reached, *((np.arange(0, 91, 3), rng.integers(0, 30, 90), 4 + k) for k, rng in enumerate(rngs)))


def emptied(x: Any) -> Any:
    stack, total = [x[0], x[1]], 0.0
    while total < x[2]:
        total += stack.pop()
    return total, len(stack)


def out_of_place(x: Any) -> Any:
    found, head = [x[0]], 0
    while found[head] < x[2]:
        if x[1] > 0.0:
            found.append(found[-1] + 1.0)
        head += 1
    return head


def test_errors_are_pythons() -> None:
    lines = [np.array(one) for one in ([3.0, 1.0, 2.0], [1.0, 0.0, 2.0], [1.0, 2.0, 2.5])]
    check_whole(emptied, *((x,) for x in lines))
    check_whole(out_of_place, *((x,) for x in lines))


def changed_while_gone_through(x: Any) -> Any:
    found = [x[0], x[1]]
    while found[-1] > 1.0:
        found.append(found[-1] / 2)
    for one in found:
        if len(found) < 70 and one > 0.5:
            found.append(one / 2)
    return np.array(found)


def test_loops_that_go_through_a_list_and_change_it_are_pythons() -> None:
    compiled = xjit.jit(changed_while_gone_through)
    with split():
        for (x,) in LINES:
            check_same(compiled(x), changed_while_gone_through(x))


def piled(x: Any) -> Any:
    stack, k = [0], 0
    while k < x[0] * 2_000:
        stack.append(k)
        k += 1
    while len(stack) > 1 and stack[-1] > 7:
        stack.pop()
    return stack[-1], len(stack), stack


def test_stacks_may_be_higher_than_there_is_room_for() -> None:
    compiled = check_whole(piled, *((np.array([high]),) for high in (1.0, 30.0, 2.0, 29.0)))
    assert compiled.stats().traces == 2


def over_a_list_that_is_too_long(x: Any) -> Any:
    found, k, total = [], 0, 0
    while k < x[0] * 2_000:
        found.append(k % 7)
        k += 1
    for one in found:
        total = total * 3 % 1001 + one
    return total


def test_loops_go_through_lists_that_are_longer_than_expected() -> None:
    compiled = check_whole(over_a_list_that_is_too_long, *((np.array([high]),) for high in (1.0, 30.0, 2.0)))
    assert compiled.stats().traces == 2


@pytest.mark.parametrize(("function", "bounds"), [(flood, 1), (distances, 2)])
def test_entries_are_kept_within_their_room_once_a_turn(function: Any, bounds: int) -> None:
    source = xjit.jit(function).source(*grids(0.7)[0])
    inside = [line for line in source.splitlines() if line.startswith("    " * 2)]
    assert sum("fmin(" in line or "fmax(" in line for line in inside) == bounds


def flood_within(mask: Any, i: int, j: int) -> Any:
    n, m = mask.shape
    seen = np.zeros((n, m), bool)
    stack, count = [(i, j)], 0
    while stack:
        i, j = stack.pop()
        if seen[i, j] or not mask[i, j]:
            continue
        seen[i, j] = True
        count += 1
        if i > 0:
            stack.append((i - 1, j))
        if i < n - 1:
            stack.append((i + 1, j))
        if j > 0:
            stack.append((i, j - 1))
        if j < m - 1:
            stack.append((i, j + 1))
    return seen, count


def test_entries_that_conditions_read_are_kept_rather_than_copies_of_the_list() -> None:
    """An entry that a turn pops is stored before the next push writes over it: a turn goes through no list."""
    compiled = check_whole(flood_within, *grids(0.6))
    turn = str(compiled.source(*grids(0.6)[0])).split("while ")[1].split("turn0 = ")[0]
    assert " for " not in turn
