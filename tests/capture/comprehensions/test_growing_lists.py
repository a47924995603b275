"""Lists to which loops append numbers, as often as only the run knows: arrays, without steps in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from tests.capture.splits.split_calls import check_same, check_split, split

LINES = [np.array([3.0, -1.0, 0.5, 2.0]), np.array([0.25, 0.0, 0.0, 9.0]), np.array([64.0, 1.0, 2.0, 3.0])]


def halved(x: Any) -> Any:
    sizes = []
    while x[0] > 0.125:
        x = x / 2.0
        sizes.append(x.sum())
    return np.array(sizes)


def counted(x: Any) -> Any:
    left, steps = [len(x)], 0
    while len(x) > 0 and steps < 50:
        x = x[x > 0.5] - 0.25
        left.append(len(x))
        steps += 1
    return np.array(left), steps


def chosen(x: Any) -> Any:
    found = [x[1] + 0.5]
    for k in range(int(x[3]) + 300):
        if x[k % 4] > 1.0:
            found.append(x[k % 4] * k)
            found.append(x[0])
    return np.array(found).sum(), len(found)


def two_lists(x: Any) -> Any:
    up, down = [], []
    k = 0
    while k < x[0] * 10:
        if x[k % 4] > 1.0:
            up.append(x[k % 4])
        else:
            down.append(x[k % 4])
        k += 1
    return np.array(up), np.array(down), len(up) + len(down)


def of_numpys_numbers(x: Any) -> Any:
    found = [x[0] > 0]
    while x[0] > 0.125:
        found.append(x[0] > x[1])
        x = x / 2.0
    return np.array(found)


def nested(x: Any) -> Any:
    found = []
    k = 0
    while x[0] > 0.125:
        for j in range(k):
            found.append(j + k)
        x = x / 2.0
        k += 1
    return np.array(found), k


def gone_through(x: Any) -> Any:
    sizes = []
    while x[0] > 0.125:
        x = x / 2.0
        sizes.append(x.sum())
    total = 0.0
    for one in sizes:
        total = total * 0.5 + one
    return total


@pytest.mark.parametrize("function", [halved, counted, chosen, two_lists, of_numpys_numbers, nested, gone_through])
def test_numbers_are_elements_of_an_array(function: Any) -> None:
    compiled = check_whole(function, *((x,) for x in LINES))
    assert compiled.stats().traces == 1


def long(x: Any) -> Any:
    found, k = [0], 0
    while k < x[3] * 10_000:
        found.append(k)
        k += 1
    return np.array(found)


def test_lists_may_be_longer_than_there_is_room_for() -> None:
    compiled = check_whole(long, *((x,) for x in (*LINES, *LINES)))
    assert compiled.stats().traces == 2


def as_it_is(x: Any) -> Any:
    found = [1.0]
    while x[0] > 0.125:
        x = x / 2.0
        found.append(x[0])
    return found


def read_in_turns(x: Any) -> Any:
    found = [1.0]
    while x[0] > 0.125:
        x = x / 2.0
        found.append(x[0] + found[-1])
    return np.array(found)


def of_several_types(x: Any) -> Any:
    found: list[Any] = [1]
    while x[0] > 0.125:
        x = x / 2.0
        found.append(x[0])
    return found


def named_twice(x: Any) -> Any:
    found = [1.0]
    other = found
    while x[0] > 0.125:
        x = x / 2.0
        found.append(x[0])
    other.append(7.0)
    return np.array(found), np.array(other)


def changed_later(x: Any) -> Any:
    found = [1.0]
    while x[0] > 0.125:
        x = x / 2.0
        found.append(x[0])
    before = np.array(found)
    found.append(5.0)
    found[0] = 3.0
    found.insert(0, 2.0)
    found.append(4.0)
    return before, found


@pytest.mark.parametrize(
    "function", [as_it_is, read_in_turns, of_several_types, named_twice, changed_later, halved, counted]
)
def test_lists_are_pythons_where_they_are_more_than_that(function: Any) -> None:
    for x in LINES:
        check_split(function, x)


def appended_to_while_gone_through(x: Any) -> Any:
    found = [1.0]
    while x[0] > 0.125:
        x = x / 2.0
        found.append(x[0])
    for one in found:
        if one > 0.5 and len(found) < 90:
            found.append(one / 2)
    return found


def test_lists_that_loops_go_through_and_make_longer() -> None:
    compiled = xjit.jit(appended_to_while_gone_through)
    with split():
        for x in LINES:
            check_same(compiled(x), appended_to_while_gone_through(x))


def one_behind_a_reduction(x: Any) -> Any:
    found = []
    if x.max() > 1.0:
        found.append(x[1])
    return found


def test_a_list_of_at_most_one_number_beside_a_reduction_of_any_length() -> None:
    check_whole(one_behind_a_reduction, *((np.arange(float(size)),) for size in (8, 9, 11, 2)))


def settles(x: Any, least: Any) -> Any:
    """The entry before the last one is read in turns of the run that come when there is one."""
    sums = []
    for k in range(30):
        x = x * 0.9
        sums.append(x.sum())
        if k > least and abs(sums[-1] - sums[-2]) < 0.02:
            break
    return x, np.array(sums)


def lags(x: Any, least: Any) -> Any:
    sums, k = [], 0
    while x.sum() > 0.1:
        x = x * 0.9
        sums.append(float(x.sum()))
        if k > least:
            x = x - sums[-3] * 1e-3
        k += 1
    return x, sums


@pytest.mark.parametrize("function", [settles, lags])
def test_arms_read_entries_that_are_not_there_yet(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, x = xjit.jit(function, strict=True), np.linspace(0.1, 1.0, 6)
    for least in (3, 2, 20):
        for found, wanted in zip(compiled(x, least), function(x, least), strict=True):
            np.testing.assert_allclose(found, wanted)
            assert type(found) is type(wanted)
    assert compiled.stats().fallbacks == 0
    monkeypatch.setenv("XJIT_STRICT", "0")
    for one in (function, xjit.jit(function)):
        with pytest.raises(IndexError, match="list index out of range"):
            one(x, -1)
