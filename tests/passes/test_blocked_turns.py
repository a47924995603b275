"""Loops whose rows need no others: blocks of rows give the bits of turns over all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on
from xjit.codegen.lowering.control.blocked_rows import block_length
from xjit.ir.context import PARAMETER
from xjit.ir.node import Node
from xjit.types import array_type

Function = Callable[..., Any]

BLOCKS = on(
    replace(
        PROCESSOR,
        blocked_work=1.0,
        blocked_turn_work=1.0,
        least_row_block=4,
        row_blocks=5,
        parallel_work=100.0,
    )
)
FEW_AT_A_TIME = on(replace(BLOCKS.machine, most_blocked_work=20_000.0))
TURNS = on(replace(PROCESSOR, blocked_work=float("inf")))
RNG = np.random.default_rng(5)
X = RNG.random((30, 7)) - 0.5
W = RNG.random((31, 7))


def solved(x: Any, w: Any) -> Any:
    """A tridiagonal system for each row."""
    upper, right = np.empty(x.shape), np.empty(x.shape)
    last = x.shape[1] - 1
    for k in range(x.shape[1]):
        if k == 0:
            upper[:, 0] = 0.25 / (2.0 + w[1:, 0])
            right[:, 0] = x[:, 0] / (2.0 + w[1:, 0])
        else:
            pivot = 2.0 + w[1:, k] + w[:-1, k] - 0.25 * upper[:, k - 1]
            upper[:, k] = 0.25 / pivot
            right[:, k] = (x[:, k] - 0.25 * right[:, k - 1]) / pivot
    for k in range(last - 1, -1, -1):
        right[:, k] -= upper[:, k] * right[:, k + 1]
    return right


def escaped(x: Any) -> Any:
    """Masks over all elements."""
    z, counts = np.zeros_like(x), np.zeros(x.shape, np.int64)
    for n in range(40):
        inside = np.abs(z) < 2.0
        counts[inside] = n + 1
        z[inside] = z[inside] * z[inside] + 3 * x[inside]
    return z, counts


def grown(x: Any, rate: float, end: float) -> Any:
    """An unknown number of turns, counted; the argument is written."""
    t, steps = 0.0, 0
    while t < end:
        slope = rate * x * (1.0 - x)
        x += 0.01 * slope
        t += 0.01
        steps += 1
    return t, steps


def inner_columns(x: Any) -> Any:
    """A window of the columns is written, row after row."""
    for i in range(1, len(x)):
        x[i, 1:-1] = 0.5 * x[i - 1, 1:-1] + x[i, 1:-1]
    return x


def shares(x: Any) -> Any:
    """Rows are summed in each turn."""
    y = x * x + 0.1
    for _ in range(300):
        y = y / y.sum(axis=1, keepdims=True) + 0.01
    return y


def nested(x: Any) -> Any:
    """Another loop, and numbers that all rows share, in each turn."""
    y, scale = x.copy(), 1.0
    for i in range(40):
        for _ in range(3):
            y = np.where(y > scale, y * 0.5, y + 0.3)
        scale = scale * 0.9 + 0.01 * i
    return y, scale


def far_apart(x: Any) -> Any:
    """Planes that lie one behind the other in one array."""
    planes = np.zeros((3, *x.shape))
    planes[0] = x
    for i in range(60):
        planes[(i + 1) % 3] = 0.5 * planes[i % 3] + planes[(i + 2) % 3] * 0.25
    return planes


BLOCKED = {
    "solved": (solved, (X, W)),
    "escaped": (escaped, (X,)),
    "grown": (grown, (np.abs(X), 1.5, 2.0)),
    "inner columns": (inner_columns, (RNG.random((300, 30)) - 0.5,)),
    "shares": (shares, (X,)),
    "nested": (nested, (X,)),
    "far apart": (far_apart, (X,)),
}


def settled(x: Any) -> Any:
    """A number of all rows decides."""
    y = x.copy()
    while np.abs(y).max() > 0.01:
        y = y * 0.9
    return y


def smoothed(x: Any) -> Any:
    """Rows need their neighbours."""
    for _ in range(40):
        x[1:-1] = 0.5 * (x[:-2] + x[2:])
    return x


def passed_on(x: Any) -> Any:
    """Rows and columns change places."""
    y = x[:7].copy()
    for _ in range(40):
        y = y.T * 0.9 + y
    return y


def followed(x: Any) -> Any:
    """The first row is read by all others."""
    y = x.copy()
    for _ in range(40):
        y = y * 0.9 + y[0]
    return y


MEETING = {"settled": settled, "smoothed": smoothed, "passed on": passed_on, "followed": followed}


def copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(one.copy() if isinstance(one, np.ndarray) else one for one in arguments)


def outcome(function: Function, arguments: tuple[Any, ...]) -> list[Any]:
    given = copies(arguments)
    result = function(*given)
    return [*(result if isinstance(result, tuple) else (result,)), *given]


@pytest.mark.parametrize("name", BLOCKED)
def test_blocks_have_the_bits_of_turns(name: str) -> None:
    function, arguments = BLOCKED[name]
    expected = outcome(xjit.jit(function, target=TURNS), arguments)
    for target in (BLOCKS, FEW_AT_A_TIME):
        blocked = xjit.jit(function, target=target)
        for found, one in zip(outcome(blocked, arguments), expected, strict=True):
            np.testing.assert_array_equal(found, one, strict=isinstance(one, np.ndarray))
        assert "BlockRows" in str(blocked.explain(*copies(arguments)))


@pytest.mark.parametrize("name", BLOCKED)
def test_blocks_have_the_values_of_numpy(name: str) -> None:
    function, arguments = BLOCKED[name]
    blocked = xjit.jit(function, target=BLOCKS)
    for found, one in zip(outcome(blocked, arguments), outcome(function, arguments), strict=True):
        np.testing.assert_allclose(found, one, rtol=1e-9, atol=1e-12)
    assert not blocked.stats().fallbacks


@pytest.mark.parametrize("name", MEETING)
def test_rows_that_meet_are_not_taken_in_blocks(name: str) -> None:
    meeting = xjit.jit(MEETING[name], target=BLOCKS)
    for found, one in zip(outcome(meeting, (X,)), outcome(MEETING[name], (X,)), strict=True):
        np.testing.assert_allclose(found, one, rtol=1e-9, atol=1e-12)
    assert "BlockRows" not in str(meeting.explain(X.copy()))


def test_a_turn_that_fails_is_the_last_one_of_all_blocks() -> None:
    def past_the_end(x: Any, stop: Any) -> None:
        k = 0
        while k < stop:
            x[:, k] = x[:, k] * 2.0 + 1.0
            k += 1

    wide = RNG.random((30, 300))
    blocked, turns = (xjit.jit(past_the_end, target=target) for target in (BLOCKS, TURNS))
    for stop in (200, 301):
        found, expected = wide.copy(), wide.copy()
        for function, array in ((blocked, found), (turns, expected)):
            if stop > wide.shape[1]:
                with pytest.raises(IndexError, match="index 300 is out of bounds"):
                    function(array, np.int64(stop))
            else:
                function(array, np.int64(stop))
        np.testing.assert_array_equal(found, expected)
    assert "BlockRows" in str(blocked.explain(wide, np.int64(200)))


@pytest.mark.parametrize(
    ("rows", "least", "bytes_of_row", "expected"),
    [(8, 1, 40_000, 1), (100, 32, 16, 32), (10**6, 32, 16, 16_384), (10**6, 1, 4_096, 64), (400, 32, 10**6, 32)],
)
def test_blocks_stay_in_the_cache_and_are_enough_for_threads(
    rows: int, least: int, bytes_of_row: int, expected: int
) -> None:
    array = Node(PARAMETER, (), (), array_type(np.dtype(np.uint8), (rows, bytes_of_row)))
    assert block_length(rows, least, [array], PROCESSOR) == expected


def test_more_rows_than_were_planned_for_compile_nothing() -> None:
    blocked = xjit.jit(shares, target=BLOCKS)
    blocked(X)
    for rows in (1, 2, 64, 1000):
        x = RNG.random((rows, 7))
        np.testing.assert_allclose(blocked(x), shares(x), rtol=1e-12)
