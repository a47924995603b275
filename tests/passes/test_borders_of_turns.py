"""Turns that make nearly all of an array of its own neighbours fill other memory; others change it in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.capturing import captured
from tests.helpers.kernel_executors import on
from xjit import compile
from xjit.errors import FallbackWarning
from xjit.fusion.plan import KernelStep
from xjit.ir.inner_graphs import all_graphs
from xjit.machine import processor

Function = Callable[..., Any]
TURNS = 300


def copies(function: Function, *arrays: Any) -> tuple[int, int]:
    """The values with borders in the loops of a function, and the kernels of a turn; what it writes is NumPy's."""
    ours, theirs = ([one.copy("K") for one in arrays] for _ in range(2))
    xjit.jit(function, target=on(processor()))(*ours)
    function(*theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one.tobytes() == other.tobytes()
    found, leaves = captured(function, *(one.copy("K") for one in arrays))
    values = found.guards.fetch(leaves)
    assert values is not None
    graphs, kernels = dict[str, Any](), 0
    for stage, draft in compile.staged(
        found.graph, values, found.views, target=on(processor()), written=found.written
    ):
        graphs[stage.name] = draft.graph
        if stage.name == "plan":
            kernels = sum(_large_kernels(part) for parts in draft.inner.values() for part in parts)
    bordered = {
        node.where for one in all_graphs(graphs["borders"]) for node in one.nodes if node.op.name == "concatenate"
    }
    return len(bordered), kernels


def _large_kernels(draft: Any) -> int:
    """The kernels of a plan that run over arrays."""
    steps = [step for step in draft.plan.steps if isinstance(step, KernelStep)]
    return sum(any(len(one.dims) > 1 or one.dims > (1,) for one in step.statements) for step in steps)


def line(x: Any) -> None:
    for _ in range(TURNS):
        x[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3


def square(x: Any) -> None:
    for _ in range(TURNS):
        x[1:-1, 2:] = 0.25 * (x[:-2, 2:] + x[2:, 2:] + x[1:-1, 1:-1] + x[1:-1, :-2])


def cube(x: Any) -> None:
    for _ in range(TURNS):
        x[1:, :-1, 1:-1] += 0.1 * (x[:-1, 1:, :-2] - x[1:, :-1, 2:])


def integers(x: Any) -> None:
    for _ in range(TURNS):
        x[:-1] ^= x[1:]


def two(x: Any, y: Any) -> None:
    u, v = x[1:-1, 1:-1], y[1:-1, 1:-1]
    for _ in range(TURNS):
        around_u = x[:-2, 1:-1] + x[2:, 1:-1] - 2 * u
        around_v = y[1:-1, :-2] + y[1:-1, 2:] - 2 * v
        product = u * v
        u += 0.1 * around_u - 0.01 * product
        v += 0.1 * around_v + 0.01 * product


def edges(x: Any) -> None:
    for _ in range(TURNS):
        old = x.copy()
        x[1:-1, 1:-1] = 0.25 * (old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:])
        x[0, :] = x[1, :]
        x[:, -1] = x[:, -2]


def values(*shape: int) -> Any:
    x = np.random.default_rng(3).random(shape)
    x.flat[0] = np.uint64(0xFFF8_0000_0000_1234).view(np.float64)  # a corner that nothing reads keeps its bits
    return x


@pytest.mark.parametrize(
    ("function", "arrays", "number"),
    [
        (line, [values(300_000)], 1),
        (square, [values(500, 600)], 1),
        (cube, [values(60, 70, 80)], 1),
        (integers, [np.arange(300_000, dtype=np.int32)], 1),
        (two, [values(400, 300), values(400, 300)], 2),
    ],
)
def test_what_is_made_of_neighbours_fills_other_memory_at_once(
    function: Function, arrays: list[Any], number: int
) -> None:
    assert copies(function, *arrays) == (number, 1)


def test_edges_change_what_is_put_together_in_place() -> None:
    assert copies(edges, values(500, 600)) == (1, 3)


def own_places(x: Any, y: Any) -> None:
    for _ in range(TURNS):
        x[1:-1] += y[:-2] - y[2:]


def every_second(x: Any) -> None:
    for _ in range(TURNS):
        x[1:-1:2] = 0.5 * (x[:-2:2] + x[2::2])


def small_part(x: Any) -> None:
    for _ in range(TURNS):
        x[1:80] = 0.5 * (x[:79] + x[2:81])


def one_turn(x: Any) -> None:
    x[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (own_places, [values(9000), values(9000)]),
        (every_second, [values(9001)]),
        (small_part, [values(9000)]),
        (one_turn, [values(9000)]),
    ],
)
def test_other_updates_stay_in_place(function: Function, arrays: list[Any]) -> None:
    number, _ = copies(function, *arrays)
    assert not number


def test_arguments_that_overlap_are_as_numpy_leaves_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    memory, other = values(101, 90), values(101, 90)
    with pytest.warns(FallbackWarning, match="shares memory"):
        xjit.jit(two)(memory[:-1], memory[1:])
    two(other[:-1], other[1:])
    assert memory.tobytes() == other.tobytes()


def test_what_is_left_by_an_error_is_as_numpy_leaves_it() -> None:
    def failing(x: Any, steps: Any, at: Any) -> None:
        for turn in range(steps):
            x[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
            if x[at] > 0.99:
                raise ValueError(f"too much in turn {turn}")

    x, y = values(9000), values(9000)
    x[5] = y[5] = 1.0
    x[3000:6000] = y[3000:6000] = 0.999
    with pytest.raises(ValueError, match="turn 0"):
        xjit.jit(failing)(x, 1000, 4500)
    with pytest.raises(ValueError, match="turn 0"):
        failing(y, 1000, 4500)
    assert x.tobytes() == y.tobytes()
