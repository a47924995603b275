"""Ranges whose ends are NumPy's numbers: their distance is one of Python's, whatever type the ends have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from xjit import xjit


def upwards(x: Any) -> Any:
    total = turns = 0
    for k in range(x[0], x[1], 3):
        total += k
        turns += 1
    return total, turns


def downwards(x: Any) -> Any:
    total = 0
    for k in range(x[1] - 1, x[0], -3):
        total += k
    for k in range(x[1], -1, -1):
        total += k
    return total


def by_steps_of_the_run(x: Any) -> Any:
    total = 0
    for k in range(x[0], x[1], x[2]):
        total += k
    for k in reversed(range(x[0], x[1], 7)):
        total -= k * k
    return total


def from_a_constant(x: Any) -> Any:
    total = 0
    for k in range(np.int8(-100), x[1], 3):
        total += k
    return total


@xjit
def with_ends(first: Any, end: Any) -> Any:
    total = 0
    for k in range(first, end, 3):
        total += k
    return total


NARROW = {"int8": (-100, 100, 2), "uint8": (1, 200, 2), "int16": (-30000, 30000, 7), "uint64": (1, 200, 2)}


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("function", [upwards, downwards, by_steps_of_the_run, from_a_constant])
def test_distances_leave_no_narrow_type(function: Any, dtype: str) -> None:
    x = np.array(NARROW[dtype], dtype)
    found, wanted = xjit(function)(x), function(x)
    assert repr(found) == repr(wanted)


@pytest.mark.parametrize("dtype", NARROW)
def test_ends_among_the_arguments(dtype: str) -> None:
    first, end, _ = np.array(NARROW[dtype], dtype)
    assert with_ends(first, end) == with_ends.__wrapped__(first, end)


def test_ends_beyond_64_bits_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    x = np.array([2**63 - 2, 2**63 + 5], np.uint64)
    assert xjit(upwards)(x) == upwards(x)


def up_to_the_smallest(x: Any, start: Any) -> Any:
    smallest = start
    for value in x:
        smallest = min(smallest, value)
    total = 0
    for k in range(smallest):
        total += k
    return total


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("start", [1.5, 5, 5.0])
def test_floats_among_the_ends_are_no_integers(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit(up_to_the_smallest)
    for x in ([3, 4], [0, 1], [9, 1, 12], [9]):
        try:
            wanted = up_to_the_smallest(np.array(x), start)
        except TypeError as error:
            with pytest.raises(TypeError, match=str(error)):
                compiled(np.array(x), start)
        else:
            assert repr(compiled(np.array(x), start)) == repr(wanted)
