"""Variables that one arm of a branch assigns are refused by name; those of a loop without turns have no value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import CaptureError, FallbackWarning


def read_behind(x: Any) -> Any:
    if x.sum() > 0:
        found = 2
    return found


def assigned_first(x: Any) -> Any:
    if x.sum() > 0:
        found = 2.0
    else:
        found = 3.0
    return found


def test_reading_them_is_refused() -> None:
    with pytest.raises(CaptureError, match="found has a value only where the run decides so"):
        xjit.jit(read_behind, strict=True)(np.ones(3))
    assert xjit.jit(assigned_first, strict=True)(np.ones(3)) == 2.0


def test_calls_raise_what_python_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(read_behind)
    with pytest.warns(FallbackWarning, match="found has a value only"):
        assert compiled(np.ones(3)) == 2
    with pytest.raises(UnboundLocalError):
        compiled(-np.ones(3))


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
        with pytest.warns(FallbackWarning, match="found has a value only"):
            assert compiled(np.array([first])) == function(np.array([first]))
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
