"""``next`` of a generator: the first element for which its conditions hold, the default, or Python's error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.capture.numbers.beside_python import check_whole

LINES = [(np.random.default_rng(seed).random(300), 0.99) for seed in range(3)]
NONE = [(np.random.default_rng(seed).random(300), 2.0) for seed in range(2)]
ROWS = [(np.random.default_rng(seed).random((40, 50)), 0.96) for seed in range(3)]


def place(x: Any, t: Any) -> Any:
    n = len(x)
    i = next(i for i in range(n) if x[i] > t)
    return x[i : i + 3].sum(), i


def place_or_default(x: Any, t: Any) -> Any:
    i = next((i for i, v in enumerate(x) if v > t), -1)
    return i, float(x[i])


def value(x: Any, t: Any) -> Any:
    return next(v for v in x if v > t)


def value_or_none(x: Any, t: Any) -> Any:
    found = next((v for v in x if v > t), None)
    if found is None:
        return -1.0
    return found * 2


def pair(x: Any, t: Any) -> Any:
    i, v = next(((i, 2 * v) for i, v in enumerate(x) if v > t), (0, x[0]))
    return v, i


def in_a_loop(x: Any, t: Any) -> Any:
    places = np.zeros(len(x))
    for k in range(len(x)):
        row = x[k]
        j = next((j for j in range(len(row)) if row[j] > t), None)
        if j is not None:
            places[k] = j
    return places


def of_known(x: Any, t: Any) -> Any:
    n = next(n for n in (1, 2, 4, 8, 16) if n * n > 10)
    return x[:n].sum() + t


@pytest.mark.parametrize("function", [place, place_or_default, value, value_or_none, pair, of_known])
def test_the_first_element_is_found(function: Any) -> None:
    check_whole(function, *LINES)


@pytest.mark.parametrize("function", [place_or_default, value_or_none, pair])
def test_the_default_takes_its_place(function: Any) -> None:
    check_whole(function, *NONE, *LINES)


@pytest.mark.parametrize("function", [place, value])
def test_no_element_is_an_error(function: Any) -> None:
    check_whole(function, *LINES, *NONE)


def test_first_elements_in_a_loop() -> None:
    check_whole(in_a_loop, *ROWS)
