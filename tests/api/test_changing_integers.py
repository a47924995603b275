"""Integers among the arguments that change: the first value makes a trace of its own, all others share one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import xjit

LINE = np.arange(60.0) + 0.5


def head(x: Any, n: int) -> Any:
    return x[:n].sum()


def tail(x: Any, n: int) -> Any:
    return (x[n:] * 2).sum()


def window(x: Any, n: int) -> Any:
    return x[n : 2 * n].max() if n > 0 else x[0]


def element(x: Any, n: int) -> Any:
    return x[n % 60] + n


def written(x: Any, n: int) -> Any:
    x[:n] += 1.0
    x[n : n + 3] = 0.0
    return x


def half_of_a_range(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n // 2):
        total += x[i]
    return total


def inner_range(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(1, n - 1):
        total += x[i] * x[i - 1] + x[: n % 7].sum()
    return total


def parts(x: Any, n: int) -> Any:
    square = x[:36].reshape(6, 6)
    return square[: n % 6, : n % 6].sum(), n // 2, -n


def shape(x: Any, n: int) -> Any:
    return np.zeros(n) + x[:n].sum()


def checked(x: Any, n: int) -> Any:
    if n >= len(x):
        raise ValueError(f"{n} is too large")
    return x[n] * 2


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments), arguments
    except ValueError as error:
        return error.args, arguments


@pytest.mark.parametrize(
    "function", [head, tail, window, element, written, half_of_a_range, inner_range, parts, shape, checked]
)
def test_a_changed_integer_is_traced_and_compiled_once(function: Callable[..., Any]) -> None:
    compiled = xjit(strict=True)(function)
    for n in (7, 8):
        compiled(LINE.copy(), n)
    before = compiled.stats()
    for n in (9, 20, 7, 29 if function is window else 60, 2, 3, 0, 11):
        np.testing.assert_equal(outcome(compiled, LINE.copy(), n), outcome(function, LINE.copy(), n))
    assert (compiled.stats().traces, compiled.stats().compiles) == (before.traces, before.compiles)
    assert before.traces == 2


def test_numbers_beyond_the_sizes_of_arrays_are_traced_again() -> None:
    compiled = xjit(strict=True)(head)
    for n in (5, 6, 61, 1000, -1, -70, 2**40, 6, 62):
        np.testing.assert_equal(compiled(LINE, n), head(LINE, n))
    assert compiled.stats().traces <= 6


def exponent(x: Any, n: int, m: int) -> Any:
    return x**n + x[m]


def repetition(x: Any, n: int, m: int) -> Any:
    for one in (1.0,) * n:
        x = x * 2.0 + one
    return x + x[m]


@pytest.mark.parametrize("function", [exponent, repetition])
def test_what_only_known_numbers_can_do_is_traced_for_each(function: Callable[..., Any]) -> None:
    compiled = xjit(strict=True)(function)
    for n, m in ((2, 3), (3, 3), (4, 3), (4, 3), (2, 3)):
        np.testing.assert_array_equal(compiled(LINE, n, m), function(LINE, n, m))
    assert compiled.stats().traces == 3
    for m in (4, 5, 6, 7):
        np.testing.assert_array_equal(compiled(LINE, 4, m), function(LINE, 4, m))
    assert compiled.stats().traces == 4


def test_the_first_number_keeps_its_own_trace() -> None:
    compiled = xjit(strict=True)(head)
    compiled(LINE, 7)
    first = compiled.source(LINE, 7)
    compiled(LINE, 8)
    known = next(iter(compiled._dispatcher._known._by_key.values()))
    assert [one.captured.guards.fetch((LINE, 7)) is not None for one in known] == [True, True]
    assert known[0].captured.guards.fetch((LINE, 8)) is None, first


def counted_to(x: Any, n: Any) -> Any:
    total, k = 0.0, 0
    while k < n:
        total += x[k]
        k += 1
    return total


@pytest.mark.parametrize("kind", [int, np.int64, np.int32])
def test_bounds_of_counters_are_inputs_once_they_have_changed_twice(kind: type) -> None:
    compiled = xjit(counted_to)
    for n in (20, 30, 25, 7, 8, 9, 50, 40, 41):
        assert compiled(LINE, kind(n)) == counted_to(LINE, kind(n))
    assert compiled.stats().traces <= 3


def chosen_by(x: Any, n: Any) -> Any:
    if n > 20:
        return x[:20].sum()
    return (x * 2.0 if n > 10 else x * 3.0)[: n % 7] + 1.0


def test_branches_on_changing_integers() -> None:
    compiled = xjit(chosen_by)
    for n in (5, 15, 25, 8, 12, 30, 9, 13, 21):
        np.testing.assert_array_equal(compiled(LINE, n), chosen_by(LINE, n))


def pooled(x: Any, n: int) -> Any:
    count = len(x) // n
    return x[: count * n].reshape(count, n).max(axis=1)


def test_integers_that_shapes_need_stay_constants() -> None:
    compiled = xjit(pooled)
    for n in (4, 5, 7):
        np.testing.assert_array_equal(compiled(LINE, n), pooled(LINE, n))
    text = str(compiled.explain(LINE, 7))
    assert "Python calls" not in text and "NumPy runs" not in text


def test_lengths_without_arrays_take_little_room() -> None:
    def made(n: int) -> Any:
        return np.zeros(n - 2) + 1.0

    compiled = xjit(made)
    for n in (40, 41, 5000):
        np.testing.assert_array_equal(compiled(n), made(n))
    assert "2147483" not in str(compiled.explain(41))
