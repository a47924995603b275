"""Values that blocks of columns, and rows, keep for a later pass: made once, and nothing below it made again."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import KERNEL_EXECUTORS

Function = Callable[..., Any]

RANDOM = np.random.default_rng(23)
GRID = RANDOM.normal(size=(40, 30))
GRID[7, 11] = 1e22  # an angle that functions have a long computation for
STEPS = RANDOM.integers(0, 3, size=(40, 30))
TABLE = RANDOM.normal(size=100)


def skewness(x: Any) -> Any:
    mean = x.mean(axis=0)
    deviation = np.sqrt(np.square(x - mean).mean(axis=0))
    return (((x - mean) / deviation) ** 3).sum(axis=0)


def around_a_sine(x: Any) -> Any:
    return np.sin(x - np.sin(x.mean(axis=0))).sum(axis=0)


def below_an_exponential(x: Any) -> Any:
    return (np.exp(np.sin(x.mean(axis=0))) * x).sum(axis=0)


def walked(steps: Any) -> Any:
    return np.sin(TABLE[np.cumsum(steps, axis=0)])


def walked_twice(steps: Any) -> Any:
    places = np.cumsum(steps, axis=0)
    return places, np.sin(TABLE[places]) * np.cumsum(np.sin(steps), axis=0)


def place_of_a_sine(x: Any) -> Any:
    return np.where(np.sin(x) > 0.5, np.cos(x), 0.0).argmax(axis=1)


PROGRAMS: dict[str, tuple[Function, Any]] = {
    "skewness": (skewness, GRID / 1e18),
    "around a sine": (around_a_sine, GRID),
    "below an exponential": (below_an_exponential, GRID),
    "walked": (walked, STEPS),
    "walked twice": (walked_twice, STEPS),
    "place of a sine": (place_of_a_sine, GRID),
}


@pytest.mark.parametrize("run", KERNEL_EXECUTORS.values(), ids=KERNEL_EXECUTORS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str, run: Function) -> None:
    function, array = PROGRAMS[name]
    found, expected = run(function, [array]), function(array)
    for one, other in zip(np.atleast_2d(found), np.atleast_2d(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_stored_where_it_was_loaded_from(name: str) -> None:
    function, array = PROGRAMS[name]
    source = xjit.jit(function).source(array)
    loads = re.findall(r"(\w+) = ldw\((\w+), (.+?)\)", source)
    stores = re.findall(r"st\((\w+), (.+?), (\w+)\)", source)
    assert loads and not {(value, buffer, place) for buffer, place, value in stores} & set(loads)


def test_functions_of_kept_values_run_in_strips() -> None:
    _, passes = xjit.jit(around_a_sine).source(GRID).split("for p0 in")
    assert "sin_f64_near(" in passes and "sin_f64_rare(" in passes and "sin_f64(" not in passes


def test_no_strips_over_what_is_kept() -> None:
    """The second pass looks for the place in what the first one has kept: no function is left in it."""
    source = xjit.jit(place_of_a_sine).source(GRID)
    assert source.count("if rare0:") == 1
    assert len(re.findall(r"for p\d+ in", source)) == 1
