"""Keys that only the run tells to be missing: ``get`` that gives None, and handlers of ``KeyError``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole, outcome
from tests.capture.splits.split_calls import split

KEYS = [(np.random.default_rng(seed).integers(0, 20, 200),) for seed in range(3)]
FEW = [(np.random.default_rng(seed).integers(-1, 2, 3),) for seed in range(4)]
FLOATS = [(np.random.default_rng(seed).integers(0, 20, 200) / 4,) for seed in range(3)]


def numbered(x: Any) -> Any:
    found: dict[Any, int] = {}
    numbers = []
    for i in range(len(x)):
        v = x[i]
        k = found.get(v)
        if k is None:
            k = len(found)
            found[v] = k
        numbers.append(k)
    return numbers


def longest_gap(x: Any) -> Any:
    last: dict[Any, int] = {}
    best = 0
    for i, v in enumerate(x):
        if (before := last.get(v)) is not None:
            best = max(best, i - before)
        last[v] = i
    return best


def sums_of_known(x: Any) -> Any:
    halves: dict[Any, float] = {}
    total = 0.0
    for v in x:
        half = halves.get(v)
        if half is None:
            halves[v] = 0.5 * v
            continue
        total += half
    return total, len(halves)


def counted(x: Any) -> Any:
    counts: dict[Any, int] = {}
    for v in x:
        try:
            counts[v] += 1
        except KeyError:
            counts[v] = 1
    return max(counts.values()), len(counts)


def first_places(x: Any) -> Any:
    places: dict[tuple[int, int], int] = {}
    total = 0
    for i, v in enumerate(x):
        try:
            place = places[int(v), 1]
        except KeyError:
            place = places[int(v), 1] = i
            total += 1
        else:
            total -= place
    return total, places


def returned(x: Any) -> Any:
    squares = {0: 0, 1: 1}
    for v in x:
        squares[int(v)] = int(v) * int(v)
    try:
        return squares[int(x[0]) + 1]
    except KeyError:
        return -1


@pytest.mark.parametrize("function", [numbered, longest_gap, sums_of_known, counted, first_places])
@pytest.mark.parametrize("calls", [KEYS, FLOATS], ids=["integers", "floats"])
def test_missing_keys_are_found_in_loops(function: Any, calls: Any) -> None:
    check_whole(function, *calls)


def test_a_missing_key_chooses_the_result() -> None:
    check_whole(returned, *KEYS, *FEW)


def reraised(x: Any) -> Any:
    found = {}
    for v in x:
        found[v] = 2 * v
    total = 0
    for v in x:
        try:
            total += found[v + 1]
        except KeyError:
            raise ValueError("no such key") from None
    return total


def other_errors(x: Any) -> Any:
    found: Any = {}
    for v in x:
        try:
            found[v] = found[v] + 1
        except (KeyError, TypeError):
            found[v] = 0
    return found


def none_as_value(x: Any) -> Any:
    found = {0: None, 1: 3}
    total = 0
    for v in x:
        k = found.get(int(v))
        if k is not None:
            total += k
    return total


@pytest.mark.parametrize("function", [reraised, other_errors, none_as_value])
@pytest.mark.parametrize("arguments", [*KEYS, *FEW])
def test_results_and_errors_are_those_of_python(function: Any, arguments: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for _ in range(2):
            assert outcome(compiled, arguments) == outcome(function, arguments)
