"""Random programs that write windows of several arrays, which read each other and themselves, beside NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.fusion.writes.test_stored_results import LAYOUTS, Made, put
from tests.helpers.kernel_executors import uncompiled
from tests.helpers.stored_results import program
from xjit import ops

Index = tuple[slice, ...]
Statement = Callable[[list[Any], list[Any]], None]
"""Changes the list of arrays, and adds to the list of values that are read."""

SHAPES = ((5, 6), (1, 7), (8,), (2, 3, 4), ())


def windows(rng: random.Random, shape: tuple[int, ...], count: int) -> list[Index]:
    """So many windows of the same sizes."""
    sizes = [rng.randint(1, size) for size in shape]
    return [tuple(_slice(rng, size, count) for size, count in zip(shape, sizes, strict=True)) for _ in range(count)]


def _slice(rng: random.Random, size: int, count: int) -> slice:
    step = rng.randint(1, (size - 1) // (count - 1)) if count > 1 else 1
    start = rng.randint(0, size - 1 - (count - 1) * step)
    return slice(start, start + (count - 1) * step + 1, step)


class OfNumpy:
    """Writes as NumPy has them."""

    @staticmethod
    def write(arrays: list[Any], place: int, index: Index, value: Any) -> None:
        arrays[place][index] = value

    @staticmethod
    def fill(arrays: list[Any], place: int, value: Any) -> None:
        arrays[place][...] = value


class OfGraphs:
    """Writes as new versions of arrays."""

    @staticmethod
    def write(arrays: list[Any], place: int, index: Index, value: Any) -> None:
        arrays[place] = put(arrays[place], index, value)

    @staticmethod
    def fill(arrays: list[Any], place: int, value: Any) -> None:
        arrays[place] = value


def statement(rng: random.Random, shape: tuple[int, ...], count: int) -> Callable[[Any], Statement]:
    """One statement, for either way to write."""
    to, one, other = (rng.randrange(count) for _ in range(3))
    target, first, second = windows(rng, shape, 3)
    near = rng.choice([target, first])
    kind = rng.choice(["copy", "add", "add", "own", "own", "fill", "mask", "read", "scan", "swap"])

    def of(way: Any) -> Statement:
        def run(arrays: list[Any], read: list[Any]) -> None:
            x, y, z = arrays[to], arrays[one], arrays[other]
            if kind == "copy":
                way.write(arrays, to, target, y[first] * 1.0)
            elif kind == "add":
                way.write(arrays, to, target, y[near] * 0.5 + z[second])
            elif kind == "own":
                way.write(arrays, to, target, x[near] * 0.5 + x[second] * y[target])
            elif kind == "fill":
                way.fill(arrays, to, x * 0.5 + y)
            elif kind == "mask":
                way.fill(arrays, to, np.where(y > 0.0, x * -0.5, x))
            elif kind == "read":
                read += [np.sum(y[first] * z[first]), x[target] + 1.0]
            elif kind == "scan":
                way.write(arrays, to, target, np.cumsum(y[first], axis=0) * 0.25 if y.ndim else y * 0.25)
            else:
                new_x, new_y = y * 0.5, x * 0.5
                way.fill(arrays, to, new_x)
                way.fill(arrays, one, new_y)

        return run

    return of


def check(seed: int) -> None:
    """Compares one random program with NumPy: what it reads, the arrays that it stores, and those that it leaves."""
    rng = random.Random(seed)
    shape, count = rng.choice(SHAPES), rng.randint(1, 3)
    statements = [statement(rng, shape, count) for _ in range(rng.randint(1, 8))]
    local = rng.randint(0, 1) * (count > 1)  # the last array is a copy, or begins as zeros, and is returned
    fresh = bool(local) and rng.random() < 0.5
    values = [np.array(one) for one in np.random.default_rng(seed).standard_normal((count, *shape))]
    layouts = [rng.choice([*LAYOUTS.values()]) if len(shape) > 1 else np.array for _ in range(count)]
    given = [layout(one) for layout, one in zip(layouts, values, strict=True)]

    def stored(*parameters: Any) -> Made:
        arrays, read = list(parameters), list[Any]()
        if fresh:
            arrays[-1] = ops.broadcast(np.float64(0.0), shape)
        for one in statements:
            one(OfGraphs)(arrays, read)
        kept = count - local
        return (*read, *(one * 1.0 for one in arrays[kept:])), dict(enumerate(arrays[:kept]))

    expected, read = [one.copy() for one in values], list[Any]()
    if fresh:
        expected[-1][...] = 0.0
    for one in statements:
        one(OfNumpy)(expected, read)
    kept = count - local
    results = program(stored, given).run(given)
    for result, wanted in zip(results, (*read, *expected[kept:]), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-10, atol=1e-12)
    for result, wanted in zip(given, (*expected[:kept], *values[kept:]), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_random_stores(seed: int) -> None:
    for part in range(3):
        check(seed * 3 + part)


@pytest.mark.parametrize("seed", range(20))
def test_random_stores_uncompiled(seed: int) -> None:
    with uncompiled():
        for part in range(5):
            check(1000 + seed * 5 + part)
