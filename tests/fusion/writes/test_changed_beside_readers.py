"""Arrays that turns change in the loops that read other elements of them: when, when not, and results are right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit

Function = Callable[..., Any]

RNG = np.random.default_rng(11)
A, B, C, D = (RNG.random((37, 9)) * 0.2 + shift for shift in (0.0, 1.0, 0.0, 0.0))


def two_sweeps(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Systems of equations along rows: both arrays of a turn are made of what the one before it has left of both."""
    w, g = np.zeros(a.shape), np.zeros(a.shape)
    for k in range(1, a.shape[1]):
        pivot = b[:, k] - a[:, k] * w[:, k - 1]
        w[:, k] = c[:, k] / pivot
        g[:, k] = (d[:, k] - a[:, k] * g[:, k - 1]) / pivot
    return w, g


def first_apart(a: Any, b: Any, c: Any, d: Any) -> Any:
    """The first turn has no turn before it."""
    w, g = np.zeros(a.shape), np.zeros(a.shape)
    for k in range(a.shape[1]):
        if k == 0:
            w[:, 0] = c[:, 0] / b[:, 0]
            g[:, 0] = d[:, 0] / b[:, 0]
        else:
            pivot = b[:, k] - a[:, k] * w[:, k - 1]
            w[:, k] = c[:, k] / pivot
            g[:, k] = (d[:, k] - a[:, k] * g[:, k - 1]) / pivot
    return w, g


def other_rows(a: Any, b: Any, c: Any, d: Any) -> Any:
    """A row needs what the next one was before it is changed."""
    w, g = np.ones(a.shape), np.zeros(a.shape)
    for k in range(a.shape[1]):
        g[1:, k] = d[1:, k] + w[:-1, k] * a[1:, k]
        w[:, k] = c[:, k] * b[:, k] + g[:, 0]
    return w, g


def earlier_rows(a: Any, b: Any, c: Any, d: Any) -> Any:
    """The same against the order of the rows."""
    w, g = np.ones(a.shape), np.zeros(a.shape)
    for k in range(a.shape[1]):
        g[:-1, k] = d[:-1, k] + w[1:, k] * a[:-1, k]
        w[:, k] = c[:, k] * b[:, k]
    return w, g


def same_column(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Each element is read before it is changed, by its own step."""
    w, g = a * 2.0, np.zeros(a.shape)
    for k in range(a.shape[1]):
        g[:, k] = d[:, k] + w[:, k] * b[:, k]
        w[:, k] = c[:, k] * w[:, k]
    return w, g


def crossed(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Each array is made of what the other one was."""
    w, g = a + 1.0, b + 1.0
    for k in range(1, a.shape[1]):
        first = w[:, k - 1] * d[:, k] + g[:, k]
        second = g[:, k - 1] * c[:, k] - w[:, k]
        w[:, k], g[:, k] = first, second
    return w, g


def whole_rows(a: Any, b: Any, c: Any, d: Any) -> Any:
    """One element of a row decides on all of it."""
    w, g = a + 1.0, np.zeros(a.shape)
    for k in range(1, a.shape[0]):
        g[k, :] = w[k, 4] * d[k, :] + b[k, :]
        w[k, :] = w[k - 1, :] * c[k, :] + 0.5
    return w, g


FUNCTIONS: list[Function] = [
    two_sweeps, first_apart, other_rows, earlier_rows, same_column, crossed, whole_rows
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_are_numpys(function: Function) -> None:
    compiled = xjit.jit(function, strict=True)
    for found, expected in zip(compiled(A, B, C, D), function(A, B, C, D), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def loops_of_turns(function: Function) -> int:
    """The loops over elements in the while loop of a program."""
    source = xjit.jit(function, strict=True).source(A, B, C, D)
    (kernel,) = (one for one in source.split("def kernel") if "while" in one)
    return len(re.findall(r"for i0(?:_\d+)? in", kernel[kernel.index("while") :]))


@pytest.mark.parametrize(
    ("function", "loops"),
    [
        (two_sweeps, 1),
        (first_apart, 2),
        (same_column, 1),
        (other_rows, 2),
        (earlier_rows, 2),
        (whole_rows, 2),
        (crossed, 2),
    ],
)
def test_a_turn_goes_once_through_what_it_changes(function: Function, loops: int) -> None:
    assert loops_of_turns(function) == loops
