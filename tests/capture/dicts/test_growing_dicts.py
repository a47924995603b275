"""Dicts to which loops insert keys that only the run tells."""

from __future__ import annotations

import collections
import warnings
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.dicts.keyed_calls import check_keyed, outcome
from xjit.errors import FallbackWarning

RNG = np.random.default_rng(5)
LINES = [RNG.integers(-4, 5, 60), RNG.integers(-900, 900, 60), np.full(60, 7), np.arange(60) * 2**40 - 2**45]
WEIGHTS = [RNG.integers(-50, 50, 60) / 4.0 for _ in LINES]


def counted(a: Any) -> Any:
    counts = {}
    for v in a:
        counts[v] = counts.get(v, 0) + 1
    return counts


def counted_as_integers(a: Any) -> Any:
    counts: dict[int, int] = {}
    for v in a:
        key = int(v)
        if key in counts:
            counts[key] += 1
        else:
            counts[key] = 1
    return counts, len(counts)


def in_a_counter(a: Any) -> Any:
    counts = collections.Counter()
    for v in a:
        counts[int(v)] += 1
    return counts, counts[10**6]


def in_a_default_dict(a: Any) -> Any:
    counts = collections.defaultdict(int)
    for v in a:
        counts[v] += 1
    return counts


def encoded(a: Any) -> Any:
    numbers = dict()  # noqa: C408
    codes = np.zeros(len(a), np.int64)
    for k, v in enumerate(a):
        if v not in numbers:
            numbers[v] = len(numbers)
        codes[k] = numbers[v]
    return codes, numbers


def distances(a: Any) -> Any:
    last, found = {}, 0
    for k, v in enumerate(a):
        if v in last:
            found += k - last[v]
        last[v] = k
    return found, last


def first_places(a: Any) -> Any:
    places = {}
    for k, v in enumerate(a):
        places.setdefault(v, k)
    return places


def paired(a: Any) -> Any:
    counts = {}
    for k in range(len(a) - 1):
        key = (int(a[k]), int(a[k + 1]) % 3)
        counts[key] = counts.get(key, 0) + 1
    return counts


def remembered(a: Any) -> Any:
    known, total = {0: 0, 1: 1}, 0
    for v in a:
        key = abs(int(v)) % 40
        if key not in known:
            total += 1
            known[key] = key * key
        total += known[key]
    return total, known


@pytest.mark.parametrize(
    "function",
    [
        *(counted, counted_as_integers, in_a_counter, in_a_default_dict, encoded, distances, first_places, paired),
        remembered,
    ],
)
def test_keys_are_found_in_the_program(function: Any) -> None:
    compiled = check_keyed(function, *((a,) for a in LINES))
    assert compiled.stats().traces == 1 and compiled.stats().fallbacks == 0


def summed(labels: Any, x: Any) -> Any:
    sums = collections.defaultdict(float)
    for k in range(len(labels)):
        sums[labels[k]] += x[k]
    return sums


def least(labels: Any, x: Any) -> Any:
    found = {}
    for k in range(len(labels)):
        if labels[k] not in found or x[k] < found[labels[k]]:
            found[labels[k]] = x[k]
    return found


def largest_by_label(labels: Any, x: Any) -> Any:
    found = {}
    for k in np.unique(labels):
        part = x[labels == k]
        found[int(k)] = (part.max(), len(part))
    return found


@pytest.mark.parametrize("function", [summed, least, largest_by_label])
def test_values_are_numbers_or_tuples_of_them(function: Any) -> None:
    compiled = check_keyed(function, *zip(LINES, WEIGHTS, strict=True))
    assert compiled.stats().fallbacks == 0


def of_floats(x: Any) -> Any:
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    return counts


def test_keys_may_be_floats() -> None:
    zeros = np.array([0.0, -0.0, 1.0, -0.0])
    check_keyed(of_floats, (zeros,), (-zeros,), (np.array([0.5, 0.1, np.inf, 0.5]),), (np.array([1.0, np.nan] * 2),))


