"""Searches of lists that only the run fills: `count` and `index` are comparisons of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole, outcome
from tests.capture.splits.split_calls import check_split, split

LINES = [np.array([3, 7, 5, 7, 40]), np.array([7, 7, 9, 2, 0]), np.array([1, 2, 40, 7, 41])]


def counted(x: Any) -> Any:
    found = []
    for v in x.tolist():
        if v > 2:
            found.append(v)
    return found.count(7), found.count(x[1]), found.count(100), len(found)


def at_index(x: Any) -> Any:
    found = []
    for v in x.tolist():
        if v > 2:
            found.append(v)
    place = found.index(7)
    return place, found[place] + 1


def of_floats(x: Any) -> Any:
    found = []
    for v in x / 2.0:
        if v > 1.0:
            found.append(v)
    return found.count(3.5), found.index(x[3] / 2.0)


def of_comprehensions(x: Any) -> Any:
    found = [v * 2 for v in x.tolist() if v > 2]
    return found.count(14), found.index(14)


def of_whole_arrays(x: Any) -> Any:
    found = x.tolist()
    return found.count(7), found.index(7)


def in_turns(x: Any) -> Any:
    found, fresh = [], 0
    for v in x.tolist():
        if found.count(v) == 0:
            fresh += 1
        found.append(v)
    return fresh


def at_index_in_turns(x: Any) -> Any:
    found, places = [], 0
    for v in x.tolist():
        found.append(v)
        places += found.index(v)
    return places


@pytest.mark.parametrize("function", [counted, at_index])
def test_searches_are_compiled(function: Any) -> None:
    check_whole(function, *((x,) for x in LINES))


@pytest.mark.parametrize("function", [of_comprehensions, of_whole_arrays, in_turns, at_index_in_turns])
def test_searches_of_long_lists_are_no_steps_in_python(function: Any) -> None:
    x = np.concatenate([LINES[0], np.arange(300) % 64])
    compiled = check_split(function, x)
    with split():
        assert "Python calls" not in str(compiled.explain(x))
        short = LINES[2][:3]
        assert outcome(compiled, (short,)) == outcome(function, (short,))


def test_floats_are_found() -> None:
    check_whole(of_floats, *((x,) for x in (LINES[0], LINES[2])))


def test_what_is_not_there_is_pythons_error() -> None:
    check_whole(at_index, (LINES[0],), (np.array([1, 2, 3, 4, 5]),), (np.zeros(3, np.int64),), (LINES[1],))


def nans(x: Any) -> Any:
    found = []
    for v in x:
        if not v < 0.0:
            found.append(v)
    return found.count(x[0]), found.count(float("nan")), found.count(2)


def handled(x: Any) -> Any:
    found = []
    for v in x.tolist():
        if v > 2:
            found.append(v)
    try:
        place = found.index(7)
    except ValueError:
        place = -1
    return place


def of_pairs(x: Any) -> Any:
    found = []
    for k, v in enumerate(x.tolist()):
        if v > 2:
            found.append((v, k))
    return found.count((7, 3)), found.count(7)


def behind_others(x: Any) -> Any:
    found = []
    for v in x.tolist():
        if v > 2:
            found.append(v)
    return found.index(7, 1), found.count(7.0), found.count("7"), found.count(2**70)


OTHERS = [
    (nans, np.array([np.nan, 2.0, -1.0, 2.0])),
    (nans, np.array([1.0, np.nan, 2.0, 1.0])),
    (handled, LINES[0]),
    (handled, np.array([1, 2, 3])),
    (of_pairs, LINES[0]),
    (behind_others, LINES[0]),
    (behind_others, np.array([1, 7, 2, 3])),
]


@pytest.mark.parametrize(("function", "x"), OTHERS)
def test_other_searches_give_what_python_gives(function: Any, x: Any) -> None:
    compiled = xjit.jit(function)
    with split():
        for _ in range(3):
            assert outcome(compiled, (x,)) == outcome(function, (x,))
