"""Comprehensions and generators with several loops, beside Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.comprehensions.outcomes import identical, outcome

LINE = np.random.default_rng(0).normal(size=40)
TABLE = LINE.reshape(4, 10)


def near_pairs(x: Any) -> Any:
    n = len(x)
    return [(i, j) for i in range(n) for j in range(i + 1, n) if abs(x[i] - x[j]) < 0.02]


def conditions_between(x: Any) -> Any:
    n = len(x)
    return [i * n + j for i in range(n) if x[i] > 0 for j in range(n) if i != j and x[j] > 1]


def products(x: Any) -> Any:
    return [x[i] * x[j] for i in range(40) for j in range(40) if i < j]


def few(x: Any) -> Any:
    return [x[i] * x[j] for i in range(3) for j in range(3)], [k + str(i) for k in "ab" for i in range(2)]


def of_run_lengths(x: Any) -> Any:
    high = x[x > 1]
    return [a - b for a in high for b in high if a > b], [a for n in range(3) for a in x[:n]]


def folds(x: Any) -> Any:
    n = len(x)
    total = sum(x[i] * x[j] for i in range(n) for j in range(i + 1, n) if x[i] < x[j])
    return total, max(abs(a - b) for a in x for b in x), min((i - j for i in range(9) for j in range(i)), default=3)


def truths(x: Any) -> Any:
    n = len(x)
    some = any(x[i] == -x[j] for i in range(n) for j in range(i + 1, n))
    return some, all(x[i] != x[j] for i in range(n) for j in range(i))


def first_pair(x: Any) -> Any:
    found = next((i, j) for i in range(20) for j in range(i) if x[i] < x[j])
    return found, next(((i, j) for i in range(20) for j in range(i) if x[i] == x[j]), None)


def keyed(x: Any) -> Any:
    n = len(x)
    return {(i, j): x[i] - x[j] for i in range(n) for j in range(i) if abs(x[i] - x[j]) < 0.02}


def distinct(x: Any) -> Any:
    return {int(a * b) for a in x for b in x}


def gone_through(x: Any) -> Any:
    pairs = [(i, j) for i in range(20) for j in range(i) if x[i] < x[j]]
    total = 0.0
    for i, j in pairs:
        total += x[i] - x[j]
    return total, len(pairs), np.array(pairs)


@pytest.mark.parametrize(
    "function",
    [
        *(near_pairs, conditions_between, products, few, of_run_lengths, folds, truths, first_pair, keyed, distinct),
        gone_through,
    ],
)
def test_several_loops(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function, strict=function not in (keyed, distinct))
    for x in (LINE, np.sort(LINE), LINE[::-1] * 0.5):
        identical(outcome(compiled, x), outcome(function, x))
    assert not compiled.stats().fallbacks


def rows_flat(table: Any) -> Any:
    return [v for row in table for v in row if v > 0]


def sums_of_rows(table: Any) -> Any:
    return [sum(v for v in row if v > 0) for row in table], [max(abs(v) for v in row) for row in table]


@pytest.mark.parametrize("function", [rows_flat, sums_of_rows])
def test_rows_of_tables(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function, strict=True)
    for table in (TABLE, -TABLE):
        identical(outcome(compiled, table), outcome(function, table))


def pairs_of(x: Any) -> Any:
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if abs(x[i] - x[j]) < 0.05:
                yield i, j


def collected(x: Any) -> Any:
    gaps = np.array([x[i] - x[j] for i, j in pairs_of(x)])
    return list(pairs_of(x)), gaps, {i: j + 1 for i, j in pairs_of(x)}, {x[i] > x[j] for i, j in pairs_of(x)}


def test_collections_of_generators() -> None:
    compiled = xjit.jit(collected)
    for x in (LINE, LINE[::-1] * 0.5):
        identical(outcome(compiled, x), outcome(collected, x))
    assert not compiled.stats().fallbacks


def counted(x: Any) -> Any:
    calls = 0

    def near(a: Any, b: Any) -> Any:
        nonlocal calls
        calls += 1
        return abs(a - b) < 0.02

    return len([1 for a in x for b in x if near(a, b)]), calls


def test_conditions_that_count() -> None:
    compiled = xjit.jit(counted, strict=True)
    identical(outcome(compiled, LINE), outcome(counted, LINE))
