"""Branches that write into an argument change it itself, and so do loops and branches of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.fusion.writes.test_loops_in_arguments import Function, assert_as_numpy, copied

LINE = np.random.default_rng(5).random(1000)
PLANE = np.random.default_rng(6).random((40, 50))
LARGE = np.random.default_rng(7).random(2_000_000)


def either_row(a: Any, at: Any) -> None:
    if a[0, 0] > at:
        a[0] = np.sqrt(a[1])
    else:
        a[1] = np.sqrt(a[0]) + a[1]


def one_row(a: Any, at: Any) -> Any:
    if a[0, 0] < at:
        return 0.0
    a[0] = np.sqrt(a[1])
    return a[0].sum()


def one_of_two(a: Any, b: Any) -> None:
    if a[0] < b[1]:
        a[:100] = np.sqrt(a[1:101])
    else:
        b[:100] = np.sqrt(b[1:101])


def loop_in_an_arm(a: Any, at: Any, turns: Any) -> None:
    if a[0] > at:
        for i in range(turns):
            a[i] = i
    else:
        a[0] = 5.0


def arm_then_loop(a: Any, at: Any) -> None:
    if a[0] > at:
        a[:100] = np.sqrt(a[1:101])
    for i in range(1, len(a)):
        a[i] += a[i - 1]


def loop_then_arm(a: Any, at: Any) -> None:
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    if a[9] > at:
        a[:100] = np.sqrt(a[1:101])


def arms_in_arms(a: Any, at: Any) -> None:
    if a[0] > at:
        if a[1] > at:
            a[:100] = np.sqrt(a[1:101])
        else:
            a[1:90] += 1.0
    else:
        a[5:9] = np.exp(a[10:14])


def products(a: Any, at: Any) -> None:
    if a[0, 0] > at:
        a[:10, :10] = a[:10, :10] @ a[10:20, :10]


def turns_of_products(a: Any, turns: Any) -> None:
    for _ in range(turns):
        a[:10, :10] = 0.1 * (a[:10, :10] @ a[10:20, :10])


def products_until(a: Any, at: Any) -> None:
    while a[0, 0] > at:
        a[:10, :10] = 0.1 * (a[:10, :10] @ a[10:20, :10])


def arms_of_turns(a: Any, turns: Any) -> None:
    for i in range(turns):
        if a[0, i] > 0.5:
            a[:10, :10] = 0.1 * (a[:10, :10] @ a[10:20, :10])
        else:
            a[0, i] = 0.7


def rest_cleared(a: Any, turns: Any) -> None:
    for i in range(turns):
        if a[i] > 0.9:
            a[i:] = 0.0


IN_PLACE: tuple[tuple[Function, tuple[Any, ...]], ...] = (
    (either_row, (PLANE, 0.0)),
    (either_row, (PLANE, 1.0)),
    (one_row, (PLANE, 0.0)),
    (one_row, (PLANE, 1.0)),
    (one_of_two, (LINE, LINE[::-1].copy())),
    (one_of_two, (LINE + 9.0, LINE[::-1].copy())),
    (loop_in_an_arm, (LINE, 0.0, 20)),
    (loop_in_an_arm, (LINE, 1.0, 20)),
    (loop_in_an_arm, (LINE, 0.0, 0)),
    (arm_then_loop, (LINE, 0.0)),
    (loop_then_arm, (LINE, 0.0)),
    (arms_in_arms, (LINE, 0.0)),
    (arms_in_arms, (LINE, 1.0)),
    (products, (PLANE, 0.0)),
    (products, (PLANE, 1.0)),
    (turns_of_products, (PLANE, 5)),
    (turns_of_products, (PLANE, 0)),
    (products_until, (PLANE, 1e-3)),
    (products_until, (PLANE, 1.0)),
    (arms_of_turns, (PLANE, 9)),
    (loop_in_an_arm, (LARGE, 0.0, 20)),
    (rest_cleared, (LARGE, 50)),
    (rest_cleared, (LARGE, 0)),
)


@pytest.mark.parametrize(("function", "arguments"), IN_PLACE)
def test_steps_change_the_argument_itself(function: Function, arguments: tuple[Any, ...]) -> None:
    assert_as_numpy(function, arguments)
    found = xjit.jit(function).explain(*copied(arguments))
    assert found.peak_bytes < arguments[0].nbytes // 2


def what_it_was(a: Any, at: Any) -> Any:
    before = a.copy()
    if a[0] > at:
        a[:100] = np.sqrt(a[1:101])
    return before


def old_and_new(a: Any, at: Any) -> Any:
    b = a * 1.0
    if a[0] > at:
        b = a.copy()
        a[:100] = np.sqrt(a[1:101])
    return b


def replaced(a: Any, at: Any) -> None:
    if a[0] > at:
        a[:100] = np.sqrt(a[1:101])
    else:
        a[:] = a[::-1] * 2.0


def exchanged(a: Any, b: Any, turns: Any) -> None:
    x, y = a, b
    for _ in range(turns):
        x[:10, :10] = 0.1 * (y[:10, :10] @ x[10:20, :10])
        x, y = y, x


OTHERS: tuple[tuple[Function, tuple[Any, ...]], ...] = (
    (what_it_was, (LINE, 0.0)),
    (what_it_was, (LINE, 1.0)),
    (old_and_new, (LINE, 0.0)),
    (old_and_new, (LINE, 1.0)),
    (replaced, (LINE, 0.0)),
    (replaced, (LINE, 1.0)),
    (exchanged, (PLANE, PLANE[::-1].copy(), 3)),
    (exchanged, (PLANE, PLANE[::-1].copy(), 4)),
    (either_row, (np.asfortranarray(PLANE), 0.0)),
    (turns_of_products, (np.asfortranarray(PLANE), 5)),
    (turns_of_products, (PLANE[::-1], 5)),
    (products, (PLANE.repeat(2, 0)[::2], 0.0)),
)


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize(("function", "arguments"), OTHERS)
def test_what_something_else_needs_stays(function: Function, arguments: tuple[Any, ...]) -> None:
    assert_as_numpy(function, arguments)


def fails_in_an_arm(a: Any, at: Any, place: Any) -> None:
    a[1] = 7.0
    if a[0] > at:
        a[:100] = np.sqrt(a[1:101])
        a[place[0]] = 5.0
    else:
        a[5] = 1.0


def fails_behind(a: Any, at: Any, place: Any) -> None:
    if a[0] > at:
        a[:100] = np.sqrt(a[1:101])
    else:
        a[5] = 1.0
    a[place[0]] = 5.0


@pytest.mark.parametrize("function", [fails_in_an_arm, fails_behind])
def test_errors_leave_what_numpy_leaves(function: Function) -> None:
    arguments = LINE, 0.0, np.array([1000])
    found, wanted = copied(arguments), copied(arguments)
    with pytest.raises(IndexError):
        function(*wanted)
    with pytest.raises(IndexError):
        xjit.jit(function)(*found)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)


def smoothed(x: Any, turns: Any) -> Any:
    a, b = x.copy(), np.empty_like(x)
    for _ in range(turns):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        b[0], b[-1] = a[0], a[-1]
        a, b = b, a
    return a


@pytest.mark.parametrize("turns", [0, 1, 9])
def test_two_arrays_that_change_places_are_two(turns: int) -> None:
    assert_as_numpy(smoothed, (LARGE, turns))
    found = xjit.jit(smoothed).explain(LARGE, turns)
    assert found.peak_bytes <= 2 * LARGE.nbytes + 4096
