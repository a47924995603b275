"""Objects that only the run makes, stored into arrays: in their place, with NumPy's casts and errors."""

from __future__ import annotations

import queue
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.splits.split_calls import check_split, split

box: Any = queue.SimpleQueue()
LINE = np.arange(6.0)


def through(value: Any) -> Any:
    box.put(value)
    return box.get()


def stores(x: Any, value: Any) -> Any:
    found, other = through(value), through(value)
    x[1:3] = found
    x[0] = other[0]
    return x.sum()


def changes_in_place(x: Any, value: Any) -> Any:
    y, found, factor = x, through(value), through(2.0)
    x[2:4] += found
    y *= factor
    return y.max()


def own_array(x: Any, value: Any) -> Any:
    y = np.zeros((3, 2))
    y[1:] = through(value)
    y -= through(value)
    return y + x[:2]


@pytest.mark.parametrize("function", [stores, changes_in_place, own_array])
def test_stores_are_numpys(function: Any) -> None:
    check_split(function, LINE, np.array([7.0, 8.0]))


def of_integers(x: Any, value: Any) -> Any:
    x[1:3] = through(value)
    return x * 2


def test_stores_cast() -> None:
    check_split(of_integers, np.arange(4), np.array([1.5, 2.5]))


@pytest.mark.parametrize("function", [stores, changes_in_place])
def test_errors_are_numpys(function: Any) -> None:
    compiled, x = xjit.jit(function), LINE.copy()
    with split(), pytest.raises(ValueError, match=r"could not (be )?broadcast"):
        compiled(x, np.ones(3))


def writes_by_function(x: Any, value: Any) -> Any:
    np.copyto(x[:2], through(value))
    x.fill(through(1.5))
    return x


def test_functions_that_write_are_left_to_numpy() -> None:
    compiled, x = xjit.jit(writes_by_function), LINE.copy()
    with split():
        np.testing.assert_array_equal(compiled(x, np.ones(2)), np.full(6, 1.5))
    assert compiled.stats().fallbacks == 1 and box.empty()


def counted_into_a_length_of_the_run(x: Any) -> Any:
    found, places = np.unique(x, return_inverse=True)
    counts = np.zeros(len(found))
    np.add.at(counts, places, 1)
    return counts


def put_into_a_length_of_the_run(x: Any) -> Any:
    found, places = np.unique(x, return_inverse=True)
    counts = np.zeros(len(found))
    np.put(counts, places, 2.0)
    counts[places] += 1.0
    return counts


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", [counted_into_a_length_of_the_run, put_into_a_length_of_the_run])
def test_writes_at_places_that_a_step_has_found(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    x = np.array([1 + 2j, 3, 1 + 2j, 4j])
    compiled = xjit.jit(function)
    for _ in range(2):
        np.testing.assert_array_equal(compiled(x), function(x))
