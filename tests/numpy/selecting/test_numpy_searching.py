"""searchsorted and digitize as kernels, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled

LENGTHS = (*range(1, 18), 31, 32, 33, 100, 1000)
Array = np.ndarray[Any, Any]


def lines(dtype: str, length: int) -> tuple[Array, Array]:
    """A sorted line with equal elements, and what to look for: all of it, what lies between and beyond it, NaN."""
    rng = np.random.default_rng(length)
    line = np.sort((rng.standard_normal(length) * 5).astype(dtype))
    wanted = np.concatenate([line, (rng.standard_normal(40) * 6).astype(dtype), line[:1]])
    if np.dtype(dtype).kind == "f":
        wanted[:3] = np.nan, np.inf, -np.inf
        if length > 4:
            line[-2:] = np.nan
    return line, wanted


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?"])
def test_all_lengths(dtype: str, side: Any) -> None:
    for length in LENGTHS:
        line, wanted = lines(dtype, length)
        found = run_serial(lambda a, v: np.searchsorted(a, v, side), [line, wanted])
        np.testing.assert_array_equal(found, np.searchsorted(line, wanted, side), str(length))
        assert found.dtype == np.int64


@pytest.mark.parametrize("run", [run_uncompiled, run_parallel])
def test_other_executors_and_types_that_differ(run: Any) -> None:
    line, wanted = np.array([1, 3, 3, 7], np.int32), np.asfortranarray([[0.5, 3.0, 9.0], [1.0, 7.0, np.nan]])
    for side in ("left", "right"):
        found = run(lambda a, v, s=side: np.searchsorted(a, v, s), [line, wanted])
        np.testing.assert_array_equal(found, np.searchsorted(line, wanted, side))
        assert found.flags.c_contiguous
    assert run(lambda a: a.searchsorted(3), [line]) == 1
    assert run(lambda a: np.searchsorted(a, [1j, 5]), [line]).tolist() == [0, 3]
    assert run(lambda a: np.searchsorted(a[:0], a), [line]).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize(
    "edges",
    [
        [1.0, 2.0, 2.0, 5.0],
        [5.0, 2.0, 2.0, 1.0],
        [3.0],
        [2.0, 2.0],
        [],
        [1.0, 2.0, np.nan],
        [2, 2, 1],
        [2**53 + 1, 2**53],
    ],
    ids=str,
)
def test_digitize(edges: list[Any], right: bool) -> None:
    x = np.array([[0.0, 1.0, 1.5, 2.0], [3.0, 5.0, 7.0, np.nan]])
    found = run_serial(lambda a: np.digitize(a, np.array(edges), right), [x])
    np.testing.assert_array_equal(found, np.digitize(x, edges, right))


def test_a_search_is_one_kernel_with_what_it_feeds() -> None:
    def between(x: Any, points: Any, values: Any) -> Any:
        return np.interp(2 * x, points, values) + 1

    points = np.linspace(-3.0, 3.0, 64)
    told = xjit.xjit(between).explain(np.zeros(1000), points, points)
    assert "library" not in str(told)
    x = np.random.default_rng(1).standard_normal(1000)
    np.testing.assert_allclose(xjit.xjit(between)(x, points, points**2), between(x, points, points**2), rtol=1e-14)


def test_lines_of_other_lengths_have_the_same_kernel() -> None:
    search = xjit.xjit(lambda a, v: np.searchsorted(a, v))
    for length in (100, 101, 127):
        line = np.arange(float(length))
        assert search(line, np.array([0.5, 98.5, 200.0])).tolist() == [1, 99, length]
    assert search.stats().compiles + search.stats().cache_hits == 3
    texts = {search.source(np.zeros(length), np.zeros(3)) for length in (100, 101, 127)}
    assert len(texts) == 1
