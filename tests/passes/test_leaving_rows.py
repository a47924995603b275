"""Arrays that a mask shortens in each turn: all rows stay, with the bits that they have in shorter arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on

Function = Callable[..., Any]

N = 900
RNG = np.random.default_rng(5)
C = RNG.uniform(-2.0, 1.0, N) + 1j * RNG.uniform(-1.5, 1.5, N)
X = RNG.random(N) * 40.0
SMALL = replace(
    PROCESSOR, blocked_work=1.0, blocked_turn_work=1.0, least_row_block=4, masked_row_block=16, parallel_work=100.0
)
SHORT = on(SMALL)
FEW_AT_A_TIME = on(replace(SMALL, most_blocked_work=60_000.0))


def escapes(c: Any) -> Any:
    """Numbers are stored where rows leave, and the loop ends when all have."""
    counts = np.full(c.size, 40)
    index = np.arange(c.size)
    z = np.zeros_like(c)
    for n in range(40):
        z = z * z + c
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        counts[index[~inside]] = n
        z, c, index = z[inside], c[inside], index[inside]
        if len(z) == 0:
            break
    return counts


def without_break(c: Any) -> Any:
    """No row may be left while turns go on."""
    last = np.zeros(c.size)
    index = np.arange(c.size)
    z = c.copy()
    for n in range(60):
        z = z * 1.5
        far = np.abs(z) > 9.0
        last[index[far]] = z[far].real + n
        z, index = z[~far], index[~far]
    return last


def until_none_is_left(x: Any) -> Any:
    """A number of turns that nobody knows; what is left is counted behind the mask."""
    steps = np.zeros(len(x), np.int64)
    index = np.arange(len(x))
    y = x.copy()
    while len(y) > 0:
        y = y * 0.75 - 0.5
        left = y > 1.0
        y, index = y[left], index[left]
        steps[index] += 1
    return steps


def several_arrays(x: Any) -> Any:
    """Numbers of rows are not the first thing that is stored, and conditions depend on the turn."""
    out = np.zeros(len(x))
    seen = np.zeros(len(x), np.int32)
    rows = np.arange(len(x))
    low, high = x - 1.0, x + 1.0
    for n in range(25):
        low = low + 0.25 * n
        seen[rows] = n
        go = low < high + 3.0
        out[rows[~go]] = (low - high)[~go]
        low, high, rows = low[go], high[go], rows[go]
        if not len(rows):
            break
    return out, seen


def other_rows(x: Any) -> Any:
    """Numbers are stored at other places than those of rows."""
    counts = np.zeros(len(x), np.int64)
    index = np.arange(len(x))[::-1].copy()
    for n in range(20):
        x = x * 0.5
        go = x > 1.0
        counts[index[~go]] = n
        x, index = x[go], index[go]
        if len(x) == 0:
            break
    return counts


def joined_rows(x: Any) -> Any:
    """Rows need the others that are left."""
    counts = np.zeros(len(x), np.int64)
    index = np.arange(len(x))
    for n in range(20):
        x = x - 0.25 * x.max()
        go = x > 1.0
        counts[index[~go]] = n
        x, index = x[go], index[go]
        if len(x) == 0:
            break
    return counts


def what_is_left(x: Any) -> Any:
    """The shorter arrays are results."""
    counts = np.zeros(len(x), np.int64)
    index = np.arange(len(x))
    for n in range(3):
        x = x * 0.5
        go = x > 1.0
        counts[index[~go]] = n
        x, index = x[go], index[go]
    return counts, x, index


def number_left(x: Any) -> Any:
    """The number of rows that are left is more than a reason to end."""
    counts = np.zeros(len(x), np.int64)
    index = np.arange(len(x))
    total = 0
    for n in range(8):
        x = x * 0.5
        go = x > 1.0
        counts[index[~go]] = n
        x, index = x[go], index[go]
        total += len(x)
    return counts, total


def ends_early(x: Any) -> Any:
    """The loop ends while rows are left."""
    counts = np.zeros(len(x), np.int64)
    index = np.arange(len(x))
    for n in range(8):
        x = x * 0.5
        go = x > 1.0
        counts[index[~go]] = n
        x, index = x[go], index[go]
        if len(x) < 300:
            break
    return counts


def two_masks(x: Any) -> Any:
    """Arrays of two lengths."""
    counts = np.zeros(len(x), np.int64)
    index, y = np.arange(len(x)), x.copy()
    for n in range(8):
        x, y = x * 0.5, y * 0.7
        go, other = x > 1.0, y > 2.0
        counts[index[~go]] = n
        x, index, y = x[go], index[go], y[other]
    return counts, y.sum()


MASKED: dict[str, tuple[Function, Any]] = {
    one.__name__: (one, argument)
    for one, argument in ((escapes, C), (without_break, C), (until_none_is_left, X), (several_arrays, X))
}
ALONE = [other_rows, joined_rows, what_is_left, number_left, ends_early, two_masks]


def results(function: Function, argument: Any) -> tuple[Any, ...]:
    found = function(argument.copy())
    return found if isinstance(found, tuple) else (found,)


def assert_equal(function: Function, compiled: Function, argument: Any) -> None:
    pairs = zip(results(compiled, argument), results(function, argument), strict=True)
    for found, expected in pairs:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", MASKED)
def test_rows_stay_where_they_are(name: str) -> None:
    function, argument = MASKED[name]
    for target in (SHORT, FEW_AT_A_TIME):
        compiled = xjit.jit(function, target=target, strict=True)
        assert_equal(function, compiled, argument)
        stages = compiled.stages(argument.copy())
        assert "compact" in stages["loops"] and "compact" not in stages["leaving"]
        assert "< left" in compiled.source(argument.copy())


@pytest.mark.parametrize("name", MASKED)
def test_arrays_of_which_nothing_or_all_is_left(name: str) -> None:
    function, argument = MASKED[name]
    compiled = xjit.jit(function, target=SHORT, strict=True)
    for value in (0.0, 1e3, 0.3):
        assert_equal(function, compiled, np.full_like(argument, value))


@pytest.mark.parametrize("function", ALONE, ids=lambda one: one.__name__)
def test_other_loops_shorten_their_arrays(function: Function) -> None:
    compiled = xjit.jit(function, target=SHORT, strict=True)
    assert_equal(function, compiled, X)
    assert "masked=" not in str(compiled.stages(X.copy()))
