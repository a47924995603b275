"""Evenly spaced numbers, as many as the run says: NumPy's bits, and one trace for all lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

RANGES: dict[str, Callable[..., Any]] = {
    "to a float": lambda a, b, h: np.arange(0, b, h),
    "from a float": lambda a, b, h: np.arange(a, b, h),
    "of halves": lambda a, b, h: np.arange(a, b, 0.5),
    "back": lambda a, b, h: np.arange(b, a, -h),
    "used": lambda a, b, h: np.sin(np.arange(a, b, h)).sum() * len(np.arange(0, b, h)),
}


@pytest.mark.parametrize("name", RANGES)
def test_ranges_of_floats(name: str) -> None:
    function = RANGES[name]
    compiled = xjit.jit(function, strict=True)
    for a, b, h in ((0.0, 1.0, 0.1), (0.3, 2.0, 0.01), (-1.0, 1.0, 0.3), (2.0, 1.0, 0.125), (0.0, 0.1, 0.5)):
        wanted, found = function(a, b, h), compiled(a, b, h)
        if isinstance(wanted, np.ndarray):
            np.testing.assert_array_equal(found, wanted)
            assert found.dtype == wanted.dtype
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert compiled.stats().traces == 2


@pytest.mark.parametrize("limits", [(0.0, 1.0, 0.0), (0.0, np.nan, 0.1), (0.0, np.inf, 0.1), (0.0, 1e4, 1.0)])
def test_lengths_that_there_is_no_room_for(limits: tuple[float, float, float]) -> None:
    def outcome(function: Callable[..., Any], arguments: tuple[float, float, float]) -> Any:
        try:
            return function(*arguments).tolist()
        except (ValueError, ZeroDivisionError) as error:
            return type(error)

    compiled = xjit.jit(np_arange)
    for arguments in ((0.0, 1.0, 0.1), (0.1, 2.0, 0.2), limits, (0.2, 3.0, 0.3)):
        assert outcome(compiled, arguments) == outcome(np_arange, arguments)


def np_arange(start: float, stop: float, step: float) -> Any:
    return np.arange(start, stop, step)


STEPS: dict[str, Callable[..., Any]] = {
    "two by two": lambda n, x: np.arange(-3, n, 2),
    "back in threes": lambda n, x: np.arange(n, -n - 1, -3),
    "back in floats": lambda n, x: np.arange(n, -n - 1, -2.0),
    "as floats": lambda n, x: np.arange(n, dtype=float),
    "of the data": lambda n, x: np.arange(int(x.sum()), -n, -2.0),
    "on a line": lambda n, x: np.linspace(0.1, 2.5, n),
    "on a line to the data": lambda n, x: np.linspace(x[0], x.sum(), n, endpoint=False),
    "on a line of integers": lambda n, x: np.linspace(n, -1, n),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_and_lines(name: str) -> None:
    function, x = STEPS[name], np.arange(5.0) + 0.25
    compiled = xjit.jit(function, strict=True)
    for n in (7, 8, 1, 0, 2, 31):
        wanted, found = function(n, x), compiled(n, x)
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype
    assert compiled.stats().traces == 2


def test_negative_counts_are_numpys_errors() -> None:
    function = STEPS["on a line"]
    compiled = xjit.jit(function)
    for n in (3, 4):
        compiled(n, np.ones(5))
    with pytest.raises(ValueError, match="non-negative"):
        compiled(-2, np.ones(5))


def test_prices_of_an_option_on_a_tree() -> None:
    def binomial(spot: float, strike: float, sigma: float, n: int) -> Any:
        up = np.exp(sigma / np.sqrt(n))
        value = np.maximum(strike - spot * up ** np.arange(n, -n - 1, -2.0), 0)
        for i in range(n - 1, -1, -1):
            value = 0.999 * (0.5 * value[:-1] + 0.5 * value[1:])
            value = np.maximum(value, strike - spot * up ** np.arange(i, -i - 1, -2.0))
        return value[0], value.shape

    compiled = xjit.jit(binomial, strict=True)
    for n in (120, 121, 150):
        wanted, found = binomial(100.0, 95.0, 0.2, n), compiled(100.0, 95.0, 0.2, n)
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-12)
        assert found[1] == wanted[1]
    assert compiled.stats().traces == 2
