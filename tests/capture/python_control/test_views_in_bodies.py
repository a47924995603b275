"""Views that are taken in front of a loop or a branch, and written to inside of it, as a whole and in parts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import CaptureError


def element_in_an_arm(x: Any) -> None:
    row = x[1]
    if row[0] > 1:
        row[0] += 1


def part_in_an_arm(x: Any) -> Any:
    rest = x[1:]
    if rest[0, 0] > 1:
        rest[0] = 9
    return rest[1]


def element_in_an_arm_in_a_loop(x: Any) -> None:
    for row in x:
        for i in range(2):
            if row[0] > 1:
                row[i] += row[i - 1]


def part_of_a_part(x: Any) -> None:
    inner = x[1:][::-1]
    if x[1, 0] > 0:
        inner[1:][0][1:] -= 1
    if x[0, 1] > 0:
        inner[0][1:] -= 2


def transposed(x: Any) -> None:
    turned = x.T
    if turned[0, 1] > 1:
        turned[1][::2] *= 2
    else:
        turned[0] = -1


def row_of_a_moving_slice(x: Any) -> None:
    for i in range(30):
        row = x[i:][0]
        row[1:] -= x[-1, 0]


def last_row_of_a_moving_slice(x: Any) -> None:
    for i in range(30):
        x[: i + 2][-1][0] = i


def moving_slice_transposed(x: Any) -> None:
    for i in range(30):
        turned = x[i:].T
        turned[1:] -= 1
        x[-1, 2] += turned[0, -1]


def moving_slice_seen_while_written(x: Any) -> None:
    for i in range(30):
        row = x[i:][0]
        x[i, 0] = i
        x[i, 1] = row[0]


def row_in_a_moving_slice(x: Any) -> None:
    x[int(x[1, 0] > 2) :, None] = x[-1, :]


MOVING = [
    row_of_a_moving_slice,
    last_row_of_a_moving_slice,
    moving_slice_transposed,
    moving_slice_seen_while_written,
    row_in_a_moving_slice,
]
FUNCTIONS = [element_in_an_arm, part_in_an_arm, element_in_an_arm_in_a_loop, part_of_a_part, transposed]


def left_by_a_loop(x: Any) -> Any:
    end = 0
    while end < x[1, 0]:
        end += 1
    for i in range(end):
        rest = x[i:, 0]
        x[0] += rest[0]
    return rest.sum()


def row_left_by_a_loop(x: Any) -> Any:
    for row in x:
        for i, one in enumerate(row):
            if one > 1:
                row[i] = 0.25
    return row


def test_a_row_that_a_loop_writes_and_leaves_is_refused() -> None:
    with pytest.raises(CaptureError):
        xjit.jit(row_left_by_a_loop, strict=True)(np.arange(9300.0).reshape(310, 30))


def test_a_moving_slice_that_a_loop_leaves_is_refused() -> None:
    with pytest.raises(CaptureError, match="rest is an array whose size only the run knows"):
        xjit.jit(left_by_a_loop, strict=True)(np.arange(93.0).reshape(31, 3))


def _check(function: Callable[..., Any], given: Any) -> None:
    own, before = given.copy(), given.copy()
    compiled = xjit.jit(function, strict=True)
    found, wanted = copy.deepcopy(compiled(given)), function(own)
    np.testing.assert_array_equal(given, own)
    assert (found is None) == (wanted is None)
    if wanted is not None:
        np.testing.assert_array_equal(found, wanted)
    compiled(before)
    np.testing.assert_array_equal(before, own)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("sign", [1, -1])
def test_what_views_write_is_seen_behind_bodies(
    function: Callable[..., Any], sign: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "1")
    _check(function, np.arange(12.0).reshape(4, 3) * sign)


@pytest.mark.parametrize("function", MOVING, ids=lambda one: one.__name__)
def test_views_of_moving_slices_are_written(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_DEBUG", "1")
    _check(function, np.arange(93.0).reshape(31, 3))


HISTORY: list[int] = []


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("step", [-1, 2])
def test_views_that_loops_read_whole_are_returned(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")

    def function(x: Any, places: Any) -> Any:
        is_over, turns = False, 0
        places = places[::step]
        while not is_over:
            turns += 1
            if turns > 6:
                break
            place = int(places[-1])
            HISTORY.append(place)
            x[place % 4] += 1.0
        return places

    compiled = xjit.jit(function)
    places = np.arange(3, 11)
    for _ in range(2):
        mine, numpys = np.arange(8.0), np.arange(8.0)
        found, expected = compiled(mine, places), function(numpys, places)
        assert found.strides == expected.strides and np.shares_memory(found, places)
        assert found.tolist() == expected.tolist() and mine.tolist() == numpys.tolist()
    assert HISTORY[-24:-18] == HISTORY[-6:]
    assert compiled.stats().fallbacks == 0