def two_sum(a: Any, target: int) -> Any:
    places = {}
    for k, v in enumerate(a):
        if target - v in places:
            return places[target - v], k
        places[v] = k
    return -1, -1


def test_functions_return_from_the_loop() -> None:
    check_keyed(two_sum, *((a, 14) for a in LINES), (LINES[0], 3))


def looked_up(a: Any) -> Any:
    found = {}
    for k, v in enumerate(a):
        found[v] = k
    return found[7]


def test_a_key_that_is_not_there_is_pythons_error() -> None:
    check_keyed(looked_up, *((a,) for a in LINES))


def steps_to_return(start: Any) -> Any:
    seen, number, step = {}, int(start[0]), 0
    while number not in seen:
        seen[number] = step
        number = (number * number + 7) % 100_003
        step += 1
    return step - seen[number], len(seen)


def steps_to_one(a: Any) -> Any:
    known, longest = {1: 0}, 0
    for v in a:
        first = number = abs(int(v)) % 100 + 1
        steps = 0
        while number not in known:
            number = number // 2 if number % 2 == 0 else 3 * number + 1
            steps += 1
        known[first] = steps + known[number]
        longest = max(longest, known[first])
    return longest, known


def test_entries_from_the_start_are_found() -> None:
    check_keyed(steps_to_one, *((a,) for a in LINES))


def long(start: Any) -> Any:
    seen = {}
    number, left = 0, start[0]
    while left > 0:
        left -= 1
        seen[number] = number % 17
        number += 3
    return seen


def test_there_may_be_more_keys_than_there_is_room_for() -> None:
    check_keyed(steps_to_return, *((np.array([k]),) for k in range(9)))
    check_keyed(long, *((np.array([k]),) for k in (3, 7000, 7000, 0, 9000)))


@pytest.mark.parametrize("arguments", [(encoded, LINES[1]), (counted_as_integers, LINES[0]), (two_sum, LINES[0], 3)])
def test_keys_are_searched_in_front_of_branches(arguments: Any) -> None:
    function, *rest = arguments
    compiled = check_keyed(function, tuple(rest))
    assert "conditional" not in str(compiled.graph(*rest))


def handled(a: Any) -> Any:
    counts = {}
    for v in a:
        try:
            counts[int(v)] += 1
        except KeyError:
            counts[int(v)] = 1
    return counts


def by_text(a: Any) -> Any:
    counts, seen = {}, {}
    for v in a:
        seen[int(v)] = 1
        counts["n"] = counts.get("n", 0) + 1
        counts["last"] = v
    return counts, seen


def deleted(a: Any) -> Any:
    seen = {}
    for v in a:
        if int(v) in seen:
            del seen[int(v)]
        else:
            seen[int(v)] = 1
    return seen


def of_arrays(a: Any) -> Any:
    parts = {}
    for v in np.unique(a):
        parts[int(v)] = a[a == v]
    return parts


def asked_for_none(a: Any) -> Any:
    seen, n = {}, 0
    for v in a:
        if seen.get(int(v)) is None:
            seen[int(v)] = n
            n += 1
    return seen


def named_twice(a: Any) -> Any:
    counts = {}
    other = counts
    for v in a:
        counts[int(v)] = other.get(int(v), 0) + 1
    other[1000] = 1
    return counts, other


def in_turns(a: Any) -> Any:
    found = np.zeros(6, np.int64)
    for k in range(6):
        seen = set()
        for v in a[k * 10 : k * 10 + 10]:
            seen.add(int(v) % 5)
        found[k] = len(seen)
    return found


@pytest.mark.parametrize(
    "function", [handled, by_text, deleted, of_arrays, asked_for_none, named_twice, in_turns, two_sum]
)
def test_other_uses_give_what_python_gives(monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")
    compiled, more = xjit.jit(function), (3,) if function is two_sum else ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for a in LINES:
            assert outcome(compiled, (a, *more)) == outcome(function, (a, *more))
