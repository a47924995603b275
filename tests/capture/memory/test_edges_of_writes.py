"""Writes at the edges: empty windows, no values, constants as a whole."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit


def test_nothing_is_written_to_empty_windows() -> None:
    def written(x: Any) -> Any:
        y = x * 2
        y[:0] //= 0
        x.reshape(2, -1)[2:] = 1
        return y

    x = np.arange(4)
    assert np.array_equal(xjit.jit(written, strict=True)(x), [0, 2, 4, 6])
    assert np.array_equal(x, np.arange(4))


def test_constants_are_stored_as_a_whole() -> None:
    def filled(x: Any) -> None:
        x[...] = np.full(4, 2.0)

    x = np.arange(4.0)
    xjit.jit(filled, strict=True)(x)
    assert np.array_equal(x, np.full(4, 2.0))


def test_no_values_are_stored_where_no_element_is_chosen(monkeypatch: Any) -> None:
    """No value is looked up in an array without elements."""
    monkeypatch.setenv("XJIT_DEBUG", "1")  # every access is checked

    def chosen(x: Any, y: Any) -> None:
        x[x > 1] = y[:0]

    fast = xjit.jit(chosen, strict=True)
    x, y = np.zeros(4), np.ones(3)
    fast(x, y)
    assert np.array_equal(x, np.zeros(4))
    with pytest.raises(ValueError, match="cannot assign 0 input values"):
        fast(x + 2, y)


def test_attributes_of_chosen_elements_are_not_assigned() -> None:
    def assigned(x: Any) -> None:
        x[x < 3].flat = x

    with pytest.raises(xjit.errors.XjitError, match="chosen elements is assigned to"):
        xjit.jit(assigned, strict=True)(np.arange(2.0))


def test_limited_values_are_not_stored_at_index_arrays() -> None:
    def stored(x: Any, n: Any) -> None:
        x[np.arange(2)] = x[: int(n[0]) : 2] + x[0]

    with pytest.raises(xjit.errors.CaptureError, match="stored at index arrays"):
        xjit.jit(stored, strict=True)(np.ones((3, 3)), np.array([3.0]))


def test_rows_are_exchanged_at_positions_of_the_run() -> None:
    def eliminated(a: Any) -> None:
        n = a.shape[0]
        for k in range(n - 1):
            p = k + np.argmax(np.abs(a[k:, k]))
            if p != k:
                a[[k, p]] = a[[p, k]]
            a[k + 1 :] -= np.outer(a[k + 1 :, k] / a[k, k], a[k])

    x = np.random.default_rng(3).random((6, 6))
    y = x.copy()
    eliminated(x)
    xjit.jit(eliminated, strict=True)(y)
    np.testing.assert_allclose(y, x, rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="warned of it only")
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("index", [(1, 0), (-1, np.int64(1))])
def test_arrays_are_not_stored_as_elements(index: Any, rank: int, monkeypatch: Any) -> None:
    """NumPy takes arrays of rank 0 as one element, and those of one truth value."""
    monkeypatch.setenv("XJIT_STRICT", "0")

    def stored(x: Any, y: Any) -> None:
        x[0, 0] = 7.0
        x[index] = y

    def added(x: Any, y: Any) -> None:
        x[0, 0] = 7.0
        x[index] += y

    for function in (stored, added):
        mine, numpys = np.arange(4.0).reshape(2, 2), np.arange(4.0).reshape(2, 2)
        with pytest.raises(ValueError, match="setting an array element"):
            function(numpys, np.ones((1,) * rank))
        with pytest.raises(ValueError, match="setting an array element"):
            xjit.jit(function)(mine, np.ones((1,) * rank))
        assert np.array_equal(mine, numpys)


def test_windows_of_one_element_and_truth_values_take_arrays() -> None:
    def stored(x: Any, m: Any, y: Any) -> None:
        x[1, ...] = y
        x[0:1] = y
        m[1] = y

    x, m = np.zeros(2), np.zeros(2, bool)
    xjit.jit(stored, strict=True)(x, m, np.ones(1))
    assert np.array_equal(x, [1.0, 1.0])
    assert np.array_equal(m, [False, True])


def test_what_a_library_has_failed_to_make_is_not_stored(monkeypatch: Any) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def stored(a: Any, b: Any, d: Any) -> Any:
        c = a * 0.5
        if d.sum() > 0:
            b[:] = d @ d
            a[1] = np.linalg.inv(b)[0]
        a = a + 1.0
        b[:] = np.linalg.cholesky(c)
        return a, b, c, np.linalg.solve(a - b, a - b + 1.0).sum()

    fast = xjit.jit(stored)
    for a in ([[4.0, 1.0], [1.0, 3.0]], [[-2.0, -2.0], [-2.0, 3.0]]):
        mine, numpys = (
            [np.array(a), np.array([[-1.0, 1.0], [2.0, -1.0]]), np.array([[-2.0, -1.0], [0.0, -3.0]])] for _ in "12"
        )
        for one, arguments in ((fast, mine), (stored, numpys)):
            with contextlib.suppress(np.linalg.LinAlgError):
                one(*arguments)
        for one, other in zip(mine, numpys, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def turned_around(x: Any) -> None:
    x[2] = 1
    x[::-1] = x
    x[x < 3] //= x


def chosen_anew(x: Any) -> Any:
    x[0] = 1
    for i in range(2):
        k = x > i
        x[k] = 2
    return np.arange(4) // x[k]


@pytest.mark.parametrize(("function", "values"), [(turned_around, [2, 4, 7]), (chosen_anew, [-1, -2, 6, -2])])
def test_all_of_an_array_is_replaced_ahead_of_an_error(function: Any, values: Any) -> None:
    mine, numpys = np.array(values), np.array(values)
    for one, array in ((xjit.jit(function), mine), (function, numpys)):
        with pytest.raises(ValueError, match="broadcast"):
            one(array)
    np.testing.assert_array_equal(mine, numpys)


def exchanged(x: Any, y: Any, n: Any) -> Any:
    k = 0
    while k < n[0]:
        x, y = y, x
        x[...] = y + 1
        k += 1
    return x


@pytest.mark.parametrize("size", [0, 1, 3])
def test_arrays_without_elements_are_exchanged_in_turns(size: int) -> None:
    compiled = xjit.jit(exchanged, strict=True)
    for turns in (0, 1, 2, 5):
        mine = np.arange(float(size)), np.arange(float(size)) + 5, np.array([turns])
        numpys = mine[0].copy(), mine[1].copy(), mine[2]
        np.testing.assert_array_equal(compiled(*mine), exchanged(*numpys))
        np.testing.assert_array_equal(mine[:2], numpys[:2])


def by_arrays_of_rank_0(x: Any) -> Any:
    x[:, np.asarray(1)] = 5
    x[np.array(0), np.array(2)] = 7
    x[np.asarray(1), 1:] *= 2
    x[1:][np.asarray(-1)] += x[0]
    np.add.at(x, np.asarray(1), 2)
    np.subtract.at(x, (np.asarray(1, np.uint8), np.asarray(1)), 2)
    x.flat[np.asarray(2)] = 8
    x[np.asarray(0)][0] = 100  # of a copy
    return x


def at_counters_as_arrays(x: Any) -> Any:
    out = np.zeros((4, *x.shape))
    for k in range(4):
        out[np.asarray(k)] = x + k
        out[np.asarray(k), 1] += out[k, 0]
    return out


@pytest.mark.parametrize("function", [by_arrays_of_rank_0, at_counters_as_arrays])
def test_arrays_of_rank_0_say_where_is_stored(function: Callable[[Any], Any]) -> None:
    x, y = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(xjit.jit(function, strict=True)(x), function(y))
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("kind", ["f4", "i4", "u1", "c8"])
def test_putmask_takes_arrays_that_convert_safely_and_any_numbers(kind: str) -> None:
    def put(x: Any, mask: Any, values: Any) -> Any:
        np.putmask(x, mask, values)
        return x

    mask = np.array([True, False, True])
    for values in (np.arange(3), np.arange(3.0), np.arange(3, dtype="u1"), 2, np.float32(2.5), [1.5, 2], np.int64(7)):
        expected = found = np.zeros(3, kind)
        try:
            expected = put(np.zeros(3, kind), mask, values)
        except TypeError as error:
            with pytest.raises(TypeError, match=re.escape(str(error))):
                xjit.jit(put, strict=True)(found, mask, values)
            assert not found.any()
        else:
            np.testing.assert_array_equal(xjit.jit(put, strict=True)(found, mask, values), expected)
