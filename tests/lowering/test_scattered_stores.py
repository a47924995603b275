"""Tests of stores that lie apart: values are made in strips, and have the bits that they have side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(7)
STRIPS = "Precompute("
STEPS = "UnrollAndJam("


def copied(x: Any, out: Any) -> None:
    out[:, 2] = x


def column(x: Any, out: Any) -> Any:
    return out[:, 1].copy()


def divided(x: Any, out: Any) -> None:
    out[:, 1] = 1.0 / x


def two_functions(x: Any, out: Any) -> None:
    out[:, 0] = np.sin(x)
    out[:, 3] = np.exp(-x) + 1.0


def every_other(x: Any, out: Any) -> None:
    out[::2, 4] = np.tanh(x[1::2])


def of_its_own(x: Any, out: Any) -> None:
    out[:, 2] = np.exp(out[:, 1]) + x


def columns_of_turns(x: Any, out: Any) -> None:
    for j in range(out.shape[1]):
        out[:, j] = np.exp(-x * j)


def running_columns(x: Any, out: Any) -> None:
    for j in range(1, out.shape[1]):
        out[:, j] = np.sin(out[:, j - 1]) + x


FUNCTIONS = [copied, divided, two_functions, every_other, of_its_own, columns_of_turns, running_columns]


def arguments(length: int, dtype: str) -> tuple[Array, Array]:
    x = RANDOM.uniform(0.5, 2.0, length).astype(dtype)
    return x, RANDOM.uniform(0.5, 2.0, (length, 5)).astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("length", [2, 510, 1030])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_elements_are_those_of_numpy(function: Callable[..., None], length: int, dtype: str) -> None:
    x, out = arguments(length, dtype)
    expected = out.copy()
    function(x, expected)
    xjit.xjit(function)(x, out)
    np.testing.assert_allclose(out, expected, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("function", [two_functions, columns_of_turns])
def test_bits_are_those_of_stores_side_by_side(function: Callable[..., None]) -> None:
    x, out = arguments(1030, "f8")
    turned = np.asfortranarray(out)
    compiled = xjit.xjit(function)
    compiled(x, out)
    compiled(x, turned)
    assert turned.tobytes() == out.tobytes()


@pytest.mark.parametrize("function", [divided, two_functions, of_its_own])
def test_expensive_values_are_made_in_strips(function: Callable[..., None]) -> None:
    x, out = arguments(1030, "f8")
    compiled = xjit.xjit(function)
    assert STRIPS in str(compiled.explain(x, out))
    assert STRIPS not in str(compiled.explain(x, np.asfortranarray(out)))


def test_turns_make_their_columns_in_strips() -> None:
    x, out = arguments(1030, "f8")
    assert STRIPS in str(xjit.xjit(columns_of_turns).explain(x, out))


def test_cheap_values_are_stored_as_they_are_made() -> None:
    x, out = arguments(1030, "f8")
    assert STEPS not in str(xjit.xjit(copied).explain(x, out))


@pytest.mark.parametrize("length", [1, 3, 515])
def test_columns_are_copied(length: int) -> None:
    x, out = arguments(length, "f8")
    assert xjit.xjit(column)(x, out).tobytes() == out[:, 1].tobytes()


def test_parts_of_elements_stay_together() -> None:
    def coordinates(angle: Any) -> Any:
        return np.stack([np.exp(angle), np.exp(-angle)], axis=1)

    assert STRIPS not in str(xjit.xjit(coordinates).explain(RANDOM.random(1030)))


def test_strips_take_what_they_write_over_before() -> None:
    """Each strip reads rows that it stores over, or that a later one does."""

    def moved(x: Any) -> None:
        x[:-3, 1] = np.exp(x[3:, 1])

    x = RANDOM.uniform(0.5, 2.0, (1030, 3))
    expected = x.copy()
    moved(expected)
    compiled = xjit.xjit(moved)
    compiled(x)
    np.testing.assert_allclose(x, expected, rtol=1e-15)


def test_strips_leave_what_was_stored_before_them() -> None:
    def moved(x: Any) -> None:
        x[3:, 1] = np.exp(-x[:-3, 1])

    x = RANDOM.uniform(0.5, 2.0, (1030, 3))
    expected = x.copy()
    moved(expected)
    xjit.xjit(moved)(x)
    np.testing.assert_allclose(x, expected, rtol=1e-15)
