"""Loops in independent turns go side by side, with the bits that each of them has by itself."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, on
from xjit import numerics
from xjit.codegen.rewrites.record import RefusedError
from xjit.codegen.rewrites.values.leave_rows import LeaveRows

Function = Callable[..., Any]

N = 700
RNG = np.random.default_rng(3)
X = RNG.random(N) * 6
K = RNG.integers(1, 500, N)
SMALL = replace(
    PROCESSOR, blocked_work=1.0, blocked_turn_work=1.0, least_row_block=4, masked_row_block=16, parallel_work=100.0
)
SHORT = on(SMALL)
FEW_AT_A_TIME = on(replace(SMALL, most_blocked_work=60_000.0))


def roots(x: Any) -> Any:
    """Newton's method, with functions that have rare arguments; the steps are counted."""
    out, steps = np.empty_like(x), 0
    for i in range(len(x)):
        y = x[i]
        while True:
            step = (y - 0.6 * np.sin(y) - x[i]) / (1.0 - 0.6 * np.cos(y))
            y -= step
            steps += 1
            if abs(step) < 1e-12:
                break
        out[i] = y
    return out, steps


def lengths(k: Any) -> Any:
    """Turns of very different numbers."""
    out = np.zeros(len(k), np.int64)
    for i in range(len(k)):
        n, steps = k[i], 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        out[i] = steps
    return out


def divisors(k: Any) -> Any:
    """Turns that would divide by zero once they have ended, of which some never begin."""
    out = np.zeros(len(k), np.int64)
    for i in range(len(k)):
        a, b = np.int64(360), k[i] - 1
        while b > 0:
            a, b = b, a % b
        out[i] = a
    return out


def bounded(x: Any) -> Any:
    """A number of turns that ends the loop, too; what a turn finds last is kept."""
    out, last = np.empty_like(x), -1.0
    for i in range(len(x)):
        low, high = 0.0, 9.0
        for _ in range(25):
            last = 0.5 * (low + high)
            if high - low < 1e-3 * x[i]:
                break
            if last * last > x[i]:
                high = last
            else:
                low = last
        out[i] = last
    return out


def bounded_at_length(x: Any) -> Any:
    """So many turns at most that a few rows pay in blocks."""
    out = np.empty_like(x)
    for i in range(len(x)):
        low, high = 0.0, 9.0
        for _ in range(400):
            middle = 0.5 * (low + high)
            if high - low < 1e-12:
                break
            if middle * middle > x[i]:
                high = middle
            else:
                low = middle
        out[i] = middle
    return out


def equal_lengths(x: Any) -> Any:
    """As many turns for each element: no mask."""
    out = np.empty_like(x)
    for i in range(len(x)):
        s = x[i]
        for k in range(90):
            s = s * 0.5 + x[i] * k
        out[i] = s
    return out


def one_for_all(x: Any) -> Any:
    """One element takes a thousand times as long as the others."""
    out = np.empty_like(x)
    for i in range(len(x)):
        y, end = x[i], 1e-6
        if i == 77:
            end = 1e-300
        while y > end:
            y = y * 0.5
        out[i] = y
    return out


def undefined(x: Any) -> Any:
    """No comparison holds of what is no number."""
    out = np.empty_like(x)
    for i in range(len(x)):
        y, n = np.sqrt(x[i] - 1.0), 0
        while y < 50.0:
            y = y * 1.5 + 0.25
            n += 1
        out[i] = y + n
    return out


MASKED = {
    "roots": (roots, X),
    "lengths": (lengths, K),
    "divisors": (divisors, K),
    "bounded": (bounded, X),
    "one for all": (one_for_all, X),
    "undefined": (undefined, X),
}


def looked_up(x: Any) -> Any:
    """Elements at places that a turn has found may not be there once it has ended."""
    out = np.empty_like(x)
    for i in range(len(x)):
        k = 0
        while k < len(x) - 1 and x[k] < x[i]:
            k += 1
        out[i] = k
    return out


def handed_on(x: Any) -> Any:
    """A turn starts from what the turn before it has."""
    out, y = np.empty_like(x), 1.0
    for i in range(len(x)):
        while y > 0.5:
            y = y * 0.5
        y = y + x[i]
        out[i] = y
    return out


def counted_before(x: Any) -> Any:
    """The sum of all turns before decides how long a turn is."""
    out, total = np.empty_like(x), 0
    for i in range(len(x)):
        y = x[i]
        while y > 0.5 and total < 1000:
            y = y * 0.5
            total += 1
        out[i] = y
    return out, total


ALONE = {"looked up": looked_up, "handed on": handed_on, "counted before": counted_before}


def results(function: Function, argument: Any) -> tuple[Any, ...]:
    with np.errstate(all="ignore"):
        found = function(argument.copy())
    return found if isinstance(found, tuple) else (found,)


