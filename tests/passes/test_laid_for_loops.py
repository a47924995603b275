"""Copies of what loops read across lie along; what is read along, seldom, or by libraries stays where it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import captured
from tests.helpers.kernel_executors import on
from xjit import compile
from xjit.machine import Machine, processor

# Blocks of rows need no copies.
PROCESSOR = replace(processor(), blocked_work=float("inf"))
MATRIX = np.arange(300.0 * 200).reshape(300, 200) % 17.0 - 8.0
Function = Callable[..., Any]


def orders(function: Function, x: Any, machine: Machine = PROCESSOR) -> list[tuple[int, ...]]:
    """The orders of the copies that the loops of a function close over; its result is NumPy's."""
    np.testing.assert_array_equal(xjit.jit(function, target=on(machine))(x), function(x))
    found, leaves = captured(function, x)
    values = found.guards.fetch(leaves)
    assert values is not None
    stages = compile.staged(found.graph, values, found.views, target=on(machine))
    graph = next(draft.graph for stage, draft in stages if stage.name == "layouts")
    loops = [node for node in graph.nodes if node.op.control == "loop"]
    assert loops
    operands = [one for loop in loops for one in loop.inputs[loop.param("n") :]]
    return [one.param("order") for one in operands if one.op.name == "pack"]


def columns(x: Any) -> Any:
    y = np.zeros(x.shape[0])
    for turn in range(1000):
        y = y * 0.5 + x[:, turn % 200]
    return y


def columns_in_loops(x: Any) -> Any:
    y = np.zeros(x.shape[0])
    for first in range(x.shape[1]):
        for second in range(x.shape[1]):
            y[: first + 1] += x[first, second] * x[: first + 1, second]
    return y


def columns_of_a_stack(x: Any) -> Any:
    y = np.zeros(x.shape[:2])
    for turn in range(1000):
        y = y * 0.5 + x[:, :, turn % 20]
    return y


def sums_of_columns(x: Any) -> Any:
    y = 0.0
    for turn in range(1000):
        y = y * 0.5 + x[:, turn % 200].sum()
    return y


@pytest.mark.parametrize("function", [columns, columns_in_loops, sums_of_columns])
def test_columns_lie_along(function: Function) -> None:
    assert orders(function, MATRIX) == [(1, 0)]


def test_axes_that_are_read_together_keep_their_order() -> None:
    assert orders(columns_of_a_stack, MATRIX.reshape(60, 50, 20)) == [(2, 0, 1)]


def test_what_lies_along_stays() -> None:
    assert not orders(columns, np.asfortranarray(MATRIX))


def rows(x: Any) -> Any:
    y = np.zeros(x.shape[1])
    for turn in range(1000):
        y = y * 0.5 + x[turn % 300]
    return y


def rows_and_columns(x: Any) -> Any:
    y = np.zeros(200)
    for turn in range(1000):
        y = y * 0.5 + x[:, turn % 200] * x[turn % 200]
    return y


def few_columns(x: Any) -> Any:
    y = np.zeros(x.shape[0])
    for turn in range(x.shape[1]):
        y = y * 0.5 + x[:, turn]
    return y


def whole_values(x: Any) -> Any:
    y = np.zeros(x.shape)
    for turn in range(1000):
        y = y * 0.5 + x * x[:, turn % 200][:, None]
    return y


def narrow_columns(x: Any) -> Any:
    y = np.zeros(x.shape[0])
    for turn in range(1000):
        y = y * 0.5 + x[:, turn % x.shape[1]]
    return y


def sorted_columns(x: Any) -> Any:
    y = np.zeros(x.shape[0])
    for turn in range(1000):
        y = y * 0.5 + np.sort(x[:, turn % 200])
    return y


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (rows, MATRIX),
        (rows_and_columns, MATRIX[:200]),
        (few_columns, MATRIX),
        (whole_values, MATRIX[:20].copy()),
        (sorted_columns, MATRIX),
        (narrow_columns, MATRIX.reshape(-1, 4)),
    ],
)
def test_what_is_read_in_other_ways_stays(function: Function, x: Any) -> None:
    assert not orders(function, x)


def test_the_machine_says_from_where_on_it_pays() -> None:
    assert not orders(columns, MATRIX, replace(PROCESSOR, visits_of_copies=6.0))
