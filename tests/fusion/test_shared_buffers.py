"""Updates of values that share a buffer: with what libraries make, with reshapes, with what a barrier hands on."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_serial
from xjit import ops

Function = Callable[[Any], Any]

GRID = np.arange(16.0)[::-1].reshape(4, 4).copy()
EYE = np.eye(4)


def window(y: Any, first: int, value: Any) -> Any:
    """The value with one element replaced."""
    at = (np.int64(first), *[np.int64(0)] * (y.ndim - 1))
    return ops.dynamic_update_slice(y, ops.broadcast(value, (1,) * y.ndim), at)


def row(y: Any, combine: Any) -> Any:
    """The value with numbers scattered into its second row."""
    return ops.scatter(
        y,
        np.array([[1]]),
        np.full((1, *y.shape[1:]), 0.5),
        combine,
        index_vector_dim=1,
        update_window_dims=tuple(range(1, y.ndim)),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
    )


PRODUCERS: dict[str, Function] = {
    "kernel": lambda x: np.cumsum(x, axis=0),
    "sort": lambda x: np.sort(x, axis=1),
    "sort of ops": lambda x: ops.sort(x, dimension=0),
    "solve": lambda x: np.linalg.solve(EYE * 40 + x, x),
    "inv": lambda x: np.linalg.inv(EYE * 40 + x),
    "eigh": lambda x: np.linalg.eigh(x + x.T)[1],
    "matmul": lambda x: x @ x,
    "loop": lambda x: xjit.fori_loop(0, 2, lambda _, y: np.sort(y, axis=0) + 1, x),
    "branch": lambda x: xjit.cond(x[0, 0] > 0, lambda y: np.sort(y, axis=0), lambda y: y + 1, x),
    "barrier": lambda x: ops.optimization_barrier(np.sort(x, axis=0)),
    "argument": lambda x: x,
    "constant": lambda x: np.arange(16.0).reshape(4, 4),
}
VIEWS: dict[str, Function] = {
    "itself": lambda y: y,
    "flat": lambda y: y.reshape(-1),
    "again": lambda y: ops.optimization_barrier(y.reshape(-1)).reshape(2, 2, 4),
}
UPDATES: dict[str, Function] = {
    "window": lambda y: window(y, 1, 5.0),
    "add": lambda y: row(y, ops.add),
    "several": lambda y: window(row(window(y, 0, 7.0).reshape(-1), ops.min).reshape(4, 4), 1, 5.0),
}
READERS: dict[str, Function] = {
    "result": lambda z: z,
    "scan": lambda z: np.cumsum(z, axis=0),
    "minima": lambda z: np.minimum.accumulate(z, axis=0),
    "loop": lambda z: xjit.fori_loop(0, 2, lambda _, y: np.sort(y, axis=0) + 1, z),
    "reshape": lambda z: (z + 1, z.reshape(-1)),
}


def check(function: Function) -> None:
    """Compares what is compiled with the same calls one by one; the argument stays as it is."""
    given, before = GRID.copy(), GRID.copy()
    expected, results = function(GRID.copy()), run_serial(function, [given])
    several = isinstance(expected, tuple)
    for result, one in zip(results if several else [results], expected if several else [expected], strict=True):
        np.testing.assert_allclose(result, one, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(given, before)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("producer", PRODUCERS)
def test_what_is_not_updated_stays(producer: str, view: str, update: str) -> None:
    made, seen, changed = PRODUCERS[producer], VIEWS[view], UPDATES[update]
    check(lambda x: (np.cumsum(changed(seen(made(x)))),))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("producer", ["kernel", "sort", "eigh", "loop", "barrier"])
def test_every_reader_sees_the_update(producer: str, reader: str) -> None:
    made, read = PRODUCERS[producer], READERS[reader]
    check(lambda x: read(window(made(x).reshape(-1), 3, 5.0)))


ALIASES: dict[str, Function] = {"reshape": lambda y: y.reshape(-1), "barrier": ops.optimization_barrier}


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_that_is_read_later_keeps_its_elements(alias: str) -> None:
    def function(x: Any) -> Any:
        y = window(np.sort(x, axis=1), 1, 5.0)
        same = ALIASES[alias](y)
        changed = window(y, 2, 9.0)
        return np.sort(same) + np.cumsum(same, axis=0) * changed[2, 0], np.cumsum(changed)

    check(function)


def test_an_alias_that_is_returned_keeps_its_elements() -> None:
    def function(x: Any) -> Any:
        y = np.sort(x, axis=1)
        return ops.optimization_barrier(y), np.cumsum(window(y, 2, 9.0), axis=0)

    check(function)


def test_a_body_updates_what_it_carries_through_a_reshape() -> None:
    def turn(k: Any, y: Any) -> Any:
        y = np.sort(y, axis=0)
        return ops.dynamic_update_slice(y.reshape(-1), y[:1].reshape(-1) * 2 + 1, (k,)).reshape(y.shape)

    check(lambda x: xjit.fori_loop(0, 3, turn, x))


SHAPES = ((16,), (4, 4), (2, 8), (2, 2, 4))
STEPS: tuple[Callable[[Any, Any, int], Any], ...] = (
    lambda y, other, place: np.sort(y, axis=place % y.ndim),
    lambda y, other, place: np.cumsum(y, axis=0) % 97,
    lambda y, other, place: y.reshape(SHAPES[place % 4]),
    lambda y, other, place: y.reshape(SHAPES[place // 4]),
    lambda y, other, place: window(y, place % y.shape[0], 5.0),
    lambda y, other, place: window(y, place % y.shape[0], ops.reshape(ops.slice(other, (place,), (place + 1,)), ())),
    lambda y, other, place: ops.dynamic_update_slice(
        y, other.reshape(y.shape)[:1] + 1, (np.int64(place % y.shape[0]), *[np.int64(0)] * (y.ndim - 1))
    ),
    lambda y, other, place: row(y, ops.add if place % 2 else ops.min),
    lambda y, other, place: ops.optimization_barrier(y),
    lambda y, other, place: y + other.reshape(y.shape),
    lambda y, other, place: xjit.fori_loop(0, 2, lambda k, z: window(np.sort(z, axis=0), 1, 3.0), y),
)


def chosen(seed: int) -> Function:
    """A function of a few steps, each on two of the last values."""
    draw = random.Random(seed)
    count = draw.randint(4, 9)
    lines = [(draw.choice(STEPS), draw.randrange(4), draw.randrange(4), draw.randrange(16)) for _ in range(count)]
    kept = draw.randint(1, 3)

    def function(x: Any) -> Any:
        values = [x]
        for step, first, second, place in lines:
            recent = values[-4:]
            y, other = recent[first % len(recent)], recent[second % len(recent)]
            values.append(step(y, other.reshape(-1), place))
        return tuple(np.cumsum(one, axis=0) if k % 2 else one for k, one in enumerate(values[-kept:]))

    return function


@pytest.mark.parametrize("seed", range(25))
def test_functions_of_random_steps(seed: int) -> None:
    check(chosen(seed))
