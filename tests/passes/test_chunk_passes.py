"""Second reductions within the chunks of a first: deviations from a mean and places of an extreme in one sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import one_kernel_for_each, run_uncompiled
from xjit import tree
from xjit.capture.capture import capture
from xjit.passes.interpret import interpret
from xjit.passes.simplify import simplify
from xjit.passes.split_reduce import split_reductions

Function = Callable[..., Any]
ROWS, COLUMNS = 3000, 100


def mean_and_deviation(x: Any) -> Any:
    return x.mean(axis=0), x.std(axis=0)


def moments(x: Any) -> Any:
    return x.mean(), x.var(ddof=1), x.max()


def distances(x: Any) -> Any:
    return ((x - x.mean(axis=0)) ** 2).sum(axis=0), ((x - x.mean()) * (x - x.mean())).sum()


def places(x: Any) -> Any:
    return np.argmax(x), np.argmin(x)


def places_in_columns(x: Any) -> Any:
    return np.argmax(x, axis=0), np.argmin(x, axis=0)


FUNCTIONS = (mean_and_deviation, moments, distances, places, places_in_columns)


# ---- plans


@pytest.mark.parametrize(
    ("function", "chunks", "parts", "results"),
    [
        (mean_and_deviation, 5, 3 * COLUMNS, 2 * COLUMNS),
        (moments, 19, 4, 3),
        (places_in_columns, 5, 4 * COLUMNS, 2 * COLUMNS),
    ],
)
def test_one_sweep_and_one_combination(function: Function, chunks: int, parts: int, results: int) -> None:
    """Every result of a chunk is written and read once, the argument is read once."""
    x = np.ones((ROWS, COLUMNS))
    found = xjit.jit(function).explain(x)
    assert len(found.kernels) == 2
    assert found.bytes_moved == x.nbytes + 8 * (2 * chunks * parts + results)


def test_places_in_a_long_row_are_looked_for_in_one_chunk() -> None:
    """A sweep for the extremes of all chunks, the first chunk of each extreme, and the places there."""
    kernels = xjit.jit(places).explain(np.ones((ROWS, COLUMNS))).kernels
    assert [kernel.domain for kernel in kernels] == [(ROWS * COLUMNS,), (19,), (16_384,)]


def test_a_division_by_the_count_is_done_once_for_each_column() -> None:
    text = xjit.jit(mean_and_deviation).source(np.ones((ROWS, COLUMNS)))
    sweep = text[: text.index("def kernel", 1)]
    deepest = max(len(line) - len(line.lstrip()) for line in sweep.splitlines())
    assert all("/" not in line for line in sweep.splitlines() if len(line) - len(line.lstrip()) == deepest)
    assert sweep.count(" / ") == 1


# ---- values


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("shape", [(ROWS, COLUMNS), (100_003, 3), (2, 140_001), (70, 9, 500), (300_007,), (2, 1)])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values(function: Function, shape: tuple[int, ...], dtype: Any) -> None:
    """To the rounding of the type, of numbers whose mean is far from zero."""
    x = (np.random.default_rng(1).standard_normal(shape) * 100 + 5000).astype(dtype)
    for view in (x, np.asfortranarray(x), x[::-1], np.moveaxis(x, 0, -1)):
        with np.errstate(all="ignore"):
            pairs = list(zip(xjit.jit(function)(view), function(view.astype(np.float64)), strict=True))
        for got, expected in pairs:
            if np.asarray(expected).dtype.kind == "i":
                np.testing.assert_array_equal(got, expected)
            else:
                single = dtype == np.float32
                np.testing.assert_allclose(got, expected, rtol=1e-4 if single else 1e-10, atol=1e-3 if single else 0)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_uncompiled_values(function: Function) -> None:
    x = np.random.default_rng(2).standard_normal((31, 9)) + 50
    for view in (x, x.T, x[3:, ::2]):
        for got, expected in zip(run_uncompiled(function, [view]), function(view), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-11)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_chunks_that_are_spread_in_a_kernel_of_their_own(function: Function) -> None:
    """Nothing depends on what the planner puts together."""
    x = np.random.default_rng(3).standard_normal((ROWS, COLUMNS))
    with one_kernel_for_each():
        found = xjit.jit(function)(x)
    for got, expected in zip(found, function(x), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-11)


@pytest.mark.parametrize(
    "special",
    [[np.nan], [np.inf], [-np.inf], [np.inf, -np.inf], [np.nan, np.inf], [1e308, 1e308], [-0.0, 0.0]],
)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_special_values(function: Function, special: list[float]) -> None:
    """In different chunks, the last of which is short."""
    x = np.random.default_rng(4).standard_normal((ROWS, COLUMNS))
    x[-1, 3], x[7, 3] = special[0], special[-1]
    x[2000:2002, 5] = special[0]
    with np.errstate(all="ignore"):
        pairs = list(zip(xjit.jit(function)(x), function(x), strict=True))
    for got, expected in pairs:
        np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_places_of_equal_extremes_are_the_first() -> None:
    x = np.zeros((ROWS, COLUMNS))
    x[[5, 900, 2999], 7] = 3.0
    assert xjit.jit(places)(x) == (507, 0)
    got = xjit.jit(places_in_columns)(x)
    assert got[0][7] == 5
    assert got[1].sum() == got[0].sum() - 5 == 0


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_variances_are_as_exact_as_two_passes(dtype: Any, offset: float) -> None:
    """Against extended precision; the first row is an outlier, as a shift by it would be a bad one."""
    x = (np.random.default_rng(5).standard_normal((ROWS, COLUMNS)) + offset).astype(dtype)
    x[0] = -3 * offset
    exact = x.astype(np.longdouble).var(axis=0)
    error = np.abs(xjit.jit(lambda x: x.var(axis=0))(x) - exact).max()
    assert error <= max(2 * np.abs(x.var(axis=0) - exact).max(), 4 * np.finfo(dtype).eps * exact.max())


def test_an_inexact_mean_of_a_chunk_does_no_harm() -> None:
    """Sums of float32 columns round after every addition; what their means miss is summed as well."""
    x = (np.random.default_rng(9).standard_normal((ROWS, COLUMNS)) + 1e3).astype(np.float32)
    exact = x.astype(np.longdouble).var(axis=0)
    np.testing.assert_allclose(xjit.jit(lambda x: x.var(axis=0))(x), exact, rtol=1e-6)


def test_a_centre_that_varies_along_the_reduced_axis_is_taken_as_it_is() -> None:
    def moved(x: Any) -> Any:
        return ((x - x.sum(axis=0) * np.linspace(0, 1, ROWS)[:, None]) ** 2).sum(axis=0)

    x = np.random.default_rng(6).standard_normal((ROWS, COLUMNS))
    np.testing.assert_allclose(xjit.jit(moved)(x), moved(x), rtol=1e-11)


def test_a_centre_with_columns_exchanged() -> None:
    def exchanged(x: Any) -> Any:
        return ((x - x.mean(axis=0)[::-1]) ** 2).sum(axis=0)

    x = np.random.default_rng(7).standard_normal((ROWS, COLUMNS)) + np.arange(COLUMNS)
    np.testing.assert_allclose(xjit.jit(exchanged)(x), exchanged(x), rtol=1e-11)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", [(ROWS, COLUMNS), (9000, 5, 40)])
def test_the_interpreter_knows_the_rewritten_graph(function: Function, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(8).standard_normal(shape)
    leaves, structure = tree.flatten(((x,), {}))
    graph = split_reductions(simplify(capture(function, leaves, structure).graph))
    assert any(node.op.name in ("spread_chunks", "look_up") for node in graph.nodes)
    for got, expected in zip(interpret(graph, [x]), function(x), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-11)
