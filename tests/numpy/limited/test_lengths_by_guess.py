"""Arrays made of a length that nothing bounds but the run: there is room by a guess, later calls make more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit


def counted(k: Any) -> Any:
    counts = np.zeros(k.max() + 1, int)
    for one in k:
        counts[one] += 1
    return counts


def several(k: Any) -> Any:
    return np.arange(k.max()), np.full((k.sum(), 2), 1.5), np.ones(int(k[0]) * 2)


def looked_up(k: Any) -> Any:
    values, counts = np.unique(k, return_counts=True)
    table = np.zeros(values.max() + 1)
    table[values] = counts / counts.sum()
    return table[k]


def outcome(function: Any, k: Any) -> Any:
    try:
        return function(k)
    except ValueError as error:
        return repr(error)


@pytest.mark.parametrize("function", [counted, several, looked_up])
def test_lengths_of_the_run_need_no_bound(function: Any) -> None:
    compiled, rng = xjit.jit(function, strict=True), np.random.default_rng(2)
    for k in (rng.integers(0, 7, 50), rng.integers(0, 3000, 50), rng.integers(0, 9, 50), np.array([0, 0])):
        wanted, found = function(k), compiled(k)
        pairs = zip(wanted, found, strict=True) if isinstance(wanted, tuple) else [(wanted, found)]
        for one, other in pairs:
            np.testing.assert_array_equal(other, one)
            assert other.dtype == one.dtype


@pytest.mark.parametrize("function", [counted, several])
def test_negative_lengths_are_numpys_errors(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    for k in (np.array([3, 1]), np.array([-4, -3]), np.array([2, 2]), np.array([3, -2])):
        wanted, found = outcome(function, k), outcome(compiled, k)
        assert isinstance(found, str) == isinstance(wanted, str)
