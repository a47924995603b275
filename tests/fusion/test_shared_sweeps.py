"""Work that shares one sweep over memory: stores beside reductions, results of chunks, views that libraries read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_uncompiled

Function = Callable[..., Any]


def logistic_gradient(x: Any, labels: Any, weights: Any) -> Any:
    return x.T @ (1.0 / (1.0 + np.exp(-(x @ weights))) - labels)


def extremes_of_columns(x: Any) -> Any:
    return x.min(axis=0), x.max(axis=0), x.mean(axis=0)


def doubled_and_sum(x: Any) -> Any:
    y = x * 2.0
    return y, y.sum()


def doubled_and_sums_of_columns(x: Any) -> Any:
    y = x * 2.0
    return y, y.sum(axis=0)


def sines_and_sums_of_columns(x: Any) -> Any:
    y = np.sin(x)
    return y, y.sum(axis=0), y.max(axis=0)


def nearest_as_columns(x: Any) -> Any:
    difference = x[:, None, :] - x[None, :20, :]
    nearest = (difference * difference).sum(axis=2).argmin(axis=1)
    return (nearest[:, None] == np.arange(20)).astype(np.float64)


def explained(function: Function, *arguments: Any) -> Any:
    return xjit.jit(function).explain(*arguments)


# ---- plans


def test_a_library_reads_the_transpose_of_an_argument_in_place() -> None:
    x, labels, weights = np.ones((3000, 50)), np.ones(3000), np.ones(50)
    found = explained(logistic_gradient, x, labels, weights)
    products = 2 * x.nbytes + 2 * (labels.nbytes + weights.nbytes)
    assert len(found.kernels) == 1
    assert found.bytes_moved == products + 3 * labels.nbytes
    assert found.temporary_bytes == labels.nbytes


def test_a_library_reads_the_transpose_of_a_computed_value_in_place() -> None:
    x, y = np.ones((400, 30)), np.ones(400)
    found = explained(lambda x, y: np.exp(x).T @ y, x, y)
    assert found.bytes_moved == 3 * x.nbytes + y.nbytes + 30 * 8
    assert found.temporary_bytes == x.nbytes


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, ::-1],
        lambda x: x[::2, ::2],
        lambda x: np.broadcast_to(x[:, :1], x.shape),
    ],
)
def test_what_libraries_would_copy_is_stored(view: Function) -> None:
    x = np.ones((200, 150))
    found = explained(lambda x: view(x) @ view(x)[0], x)
    assert not any("view" in step for step in found.steps)
    assert found.kernels[0].bytes_written == view(x).size * 8


def test_results_of_chunks_are_combined_in_one_kernel() -> None:
    x = np.ones((3000, 100))
    found = explained(extremes_of_columns, x)
    chunks = 5
    assert len(found.kernels) == 2
    assert found.bytes_moved == x.nbytes + 3 * (2 * chunks + 1) * 800


@pytest.mark.parametrize(("function", "results"), [(doubled_and_sum, 1), (doubled_and_sums_of_columns, 200)])
def test_a_store_runs_along_with_the_chunks(function: Function, results: int) -> None:
    x = np.ones((2000, 200))
    found = explained(function, x)
    chunks = found.temporary_bytes
    assert len(found.kernels) == 2
    assert found.bytes_moved == 2 * x.nbytes + 2 * chunks + 8 * results


def test_a_store_follows_the_reduction_of_nested_loops() -> None:
    x = np.ones((300, 10))
    found = explained(nearest_as_columns, x)
    assert len(found.kernels) == 1
    assert found.kernels[0].bytes_written == 300 * 20 * 8


def test_functions_with_rare_arguments_run_in_strips_over_columns() -> None:
    text = xjit.jit(sines_and_sums_of_columns).source(np.ones((2000, 200)))
    assert text.count("sin_f64_near(") == text.count("sin_f64_rare(") == 1
    assert "sin_f64(" not in text


# ---- values

SHAPES = ((2000, 200), (70_001, 5), (3, 90_001), (1, 1), (0, 7), (7, 0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("function", [doubled_and_sum, doubled_and_sums_of_columns, sines_and_sums_of_columns])
def test_values(function: Function, shape: tuple[int, int], order: Any) -> None:
    x = np.asarray(np.random.default_rng(5).standard_normal(shape), order=order)
    if x.size:
        x[-1, -1] = 1e22
    elif function is sines_and_sums_of_columns and not shape[0]:
        return  # there is no largest of no elements
    for got, expected in zip(xjit.jit(function)(x), function(x), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-10)
        assert got.strides == expected.strides


@pytest.mark.parametrize("function", [doubled_and_sum, doubled_and_sums_of_columns, sines_and_sums_of_columns])
def test_uncompiled_values(function: Function) -> None:
    x = np.random.default_rng(6).standard_normal((701, 500))[:, 3:410]
    x[7, 4] = 1e22
    for got, expected in zip(run_uncompiled(function, [x[:30, :9]]), function(x[:30, :9]), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(300, 20), (1, 1), (1, 9), (17, 1), (0, 3), (3, 0)])
@pytest.mark.parametrize("arrange", [np.ascontiguousarray, np.asfortranarray, lambda x: np.repeat(x, 2, 1)[:, ::2]])
def test_products_of_views(shape: tuple[int, int], arrange: Function) -> None:
    rng = np.random.default_rng(7)
    x = arrange(rng.standard_normal(shape))
    labels, weights = rng.standard_normal(shape[0]), rng.standard_normal(shape[1])
    got = xjit.jit(logistic_gradient)(x, labels, weights)
    np.testing.assert_allclose(got, logistic_gradient(x, labels, weights), rtol=1e-12, atol=1e-12)


def test_products_of_stacks_of_views() -> None:
    rng = np.random.default_rng(8)
    q, k = rng.standard_normal((3, 5, 7)), rng.standard_normal((3, 9, 7))

    def scores(q: Any, k: Any) -> Any:
        return q @ k.transpose(0, 2, 1), k.transpose(0, 2, 1)

    got, expected = xjit.jit(scores)(q, k), scores(q, k)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-13)
    assert np.shares_memory(got[1], k)


def test_one_view_for_several_products() -> None:
    rng = np.random.default_rng(9)
    x, y, z = rng.standard_normal((400, 30)), rng.standard_normal(400), rng.standard_normal(400)

    def products(x: Any, y: Any, z: Any) -> Any:
        return x.T @ y, x.T @ z, (x.T @ y) * np.exp(x).sum(axis=0)

    found = explained(products, x, y, z)
    assert sum("view" in step for step in found.steps) == 1
    for got, expected in zip(xjit.jit(products)(x, y, z), products(x, y, z), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_nearest_as_columns() -> None:
    x = np.random.default_rng(10).standard_normal((300, 10))
    np.testing.assert_array_equal(xjit.jit(nearest_as_columns)(x), nearest_as_columns(x))


# ---- sums over rows inside of sums over columns


def weighted_by_rows(x: Any, weights: Any) -> Any:
    return (x * np.tanh((x * weights).sum(axis=1))[:, None]).sum(axis=0)


def test_what_a_row_sums_up_to_is_used_in_the_sweep_that_sums_columns() -> None:
    x, weights = np.ones((9000, 60)), np.ones(60)
    found = explained(weighted_by_rows, x, weights)
    chunks = found.temporary_bytes
    assert len(found.kernels) == 2
    assert found.bytes_moved == x.nbytes + weights.nbytes + 2 * chunks + weights.nbytes


def test_wide_rows_are_summed_up_once() -> None:
    """More columns than are accumulated at a time would need the sums of the rows again."""
    x = np.ones((300, 5000))
    assert len(explained(weighted_by_rows, x, x[0]).kernels) == 3


@pytest.mark.parametrize("shape", [(9000, 60), (300, 5000), (7, 5), (1, 9), (9, 1), (0, 4), (4, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_over_rows_inside_of_sums_over_columns(shape: Any, order: Any, rng: np.random.Generator) -> None:
    x = np.asarray(rng.normal(size=shape), order=order)
    weights = rng.normal(size=shape[1])
    for function in (
        weighted_by_rows,
        lambda x, w: ((x - x.max(axis=1, initial=0)[:, None]) * w).max(axis=0, initial=0),
    ):
        result = xjit.jit(function)(x, weights)
        np.testing.assert_allclose(result, function(x, weights), rtol=1e-11, atol=1e-11)
