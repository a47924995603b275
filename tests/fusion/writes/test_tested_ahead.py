"""Loops whose turns may fail change an argument where it is: their conditions are tested ahead of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

Function = Callable[..., Any]
Arguments = tuple[Any, ...]

LARGE = np.random.default_rng(5).random(200_000)
COUNTS = np.arange(200_000)
PLANE = np.random.default_rng(6).random((40_000, 5))
PLACES = np.random.default_rng(7).integers(-200_000, 200_000, 300)
ROWS = np.random.default_rng(8).integers(0, 40_000, 200)


def added_behind(x: Any, n: Any) -> None:
    for i in range(n):
        x[i] += x[i + 1]


def lowered(x: Any, places: Any) -> None:
    for k in places:
        x[k] -= 1.0


def counted(x: Any, values: Any) -> None:
    for value in values:
        x[int(value)] += 1


def exchanged(x: Any, places: Any) -> None:
    for i in range(len(places)):
        j = places[i]
        x[i], x[j] = x[j], x[i]


def rows_exchanged(x: Any, rows: Any) -> None:
    for i in range(len(rows)):
        p = rows[i]
        x[[i, p]] = x[[p, i]]


def in_an_arm(x: Any, places: Any, weights: Any) -> None:
    for i in range(len(places)):
        if weights[i] > 0.5:
            x[places[i]] *= 2.0
        else:
            x[0] += weights[i]


def in_a_loop(x: Any, rows: Any, columns: Any, n: Any) -> None:
    for i in range(n):
        for j in range(len(columns)):
            x[rows[i], columns[j]] += 1.0


def followed(x: Any, following: Any, k: Any) -> None:
    while k >= 0:
        x[k] += 1.0
        k = following[k]


def numbered(x: Any, n: Any, step: Any) -> Any:
    at = 0
    for i in range(n):
        x[at] = i
        at += step
    return at


def of_two(x: Any, y: Any, places: Any) -> None:
    for k in places:
        x[k] += y[k]
        y[k] = 2.0 * x[k]


def with_an_error(x: Any, places: Any) -> None:
    for k in places:
        if k == 77:
            raise ValueError("no such place")
        x[k] = 1.0


AHEAD: tuple[tuple[Function, Arguments, Arguments], ...] = (
    (added_behind, (LARGE, 300), (LARGE, 200_000)),
    (lowered, (LARGE, PLACES), (LARGE, np.append(PLACES, [200_000, 3]))),
    (counted, (COUNTS, LARGE[:300] * 1000), (COUNTS, np.append(LARGE[:300], [3e5, 1.0]))),
    (exchanged, (LARGE, PLACES), (LARGE, np.append(PLACES, -200_001))),
    (rows_exchanged, (PLANE, ROWS), (PLANE, np.append(ROWS, [40_000]))),
    (in_an_arm, (LARGE, PLACES, LARGE), (LARGE, np.append(PLACES, [200_000]), np.full(301, 0.7))),
    (in_a_loop, (PLANE, ROWS, np.array([0, 3, -1]), 100), (PLANE, ROWS, np.array([0, 3, 5]), 100)),
    (followed, (LARGE, np.arange(-1, 199_999), 500), (LARGE, np.full(200_000, 300_000), 500)),
    (numbered, (LARGE, 300, 7), (LARGE, 300, 700)),
    (of_two, (LARGE, LARGE[::-1].copy(), PLACES), (LARGE, LARGE[::-1].copy(), np.append(PLACES, [200_000]))),
    (with_an_error, (LARGE, np.arange(70)), (LARGE, np.arange(300))),
)
"""Functions with arguments for which all is well, and others for which a turn fails that is not the first one."""


def copied(arguments: Arguments) -> Arguments:
    """The arguments with memory of their own."""
    return tuple(one.copy() if isinstance(one, np.ndarray) else one for one in arguments)


def assert_alike(function: Function, compiled: Function, arguments: Arguments) -> None:
    """A call leaves, returns and raises what NumPy's does."""
    found, wanted = copied(arguments), copied(arguments)
    results: list[Any] = []
    for one, given in ((compiled, found), (function, wanted)):
        try:
            results.append(one(*given))
        except (IndexError, ValueError) as error:
            results.append((type(error), str(error)))
    assert results[0] == results[1]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("function", "good", "bad"), AHEAD)
def test_nothing_is_copied(function: Function, good: Arguments, bad: Arguments) -> None:
    compiled = xjit.jit(function)
    for arguments in (good, good, bad, good, bad):
        assert_alike(function, compiled, arguments)
    found = compiled.explain(*copied(good))
    assert found.temporary_bytes < 8192, str(found)
