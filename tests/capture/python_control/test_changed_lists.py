"""Lists and dicts that the function makes, and changes in loops and branches that only the run decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.gaps import lenient
from xjit import xjit
from xjit.errors import FallbackWarning

X = np.random.default_rng(0).standard_normal(9)


def _check(function: Callable[..., Any], *args: Any, whole: bool = True) -> None:
    """Compare with NumPy for two sets of data; whether the function is compiled whole is asserted."""
    compiled = xjit(strict=True)(function)
    for x in (X, -X):
        wanted = function(x.copy(), *args)
        if whole:
            found = compiled(x.copy(), *args)
        else:
            with lenient(), pytest.warns(FallbackWarning):
                found = xjit(function)(x.copy(), *args)
        np.testing.assert_equal(found, wanted)
        assert type(found) is type(wanted)


def test_entries_that_turns_assign() -> None:
    def f(x: Any) -> Any:
        total, k = [0.0, -1, x[0]], 0
        while k < 9 and x[k] < 5.0:
            total[0] += x[k]
            total[1] = k
            total[2] = max(total[2], x[k])
            k += 1
        return total

    _check(f)


def test_entries_of_dicts() -> None:
    def f(x: Any) -> Any:
        found, k = {"sum": 0.0, "rows": [x * 0.0, 0]}, 0
        while k < 9 and x[k] < 5.0:
            if x[k] > 0.0:
                found["sum"] += x[k]
            found["rows"][0] = found["rows"][0] + x[k]
            found["rows"][1] += 1
            k += 1
        return found

    _check(f)


def test_entries_that_change_places() -> None:
    def f(x: Any) -> Any:
        pair, k = [x * 1.0, x + 1.0], 0
        while k < 3 and x[0] < 5.0:
            pair[0], pair[1] = pair[1] * 0.5, pair[0] + pair[1]
            pair[1][k] = 3.0
            k += 1
        return pair[0], pair[1]

    _check(f)


def test_entries_that_arms_assign() -> None:
    def f(x: Any) -> Any:
        one, other = [0.0, 1.0], [2.0, 3.0]
        both = {"one": one, "other": other}
        if x[0] > 0.0:
            one[0] = x.sum()
            both["one"][1] = 5.0
        else:
            other[1] = x.max()
        return one, both["other"]

    _check(f)


class Extremes:
    """The least and the largest of what was seen."""

    def __init__(self) -> None:
        self.found = [np.inf, -np.inf]

    def add(self, value: Any) -> Any:
        """Take one more value into account."""
        self.found[0] = min(self.found[0], value)
        self.found[1] = max(self.found[1], value)
        return value


def test_lists_of_objects() -> None:
    def f(x: Any) -> Any:
        extremes, k = Extremes(), 0
        while k < 9 and x[k] < 5.0:
            extremes.add(x[k])
            k += 1
        last = extremes.add(9.0) if x[0] > 0.0 else 0.0
        return extremes.found[0], extremes.found[1], last

    _check(f)


def test_names_of_one_list() -> None:
    def turns(x: Any) -> Any:
        current, values, k = [0.0], [1.0], 0
        while k < 3 and x[0] < 5.0:
            current = values
            k += 1
        values[0] = x[0]
        return current[0], values[0]

    def arms(x: Any) -> Any:
        one, other = [1.0], [2.0]
        current = one if x[0] > 0.0 else other
        one[0] = x[1]
        return current[0]

    def assigned(x: Any) -> Any:
        current = values = [1.0]
        if x[0] > 0.0:
            current = [2.0]
        current[0] = x[1]
        return values[0]

    def shared(x: Any) -> Any:
        if x[0] > 0.0:
            one = other = [x[0]]
        else:
            one = other = [x[1]]
        one[0] = 5.0
        return other[0]

    def carried(x: Any) -> Any:
        values, k = [0.0], 0
        current = values
        while k < 3 and x[0] < 5.0:
            current[0] = current[0] + x[k]
            current = [current[0]]
            k += 1
        return values[0], current[0]

    for function in (turns, arms, assigned, shared, carried):
        _check(function, whole=False)


def test_one_list_on_both_ways() -> None:
    def f(x: Any) -> Any:
        values = [1.0]
        if x[0] > 0.0:
            current, sign = values, 1.0
        else:
            current, sign = values, -1.0
        values[0] = x[1]
        return current[0] * sign

    _check(f)


def test_other_entries() -> None:
    def keys(x: Any) -> Any:
        found, k = {"a": 0.0}, 0
        while k < 3 and x[0] < 5.0:
            value = found.pop("a")
            found["b"] = value
            found = {"a": found["b"] + 1.0}
            k += 1
        return found

    def members(x: Any) -> Any:
        found = {1}
        if x[0] > 0.0:
            found.add(2)
        return sorted(found)

    for function in (keys, members):
        _check(function, whole=False)
