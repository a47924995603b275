"""Results that are stored into arguments: in place where that is possible, in few bytes, and never too early."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import uncompiled
from tests.helpers.stored_results import Function, Stored, explained, lowered, program, traced
from xjit import compile, ops
from xjit.fusion.plan import ViewStep
from xjit.ops.define.evaluate import evaluate_graph
from xjit.ops.regions.strided_slices import update_slice
from xjit.ops.whole_arrays.runtime_check import require
from xjit.runtime.miss import MISS

Made = tuple[tuple[Any, ...], Stored]

SIZE = 8
GRID = np.random.default_rng(5).standard_normal((2, SIZE, SIZE))
ROW = SIZE * 8


def put(x: Any, index: Any, value: Any) -> Any:
    """The array with what a basic index picks replaced."""
    bounds = [one.indices(size) for one, size in zip(index, x.shape, strict=True)]
    return update_slice(x, value, [start for start, _, _ in bounds], [step for _, _, step in bounds])


def top(x: Any, value: Any) -> Any:
    """The array with its first row replaced."""
    return put(x, np.s_[:1, :], value)


def heated(x: Any, y: Any) -> Made:
    """An inner window of one array from the neighbours of another one."""
    around = 0.25 * (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:])
    return (), {0: put(x, np.s_[1:-1, 1:-1], around)}


def whole(x: Any, y: Any) -> Made:
    return (), {0: x * 2.0 + y}


def masked(x: Any, y: Any) -> Made:
    return (), {0: np.where(y > 0.0, -1.0, x)}


def swapped(x: Any, y: Any) -> Made:
    return (), {0: y, 1: x}


def shifted(x: Any, y: Any) -> Made:
    """Rows that read those that they replace."""
    return (), {0: put(x, np.s_[1:, :], x[:-1] + 1.0)}


def smoothed(x: Any, y: Any) -> Made:
    around = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    return (), {0: put(x, np.s_[1:-1, 1:-1], around)}


def bordered(x: Any, y: Any) -> Made:
    """Windows one after the other, which read each other, and a sum of it all."""
    z = top(x, y[:1])
    z = put(z, np.s_[-1:, :], z[:1] * 2.0)
    z = put(z, np.s_[:, :1], z[:, 1:2])
    return (np.sum(z),), {0: z}


def between(x: Any, y: Any) -> Made:
    """Values that are read between two writes, and returned."""
    z = top(x, y[:1])
    total = np.sum(z[::2])
    return (z * 1.0, total), {0: put(z, np.s_[1:2, :], y[:1] + total)}


def before(x: Any, y: Any) -> Made:
    """The array as it was, and as it is in the end, also through a reshape."""
    z = top(x, y[:1])
    return (x, x.reshape(-1), z, z.reshape(-1)), {0: z}


def other_first(x: Any, y: Any) -> Made:
    """Another value, of which a window is replaced, stored over all of it."""
    return (), {0: top(y * 2.0, y[1:2])}


def crossed(x: Any, y: Any) -> Made:
    """Two arrays that are written by turns, each from the other."""
    z = top(x, y[:1])
    w = put(y, np.s_[1:2, :], z[:1] + 1.0)
    return (), {0: put(z, np.s_[2:3, :], w[1:2]), 1: w}


def same_value(x: Any, y: Any) -> Made:
    z = x * y
    return (z,), {0: z, 1: z}


def added_from_odds(x: Any, y: Any) -> Made:
    """Rows, then columns, that read others of the same array and none that they replace."""
    z = put(x, np.s_[::2, :], x[::2] + x[1::2])
    return (), {0: put(z, np.s_[:, ::2], z[:, ::2] * z[:, 1::2])}


def one_of_the_other(x: Any, y: Any) -> Made:
    """Two arrays that are replaced, the second one by what the first one has become."""
    z = x + y
    return (), {0: z, 1: y - z * 2.0}


def begun_as_zeros(x: Any, y: Any) -> Made:
    """Rows of a local array, then every second one of it: its parts are made before they are replaced."""
    z = put(ops.broadcast(np.float64(0.0), (SIZE, SIZE)), np.s_[:3, :], x[:3] * 0.5)
    z = put(z, np.s_[:5:2, :], x[:5:2] * 0.5 + x[:3])
    return (z * 1.0,), {0: x + z}


def running(x: Any, y: Any) -> Made:
    return (), {0: np.cumsum(x, axis=1)}


def itself(x: Any, y: Any) -> Made:
    return (x + y,), {0: x}


def sorted_rows(x: Any, y: Any) -> Made:
    """Libraries and sorts around what is written."""
    z = top(x, y[:1])
    return (np.sort(z, axis=1),), {0: top(np.sort(z @ y, axis=0), y[1:2])}


def scattered(x: Any, y: Any) -> Made:
    rows = np.array([[3], [1], [3]])
    numbers = {"update_window_dims": (1,), "inserted_window_dims": (0,), "scatter_dims_to_operand_dims": (0,)}
    return (), {0: ops.scatter(x, rows, y[:3], ops.add, index_vector_dim=1, **numbers)}


def doubled_then_raised(x: Any, y: Any) -> Made:
    """All is replaced, then a window of what is there."""
    doubled = x * 2.0
    return (), {0: put(doubled, np.s_[1:-1, 2:], doubled[1:-1, 2:] + 1.0)}


def doubled_then_shown(x: Any, y: Any) -> Made:
    doubled = x * 2.0
    return (doubled, doubled[0] + y[0]), {0: put(doubled, np.s_[:1, :], doubled[:1] + doubled[1:2])}


def doubled_for_two(x: Any, y: Any) -> Made:
    doubled = x * 2.0
    raised = put(doubled, np.s_[:1, :], doubled[:1] + 1.0)
    return (), {0: raised, 1: put(raised, np.s_[1:2, :], doubled[:1] + raised[:1])}


FUNCTIONS = (
    *(doubled_then_raised, doubled_then_shown, doubled_for_two),
    *(heated, whole, masked, swapped, shifted, smoothed, bordered, between, before, other_first, crossed),
    *(same_value, one_of_the_other, begun_as_zeros, added_from_odds, running, itself, sorted_rows, scattered),
)
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": lambda a: a.copy(),
    "F": np.asfortranarray,
    "strided": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "reversed": lambda a: np.ascontiguousarray(a[::-1])[::-1],
}


def check(function: Function, arguments: list[Any]) -> None:
    """Compares results and arguments with what NumPy makes of the graph."""
    graph, written = traced(function, arguments)
    copies = [one.copy() for one in arguments]
    expected = evaluate_graph(graph, copies)
    results = program(function, arguments).run(arguments)
    assert len(results) + len(written) == len(expected)
    for result, wanted in zip(results, expected, strict=False):
        np.testing.assert_allclose(result, wanted, rtol=1e-13)
        assert not any(np.may_share_memory(result, one) for one in arguments)
    stored = {place: expected[number] for number, place in written}
    for place, (argument, copy) in enumerate(zip(arguments, copies, strict=True)):
        np.testing.assert_allclose(argument, stored.get(place, copy), rtol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_stored_results(function: Function, layout: str) -> None:
    check(function, [LAYOUTS[layout](one) for one in GRID])


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_stored_results_uncompiled(function: Function) -> None:
    with uncompiled():
        check(function, [one.copy() for one in GRID])


def moved(function: Function) -> tuple[int, int, int]:
    """Kernels, bytes that they write, bytes of temporaries."""
    found = explained(function, list(GRID))
    return len(found.kernels), sum(one.bytes_written for one in found.kernels), found.temporary_bytes


def test_a_window_is_stored_by_the_loop_that_computes_it() -> None:
    assert moved(heated) == (1, (SIZE - 2) ** 2 * 8, 0)


@pytest.mark.parametrize("function", [whole, masked], ids=lambda one: one.__name__)
def test_elements_are_replaced_in_one_pass(function: Function) -> None:
    assert moved(function) == (1, GRID[0].nbytes, 0)


def test_what_is_replaced_is_read_where_it_is_stored() -> None:
    assert moved(doubled_then_raised) == (2, GRID[0].nbytes + (SIZE - 2) ** 2 * 8, 0)


def test_overlaps_take_a_temporary_of_the_window() -> None:
    assert moved(shifted)[2] == (SIZE - 1) * ROW
    assert moved(smoothed)[2] == (SIZE - 2) ** 2 * 8


def test_what_is_not_replaced_is_read_in_place() -> None:
    assert moved(added_from_odds) == (2, GRID[0].nbytes, 0)


def test_what_lies_around_a_window_is_filled_once() -> None:
    def function(x: Any, y: Any) -> Made:
        z = put(ops.broadcast(np.float64(0.0), (SIZE, SIZE)), np.s_[1:-1, 1:-1], x[1:-1, 1:-1] * 2.0)
        return (z,), {}

    def read_inside(x: Any, y: Any) -> Made:
        z = put(ops.broadcast(np.float64(0.0), (SIZE, SIZE)), np.s_[1:-1, 1:-1], x[1:-1, 1:-1] * 2.0)
        return (), {1: put(y, np.s_[2:-2, :], y[2:-2] + z[2:-2, 3:4])}

    assert moved(function)[1:] == (GRID[0].nbytes, 0)
    assert moved(read_inside) == (1, (SIZE - 4) * ROW, 0)


def test_what_has_been_stored_is_read_there() -> None:
    assert moved(one_of_the_other) == (2, GRID.nbytes, 0)


def test_a_swap_takes_one_temporary() -> None:
    assert moved(swapped) == (3, 3 * GRID[0].nbytes, GRID[0].nbytes)


def test_arrays_that_are_written_by_turns_take_no_temporary() -> None:
    assert moved(crossed) == (3, 3 * ROW, 0)


def average(x: Any) -> Any:
    """The neighbours of inner elements, on average."""
    return 0.25 * (x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])


def by_turns(x: Any, y: Any) -> Any:
    """Two arrays, each of which is smoothed from the other for some steps."""

    def body(turn: Any, both: Any) -> Any:
        x, y = both
        y = put(y, np.s_[1:-1, 1:-1], average(x))
        return put(x, np.s_[1:-1, 1:-1], average(y)), y

    return xjit.fori_loop(0, 5, body, (x, y))


def test_a_loop_that_writes_two_arrays_by_turns_takes_two() -> None:
    def stored(x: Any, y: Any) -> Made:
        return (), dict(enumerate(by_turns(x, y)))

    check(stored, [one.copy() for one in GRID])
    assert moved(stored)[2] <= GRID.nbytes + 64
    assert explained(lambda x, y: (by_turns(x, y), {}), list(GRID)).peak_bytes <= GRID.nbytes + 64


@pytest.mark.parametrize("length", [10, 40])
def test_many_writes_move_what_they_write(length: int) -> None:
    x, y = np.zeros((50, SIZE)), np.ones((50, SIZE))

    def function(x: Any, y: Any) -> Made:
        for k in range(length):
            x = put(x, np.s_[k : k + 1, :], x[k + 1 : k + 2] + y[k : k + 1])
            x = put(x, np.s_[:, :1], x[:, 1:2])
        return (), {0: x}

    found = explained(function, [x, y])
    assert len(found.kernels) == 2 * length
    assert sum(one.bytes_written for one in found.kernels) == length * (ROW + 50 * 8)
    assert found.temporary_bytes == 0
    check(function, [x, y])


def test_a_view_of_what_is_written_is_one_of_the_argument() -> None:
    def function(x: Any, y: Any) -> Made:
        z = top(x, y[:1])
        return (z[1:, ::2], z), {0: z}

    arguments = [one.copy() for one in GRID]
    made = lowered(function, arguments, [True, True])
    assert any(isinstance(step, ViewStep) for step in made.plan.steps)
    view, same = program(function, arguments, [True, True]).run(arguments)
    arguments[0][2] = 7.0
    np.testing.assert_array_equal(view, arguments[0][1:, ::2])
    np.testing.assert_array_equal(same, arguments[0])


def indexed(x: Any, y: Any, i: Any) -> Made:
    """Two writes, of which the second may be out of bounds."""
    z = top(x, y[:1] * 2.0)
    inside = ops.logical_and(ops.ge(i, np.int64(0)), ops.lt(i, np.int64(SIZE)))
    place = require(ops.clamp(np.int64(0), i, np.int64(SIZE - 1)), inside, "index", "out of bounds")
    z = update_slice(z, y[1:2], (place, 0))
    return (np.sum(z),), {0: z}


def test_nothing_is_written_before_conditions_are_tested() -> None:
    x, y = (one.copy() for one in GRID)
    run = program(indexed, [x, y, 3])
    expected = x.copy()
    expected[0], expected[3] = y[0] * 2.0, y[1]
    (total,) = run.run([x, y, 3])
    np.testing.assert_array_equal(x, expected)
    assert np.isclose(total, expected.sum())
    for place in (-1, SIZE):
        with pytest.raises(IndexError, match="out of bounds"):
            run.run([x, -y, place])
        np.testing.assert_array_equal(x, expected)
    with uncompiled(), pytest.raises(IndexError, match="out of bounds"):
        program(indexed, [x, y, 3]).run([x, -y, SIZE])
    np.testing.assert_array_equal(x, expected)


def test_conditions_cost_no_python() -> None:
    run = program(indexed, [*GRID.copy(), 3])
    assert isinstance(run.direct, types.BuiltinFunctionType)


def read_only(x: Any) -> Any:
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("spoil", [lambda x: (x, x), lambda x: (x, x[:]), lambda x: (read_only(x), GRID[1])])
def test_memory_that_may_not_be_written_is_left_alone(spoil: Callable[..., Any]) -> None:
    x, y = (one.copy() for one in GRID)
    run = program(whole, [x, y])
    assert run.direct(x, y) == ()
    kept = x.copy()
    assert run.direct(*spoil(x)) is MISS
    np.testing.assert_array_equal(x, kept)


def test_neighbours_are_told_apart() -> None:
    block = np.zeros((3, SIZE, SIZE))
    block[1:] = GRID
    run = program(whole, [block[0], block[1]])
    assert run.direct(block[0], block[1]) == ()
    assert run.direct(block[2], block[1]) == ()
    flat = block.reshape(-1)
    for first in (1, SIZE * SIZE - 1):
        other = flat[first : first + SIZE * SIZE].reshape(SIZE, SIZE)
        assert run.direct(block[0], other) is MISS
        assert run.direct(other, block[0]) is MISS


def test_the_specification_says_what_is_written() -> None:
    spec = compile.program_spec(lowered(crossed, list(GRID)))
    assert spec.written == (0, 1) and spec.outputs == ()
