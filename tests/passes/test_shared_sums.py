"""Loops that add integers to elements of arrays: threads share them, and sums and errors are those of the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on
from xjit.codegen.rewrites.values.skip_failed import SkipFailed

Function = Callable[..., Any]

N = 4001
RNG = np.random.default_rng(7)
X = RNG.standard_normal(N)
K = RNG.integers(0, 9, N)
SHARED = on(replace(PROCESSOR, blocked_work=1.0, parallel_work=1000.0, most_pieces=8))


def histogram(x: Any) -> Any:
    counts = np.zeros(20, dtype=np.int64)
    for value in x:
        if value < -2.0 or value >= 2.0:
            continue
        counts[int((value + 2.0) / 0.2)] += 1
    return counts


def counted(k: Any) -> Any:
    """Without conditions that may not hold but that of positions; others may be negative."""
    counts = np.ones(12, dtype=np.int64)
    for i in range(len(k)):
        counts[k[i]] += 1
        counts[-k[i] - 1] -= k[i]
    return counts


def two_arrays(k: Any) -> Any:
    """Arrays that only one of two arms changes, and one of two axes."""
    first, pairs = np.zeros(9, np.int64), np.zeros((9, 3), np.int64)
    for i in range(len(k)):
        if k[i] > 3:
            first[k[i]] += i
        else:
            pairs[k[i], i % 3] += k[i]
    return first, pairs


def given(k: Any, counts: Any) -> Any:
    """An array of the caller's."""
    for i in range(len(k)):
        counts[k[i]] += 1


def read_back(k: Any) -> Any:
    """Each addition depends on earlier ones."""
    counts = np.zeros(9, np.int64)
    for i in range(len(k)):
        counts[k[i]] += counts[0] % 2 + 1
    return counts


def moved(k: Any) -> Any:
    """Sums of other elements than those that are stored."""
    counts = np.zeros(9, np.int64)
    for i in range(len(k)):
        counts[k[i]] = counts[k[i] - 1] + 1
    return counts


def floats(k: Any) -> Any:
    """Sums that round."""
    sums = np.zeros(9)
    for i in range(len(k)):
        sums[k[i]] += 0.1
    return sums


def limited(k: Any) -> Any:
    """Turns end when something is found."""
    counts = np.zeros(9, np.int64)
    for i in range(len(k)):
        if k[i] > 50:
            break
        counts[k[i]] += 1
    return counts


def wraps(k: Any) -> Any:
    """Numbers that leave their type."""
    counts = np.zeros(9, np.int64)
    for i in range(len(k)):
        counts[k[i]] += k[i] * 2**60
    return counts


def doubled(k: Any) -> Any:
    """More than addition."""
    counts = np.ones(9, np.int64)
    for i in range(len(k)):
        counts[k[i]] = counts[k[i]] * 3 % 101
    return counts


def is_in_parts(compiled: Any, *arguments: Any) -> bool:
    stages = compiled.stages(*arguments)
    return bool(stages["sums"]) and "most=8" in stages["sums"]


def assert_equal(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True) if isinstance(expected, tuple) else ((found, expected),):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("length", [N, N - 1])
@pytest.mark.parametrize(("function", "argument"), [(histogram, X), (counted, K), (two_arrays, K), (wraps, K)])
def test_parts_add_to_arrays_of_their_own(function: Function, argument: Any, length: int) -> None:
    """Some turns are left over where the parts are not equal."""
    compiled = xjit.jit(function, target=SHARED, strict=True)
    with np.errstate(over="ignore"):
        assert_equal(compiled(argument[:length]), function(argument[:length]))
    assert is_in_parts(compiled, argument[:length])
    assert "shared among threads" in next(
        one for one in compiled.source(argument[:length]).split("def kernel") if "while" in one
    )


def test_an_argument_is_added_to() -> None:
    compiled = xjit.jit(given, target=SHARED, strict=True)
    found, expected = np.arange(9), np.arange(9)
    compiled(K, found)
    given(K, expected)
    np.testing.assert_array_equal(found, expected)
    assert is_in_parts(compiled, K, np.arange(9))


@pytest.mark.parametrize("function", [read_back, moved, floats, limited, doubled], ids=lambda one: one.__name__)
def test_turns_that_need_others_stay_in_order(function: Function) -> None:
    compiled = xjit.jit(function, target=SHARED, strict=True)
    assert_equal(compiled(K), function(K))
    assert not is_in_parts(compiled, K)


@pytest.mark.parametrize("where", [0, 700, N - 1])
def test_errors_are_those_of_the_loop(where: int) -> None:
    compiled = xjit.jit(counted, target=SHARED, strict=True)
    assert is_in_parts(compiled, K)
    wrong = K.copy()
    wrong[where] = 12
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(wrong)
    np.testing.assert_array_equal(compiled(K), counted(K))


@pytest.mark.parametrize("where", [0, 700, N - 1])
def test_what_turns_demand_is_looked_at(where: int) -> None:
    """NumPy does the call: whole numbers that Python would hold, and its error."""
    compiled = xjit.jit(histogram, target=SHARED, strict=True)
    wrong = X.copy()
    wrong[where] = np.nan
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        compiled(wrong)


def test_few_turns_are_not_shared() -> None:
    compiled = xjit.jit(histogram)
    assert_equal(compiled(X), histogram(X))
    assert "while_loop" not in (compiled.stages(X)["sums"] or "")


@pytest.mark.parametrize(("function", "argument"), [(histogram, X), (counted, K)])
def test_parts_store_behind_jumps_over_what_is_checked(function: Function, argument: Any) -> None:
    compiled = xjit.jit(function, target=SHARED, strict=True)
    assert SkipFailed.__name__ in str(compiled.explain(argument))
