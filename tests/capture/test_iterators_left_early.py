"""Iterators that loops leave early, as only the run tells where, and that code goes on with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.capture.comprehensions.outcomes import identical
from xjit import xjit

LINES = [np.array([-1.0, 0.5, 2.0, -3.0, 1.5]), np.array([2.0, -1.0, 0.25, -2.0, 3.0])]


def rest_of_an_array(x: Any) -> Any:
    it = iter(x)
    for v in it:
        if v > 0.3:
            break
    return list(it)


def two_loops(x: Any) -> Any:
    it = enumerate(x)
    for i, v in it:  # noqa: B007
        if v > 0.3:
            break
    for j, w in it:  # noqa: B007
        if w < 0:
            break
    return i, j


def within_another(x: Any) -> Any:
    it = iter(x)
    for _, v in zip(range(9), it):  # noqa: B905
        if v > 0.3:
            break
    return sum(it)


def pairs(x: Any) -> Any:
    it = zip(x, x[::-1])  # noqa: B905
    for v, _ in it:
        if v > 0.3:
            break
    return [v + w for v, w in it]


def first_above(values: Any) -> Any:
    for v in values:
        if v > 0.3:
            return v
    return -1.0


def two_calls(x: Any) -> Any:
    it = iter(x)
    return first_above(it), first_above(it)


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", [rest_of_an_array, two_loops, within_another, pairs, two_calls])
def test_numpy_goes_on_with_an_iterator(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit(function)
    for x in (*LINES, *LINES):
        identical(compiled(x), function(x))


def once(x: Any) -> Any:
    it = enumerate(x)
    for i, v in it:  # noqa: B007
        if v > 0.3:
            break
    return i


def handed_to_a_function(x: Any) -> Any:
    return first_above(reversed(x)) + first_above(x)


@pytest.mark.parametrize("function", [once, handed_to_a_function])
def test_iterators_that_nothing_goes_on_with_are_compiled(function: Any) -> None:
    compiled = xjit(function, strict=True)
    for x in LINES:
        identical(compiled(x), function(x))


def twice(x: Any) -> Any:
    pairs, total = zip(x, x, strict=False), 0.0
    for a, b in pairs:
        total += a * b
    for _ in pairs:
        total += 100.0
    return total


def twice_by_comprehensions(x: Any) -> Any:
    pairs = enumerate(x[x > 0])
    first = [k * v for k, v in pairs]
    return first, sum(v for _, v in pairs)


def in_every_turn(x: Any) -> Any:
    values, total = reversed(x), 0.0
    for k in range(3):
        for v in values:
            total += v * (k + 1)
    return total


def in_each_arm(x: Any) -> Any:
    pairs, total = zip(x, x, strict=False), 0.0
    if x[0] > 0:
        for a, b in pairs:
            total += a * b
    else:
        for a, _ in pairs:
            total -= a
    return total


def the_first_apart(x: Any) -> Any:
    pairs = enumerate(x)
    _, total = next(pairs)
    for k, v in pairs:
        total += k * v
    return total


def numbers(result: Any) -> list[float]:
    """The numbers of a result, in order."""
    if isinstance(result, tuple | list):
        return [number for one in result for number in numbers(one)]
    return [float(result)]


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", [twice, twice_by_comprehensions, in_every_turn, in_each_arm, the_first_apart])
def test_an_iterator_gives_its_elements_out_once(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit(function)
    for x in (np.array([1.0, 2.0, -3.0]), np.array([-1.0, 2.0, 3.0])):
        found, wanted = compiled(x), function(x)
        np.testing.assert_allclose(numbers(found), numbers(wanted), rtol=1e-14)
