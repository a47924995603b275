"""Updates: which change their operand in place, in how many kernels, and that answers stay right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled
from xjit import compile, ops, tree
from xjit.capture.capture import capture
from xjit.inspect.explain import KernelReport
from xjit.runtime.spec import CopyStep, LoopStep, Step
from xjit.target import cpu

Function = Callable[..., Any]

RNG = np.random.default_rng(7)
GRID = RNG.integers(0, 100, (30, 40))
WINDOW = RNG.integers(0, 100, (3, 5))
ROWS = RNG.integers(-2, 32, (25, 1))
MORE = RNG.integers(0, 100, (25, 40))
START = np.array(4)
INSERTED: dict[str, Any] = {
    "index_vector_dim": 1,
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
}
COLLAPSED: dict[str, Any] = {
    "offset_dims": (1,),
    "collapsed_slice_dims": (0,),
    "slice_sizes": (1, 40),
    "start_index_map": (0,),
    "index_vector_dim": 1,
}


def made(x: Any) -> Any:
    """A value that is stored: running sums."""
    return np.cumsum(x, axis=0)


def replaced(x: Any, w: Any, s: Any) -> Any:
    return ops.dynamic_update_slice(made(x), w, (s, s))


def replaced_twice(x: Any, w: Any, s: Any) -> Any:
    return ops.dynamic_update_slice(replaced(x, w, s), ops.neg(w), (ops.add(s, 1), s))


def added_to(x: Any, w: Any, s: Any) -> Any:
    """Elements that are replaced are read at the very place."""
    y = made(x)
    return ops.dynamic_update_slice(y, ops.add(ops.dynamic_slice(y, (s, s), w.shape), w), (s, s))


def shifted(x: Any, w: Any, s: Any) -> Any:
    """Elements that are replaced are read at another place: the new ones are made first."""
    y = made(x)
    return ops.dynamic_update_slice(y, ops.mul(ops.dynamic_slice(y, (ops.add(s, 1), s), w.shape), w), (s, s))


def shifted_back(x: Any, w: Any, s: Any) -> Any:
    """The same of what the loops would have replaced by then."""
    y = made(x)
    return ops.dynamic_update_slice(y, ops.mul(ops.dynamic_slice(y, (ops.sub(s, 1), s), w.shape), w), (s, s))


def started_by_itself(x: Any, w: Any) -> Any:
    """The place is read from what is replaced."""
    y = made(x)
    start = ops.rem(ops.reshape(ops.slice(y, (7, 9), (8, 10)), ()), 11)
    return ops.dynamic_update_slice(y, w, (start, start))


def read_before(x: Any, w: Any, s: Any) -> Any:
    y = made(x)
    total = np.sum(y)
    return ops.dynamic_update_slice(y, w, (s, s)), total


def read_after(x: Any, w: Any, s: Any) -> Any:
    y = made(x)
    z = ops.dynamic_update_slice(y, w, (s, s))
    return z - y


def reshaped_before(x: Any, w: Any, s: Any) -> Any:
    """A row of what is replaced, seen through a reshape, is read for what is put there."""
    y = made(x)
    line = ops.reshape(y, (y.size,))
    part = ops.reshape(ops.slice(line, (90,), (90 + w.size,)), w.shape)
    return ops.dynamic_update_slice(y, ops.sub(w, part), (s, s))


def seen_by_stencils(x: Any, w: Any, s: Any) -> Any:
    """A stencil of what is replaced, which a second one reads: the first stays before the update."""
    y = made(x)
    first = np.exp(y[:-2] % 5) + np.exp(y[1:-1] % 3) * np.sqrt(y[2:])
    second = first[:-2] * first[1:-1] + first[2:]
    return second, ops.dynamic_update_slice(y, w, (s, s)), second[:, 1:] + second[:, :-1]


def stencils_of_both(x: Any, w: Any, s: Any) -> Any:
    y = made(x)
    first = np.exp(y[:-2] % 5) + np.exp(y[1:-1] % 3) * np.sqrt(y[2:])
    z = ops.dynamic_update_slice(y, w, (s, s))
    return first[:-2] * first[1:-1] + first[2:] + z[2:-2]


def two_of_one(x: Any, w: Any, s: Any) -> Any:
    y = made(x)
    return ops.dynamic_update_slice(y, w, (s, s)), ops.dynamic_update_slice(y, ops.neg(w), (s, s))


def both_results(x: Any, w: Any, s: Any) -> Any:
    y = made(x)
    return y, ops.dynamic_update_slice(y, w, (s, s))


def of_argument(x: Any, w: Any, s: Any) -> Any:
    return ops.dynamic_update_slice(x, ops.neg(w), (s, s))


def of_computed(x: Any, w: Any, s: Any) -> Any:
    return ops.dynamic_update_slice(ops.neg(x), w, (s, s))


def of_constant(x: Any, w: Any, s: Any) -> Any:
    return ops.dynamic_update_slice(ops.broadcast(7, x.shape), w, (s, s)) + x


def rows_added(x: Any, rows: Any, y: Any) -> Any:
    return ops.scatter(made(x), rows, ops.mul(y, y), ops.add, **INSERTED)


def rows_of_itself(x: Any, rows: Any, y: Any) -> Any:
    """Rows of what is added to are read at other places."""
    z = made(x)
    return ops.scatter(z, rows, ops.sub(y, ops.gather(z, ops.neg(rows), **COLLAPSED)), ops.add, **INSERTED)


def rows_of_two(x: Any, rows: Any, y: Any) -> Any:
    pair = made(x), ops.mul(made(x), 2)
    combine = lambda a, b, u, v: (ops.add(a, v), ops.max(b, u))  # noqa: E731
    first, second = ops.scatter(pair, rows, (y, ops.neg(y)), combine, **INSERTED)
    return first + 1, second


def scattered_after(x: Any, rows: Any, y: Any) -> Any:
    once = ops.scatter(made(x), rows, y, ops.add, **INSERTED)
    return ops.scatter(once, ops.add(rows, 1), y, lambda old, new: new, **INSERTED)


WINDOWS = (GRID, WINDOW, START)
LINES = (GRID, ROWS, MORE)
PROGRAMS: list[tuple[Function, tuple[Any, ...]]] = [
    *[(one, WINDOWS) for one in (replaced, replaced_twice, added_to, shifted, shifted_back)],
    *[(one, WINDOWS) for one in (read_before, read_after, reshaped_before, two_of_one, both_results)],
    *[(one, WINDOWS) for one in (of_argument, of_computed, of_constant, seen_by_stencils, stencils_of_both)],
    (started_by_itself, WINDOWS[:2]),
    *[(one, LINES) for one in (rows_added, rows_of_itself, rows_of_two, scattered_after)],
]


@pytest.mark.parametrize("run", [run_serial, run_parallel, run_uncompiled])
@pytest.mark.parametrize(("function", "operands"), PROGRAMS, ids=lambda one: getattr(one, "__name__", ""))
def test_answers_are_right(function: Function, operands: tuple[Any, ...], run: Any) -> None:
    before = [one.copy() for one in operands]
    results, expected = run(function, operands), function(*operands)
    several = isinstance(expected, tuple)
    for result, one in zip(results if several else [results], expected if several else [expected], strict=True):
        np.testing.assert_allclose(result, one, rtol=1e-12)
    for one, kept in zip(operands, before, strict=True):
        np.testing.assert_array_equal(one, kept)


def copies(function: Function, operands: tuple[Any, ...]) -> int:
    """The number of copies in front of updates that are made."""
    return sum(one.operations.count("pack") for one in xjit.jit(function).explain(*operands).kernels)


def steps(function: Function, *operands: Any) -> tuple[Step, ...]:
    leaves, structure = tree.flatten((operands, {}))
    found = capture(function, leaves, structure)
    values = found.guards.fetch(leaves)
    assert values is not None
    lowered = compile.lower_graph(found.graph, values, [False] * len(found.graph.outputs), target=cpu())
    return compile.program_spec(lowered).body.steps


def reports(function: Function, *operands: Any) -> tuple[KernelReport, ...]:
    return tuple(xjit.jit(function).explain(*operands).kernels)


IN_PLACE = (replaced, replaced_twice, added_to, shifted, shifted_back, read_before)
COPIED = (read_after, both_results, of_argument)


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda one: one.__name__)
def test_only_the_window_moves(function: Function) -> None:
    assert copies(function, WINDOWS) == 0
    updates = [one for one in reports(function, *WINDOWS) if "dynamic_update_slice" in one.operations]
    for one in updates:
        assert one.bytes_written == WINDOW.nbytes
        assert one.bytes_read <= 2 * WINDOW.nbytes + 2 * START.nbytes


@pytest.mark.parametrize("function", COPIED, ids=lambda one: one.__name__)
def test_the_operand_is_copied_where_it_is_needed(function: Function) -> None:
    assert copies(function, WINDOWS) == 1


def test_one_of_two_updates_of_a_value_copies_it() -> None:
    assert copies(two_of_one, WINDOWS) == 1


@pytest.mark.parametrize("function", [rows_added, rows_of_itself, scattered_after], ids=lambda one: one.__name__)
def test_rows_are_added_in_place(function: Function) -> None:
    assert copies(function, LINES) == 0


def test_updates_are_computed_where_they_are_combined() -> None:
    def function(x: Any, i: Any, y: Any) -> Any:
        return ops.scatter(x, i, ops.tanh(ops.mul(y, 2.0)), ops.add, **INSERTED)

    copied, scattered = reports(function, *FLOATS)
    assert copied.operations == ("pack",)
    assert {"mul", "tanh", "scatter"} <= set(scattered.operations)
    assert scattered.bytes_read == MORE.nbytes + ROWS.nbytes


def test_two_scatters_by_one_array_share_their_loops() -> None:
    def both(x: Any, i: Any, y: Any) -> Any:
        one = ops.scatter(ops.neg(x), i, y, ops.add, **INSERTED)
        return one, ops.scatter(ops.mul(x, 2.0), i, ops.neg(y), ops.max, **INSERTED)

    assert len(reports(both, *FLOATS)) == 2


def test_what_is_gathered_is_summed_in_one_kernel() -> None:
    def function(x: Any, i: Any) -> Any:
        return ops.reduce(ops.tanh(ops.gather(x, i, **COLLAPSED)), 0.0, ops.add, (1,))

    assert len(reports(function, *FLOATS[:2])) == 1


FLOATS = (GRID.astype(np.float64), ROWS, MORE.astype(np.float64))


def filled(x: Any, *others: Any) -> Any:
    """The first half of an array, one element in each turn; others go through a library meanwhile."""

    def body(state: Any) -> Any:
        i, y, *rest = state
        old = ops.dynamic_slice(y, (i,), (1,))
        more = [np.linalg.inv(one) for one in rest]
        return ops.add(i, 1), ops.dynamic_update_slice(y, ops.add(ops.mul(old, 2), 1), (i,)), *more

    return tuple(ops.while_loop(lambda state: ops.lt(state[0], 50), body, (0, x, *others))[1:])


LINE = np.arange(100)
FILLED = np.where(LINE < 50, 2 * LINE + 1, LINE)


def test_a_loop_carries_what_it_updates_in_place() -> None:
    """The array that a body hands on is the one that it was given."""
    (step,) = [one for one in steps(filled, LINE, np.eye(2)) if isinstance(one, LoopStep)]
    assert step.next[1] == step.results[1]
    assert all(one is not CopyStep for one in map(type, step.body.steps))
    np.testing.assert_array_equal(xjit.jit(filled)(LINE, np.eye(2))[0], FILLED)


def test_a_kernel_with_a_loop_updates_in_place() -> None:
    assert copies(filled, (LINE,)) == 0
    np.testing.assert_array_equal(xjit.jit(filled)(LINE)[0], FILLED)
    np.testing.assert_array_equal(LINE, np.arange(100))
