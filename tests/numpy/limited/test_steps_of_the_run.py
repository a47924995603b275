"""Writes to slices in steps that only the run knows: ``x[p * p :: p] = False``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

TURNS = 300
LINE = np.random.default_rng(2).standard_normal(41)
STEPS = np.array([1, 2, 3, 7, 40, 41, 42, 2**62, 2**63 - 1])


def primes(x, steps):
    x[:] = 1.0
    for i in range(2, TURNS):
        if x[i % len(x)]:
            x[i * i :: i] = 0.0
    return x.sum()


def from_data(x, steps):
    for i in range(TURNS):
        x[:: steps[i % len(steps)]] = i
    return x


def backward_from_data(x, steps):
    for i in range(TURNS):
        x[:: -steps[i % len(steps)]] = i
    return x


def of_either_sign(x, steps):
    for i in range(TURNS):
        step = steps[i % len(steps)] * (1 - 2 * (i % 2))
        x[i % 50 - 5 : 45 - i % 60 : step] = i
    return x


def other_ends(x, steps):
    for i in range(1, TURNS):
        x[-i % 43 : i % 47 : i % 5 + 1] -= 0.0 if i < 0 else 1.0
        x[i % 47 : -(i % 43) : -(i % 5) - 1] = x[i % 41]
    return x


def several_values(x, steps):
    for i in range(TURNS):
        step = i % 5 + 1
        x[len(x) - 3 * step :: step] = x[1:4] + i
    return x


@pytest.mark.parametrize("function", [primes, from_data, backward_from_data, of_either_sign, several_values])
@pytest.mark.parametrize("x", [LINE, LINE[::2], LINE[:0], LINE[:1]])
def test_values(function: Callable[..., Any], x: Any) -> None:
    if function in (primes, several_values) and len(x) < 15:
        pytest.skip("there are none to look at")
    found, wanted = x.copy(), x.copy()
    np.testing.assert_array_equal(xjit.jit(function)(found, STEPS), function(wanted, STEPS))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("function", [primes, from_data, backward_from_data, of_either_sign])
def test_they_are_compiled(function: Callable[..., Any]) -> None:
    x = LINE.copy()
    compiled = xjit.jit(strict=True)(function)
    compiled(x, STEPS)
    assert "store_at" in str(compiled.explain(x, STEPS))


def test_what_is_read_in_such_steps_is_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be a view, and what is written there the array's."""
    monkeypatch.setenv("XJIT_STRICT", "0")
    found, wanted = LINE.copy(), LINE.copy()
    with pytest.warns(xjit.errors.FallbackWarning):
        result = xjit.jit(other_ends)(found, STEPS)
    np.testing.assert_array_equal(result, other_ends(wanted, STEPS))
    np.testing.assert_array_equal(found, wanted)


def test_a_step_of_zero_is_numpys_error() -> None:
    found, wanted, steps = LINE.copy(), LINE.copy(), np.array([3, 2, 0, 1])
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        from_data(wanted, steps)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        xjit.jit(from_data)(found, steps)
    np.testing.assert_array_equal(found, wanted)


def test_a_value_of_another_size_is_numpys_error() -> None:
    def unlike(x, steps):
        for i in range(1, TURNS):
            x[:: steps[i % len(steps)]] = x[: i % 9]
        return x

    found, wanted = LINE.copy(), LINE.copy()
    with pytest.raises(ValueError, match="could not broadcast"):
        unlike(wanted, STEPS)
    with pytest.raises(ValueError, match="broadcast"):
        xjit.jit(unlike)(found, STEPS)
    np.testing.assert_array_equal(found, wanted)
