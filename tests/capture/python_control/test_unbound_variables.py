"""Variables that one arm of a branch assigns have a flag, those of a loop without turns have no value."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import CaptureError, FallbackWarning


def read_behind(x: Any) -> Any:
    if x.sum() > 0:
        found = 2
    return found


def read_in_a_function_within(x: Any) -> Any:
    if x.sum() > 0:
        found = 2

    def read() -> Any:
        return found

    return read()


def test_variables_of_functions_within_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CaptureError, match="found has a value only where the run decides so"):
        xjit.jit(read_in_a_function_within, strict=True)(np.ones(3))
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(read_in_a_function_within)
    with pytest.warns(FallbackWarning, match="found has a value only"):
        assert compiled(np.ones(3)) == 2


def first_above(x: Any, level: Any) -> Any:
    for i in range(len(x)):
        if x[i] > level:
            first = i
            break
    return first, x[first]


def halves(x: Any, level: Any) -> Any:
    x[0] = -1.0
    if x.sum() > level:
        half, count = x / 2, 3
    x[1] = -2.0
    if x.max() > 3:
        return half, count
    return x * 2, 1


def last_below_in_each(x: Any, level: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(i):
            if x[j] < level:
                low = x[j]
        out[i] = low if i > 0 else level
    return out


def summed_from(x: Any, level: Any) -> Any:
    for i in range(len(x)):
        if x[i] > level:
            total = 0.0
        total += x[i]
    return total


def found_or_not(x: Any, level: Any) -> Any:
    for value in x:
        if value > level:
            found = value
    try:
        return found
    except UnboundLocalError:
        return -1.0


ONE_ARM = [read_behind, first_above, halves, last_below_in_each, summed_from, found_or_not]


@pytest.mark.parametrize("function", ONE_ARM, ids=lambda one: one.__name__)
def test_a_read_raises_where_no_arm_has_assigned(function: Any) -> None:
    arrays = [np.array([1.0, 5.0, 2.0, 0.5]), np.full(4, -3.0), np.zeros(0), np.linspace(9, 2, 300), np.ones(40)]
    compiled = xjit.jit(function, strict=True)
    for values in arrays:
        for level in [1.5] if function is not read_behind else [None]:
            ours, own = values.copy(), values.copy()
            operands = () if level is None else (level,)
            try:
                expected = function(own, *operands)
            except (UnboundLocalError, ValueError, IndexError) as error:
                with pytest.raises(type(error)):
                    compiled(ours, *operands)
            else:
                found = compiled(ours, *operands)
                assert type(found) is type(expected)
                for one, other in zip(_parts(found), _parts(expected), strict=True):
                    np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(ours, own)


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def caught(x: Any) -> Any:
    if x[0] > 0:
        found = 1
    try:
        return found + 1
    except UnboundLocalError:
        return "none"


def caught_where_it_is_added_to(x: Any) -> Any:
    if x[0] > 0:
        found = 1
    try:
        found += 1
    except Exception:
        found = 5
    return found


def caught_behind_del(x: Any) -> Any:
    found = 1
    if x[0] > 0:
        del found
    try:
        return found + 1
    except NameError as error:
        return str(error)


@pytest.mark.parametrize("function", [caught, caught_where_it_is_added_to, caught_behind_del])
def test_handlers_do_not_hide_them(monkeypatch: pytest.MonkeyPatch, function: Any) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    for first in (1.0, -1.0):
        compiled = xjit.jit(function)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            assert compiled(np.array([first])) == function(np.array([first]))
        assert bool(found) is (function is caught_behind_del)  # names that are deleted have no flags
        assert compiled(np.array([-first])) == function(np.array([-first]))


def last_of(x: Any, n: int) -> Any:
    for i in range(n):
        last = x[i] * 2
    return last, i


def last_halved(x: Any, n: int) -> Any:
    value, count = x[n], 0
    while value > 1.0:
        value = value / 2
        half = value + count
        count += 1
    return half


def last_of_rows(x: Any, n: int) -> Any:
    for i in range(n):
        for j in range(int(x[i])):
            last = x[j] + i
    return last, i


ZERO_TURNS = {
    last_of: [(np.arange(4.0), 4), (np.arange(4.0), np.int64(0)), (np.arange(4.0), 0), (np.zeros(400), 0)],
    last_halved: [(np.array([9.0, 0.5]), 0), (np.array([9.0, 0.5]), 1)],
    last_of_rows: [(np.array([2.0, 0.0, 3.0]), 3), (np.array([0.0, 0.0, 2.0]), 3), (np.zeros(3), 3), (np.ones(3), 0)],
}


@pytest.mark.parametrize("function", ZERO_TURNS, ids=lambda one: one.__name__)
def test_a_loop_without_turns_binds_nothing(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    for args in ZERO_TURNS[function]:
        try:
            expected = function(*args)
        except UnboundLocalError:
            with pytest.raises(UnboundLocalError):
                compiled(*args)
        else:
            assert compiled(*args) == expected
