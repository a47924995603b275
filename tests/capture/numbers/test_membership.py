"""``in`` and ``not in`` where only the run knows the number, or the items: as in Python, and compiled whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

RNG = np.random.default_rng(7)
DIGITS = RNG.integers(0, 9, 50)
FLOATS = np.round(RNG.random(40) * 8) / 2


def in_tuples(x: Any) -> Any:
    n = 0
    for v in x:
        if v in (2, 3, 5, 7):
            n += 1
        if v not in [0, 1]:
            n += 10
    return n


def in_arrays(x: Any) -> Any:
    n = 0
    for v in x:
        if v in x[:3]:
            n += 1
        if v + 1 not in x[x > 2]:
            n += 100
    return n, x[0] in x[1:4], 77 in x


def in_sets(x: Any) -> Any:
    n = 0
    for v in x:
        n += int(v) in {1, 4}
        n += 10 * (int(v) in frozenset((2.0, 3)))
    return n


def in_ranges(x: Any) -> Any:
    n = 0
    for v in x:
        n += v in range(2, 5)
        n += 10 * (v in range(8, 1, -2))
        n += 100 * (v in range(3, 3))
        n += 1000 * (int(v) not in range(1, 9, 3))
    return n


def while_absent(x: Any) -> Any:
    k = 0
    while k < len(x) and x[k] not in (8, 0):
        k += 1
    return k


def among_numbers_of_the_run(x: Any) -> Any:
    low, high = x.min(), x.max()
    return [v in (low, high, 3) for v in (0, 8, 3, 4)], None in (low, 3), low in (None, low)


def stopped(x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(1, len(x)):
        out[i] = (out[i - 1] + x[i]) % 5
        if out[i] in (0.0, 1.0):
            out[i:] = out[i]
            break
    return out


@pytest.mark.parametrize(
    "function",
    [in_tuples, in_arrays, in_sets, in_ranges, while_absent, among_numbers_of_the_run, stopped],
    ids=lambda one: str(one.__name__),
)
def test_membership_that_only_the_run_tells(function: Callable[[Any], Any]) -> None:
    compiled = xjit.jit(function, strict=True)
    for x in (DIGITS, DIGITS[::-1].copy(), DIGITS * 3, FLOATS, np.full(50, 2)):
        assert repr(compiled(x)) == repr(function(x))


def test_arrays_are_no_items() -> None:
    def asked(x: Any, y: Any) -> Any:
        return 1 if x in (y, 3) else 2

    compiled = xjit.jit(asked)
    for function in (asked, compiled):
        with pytest.raises(ValueError, match="ambiguous"):
            function(DIGITS, DIGITS + 1)


def among_constants(n: int) -> Any:
    zeros = np.zeros(n)
    count = missing = 0
    for _ in range(n):
        count += 0.0 in zeros
        missing = missing + (1.0 not in zeros)
    return count, missing, 0.0 in zeros


@pytest.mark.parametrize("n", [1, 3, 40])
def test_truths_about_constants_count_as_integers_of_python(n: int) -> None:
    found, wanted = xjit.jit(among_constants)(n), among_constants(n)
    assert found == wanted
    assert [*map(type, found)] == [*map(type, wanted)]
