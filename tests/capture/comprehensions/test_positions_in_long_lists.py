"""Entries of lists of many numbers at positions that only the run knows: such lists are arrays, and stay lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from xjit.errors import FallbackWarning

RNG = np.random.default_rng(11)
PLACES = [
    (RNG.integers(0, 70, 40),),
    (RNG.integers(-70, 70, 40),),
    (np.array([3, 70, 2] + [0] * 37),),
    (np.array([3, -71, 2] + [0] * 37),),
    (np.array([], int),),
]


def counted(x: Any) -> Any:
    counts = [0] * 70
    for v in x:
        counts[v] += 1
    return counts, len(counts), counts[-1], sum(counts), max(counts)


def aliased(x: Any) -> Any:
    first = [1] * 70
    second = first
    for v in x:
        second[-v] = first[v] + 1
    return first, second is first


def flipped(x: Any) -> Any:
    flags = [False] * 70
    for k in x:
        flags[k] = not flags[k]
    return flags


def exchanged(x: Any) -> Any:
    order = list(range(70))
    for k in x:
        order[k], order[k - 1] = order[k - 1], order[k]
    return order


def squares(x: Any) -> Any:
    found = [k * k for k in range(70)]
    total = 0
    for k in x:
        total += found[k]
        found[k] = 0
    return total, found


def longer(x: Any) -> Any:
    found = [0.5] * 70
    for v in x:
        found[v] += 1.0
        if v > 30:
            found.append(2.0)
    return found


def in_turns(x: Any) -> Any:
    total = 0
    for k in range(len(x)):
        found = [0] * 70
        for v in x:
            found[v] += k
        total += found[x[k]]
    return total


def in_an_array(x: Any) -> Any:
    counts = [0] * 70
    for v in x:
        counts[v] += 1
    return np.array(counts) * 2, np.cumsum(counts)


def most_often(x: Any) -> Any:
    counts = [0] * 70
    for v in x:
        counts[v] += 1
    best, place = 0, -1
    for k, count in enumerate(counts):
        if count > best:
            best, place = count, k
    return place, best


@pytest.mark.parametrize(
    "function", [counted, aliased, flipped, exchanged, squares, longer, in_turns, in_an_array, most_often]
)
def test_entries_are_those_of_python(function: Any) -> None:
    check_whole(function, *PLACES)


def fewest_coins(values: Any, amount: int) -> Any:
    fewest = [10**9] * (amount + 1)
    fewest[0] = 0
    for v in values:
        for a in range(v, amount + 1):
            fewest[a] = min(fewest[a], fewest[a - v] + 1)
    return fewest[amount]


def primes(n: int) -> Any:
    flags = [True] * (n + 1)
    flags[0] = flags[1] = False
    for k in range(2, int(n**0.5) + 1):
        if flags[k]:
            for j in range(k * k, n + 1, k):
                flags[j] = False
    count = 0
    for flag in flags:
        if flag:
            count += 1
    return count


def roots(a: Any, b: Any, n: int) -> Any:
    parent = list(range(n))
    for k in range(len(a)):
        i, j = a[k], b[k]
        while parent[i] != i:
            i = parent[i]
        while parent[j] != j:
            j = parent[j]
        if i != j:
            parent[i] = j
    return [k for k in range(n) if parent[k] == k]


def longest_rising(x: Any) -> Any:
    best = [1] * len(x)
    for i in range(len(x)):
        for j in range(i):
            if x[j] < x[i] and best[j] + 1 > best[i]:
                best[i] = best[j] + 1
    return max(best)


def test_programs_over_tables() -> None:
    check_whole(fewest_coins, *((np.array([3, 5, 7]), amount) for amount in (100, 200, 10, 0, 20_000, 150)))
    check_whole(primes, (500,), (1,), (2,), (30_000,), (501,))
    check_whole(longest_rising, (RNG.random(90),), (RNG.random(120),))


def test_as_many_roots_as_python_finds() -> None:
    pairs = RNG.integers(0, 200, (2, 150))
    compiled = xjit.jit(roots)
    for n in (200, 230):
        assert compiled(*pairs, n) == roots(*pairs, n)


def stored(x: Any, y: Any) -> Any:
    found = [0.0] * 80
    for k in range(len(x)):
        found[x[k]] = y[k]
    return found


def test_numbers_of_numpy_keep_their_class_among_those_of_python() -> None:
    check_whole(stored, (PLACES[0][0], RNG.random(40)), (PLACES[1][0], RNG.random(40)))


def of_two_classes(x: Any) -> Any:
    found = [0] * 80
    for k in x:
        found[k] += 0.5
    return found


def test_integers_and_floats_in_one_list_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(of_two_classes)
    with pytest.warns(FallbackWarning, match="a step in Python"):
        compiled(*PLACES[0])
    for arguments in PLACES[:2]:
        found, wanted = compiled(*arguments), of_two_classes(*arguments)
        assert found == wanted and list(map(type, found)) == list(map(type, wanted))


def of_the_run(x: Any) -> Any:
    n = int(x[0])
    ways = [0] * (n + 1)
    ways[0] = 1
    for k in range(1, n + 1):
        ways[k] = ways[k - 1] + ways[k // 2]
    return ways, n


def test_as_many_entries_as_only_the_run_tells() -> None:
    check_whole(of_the_run, *((np.array([n]),) for n in (5, 300, 1, 0, -1, -5, 90)))


def tripled(x: Any) -> Any:
    found = [10**18] * 70
    for k in x:
        found[k] = found[k] * 3
    return found


def test_integers_of_more_than_64_bits_are_pythons() -> None:
    check_whole(tripled, (np.arange(5),), (np.array([1, 1, 1, 2, 2]),))


def stepped(x: Any) -> Any:
    step, found = int(x[0]), []
    for k in range(3, 20, step):
        found.append(k)
    return found


def test_ranges_whose_step_only_the_run_tells() -> None:
    check_whole(stepped, *((np.array([step]),) for step in (1, 2, 3, -4, -1, 100, 0)))
