"""Variables that are None or a value, as only the run tells: compiled whole, and right where they are None."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

RNG = np.random.default_rng(3)
ROWS = RNG.standard_normal((20, 3))
LINES = (RNG.standard_normal(50), RNG.standard_normal(50) * 0.1, np.full(50, -2.0))


def first_above(x: Any) -> Any:
    best = None
    for i in range(len(x)):
        if x[i] > 0.9 and best is None:
            best = i
    if best is None:
        return -1
    return best


def best_pair(x: Any) -> Any:
    best = None
    for i in range(len(x)):
        if best is None or x[i] > best[1]:
            best = (i, x[i])
    return best


def weighted(x: Any) -> Any:
    w = None
    if x.max() > 1.0:
        w = np.exp(x)
    y = x if w is None else x * w
    return y.sum()


def helper(x: Any) -> Any:
    def find(v: Any) -> Any:
        for i in range(len(v)):
            if v[i] > 0.5:
                return i
        return None

    k = find(x)
    if k is None:
        return 0.0
    return x[k] * 2


def runs(x: Any) -> Any:
    start, total = None, 0
    for i in range(len(x)):
        if x[i] > 0:
            if start is None:
                start = i
        elif start is not None:
            total += i - start
            start = None
    if start is not None:
        total += len(x) - start
    return total


def chained(x: Any) -> Any:
    at, n = 3, 0
    while at is not None and n < 100:
        n += 1
        k = int(x[at] * 10)
        at = k if 3 < k < len(x) else None
    return n


def differences(x: Any) -> Any:
    last, n = None, 0
    for v in x:
        if last is not None and v > last:
            n += 1
        last = v
    return n


def limits(x: Any) -> Any:
    low, high = None, None
    for v in x:
        low = v if low is None else min(low, v)
        high = v if high is None or v > high else high
    return low, high


def both_ends(x: Any) -> Any:
    a = b = None
    for v in x:
        if v > 0.5 and a is None:
            a = v
        if v < -0.5:
            b = v
    if a is None and b is None:
        return 0.0
    if a is None:
        return b
    if b is None:
        return a
    return a - b


def in_a_tuple(x: Any) -> Any:
    best = (-math.inf, None)
    for i in range(len(x)):
        if x[i] > best[0]:
            best = (x[i], i)
        if best[1] is not None and x[best[1]] > 2.0:
            break
    return best[0], best[1]


def in_no_turn(x: Any) -> Any:
    last = None
    for i in range(int(x[0] > 0) * 3):
        last = x[i]
    if last is None:
        return -1.0
    return last


def either_way(x: Any) -> Any:
    step = None if x[0] > 0 else x[1]
    return x[2] if step is None else step


COMPILED = [
    *(first_above, best_pair, weighted, helper, runs, chained, differences),
    *(limits, both_ends, in_a_tuple, in_no_turn, either_way),
]


def assert_as_numpy(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            assert_as_numpy(one, other)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("function", COMPILED, ids=lambda one: str(one.__name__))
def test_variables_that_may_be_none(function: Callable[[Any], Any]) -> None:
    compiled = xjit.jit(function, strict=True)
    for x in (*LINES, LINES[0]):
        assert_as_numpy(compiled(x.copy()), function(x.copy()))
    assert compiled.stats().traces == 1


def result(x: Any) -> Any:
    if x.max() < 1.0:
        return None
    return x * 2, x.argmax()


def found(x: Any) -> Any:
    best = None
    for i in range(len(x)):
        if x[i] > 0.9:
            best = x[i]
    return best


def text(x: Any) -> Any:
    best = None
    if x[0] > 0:
        best = 3
    return f"{best}", [best], x * 2


def compared(x: Any) -> Any:
    best = None
    if x[0] > 0:
        best = 3
    return best == None, best != None, best or 7  # noqa: E711


def in_inner_function(x: Any) -> Any:
    best = None
    if x[0] > 0:
        best = 3
    return (lambda: best)(), [best for _ in range(2)]


def written(x: Any) -> Any:
    own = None
    if x[0] > 0:
        own = x
    if own is not None:
        own[1] = 7.0
    return x.sum()


@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", [result, found, text, compared, in_inner_function, written])
def test_none_where_code_needs_it(function: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    compiled = xjit.jit(function)
    for x in (*LINES, *LINES):
        mine, own = x.copy(), x.copy()
        wanted, got = function(own), compiled(mine)
        if isinstance(wanted, np.float64):
            assert type(got) is np.float64 and got == pytest.approx(wanted, rel=1e-14)
        else:
            assert repr(got) == repr(wanted)
        np.testing.assert_array_equal(mine, own)


def test_rows_that_are_kept() -> None:
    def kept(x: Any) -> Any:
        best: Any = None
        total: Any = None
        for row in x:
            total = row.copy() if total is None else total + row
            if best is None:
                best = row.copy()
            else:
                best[0] = max(best[0], row[0])
        return best, total

    compiled = xjit.jit(kept, strict=True)
    for found, wanted in zip(compiled(ROWS), kept(ROWS), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
