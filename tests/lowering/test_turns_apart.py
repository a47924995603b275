"""Counted loops whose turns need no others: threads share the turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on

Function = Callable[..., Any]
APART = on(replace(PROCESSOR, blocked_work=1.0, parallel_work=20_000.0))
IN_TURN = on(replace(PROCESSOR, blocked_work=float("inf")))
RNG = np.random.default_rng(6)
X = RNG.random((5000, 12)) - 0.5
K = RNG.integers(0, 5000, 5000)
BEGINS = np.concatenate([[0], np.cumsum(RNG.integers(0, 20, 5000))])
DATA = RNG.random(BEGINS[-1]) - 0.5
COLUMNS = RNG.integers(0, 5000, BEGINS[-1])


def rolling(x: Any) -> Any:
    out = np.empty(len(x) - 5)
    for i in range(len(out)):
        out[i] = x[i : i + 6, 0].max() - x[i, 1]
    return out


def triangle(x: Any) -> Any:
    c = np.ones((len(x), len(x)))
    for i in range(len(x)):
        c[i, : i + 1] *= 0.5
        for k in range(x.shape[1]):
            c[i, : i + 1] += x[i, k] * x[: i + 1, k]
    return c


def in_place(x: Any) -> Any:
    for i in range(2, len(x)):
        x[i] = x[i] * 2.0 - x[i].sum()
        x[i, 3] += i
    return x


def in_arms(x: Any, k: Any) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i, 0] > 0:
            y[i] = x[k[i], 1] * np.arange(8.0)[: k[i] % 8].sum()
        else:
            y[i] = x[i, : k[i] % 12].sum()
    return y


def sparse(data: Any, columns: Any, begins: Any, x: Any) -> Any:
    """Windows of which each may be all of a long array."""
    y = np.empty(len(begins) - 1)
    for i in range(len(y)):
        row = slice(begins[i], begins[i + 1])
        y[i] = data[row] @ x[columns[row]]
    return y


SHARED = {
    "sparse": (sparse, (DATA, COLUMNS, BEGINS, X[:, 0].copy())),
    "rolling": (rolling, (X,)),
    "triangle": (triangle, (X[:400].copy(),)),
    "in place": (in_place, (X,)),
    "in arms": (in_arms, (X, K)),
}


def from_before(x: Any) -> Any:
    y = np.ones(len(x))
    for i in range(1, len(x)):
        y[i] = y[i - 1] * 0.5 + x[i].sum()
    return y


def from_behind(x: Any) -> Any:
    for i in range(len(x) - 1):
        x[i] = x[i + 1] * x[i].max()
    return x


def shown_from_the_next_on(x: Any) -> Any:
    for i in range(len(x) - 1):
        x[i] = x[1:][i] * 0.5 + x[i].sum()
    return x


def at_found_places(x: Any, k: Any) -> Any:
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[k[i]] += x[k[i]].sum() - y[k[i] + 1]
    return y


def summed(x: Any) -> Any:
    y, total = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        y[i] = x[i].sum()
        total += y[i]
    return y, total


def long_windows(data: Any, begins: Any) -> Any:
    """Windows of which each may be all of a long array, and numbers from the turn before."""
    y = np.ones(len(begins))
    for i in range(1, len(begins)):
        y[i] = y[i - 1] * 0.5 + data[begins[i - 1] : begins[i]].sum()
    return y


NEEDED = {
    "long windows": (long_windows, (DATA, BEGINS)),
    "from before": (from_before, (X,)),
    "from behind": (from_behind, (X,)),
    "shown from the next on": (shown_from_the_next_on, (X,)),
    "at found places": (at_found_places, (X, K)),
    "summed": (summed, (X,)),
}


def outcome(function: Function, arguments: tuple[Any, ...]) -> list[Any]:
    given = [one.copy() for one in arguments]
    result = function(*given)
    return [*(result if isinstance(result, tuple) else (result,)), *given]


def is_shared(function: Any, arguments: tuple[Any, ...]) -> bool:
    return "Parallelize" in str(function.explain(*(one.copy() for one in arguments)))


@pytest.mark.parametrize("name", SHARED)
def test_turns_that_need_no_others_are_shared(name: str) -> None:
    function, arguments = SHARED[name]
    shared, in_turn = (xjit.jit(function, target=target) for target in (APART, IN_TURN))
    expected = outcome(in_turn, arguments)
    for found, one, plain in zip(outcome(shared, arguments), expected, outcome(function, arguments), strict=True):
        np.testing.assert_array_equal(found, one, strict=isinstance(one, np.ndarray))
        np.testing.assert_allclose(found, plain, rtol=1e-12, atol=1e-13)
    assert is_shared(shared, arguments) and not is_shared(in_turn, arguments)


@pytest.mark.parametrize("name", NEEDED)
def test_turns_that_need_others_are_not(name: str) -> None:
    function, arguments = NEEDED[name]
    one = xjit.jit(function, target=APART)
    for found, plain in zip(outcome(one, arguments), outcome(function, arguments), strict=True):
        np.testing.assert_allclose(found, plain, rtol=1e-12, atol=1e-13)
    assert not is_shared(one, arguments)


def test_a_turn_that_fails_raises() -> None:
    shared = xjit.jit(in_arms, target=APART)
    assert is_shared(shared, (X, K))
    far = K.copy()
    far[300] = 5000
    x = np.abs(X)
    with pytest.raises(IndexError, match="out of bounds"):
        shared(x, far)
    np.testing.assert_allclose(shared(x, K), in_arms(x, K), rtol=1e-12)


def test_turns_with_parts_of_long_windows_are_cut_into_few_pieces() -> None:
    """Nobody knows how long windows are: of many turns each is likely to have little of what there is."""
    turns = 65_536
    begins = np.arange(0, 20 * turns + 1, 20)
    columns = np.zeros(20 * turns, np.int64)
    (kernel,) = xjit.jit(sparse).explain(np.ones(20 * turns), columns, begins, X[:, 0].copy()).kernels
    assert 1 < kernel.pieces <= turns // 128
