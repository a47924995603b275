"""Sets and counters of the elements of arrays, and lists that arrays become."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.capture.dicts.keyed_calls import check_keyed

RNG = np.random.default_rng(8)
LINES = [RNG.integers(-4, 5, 60), RNG.integers(-900, 900, 60), np.full(60, 7), np.arange(60) - 30]


def distinct(a: Any) -> Any:
    return len(set(a)), len(set(a.tolist())) == len(a), 3 in set(a.tolist())


def in_order(a: Any) -> Any:
    return sorted(set(a)), set(a.tolist())


def counted(a: Any) -> Any:
    return Counter(a), Counter(a.tolist())


def most_common(a: Any) -> Any:
    counts = Counter(a.tolist())
    best = max(counts, key=counts.get)
    return best, counts[best], len(counts), counts[12345]


def of_rounded(a: Any) -> Any:
    return Counter(np.round(a / 7.0, 1)), len(set((a / 3.0).tolist()))


@pytest.mark.parametrize("function", [distinct, in_order, counted, most_common, of_rounded])
def test_elements_are_counted_in_the_program(function: Any) -> None:
    compiled = check_keyed(function, *((a,) for a in LINES))
    assert compiled.stats().fallbacks == 0 and compiled.stats().traces == 1


def through_a_list(a: Any) -> Any:
    total, numbers = 0, a.tolist()
    for v in numbers:
        total += v * v
    a[3] = 100
    return total, numbers, numbers[3], numbers[-1], len(numbers)


def of_floats(a: Any) -> Any:
    found = 0.0
    for k, v in enumerate((a / 4).tolist()):
        found += k * v
    return found, (a > 3).tolist(), sum(a.tolist())


@pytest.mark.parametrize("function", [through_a_list, of_floats])
def test_long_lists_of_elements_are_gone_through(function: Any) -> None:
    check_keyed(function, *((a,) for a in LINES))


def sorted_list(a: Any) -> Any:
    numbers = a.tolist()
    return sorted(numbers), any(v > 3 for v in numbers), [v for v in numbers if v > 2], np.array(numbers) * 2


def extremes(a: Any) -> Any:
    return max(a.tolist()), min(a[:40].tolist()), sum(a[:40].tolist())


@pytest.mark.parametrize("function", [sorted_list, extremes])
def test_long_lists_of_elements_are_as_pythons(function: Any) -> None:
    check_keyed(function, *((a,) for a in LINES))
