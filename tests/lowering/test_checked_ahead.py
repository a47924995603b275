"""Reductions of elements at positions from memory, which are checked a block ahead: NumPy's answers and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import KERNEL_EXECUTORS

RNG = np.random.default_rng(11)
X = RNG.integers(-50, 50, 900).astype(np.float64)
REAL = RNG.standard_normal(900)
BEGINS = np.concatenate([[0, 0, 1100], 1100 + np.cumsum(RNG.integers(0, 60, 70))])
PLACES = RNG.integers(0, 900, BEGINS[-1])
DATA = RNG.integers(-9, 9, BEGINS[-1]).astype(np.float64)


def of_rows(x: Any, k: Any) -> Any:
    return x[k].sum(axis=1)


def largest(x: Any, k: Any) -> Any:
    return x[k].max(axis=1)


def of_all(x: Any, k: Any) -> Any:
    return (x[k] * 3.0).sum()


def of_two_arrays(x: Any, k: Any) -> Any:
    return (x[k] - x[:700][k]).sum(axis=1)


def looked_up_twice(x: Any, k: Any) -> Any:
    return x[k.ravel()[k]].sum(axis=1)


def sparse(data: Any, columns: Any, begins: Any, x: Any) -> Any:
    y = np.empty(len(begins) - 1)
    for i in range(len(y)):
        row = slice(begins[i], begins[i + 1])
        y[i] = data[row] @ x[columns[row]]
    return y


def in_place(data: Any, columns: Any, begins: Any, x: Any) -> Any:
    """Each turn needs what the ones before it have written."""
    for i in range(len(begins) - 1):
        row = slice(begins[i], begins[i + 1])
        x[i] = (data[row] * x[columns[row]]).sum() % 7.0
    return x


def is_ahead(function: Callable[..., Any], *arguments: Any) -> bool:
    return "CheckAhead" in str(xjit.xjit(function).explain(*arguments))


def places(length: int, low: int = 0, high: int = 700, dtype: Any = np.int64) -> Any:
    return RNG.integers(low, high, (9, length)).astype(dtype)


@pytest.mark.parametrize("function", [of_rows, largest, of_all, of_two_arrays, looked_up_twice])
@pytest.mark.parametrize("run", KERNEL_EXECUTORS)
def test_answers_are_numpys(run: str, function: Callable[..., Any]) -> None:
    for length in (1, 9, 40) if run == "uncompiled" else (1, 40, 700):
        for low in (0, -100, -700):
            k = places(length, low)
            if function is looked_up_twice:
                k %= length
            np.testing.assert_array_equal(KERNEL_EXECUTORS[run](function, (X, k)), function(X, k))
    k = places(40)
    assert is_ahead(function, X, k)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint16, np.uint64])
def test_positions_of_any_type(dtype: Any) -> None:
    k = places(40, 0 if np.dtype(dtype).kind == "u" else -100, 100, dtype)
    for x in (X, X[:110], X[:110].astype(np.int64), X[:110].astype(np.complex64)):
        np.testing.assert_array_equal(xjit.jit(of_rows)(x, k), of_rows(x, k))


@pytest.mark.parametrize("function", [sparse, in_place])
def test_rows_whose_length_the_run_knows(function: Callable[..., Any]) -> None:
    assert is_ahead(function, DATA, PLACES, BEGINS, X.copy())
    compiled = xjit.xjit(function, strict=True)
    for columns in (PLACES, PLACES - 900, np.where(PLACES % 5, PLACES, PLACES - 900), PLACES.astype(np.int32)):
        expected = function(DATA, columns, BEGINS, X.copy())
        np.testing.assert_array_equal(compiled(DATA, columns, BEGINS, X.copy()), expected)


def test_sums_have_the_same_bits_with_and_without_checks() -> None:
    for length in (9, 31, 33, 40, 512, 700):
        k = places(length)
        for function in (of_rows, of_all):
            compiled = xjit.jit(function)
            assert np.array_equal(compiled(REAL, k), compiled(REAL, k - 900))
    rows, data = xjit.xjit(sparse), RNG.standard_normal(len(DATA))
    given = [rows(data, columns, BEGINS, REAL) for columns in (PLACES, PLACES - 900)]
    assert np.array_equal(*given)


@pytest.mark.parametrize("wrong", [900, -901, 2**40, -(2**63), 2**63 - 1])
def test_positions_outside_raise(wrong: int) -> None:
    compiled: Callable[..., Any] = xjit.jit(of_rows)
    rows: Callable[..., Any] = xjit.xjit(sparse)
    for place in (0, 17, 39, 600):
        k = places(700)
        k[3, place] = wrong
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 900"):
            compiled(X, k)
        columns = PLACES.copy()
        columns[place] = wrong
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 900"):
            rows(DATA, columns, BEGINS, X)
    np.testing.assert_array_equal(compiled(X, places(700) * 0), np.full(9, X[0] * 700))


def test_arrays_of_other_sizes_have_their_own_bounds() -> None:
    compiled = xjit.jit(of_rows)
    for size in (900, 300, 700, 299):
        k = places(40, -size, size)
        np.testing.assert_array_equal(compiled(X[:size], k), of_rows(X[:size], k))
        k[2, 5] = size
        with pytest.raises(IndexError, match=f"with size {size}"):
            compiled(X[:size], k)


def test_what_would_gain_little_is_checked_where_it_is() -> None:
    assert not is_ahead(lambda x, k: np.sin(x[k] * 1e5).sum(axis=1), X, places(40))
    assert not is_ahead(lambda x, k: (x[k] > 3).any(axis=1), X, places(40))
    assert not is_ahead(of_rows, X, places(5))
    assert not is_ahead(lambda x, k: x[np.minimum(k, 3)].sum(axis=1), X, np.abs(places(40)).astype(np.uint8))
