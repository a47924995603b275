"""Numbers that are Python's in the first turns of a loop and NumPy's in later ones, or the other way round."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.helpers.capturing import assert_same
from xjit import xjit
from xjit.errors import FallbackWarning


def stepped(y: Any, end: Any) -> Any:
    t, h = 0.0, 0.5
    while t < end:
        largest = np.max(np.abs(y))
        if largest < 3.0:
            t += h
            y = y * 1.5
        else:
            y = y * 0.5
        h = 0.25 * largest
    return t, h, y


@pytest.mark.parametrize("end", [-1.0, 0.5, 0.7, 3.0])
def test_types_behind_a_loop_are_those_of_its_turns(end: float) -> None:
    y = np.array([1.0, 2.5])
    assert_same(xjit(strict=True)(stepped)(y, end), stepped(y, end))


def test_one_trace_is_right_for_any_number_of_turns() -> None:
    compiled, y = xjit(strict=True)(stepped), np.array([1.0, 2.5])
    for end in (3.0, -1.0, 0.7, 0.5):
        assert_same(compiled(y, end), stepped(y, end))


def changes_of_sign(x: Any) -> Any:
    count, last = 0, None
    for value in x:
        positive = value > 0
        if last is not None and positive != last:
            count += 1
        last = positive
    return count


def test_a_variable_may_be_none_in_front_of_a_loop() -> None:
    x = np.sin(np.arange(300.0))
    assert_same(xjit(strict=True)(changes_of_sign)(x), changes_of_sign(x))


def number_or_element(x: Any, n: Any) -> Any:
    return n if x[0] > 0 else x[1]


def product_or_element(x: Any, n: Any) -> Any:
    found = x[1]
    if x[0] > 0:
        found = n * n
    return found


def last_positive(x: Any, n: Any) -> Any:
    found = n
    for value in x:
        if value > 0:
            found = value
    return found


def place_of_the_last_negative(x: Any, n: Any) -> Any:
    found = x[0]
    for place in range(len(x)):
        if x[place] < 0:
            found = n + place
    return found


@pytest.mark.parametrize(
    "function", [number_or_element, product_or_element, last_positive, place_of_the_last_negative]
)
def test_integers_that_floats_do_not_hold_stay_what_they_are(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit(function)
    for n in (3, 5, 94906267, 2**53 + 1, -(2**53) - 1, 7):
        for signs in ([1.0, 2.0], [-1.0, -2.0], [-1.0, 2.0]):
            x = np.array(signs)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FallbackWarning)
                found = compiled(x, n)
            wanted = function(x, n)
            assert type(found) is type(wanted)
            assert found == wanted