def assert_close(found: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_max_ulp(np.asarray(one, float), np.asarray(other, float), 2)


@pytest.mark.parametrize("name", MASKED)
def test_loops_go_side_by_side_in_blocks(name: str) -> None:
    function, argument = MASKED[name]
    expected = results(function, argument)
    for target in (SHORT, FEW_AT_A_TIME):
        together = xjit.jit(function, target=target, strict=True)
        assert_close(results(together, argument), expected)
        assert "< left" in together.source(argument.copy())


def test_rows_of_integers_are_gone_through_one_by_one() -> None:
    for function, argument, share in ((lengths, K, "rows0"), (roots, X, "ashr(rows0, 3)")):
        text = xjit.jit(function, target=SHORT).source(argument.copy())
        assert f"(i32({share}) < left)" in text


@pytest.mark.parametrize("name", MASKED)
def test_bits_are_those_of_loops_one_after_the_other(name: str) -> None:
    """Few turns are not taken at once."""
    function, argument = MASKED[name]
    found = results(xjit.jit(function, target=SHORT), argument)
    alone = xjit.jit(function)
    for first in range(0, N if name != "one for all" else 0, 28):
        (part, *_) = results(alone, argument[first : first + 28])
        np.testing.assert_array_equal(found[0][first : first + 28], part)
        assert "< left" not in alone.source(argument[first : first + 28].copy())


def test_few_rows_stay_in_blocks() -> None:
    """A loop of blocks of rows is a kernel, also where the loop around it is so little work that it could be one."""
    function = xjit.jit(bounded_at_length, strict=True)
    assert_close(results(function, X[:64]), results(bounded_at_length, X[:64]))
    assert "< left" in function.source(X[:64].copy())


def test_loops_of_one_length_need_no_mask() -> None:
    together = xjit.jit(equal_lengths, strict=True)
    assert_close(results(together, X), results(equal_lengths, X))
    text = next(text for name in ("batches", "loops") if (text := together.stages(X.copy())[name]))
    assert text.count("= while_loop ") == 1
    assert "masked" not in text


@pytest.mark.parametrize("name", ALONE)
def test_turns_that_need_others_stay_in_order(name: str) -> None:
    function = ALONE[name]
    found = xjit.jit(function, target=SHORT, strict=True)
    assert_close(results(found, X), results(function, X))
    assert "masked" not in str(found.graph(X.copy()))
    assert "< left" not in found.source(X.copy())


def test_much_state_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    for bytes, found in ((2 * 8 * N, True), (2 * 8 * N - 1, False)):
        monkeypatch.setattr(numerics, "STATE_OF_TURNS_BYTES", bytes)
        function = xjit.jit(lengths, target=SHORT)
        assert ("masked" in str(function.graph(K.copy()))) == found
        assert_close(results(function, K), results(lengths, K))


def test_rows_whose_loops_refuse_blocks_end_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: LeaveRows, kernel: Any) -> Any:
        raise RefusedError("not today")

    monkeypatch.setattr(LeaveRows, "apply", refuse)
    whole = xjit.jit(lengths, target=on(replace(SMALL, masked_row_block=17)), strict=True)
    assert_close(results(whole, K), results(lengths, K))


class SignalledError(Exception):
    pass


def test_endless_loops_are_left_for_signals() -> None:
    def stepped(x: Any, step: Any) -> Any:
        out = np.empty_like(x)
        for i in range(len(x)):
            y = x[i]
            while y < 9.0:
                y = y + step
            out[i] = y
        return out

    def raising(number: int, frame: object) -> None:
        raise SignalledError

    compiled = xjit.jit(stepped)
    expected = compiled(X, 0.5)
    before = signal.signal(signal.SIGALRM, raising)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(SignalledError):
            compiled(X, 0.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_array_equal(compiled(X, 0.5), expected)


def test_rows_that_are_gone_through_one_by_one_wait_in_registers() -> None:
    assert "HoldElements" in str(xjit.jit(target=SHORT)(lengths).explain(K))
    source = xjit.jit(target=SHORT)(lengths).source(K)
    assert "_held = ldw(" in source


@pytest.mark.parametrize(("turns", "shared"), [(1, False), (32, True)])
def test_threads_share_rows_of_integers_by_the_turns_that_they_reckon_with(turns: int, shared: bool) -> None:
    machine = replace(PROCESSOR, parallel_work=200_000.0, masked_turns=1, masked_integer_turns=turns)
    with xjit.threads(2):
        compiled = xjit.jit(lengths, target=on(machine))
        np.testing.assert_array_equal(compiled(K), lengths(K))
        loop = next(step for step in compiled.explain(K).steps if step.startswith("loop"))
    assert ("parallel in" in loop) is shared
