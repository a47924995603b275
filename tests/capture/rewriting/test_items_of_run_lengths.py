"""Collections, orders and extremes of many items, and of arrays of lengths that only the run knows."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.comprehensions.outcomes import identical, outcome

LINE = np.random.default_rng(0).normal(size=100)
WHOLE = np.random.default_rng(1).integers(0, 9, 100)


def tuples(x: Any) -> Any:
    return tuple(x[x > 0][:2]), list(x[x > 0][-2:]), len(tuple(np.flatnonzero(x > 1)))


def counts(x: Any) -> Any:
    values, counts = np.unique(x, return_counts=True)
    return dict(zip(values, counts)), {v: n / len(x) for v, n in zip(values, counts)}  # noqa: B905


def counted(x: Any) -> Any:
    return dict(zip(*np.unique(x, return_counts=True)))  # noqa: B905


def places_of_extremes(x: Any) -> Any:
    far = [abs(v) for v in x]
    low, high = min(range(len(x)), key=lambda i: far[i]), max(range(len(x)), key=lambda i: x[i])
    return low, high, min(x, key=lambda v: abs(v - 0.5)), min(range(5), key=lambda i: x[i])


def orders(x: Any) -> Any:
    order = sorted(range(len(x)), key=lambda i: -x[i])
    total = 0.0
    for k in order:
        total = total * 0.5 + x[k]
    return total, order, sorted(x)[:3], sorted(x, reverse=True), sorted(enumerate(x), key=lambda pair: pair[1])[0]


def first_in_order(x: Any) -> Any:
    low, high = heapq.nsmallest(3, x.tolist()), heapq.nlargest(3, x)
    near = heapq.nsmallest(5, range(len(x)), key=lambda i: abs(x[i]))
    chosen = heapq.nlargest(2, [v for v in x if v > 0])
    return low, high, near, chosen, heapq.nlargest(0, x), heapq.nlargest(2, [3, 1, 2])


def known_keys(x: Any) -> Any:
    weights = [(i * 37) % 100 for i in range(100)]
    order = sorted(range(100), key=lambda i: weights[i])
    return x[order[3] :], np.zeros(min(range(100), key=lambda i: weights[i]) + 2)


@pytest.mark.parametrize("function", [tuples, places_of_extremes, orders, first_in_order, known_keys])
def test_items_of_lines(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function, strict=function is not tuples)
    for x in (LINE, -LINE, LINE[:80] if function is not known_keys else LINE * 2):
        identical(outcome(compiled, x), outcome(function, x))
    assert not compiled.stats().fallbacks


@pytest.mark.parametrize("function", [counts, counted])
def test_dicts_of_pairs_of_arrays(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function)
    for x in (WHOLE, WHOLE // 2, LINE):
        identical(outcome(compiled, x), outcome(function, x))
    assert not compiled.stats().fallbacks
