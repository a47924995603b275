"""Turns whose integers may leave 64 bits are taken at once: where one leaves them Python does the call."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import xjit

N = 400


def collatz_lengths(limit: int) -> Any:
    lengths = np.zeros(limit, dtype=np.int64)
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        lengths[start] = steps
    return lengths


def last_digits(limit: int, most: int) -> Any:
    digits = np.zeros(limit, dtype=np.int64)
    for start in range(limit):
        n, steps = start, 0
        while steps < most and n % 7 != 6:
            n = 5 * n - 3
            steps += 1
        digits[start] = n % 1000
    return digits


def raised(limit: int, most: int) -> Any:
    lengths = np.zeros(limit, dtype=np.int64)
    for start in range(1, limit):
        n, steps = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
            if steps > most:
                raise ValueError(f"{start} takes long")
        lengths[start] = steps
    return lengths


def _graph(function: Any, *arguments: Any) -> str:
    compiled = xjit.jit(function)
    compiled(*arguments)
    return str(compiled.graph(*arguments))


@pytest.mark.parametrize(
    ("function", "arguments"), [(collatz_lengths, (N,)), (last_digits, (N, 20)), (raised, (N, 1000))]
)
def test_results_are_those_of_the_loop(function: Any, arguments: tuple[Any, ...]) -> None:
    compiled = xjit.jit(function, strict=True)
    np.testing.assert_array_equal(compiled(*arguments), function(*arguments))
    np.testing.assert_array_equal(compiled(*arguments), function(*arguments))
    assert compiled.stats().fallbacks == 0


@pytest.mark.parametrize(("function", "arguments"), [(collatz_lengths, (N,)), (last_digits, (N, 20))])
def test_loops_of_all_turns_go_side_by_side(function: Any, arguments: tuple[Any, ...]) -> None:
    graph = _graph(function, *arguments)
    assert f"s64[{N}]" in graph
    assert "masked=" in graph
    assert "goes_on" not in graph


def test_python_does_the_call_where_an_integer_of_one_turn_leaves_64_bits() -> None:
    compiled = xjit.jit(last_digits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(compiled(N, 200), last_digits(N, 200))
        np.testing.assert_array_equal(compiled(N, 5), last_digits(N, 5))
        np.testing.assert_array_equal(compiled(N, 201), last_digits(N, 201))


def test_turns_behind_an_error_of_the_functions_own_are_not_taken() -> None:
    graph = _graph(raised, N, 1000)
    assert "masked=" not in graph
    compiled = xjit.jit(raised)
    with pytest.raises(ValueError, match="27 takes long"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled(N, 100)


def test_a_sum_of_what_was_checked_is_not_checked_again() -> None:
    graph = _graph(collatz_lengths, N)
    assert "mul" in graph
    assert "xor" not in graph
