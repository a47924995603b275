"""Loops that start from an argument change it turn by turn, unless something needs what it was."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import FallbackWarning

Function = Callable[..., Any]

LINE = np.random.default_rng(3).random(40)
PLANE = np.random.default_rng(4).random((9, 7))


def running_sum(a: Any) -> None:
    for i in range(1, len(a)):
        a[i] += a[i - 1]


def swept(a: Any, turns: Any) -> None:
    for _ in range(turns):
        for i in range(1, len(a) - 1):
            a[i] = 0.5 * (a[i - 1] + a[i + 1])


def of_two(a: Any, b: Any) -> None:
    for i in range(1, len(a)):
        a[i] += b[i - 1]
        b[i] -= 0.5 * a[i]


def one_after_the_other(a: Any) -> None:
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    a[0] = 7.0
    for i in range(1, len(a)):
        a[i] -= 0.5 * a[i - 1]


def by_rows(a: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] -= a[i, j - 1]


def returned(a: Any) -> Any:
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return a


def part_of_it(a: Any) -> Any:
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return a[3:9]


def lowered_first(a: Any) -> None:
    while a[0] > 0.1:
        a[0] -= 0.07


def lowered_one_by_one(a: Any) -> None:
    for i in range(1, len(a)):
        while a[i] > a[i - 1]:
            a[i] -= 0.07


def halved(a: Any) -> None:
    while a.sum() > 1.0:
        a *= 0.5


WITHIN: tuple[tuple[Function, tuple[Any, ...]], ...] = (
    (running_sum, (LINE,)),
    (swept, (LINE, 3)),
    (of_two, (LINE, LINE[::-1].copy())),
    (one_after_the_other, (LINE,)),
    (by_rows, (PLANE,)),
    (returned, (LINE,)),
    (part_of_it, (LINE,)),
    (lowered_first, (LINE.repeat(30000),)),
    (lowered_one_by_one, (LINE,)),
)


def what_it_was(a: Any) -> Any:
    before = a.copy()
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return before


def read_as_it_was(a: Any) -> None:
    before = a.copy()
    for i in range(1, len(a)):
        a[i] += before[i] + a[i - 1]


def column_as_it_was(a: Any) -> None:
    before = a[:, 0].copy()
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += before[i] + a[i, j - 1]


def carried_by_another(a: Any, steps: Any) -> Any:
    b = a
    for i in range(steps):
        b = b * 0.5
        a[i] = b[i] + 1.0
    return b


def exchanged(a: Any, b: Any) -> None:
    x, y = a, b
    for i in range(1, len(a)):
        x[i] += y[i - 1]
        x, y = y, x


def summed_between(a: Any) -> Any:
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    total = a.sum()
    for i in range(1, len(a)):
        a[i] -= a[i - 1] + total
    return total


def stored_for_another(a: Any, b: Any) -> None:
    b[:] = a
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    for i in range(1, len(a)):
        b[i] += a[i] * b[i - 1]


def views_of_one(a: Any) -> None:
    b = a[::2]
    for i in range(1, len(b)):
        b[i] += a[2 * i - 1]


OTHERS: tuple[tuple[Function, tuple[Any, ...]], ...] = (
    (what_it_was, (LINE,)),
    (read_as_it_was, (LINE,)),
    (column_as_it_was, (PLANE,)),
    (carried_by_another, (LINE, 5)),
    (exchanged, (LINE, LINE[::-1].copy())),
    (summed_between, (LINE,)),
    (stored_for_another, (LINE, LINE[::-1].copy())),
    (views_of_one, (LINE,)),
    (running_sum, (np.asfortranarray(PLANE)[:, 2],)),
    (by_rows, (np.asfortranarray(PLANE),)),
    (by_rows, (PLANE[:, ::-1],)),
    (by_rows, (PLANE[::2, 1:4],)),
)


def assert_as_numpy(function: Function, arguments: tuple[Any, ...]) -> str:
    """Two calls, each on arguments of its own, leave and return what NumPy does; what is said of the program."""
    compiled = xjit.jit(function)
    for _ in range(2):
        found, wanted = copied(arguments), copied(arguments)
        result, expected = compiled(*found), function(*wanted)
        for one, other in zip((result, *found), (expected, *wanted), strict=True):
            assert type(one) is type(other)
            np.testing.assert_allclose(one, other, rtol=1e-12) if one is not None else None
        if isinstance(result, np.ndarray):
            assert np.shares_memory(result, found[0]) == np.shares_memory(expected, wanted[0])
    return str(compiled.explain(*copied(arguments)))


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with memory of their own, as they lie."""
    found = [copy.deepcopy(one) for one in arguments]
    for place, one in enumerate(arguments):
        if isinstance(one, np.ndarray) and one.base is not None:
            base = one.base.copy(order="K")
            start = one.__array_interface__["data"][0] - one.base.__array_interface__["data"][0]
            found[place] = np.ndarray(one.shape, one.dtype, base.data if base.ndim else base, start, one.strides)
    return tuple(found)


@pytest.mark.parametrize(("function", "arguments"), WITHIN)
def test_a_loop_changes_the_argument_itself(function: Function, arguments: tuple[Any, ...]) -> None:
    said = assert_as_numpy(function, arguments)
    assert "while_loop changes parameter in place" in said
    assert "update_slice" not in said or function in (one_after_the_other, lowered_first)
    assert "memory for temporaries" not in said or function is part_of_it


def test_a_long_loop_works_on_a_copy() -> None:
    """Copies that begin at a line of memory are nothing beside its work."""
    assert "while_loop changes parameter in place" not in assert_as_numpy(swept, (LINE.repeat(9), 900))
    assert "while_loop changes parameter in place" not in assert_as_numpy(halved, (LINE.repeat(30000),))


@pytest.mark.parametrize(("function", "arguments"), OTHERS)
def test_what_something_else_needs_stays(function: Function, arguments: tuple[Any, ...]) -> None:
    assert_as_numpy(function, arguments)


def fails_behind(a: Any) -> None:
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    if a[-1] > 0.0:
        raise ValueError("a sum")


def fails_inside(a: Any, at: Any) -> None:
    for i in range(1, len(a)):
        a[i] += a[at[i]]


def fails_in_another_loop(a: Any, at: Any) -> Any:
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    b = np.zeros(len(a))
    for i in range(1, len(a)):
        b[at[i]] = b[i - 1] + 1.0
    return b


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (fails_behind, (LINE,)),
        (fails_inside, (LINE, np.arange(40) + 5)),
        (fails_in_another_loop, (LINE, np.arange(40) + 5)),
    ],
)
def test_errors_leave_what_numpy_leaves(function: Function, arguments: tuple[Any, ...]) -> None:
    found, wanted = copied(arguments), copied(arguments)
    with pytest.raises((ValueError, IndexError)):
        function(*wanted)
    compiled = xjit.jit(function)
    with pytest.raises((ValueError, IndexError)):
        compiled(*found)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)


def test_arguments_that_share_memory_and_read_only_ones_are_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    found, wanted = np.append(LINE, LINE), np.append(LINE, LINE)
    of_two(wanted[:40], wanted[20:60])
    with pytest.warns(FallbackWarning, match="shares memory"):
        xjit.jit(of_two)(found[:40], found[20:60])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    found.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        xjit.jit(running_sum)(found)
    np.testing.assert_array_equal(found, wanted)
