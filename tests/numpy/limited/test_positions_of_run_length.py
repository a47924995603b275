"""Arrays of positions whose number only the run knows, along all axes of an array: reads, writes and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from xjit import tree
from xjit.capture.capture import capture
from xjit.passes.interpret import interpret

TURNS = 300


def diagonal(A):
    total = 0.0
    for i in range(TURNS):
        k = np.arange(i % 7)
        total += A[k, k].sum() + A[k, 6 - k].max(initial=0.0)
    return total


def onto_diagonals(A):
    for i in range(TURNS):
        k = np.arange(i % 4, i % 7)
        A[k, 6 - k] = A[k, k] * 0.5 + i
        A[k, k] += 1.0
    return A


def one_number(A):
    for i in range(TURNS):
        k = np.arange(i % 7)
        A[k, k] = i
    return A


def in_a_vector(x):
    for i in range(TURNS):
        k = np.arange(i % 5)
        x[2 * k + 1] = x[k] - i
        x[k] *= 0.5
    return x


def twice_the_same(x):
    for i in range(TURNS):
        k = np.arange(i % 9)
        x[k // 2] = k + i
    return x


def beside_one_position(A):
    for i in range(TURNS):
        k, first = np.arange(i % 7), np.arange(min(1, i % 7))
        A[k, first] = A[first, k] + 1.0
    return A


MATRIX, VECTOR = np.random.default_rng(0).standard_normal((7, 7)), np.random.default_rng(1).standard_normal(9)


@pytest.mark.parametrize(
    ("function", "array"),
    [
        (diagonal, MATRIX),
        (onto_diagonals, MATRIX),
        (one_number, MATRIX),
        (in_a_vector, VECTOR),
        (twice_the_same, VECTOR),
    ],
)
def test_positions_are_read_and_written(function: Callable[..., Any], array: Any) -> None:
    found, wanted = array.copy(), array.copy()
    result, expected = xjit.jit(strict=True)(function)(found), function(wanted)
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    np.testing.assert_array_equal(found, wanted)


def test_positions_broadcast() -> None:
    found, wanted = MATRIX.copy(), MATRIX.copy()
    xjit.jit(beside_one_position)(found)
    beside_one_position(wanted)
    np.testing.assert_array_equal(found, wanted)


def test_positions_outside_are_refused() -> None:
    def outside(A):
        for i in range(TURNS):
            k = np.arange(i % 9)
            A[k, k] += 1.0
        return A

    for function in (outside, xjit.jit(strict=True)(outside)):
        with pytest.raises(IndexError, match="out of bounds"):
            function(MATRIX.copy())


def along_diagonals(A, beyond):
    n, m = A.shape
    for d in range(2, n + m - 1 + beyond):
        i = np.arange(max(1, d - m + 1), min(n - 1, d - 1) + 1 + beyond)
        j = d - i
        A[i, j] = A[i - 1, j - 1] + np.maximum(A[i - 1, j], A[i, j - 1])
    return A


@pytest.mark.parametrize("dims", [(30, 20), (20, 30), (25, 25)])
def test_positions_that_are_within_are_not_checked(dims: tuple[int, int]) -> None:
    given = np.random.default_rng(0).standard_normal(dims)
    compiled = xjit.jit(strict=True)(lambda A: along_diagonals(A, 0))
    np.testing.assert_array_equal(compiled(given.copy()), along_diagonals(given.copy(), 0))
    assert "require" not in str(compiled.graph(given.copy()))


def test_the_interpreter_takes_positions_behind_a_limit() -> None:
    given = np.random.default_rng(0).standard_normal((30, 20))
    leaves, structure = tree.flatten(((given.copy(),), {}))
    found = capture(lambda A: along_diagonals(A, 0), leaves, structure)
    (result, *_) = interpret(found.graph, (given.copy(),))
    np.testing.assert_array_equal(result, along_diagonals(given.copy(), 0))


def test_positions_one_beyond_are_checked() -> None:
    given = np.random.default_rng(0).standard_normal((30, 20))
    with pytest.raises(IndexError) as wanted:
        along_diagonals(given.copy(), 1)
    with pytest.raises(IndexError) as found:
        xjit.jit(strict=True)(lambda A: along_diagonals(A, 1))(given.copy())
    assert "out of bounds for axis" in str(wanted.value) and "out of bounds for axis" in str(found.value)


def test_an_index_without_entries_shows_all() -> None:
    def shown(x: Any) -> Any:
        return x[x > 0.5][()] + 1, x[int(x[0]) :][()] * 2

    compiled, x = xjit.jit(shown, strict=True), np.linspace(1.0, 0.0, 7)
    for found, wanted in zip(compiled(x), shown(x), strict=True):
        np.testing.assert_array_equal(found, wanted)
