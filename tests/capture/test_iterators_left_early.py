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
