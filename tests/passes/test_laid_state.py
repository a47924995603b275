"""Arrays that loops read and write across lie along meanwhile; results keep their order, and sums their bits."""

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
from xjit.ir.inner_graphs import all_graphs
from xjit.machine import Machine, processor

# Blocks of rows need no copies.
PROCESSOR = replace(processor(), blocked_work=float("inf"))
NO_COPIES = replace(PROCESSOR, visits_of_copies=float("inf"))
MATRIX = np.random.default_rng(7).standard_normal((90, 70))
Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_VERIFY", "1")


def compiled(function: Function, x: Any, machine: Machine) -> tuple[Any, Any]:
    """The result, and what became of the argument."""
    given = x.copy(order="K")
    return xjit.jit(function, target=on(machine), strict=True)(given), given


def orders(function: Function, x: Any, machine: Machine = PROCESSOR) -> list[tuple[tuple[int, ...], ...]]:
    """The orders that each loop states for what it carries.

    Results are NumPy's, and have the bits that they have without copies.
    """
    made, written = compiled(function, x, machine)
    given = x.copy(order="K")
    np.testing.assert_allclose(made, function(given), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(written, given, rtol=1e-9, atol=1e-12)
    for one, other in zip((made, written), compiled(function, x, NO_COPIES), strict=True):
        assert one.tobytes() == other.tobytes()
        assert one.strides == other.strides
    found, leaves = captured(function, x)
    values = found.guards.fetch(leaves)
    assert values is not None
    stages = compile.staged(found.graph, values, found.views, target=on(machine))
    graph = next(draft.graph for stage, draft in stages if stage.name == "layouts")
    loops = [node for inner in all_graphs(graph) for node in inner.nodes if node.op.control == "loop"]
    assert loops
    stated = [dict(loop.kwargs.get("orders", ())) for loop in loops]
    return [tuple(one.values()) for one in stated if one]


def orthogonal(x: Any) -> Any:
    for k in range(x.shape[1]):
        x[:, k] /= np.sqrt(np.sum(x[:, k] ** 2))
        for j in range(k + 1, x.shape[1]):
            x[:, j] -= x[:, k] * (x[:, k] @ x[:, j])
    return x[:2] * 2.0


def running(x: Any) -> Any:
    y = np.zeros(x.shape)
    y[:, 0] = x[:, 0]
    for turn in range(1, 1000):
        y[:, turn % 70] = y[:, (turn - 1) % 70] * 0.5 + x[:, turn % 70]
    return y


def running_if(x: Any) -> Any:
    y = np.zeros(x.shape)
    for turn in range(1000):
        if turn % 3:
            y[:, turn % 70] += x[:, 0]
    return y


def columns_of_a_stack(x: Any) -> Any:
    y = np.zeros(x.shape)
    for turn in range(1000):
        y[3, :, turn % 7] = y[2, :, turn % 5] * 0.5 + turn
    return y


@pytest.mark.parametrize(
    ("function", "x", "wanted"),
    [
        (orthogonal, MATRIX, [((1, 0),), ((1, 0),)]),
        (running, MATRIX, [((1, 0),)]),
        (columns_of_a_stack, MATRIX.reshape(10, 45, 14), [((0, 2, 1),)]),
    ],
)
def test_columns_lie_along(function: Function, x: Any, wanted: Any) -> None:
    assert orders(function, x) == wanted


def rows(x: Any) -> Any:
    for turn in range(1000):
        x[turn % 70] += x[(turn + 1) % 70] * 0.5
    return x * 2.0


def few_columns(x: Any) -> Any:
    for turn in range(1, x.shape[1]):
        x[:, turn] += x[:, turn - 1]
    return x * 2.0


def sorted_columns(x: Any) -> Any:
    for turn in range(1000):
        x[:, turn % 70] = np.sort(x[:, (turn + 1) % 70])
    return x * 2.0


def sums_of_all(x: Any) -> Any:
    for turn in range(200):
        x[:, turn % 70] -= x.mean()
    return x * 2.0


def two_at_a_time(x: Any) -> Any:
    for turn in range(1000):
        x[:, turn % 70] = x[:, turn % 60 : turn % 60 + 2].sum(axis=1) * 0.5
    return x * 2.0


def kept_before_a_turn(x: Any) -> Any:
    last = x.copy()
    for turn in range(300):
        last = x.copy()
        x[:, turn % 70] *= 0.5
    return last + x


@pytest.mark.parametrize(
    "function", [rows, few_columns, sorted_columns, sums_of_all, two_at_a_time, kept_before_a_turn, running_if]
)
def test_what_is_gone_through_in_other_ways_stays(function: Function) -> None:
    assert not orders(function, MATRIX)


def test_the_machine_says_from_where_on_it_pays() -> None:
    assert not orders(running, MATRIX, replace(PROCESSOR, visits_of_copies=15.0))


def test_an_array_that_lies_along_stays_as_it_is() -> None:
    """Loops carry it in the order of its memory, across which nothing goes."""
    columns = np.asfortranarray(MATRIX)
    assert not orders(orthogonal, columns)
