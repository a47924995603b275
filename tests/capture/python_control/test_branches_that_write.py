"""Branches whose arms write to arrays: windows and whole arrays, in loops or not, of buffers that begin alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

SIZE = 30


def outcomes(function: Callable[..., Any], x: Any) -> tuple[Any, Any]:
    """The result of a call, and the argument after it."""
    return function(x), x


def agrees(function: Callable[..., Any], *arguments: Any) -> None:
    compiled = xjit.jit(strict=True)(function)
    for x in arguments:
        np.testing.assert_equal(outcomes(compiled, x.copy()), outcomes(function, x.copy()))


# ---- one branch


def whole_of_itself(x):
    a = x.copy()
    if a[3] > 4:
        a[:] = a[::-1]
    return a


def whole_of_a_number(x):
    a = x.copy()
    if a[3] > 4:
        a[:] = 7
    return a


def whole_of_what_is_computed(x):
    if x[3] > 4:
        x[:] = x * 2
    return x[1]


def whole_and_windows(x):
    a = x.copy()
    if a[3] > 4:
        a[:] = a[0]
        a[2] = 5
    else:
        a[1] = 8
        a.fill(4)
        a[0] = a[1]
    return a


def whole_through_views(x):
    a = x.copy()
    b = a[1:3]
    if a[3] > 4:
        a[:] = 7
    else:
        a[:] = a[::-1]
        b[:] = 9
    return a


def no_dimensions(x):
    a = np.zeros(())
    if x[3] > 4:
        a[...] = 4
    return a


def constants_that_begin_alike(x):
    a, b = np.zeros(3), np.zeros(3)
    if x[3] > 4:
        a[0] = x[1]
        b[1] = 2
    else:
        a[1] = 3
        b[2] = a[1] + 1
    return a, b


def copies_that_begin_alike(x):
    a, b = x.copy(), x.copy()
    if x[3] > 4:
        a[0] = x[1]
        b[1] = 2
    else:
        a[1] = 3
        b[2] = a[1] + 1
    return a, b


BRANCHES = [
    whole_of_itself,
    whole_of_a_number,
    whole_of_what_is_computed,
    whole_and_windows,
    whole_through_views,
    no_dimensions,
    constants_that_begin_alike,
    copies_that_begin_alike,
]


@pytest.mark.parametrize("function", BRANCHES)
@pytest.mark.parametrize("size", [5, 40])
def test_arms_write_where_they_are_chosen(function: Callable[..., Any], size: int) -> None:
    agrees(function, np.arange(float(size)), np.arange(float(size)) + 2)


# ---- branches in the turns of a loop


def exchange(x):
    a, b = np.zeros(SIZE, np.int64), np.ones(SIZE, np.int64)
    for v in x:
        if v % 3 == 0:
            a, b = b.copy(), a.copy()
        elif v % 3 == 1:
            a[v] += 1
            b[SIZE - 1 - v] = a[v]
        else:
            b = a.copy()
            a[v] = b[v - 1] + 2
    return a, b


def write_and_compute(x):
    a, b = np.zeros(SIZE, np.int64), np.ones(SIZE, np.int64)
    for v in x:
        if v > 15:
            a[v] += 1
            b = a * 2
            a[v - 3] = b[v]
        else:
            a = a[::-1] + b
    return a, b


def branch_within_a_branch(x):
    a = np.zeros(SIZE, np.int64)
    for v in x:
        if v > 5:
            a[v] += 1
            if v > 20:
                a[v - 20] -= a[v]
                if a[3] > 4:
                    a[:] = a[::-1].copy()
            else:
                a = a + 1
        else:
            a[v] = a[v + 1]
    return a


def begin_anew(x):
    a, total = np.zeros(SIZE, np.int64), 0
    for v in x:
        if v > 5:
            a[v] += 1
            total += a.sum()
        else:
            total -= a[v]
        if a[v] > 3:
            a = np.zeros(SIZE, np.int64)
    return a, total


def reverse_and_shift(x):
    a = np.arange(float(SIZE))
    for v in x:
        if v > 15:
            a = a[::-1] * 0.5
        elif v > 10:
            a = a + a[::-1]
        elif v > 7:
            a[1:] = a[:-1]
    return a


def keep_what_was(x):
    a, out = np.arange(float(SIZE)), np.zeros((len(x), SIZE))
    for i in range(len(x)):
        out[i] = a
        v = x[i]
        if v > 15:
            a[v] += 1
        elif v > 10:
            a[v] = a[v - 1] + out[i, 3]
    return a, out


def read_behind_the_branch(x):
    a, b = np.zeros(SIZE, np.int64), np.zeros(SIZE, np.int64)
    for v in x:
        before = a
        if v > 15:
            a = a.copy()
            a[v] += 1
        b += before - a
    return a, b


LOOPS = [
    exchange,
    write_and_compute,
    branch_within_a_branch,
    begin_anew,
    reverse_and_shift,
    keep_what_was,
    read_behind_the_branch,
]


@pytest.mark.parametrize("function", LOOPS)
def test_turns_write_where_arms_are_chosen(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(3)
    agrees(function, rng.integers(0, SIZE, 200), rng.integers(0, SIZE, 200))


def count_between(x, low, high):
    counts = np.zeros(50, dtype=np.int64)
    for value in x:
        if value < low or value >= high:
            continue
        counts[int((value - low) * 50 / (high - low))] += 1
    return counts


def test_an_arm_changes_what_nobody_reads_behind_the_branch() -> None:
    """The array is copied in front of the loop and behind it, and in no turn."""
    x = np.random.default_rng(4).standard_normal(300)
    compiled = xjit.jit(strict=True)(count_between)
    assert compiled(x, -2.0, 2.0).tolist() == count_between(x, -2.0, 2.0).tolist()
    source = compiled.source(x, -2.0, 2.0)
    turns = re.search(r"    while .*\n((?: {8}.*\n)+)", source)
    assert turns is not None and "for " not in turns[1]
    assert source.count("for ") == 2


# ---- positions that only conditions keep inside of an array, in loops that their condition alone ends


def cells_walked(mask, place, step):
    reached = np.zeros(len(mask), dtype=bool)
    count = 0
    while count < 20:
        count += 1
        place += step
        if place < 0 or place >= len(mask) or reached[place] or not mask[place]:
            step = 3 - step
            continue
        reached[place] = True
    return reached, place


def marks_between(mask, place, step):
    marks = np.zeros(len(mask), dtype=np.int64)
    count = 0
    while count < 20:
        count += 1
        place += step
        if 0 <= place < len(mask) and mask[place]:
            marks[place] += count
        else:
            step = -step
    return marks, place


@pytest.mark.parametrize("function", [cells_walked, marks_between])
@pytest.mark.parametrize(("place", "step"), [(0, 1), (-3, 2), (40, -7), (7, 0)])
def test_positions_kept_inside(function, place, step):
    mask = np.arange(SIZE) % 4 > 0
    compiled = xjit.jit(strict=True)(function)
    np.testing.assert_equal(compiled(mask, place, step), function(mask, place, step))


@pytest.mark.parametrize("function", [cells_walked, marks_between])
def test_positions_kept_inside_are_not_looked_at(function):
    """Reads there run in a branch of their own, behind which it is known where the position is."""
    source = xjit.jit(strict=True)(function).source(np.arange(SIZE) % 4 > 0, 0, 1)
    (loop,) = [kernel for kernel in source.split("def kernel") if "while" in kernel]
    assert "bad" not in loop
    assert not re.search(r"select\(v\d+, x\d+, i64\(0\)\)", loop)
