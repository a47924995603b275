"""Sets to which loops add members that only the run tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.capture.dicts.keyed_calls import check_keyed

RNG = np.random.default_rng(6)
LINES = [RNG.integers(-4, 5, 50), RNG.integers(-900, 900, 50), np.full(50, 7), np.arange(50) - 25]


def has_equal_ones(a: Any) -> Any:
    seen = set()
    for v in a:
        if v in seen:
            return True
        seen.add(v)
    return False


def summed_once(a: Any) -> Any:
    seen, total = set(), 0
    for v in a:
        if v not in seen:
            seen.add(v)
            total += int(v)
    return total, len(seen)


def members(a: Any) -> Any:
    found = set()
    for v in a:
        found.add(int(v) * 1000)
    return found


def in_order(a: Any) -> Any:
    found = set()
    for v in a:
        found.add(int(v))
    return sorted(found), max(found), min(found), len(found)


def of_pairs(a: Any) -> Any:
    place, seen = (0, 0), set()
    for v in a:
        place = (place[0] + int(v) % 2, place[1] + int(v) % 3 - 1)
        seen.add(place)
    return len(seen)


@pytest.mark.parametrize("function", [has_equal_ones, summed_once, members, in_order, of_pairs])
def test_members_are_found_in_the_program(function: Any) -> None:
    compiled = check_keyed(function, *((a,) for a in LINES))
    assert compiled.stats().traces == 1 and compiled.stats().fallbacks == 0
