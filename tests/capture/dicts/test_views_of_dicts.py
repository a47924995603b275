"""Uses of dicts of which only the run tells the keys, once these are filled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.capture.dicts.keyed_calls import check_keyed

RNG = np.random.default_rng(7)
LINES = [RNG.integers(-4, 5, 60), RNG.integers(-900, 900, 60), np.full(60, 7)]


def counts_of(a: Any) -> Any:
    counts = {}
    for v in a:
        counts[v] = counts.get(v, 0) + 1
    return counts


def entropy(a: Any) -> Any:
    counts = counts_of(a)
    shares = np.array(list(counts.values())) / len(a)
    return float((shares * shares).sum()), len(counts), sum(counts.values()), max(counts.values())


def as_arrays(a: Any) -> Any:
    counts = counts_of(a)
    return np.array(list(counts)), np.array(list(counts.keys())), np.array([n for n in counts.values() if n > 1])


def gone_through(a: Any) -> Any:
    counts, total, weighted = counts_of(a), 0, 0
    for key in counts:
        total += counts[key] * 2
    for key, n in counts.items():
        weighted += int(key) * n
    return total, weighted


def assigned_meanwhile(a: Any) -> Any:
    counts = {}
    for v in a:
        counts[int(v)] = counts.get(int(v), 0.0) + 1.0
    for key in counts:
        counts[key] = counts[key] / len(a)
    return counts


def extremes(a: Any) -> Any:
    counts = counts_of(a)
    best = max(counts, key=counts.get)
    least = min(counts, key=lambda key: (counts[key] * 1000) - key)
    pair = max(counts.items(), key=lambda item: item[1])
    return best, counts[best], least, pair


def numbered(a: Any) -> Any:
    total = 0
    for k, (key, n) in enumerate(counts_of(a).items()):
        total += k * n - int(key)
    return total


def in_another_order(a: Any) -> Any:
    counts = counts_of(a)
    return sorted(counts), sorted(counts.items()), list(counts.items()), sorted(counts.values())


def by_a_comprehension(a: Any) -> Any:
    counts = counts_of(a)
    return {int(key): n / len(a) for key, n in counts.items()}, [n for n in counts.values() if n == 1]


def seen_as_it_is(a: Any) -> Any:
    counts = {}
    sizes = counts.values()
    for v in a:
        counts[int(v)] = len(counts)
    return sum(sizes), bool(counts), list(sizes)


def returned(a: Any) -> Any:
    counts = counts_of(a)
    return {"counts": counts, "same": counts, "keys": list(counts.keys())}


def as_another_one(a: Any) -> Any:
    counts = counts_of(a)
    other = dict(counts)
    other[1000] = 5
    return counts, other, set(counts), tuple(counts)


def changed_later(a: Any) -> Any:
    counts = counts_of(a)
    before = dict(counts)
    counts[1000] = 3
    return before, counts, len(counts)


@pytest.mark.parametrize(
    "function",
    [
        *(entropy, as_arrays, gone_through, assigned_meanwhile, in_another_order, by_a_comprehension, seen_as_it_is),
        *(returned, as_another_one, changed_later, extremes, numbered),
    ],
)
def test_dicts_are_as_pythons(function: Any) -> None:
    compiled = check_keyed(function, *((a,) for a in LINES))
    assert compiled.stats().fallbacks == 0


def inserted_meanwhile(a: Any) -> Any:
    counts = counts_of(a)
    for key in counts:
        counts[key + 1] = 1
    return counts


def test_a_loop_through_a_dict_may_not_change_its_size() -> None:
    check_keyed(inserted_meanwhile, *((a,) for a in LINES))


def of_two_types(labels: Any, x: Any) -> Any:
    sums = {}
    for k in range(len(labels)):
        key = int(labels[k])
        if key not in sums:
            sums[key] = 0
        if x[k] > 0:
            sums[key] += x[k]
    return sums


def of_integers(labels: Any, x: Any) -> Any:
    sums = {}
    for k in range(len(labels)):
        if labels[k] not in sums:
            sums[labels[k]] = 0
        if x[k] > 0:
            sums[labels[k]] += labels[k]
    return sums, sum(sums.values())


@pytest.mark.parametrize("function", [of_two_types, of_integers])
def test_values_are_pythons_or_numpys(function: Any) -> None:
    compiled = check_keyed(function, *((a, RNG.integers(-9, 9, 60) / 2) for a in LINES))
    assert compiled.stats().fallbacks == 0


def large_among_floats(labels: Any, x: Any) -> Any:
    sums = {}
    for k in range(len(labels)):
        key = int(labels[k])
        sums[key] = key
        if x[k] > 0:
            sums[key] += x[k]
    return sums


def test_integers_that_floats_do_not_hold_stay_exact() -> None:
    labels, x = np.array([3, 2**53 + 1, 2**60 + 1, -(2**53) - 1]), np.array([0.5, -1.0, -1.0, -1.0])
    check_keyed(large_among_floats, (labels % 100, x), (labels, x))
