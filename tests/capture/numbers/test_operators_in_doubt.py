"""Operators on numbers that are Python's on one way and NumPy's on the other: Python's raise, and do not overflow."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import outcome

FLOATS: dict[str, Callable[[Any], Any]] = {
    "divisions": lambda s: 1 / s,
    "whole quotients": lambda s: 2.0 // s,
    "rests": lambda s: 1 % s,
    "quotients and rests": lambda s: divmod(1.5, s),
    "of itself": lambda s: s / s,
    "of a computed zero": lambda s: (s * 2) / (s - s),
    "powers that overflow": lambda s: (s + 1.5) ** 2000,
    "powers of zero": lambda s: s**-1,
    "products that overflow": lambda s: (s + 1e300) * 1e300,
    "complex powers": lambda s: (s - 2.5) ** 0.5,
}
WHOLE: dict[str, Callable[[Any], Any]] = {
    "sums": lambda s: s + 2**62 + 2**62,
    "differences": lambda s: s - 2**63 + 1 - 2**62,
    "products": lambda s: (s + 3) * 2**40 * 2**40,
    "powers": lambda s: (s + 3) ** 70,
    "shifts": lambda s: (s + 1) << 40 << 40,
    "extremes": lambda s: max(s, 3) * 2**62 * 4,
    "sums of lists": lambda s: sum([s, 1]) * 2**62 * 4,
    "divisions": lambda s: 1 / s,
    "whole quotients": lambda s: 1 // s,
    "rests": lambda s: 7 % s,
    "quotients of large ones": lambda s: (s + 2**53 + 1) / 3,
}
TRUTHS: dict[str, Callable[[Any], Any]] = {
    "sums": lambda s: s + s,
    "products": lambda s: s * True,
    "inverted": lambda s: ~s,
    "both": lambda s: s & True,
}


@pytest.fixture(autouse=True)
def in_any_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls are the program's, which may leave some to NumPy."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_TRIALS", "0")


def check(function: Any, *calls: Any) -> None:
    """Check calls in both orders, each of which makes a compiled function anew."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", xjit.errors.FallbackWarning)
        for order in (calls, calls[::-1]):
            compiled = xjit.jit(function)
            for arguments in order:
                assert outcome(compiled, arguments) == outcome(function, arguments)


@pytest.mark.parametrize("use", FLOATS)
def test_floats(use: str) -> None:
    def summed(x: Any, n: Any) -> Any:
        s = 0.0
        for v in x[:n]:
            s += v
        return FLOATS[use](s)

    zeros = np.array([0.5, -0.5, 1.0])
    check(summed, (zeros, 0), (zeros, 3), (zeros, 2))


@pytest.mark.parametrize("use", WHOLE)
def test_integers(use: str) -> None:
    def chosen(x: Any, q: Any, k: Any) -> Any:
        s = k if x[0] > 0 else q[0]
        return WHOLE[use](s)

    q = np.array([0, 5])
    check(chosen, (np.ones(2), q, 0), (-np.ones(2), q, 0), (np.ones(2), q, 2))


@pytest.mark.parametrize("use", TRUTHS)
def test_truth_values(use: str) -> None:
    def chosen(x: Any, b: Any) -> Any:
        s = True if x[0] > 0 else b[0]
        return TRUTHS[use](s)

    check(chosen, (np.ones(2), np.array([True])), (-np.ones(2), np.array([True])))


def test_a_mean_of_nothing_is_an_error_of_python() -> None:
    def mean_above(x: Any, least: Any) -> Any:
        total, count = 0.0, 0
        for v in x:
            if v > least:
                total += v
                count += 1
        return total / count

    check(mean_above, (np.arange(5.0), 1.0), (np.arange(5.0), 9.0))


def test_an_integer_of_either_kind_in_turns() -> None:
    def squared(x: Any, t: Any, k: Any) -> Any:
        if x[0] < 0:
            t = k // 2
        for _ in x:
            t = t * t + k
        return t

    check(squared, (np.ones(8), np.int64(1), 1), (-np.ones(8), np.int64(1), 1), (-np.ones(3), np.int64(1), 1))


def test_functions_of_numpy_raise_nothing() -> None:
    def divided(x: Any, n: Any) -> Any:
        s = 0.0
        for v in x[:n]:
            s += v
        return np.divide(1.0, s)

    check(divided, (np.ones(3), 0), (np.ones(3), 2))


def test_complex_numbers_take_either_float() -> None:
    def shifted(x: Any, n: Any) -> Any:
        s = 0.0
        for v in x[:n]:
            s += v
        return 1j + s, s + 1j, 2j * s - 1, 1j - 2 * s

    check(shifted, (np.arange(3.0) + 1, 0), (np.arange(3.0) + 1, 3))
