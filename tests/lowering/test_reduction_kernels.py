"""Reductions as kernels: several rows at a step, blocks, places of extremes, folds that stop early."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import PROCESSOR, run_parallel, run_serial, run_uncompiled
from xjit.machine import Machine


def source_of(function: Callable[..., Any], *arguments: Any) -> str:
    return xjit.jit(function).source(*arguments)


def loops_of(source: str) -> list[str]:
    """The loop variables, outermost first."""
    return [name.split("_")[0] for name in re.findall(r"for (\w+) in", source)]


def check(function: Callable[..., Any], *arguments: Any, machine: Machine = PROCESSOR) -> None:
    """Uncompiled and compiled, on one thread and in pieces: NumPy's answer."""
    with np.errstate(all="ignore"):
        expected = function(*arguments)
    for run in (run_uncompiled, run_serial, run_parallel):
        np.testing.assert_equal(run(function, arguments, machine), expected)


def test_many_columns_take_several_rows_at_a_step() -> None:
    def of(columns: int, *rows: int) -> list[str]:
        return loops_of(source_of(lambda a: np.sum(a, axis=0), np.ones((*rows, columns))))

    assert of(100, 40) == ["b0", "i0", "j0", "i0", "i0"]
    assert of(5000, 40) == ["b0", "i0", "j0", "i0", "j0", "i0", "i0"]


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int8, np.complex64])
@pytest.mark.parametrize("rows", [2, 12, 13, 15])
def test_rows_at_a_step_are_added_in_order(rows: int, dtype: Any) -> None:
    small = functools.partial(check, machine=replace(PROCESSOR, column_bytes=0))
    x = np.random.default_rng(rows).integers(-3, 4, (rows, 21)).astype(dtype)
    weights = np.arange(rows).astype(dtype)
    for view in (x, x[::-1], np.tile(x, 2)[:, ::2]):
        small(lambda a, w: (np.sum(a, axis=0), np.sum(a * w[:, None], axis=0, dtype=a.dtype)), view, weights)
        if np.dtype(dtype).kind != "c":
            small(lambda a, w: (np.min(a, axis=0), np.max(a + w[:, None], axis=0)), view, weights)
    cube = np.arange(3.0 * 7 * 10).reshape(3, 7, 10)
    small(lambda a: (np.sum(a, axis=(0, 1)), np.min(a, axis=1)), cube)


def test_what_is_read_with_gaps_waits_in_scratch_to_be_added() -> None:
    assert "scratch_f64(512)" in source_of(lambda a: np.sum(a, axis=1), np.ones((4, 27000))[:, ::9])
    assert "scratch" not in source_of(lambda a: np.sum(a, axis=1), np.ones((4, 6000))[:, ::2])
    assert "scratch" not in source_of(lambda a: np.sum(a, axis=1), np.ones((4, 3000)))
    x = np.arange(2200.0).reshape(2, 1100)
    check(lambda a: (np.sum(a, axis=1), np.argmax(a, axis=1)), x[:, ::2])


@pytest.mark.parametrize("rows", [9, 11, 512, 515, 1038])
def test_several_elements_that_lie_apart_are_put_into_scratch_in_a_step(rows: int) -> None:
    def product(a: Any, b: Any) -> Any:
        return (a[:, 3] * b).sum()

    x = np.random.default_rng(rows).integers(-9, 10, (rows, 9)).astype(float)
    source = source_of(product, x, x[:, 0].copy())
    assert "for j0 in range(b0, j0_end - 3, 4):" in source
    assert "range(j0_end, k0_end, 8):" in source, "the last groups of eight do not wait"
    check(product, x, x[:, 0].copy())
    check(product, x[::-1], x[::-1, 0])


def test_what_takes_long_and_lies_apart_is_written_once() -> None:
    assert ", 4):" not in source_of(lambda a: np.sqrt(np.exp(a[:, 3])).sum(), np.ones((700, 9)))


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("step", [1, 2])
def test_first_extremes_at_the_ends_of_blocks(dtype: str, step: int) -> None:
    places = [0, 1, 511, 512, 513, 1023, 1024, 1025, 1026, 1099]
    x = np.full((len(places), 1100 * step), 5, dtype)
    for row, place in enumerate(places):
        x[row, place * step] = 9
        x[row, 1099 * step] = 9
    for run in (run_uncompiled, run_serial):
        assert run(lambda a: np.argmax(a[:, ::step], axis=1), (x,)).tolist() == places
        assert run(lambda a: np.argmin(10 - a[:, ::step], axis=1), (x,)).tolist() == places


def test_first_extremes_are_looked_for_in_one_block() -> None:
    source = source_of(lambda a: np.argmax(a, axis=1), np.ones((4, 700)))
    assert loops_of(source) == ["i0", "b0", "j0"] and "first(a0, a0_at0, p0_first, p0_end, s0)" in source
    source = source_of(lambda a: np.argmax(a * 2, axis=1), np.ones((4, 700)))
    assert loops_of(source) == ["i0", "b0", "j0", "j0", "j0"]  # the last two: of a NaN, or else of the extreme
    assert "select((s0 == s0), p0_end, p0_first)" in source
    assert "p0_end" not in source_of(lambda a: np.argmax(a, axis=0), np.ones((700, 40)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint64, np.bool_])
def test_positions_of_first_extremes(dtype: Any) -> None:
    rows = np.ones((9, 1100), dtype)
    for row, places in enumerate([(), (0, 511), (511, 512), (512, 1099), (1099,), (600, 601, 1030), (1024,)]):
        rows[row, list(places)] = 0
    rows[7:] = 0
    rows[8, [700, 900]] = 1
    check(lambda a: (np.argmin(a, axis=1), np.argmax(a, axis=1)), rows)
    np.testing.assert_array_equal(
        run_serial(lambda a: np.argmin(a, axis=1), [rows]), [0, 0, 511, 512, 1099, 600, 1024, 0, 0]
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_positions_of_the_first_nan(dtype: Any) -> None:
    rows = np.zeros((6, 1100), dtype)
    rows[0, [3, 600]], rows[1, [511, 512, 1099]], rows[2, 1099] = np.nan, np.nan, np.nan
    rows[3], rows[4] = np.inf, -np.inf
    rows[5, ::2] = -0.0
    for function in (np.argmax, np.argmin):
        np.testing.assert_array_equal(run_serial(lambda a, f=function: f(a, axis=1), [rows]), [3, 511, 1099, 0, 0, 0])


def test_folds_stop_when_nothing_changes_them() -> None:
    flags = np.zeros((8, 9000), np.bool_)
    for row, place in enumerate((0, 1, 4095, 4096, 5000, 8999)):
        flags[row, place:] = True
    assert "if t0 != b1(1):" in source_of(lambda a: np.any(a, axis=1), flags)
    assert "if " not in source_of(lambda a: (np.any(a, axis=1), np.cumsum(a, axis=1)), flags)
    assert "if " not in source_of(lambda a: np.max(a, axis=1), flags.astype(np.int8))
    both = xjit.jit(lambda a: (np.any(a, axis=1), np.all(a, axis=1), np.any(a), np.all(~a)))(flags)
    np.testing.assert_array_equal(both[0], [True] * 6 + [False] * 2)
    np.testing.assert_array_equal(both[1], [True] + [False] * 7)
    assert both[2:] == (True, False)
    positions = xjit.jit(lambda a: (np.argmax(a, axis=1), np.argmin(~a, axis=1)))(flags)
    np.testing.assert_array_equal(positions, [[0, 1, 4095, 4096, 5000, 8999, 0, 0]] * 2)
    bytes = np.where(flags, 127, -128).astype(np.int8)
    np.testing.assert_array_equal(xjit.jit(lambda a: np.argmax(a, axis=1))(bytes), positions[0])


@pytest.mark.parametrize("columns", [127, 128, 129, 300, 512, 513, 1000])
def test_threads_share_the_columns_of_an_array_in_cache(columns: int) -> None:
    def statistics(x: Any) -> Any:
        return x.mean(axis=0), x.std(axis=0), x.max(axis=0)

    x = np.random.default_rng(columns).normal(size=(200, columns))
    function = xjit.xjit(statistics)
    told = str(function.explain(x))
    assert ("parallel" in told) == (columns > 128), told
    exact = x.astype(np.longdouble)
    mean, deviation, largest = function(x)
    np.testing.assert_allclose(mean, exact.mean(axis=0).astype(float), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(deviation, exact.std(axis=0).astype(float), rtol=1e-13)
    assert np.array_equal(largest, np.sort(x, axis=0)[-1])


def test_running_extremes_take_either_zero_on_the_surface_of_numpy() -> None:
    x = np.array([[0.0, -1.0, np.nan, 7.0], [-3.0, 2.0, 1.0, np.inf]])
    assert "keep_max(" in source_of(lambda a: np.maximum.accumulate(a, axis=1), x)
    assert "fmax(" in source_of(lambda a: xjit.ops.cummax(a, 1), x)
    for axis in (0, 1):
        check(lambda a, axis=axis: (np.maximum.accumulate(a, axis), np.minimum.accumulate(a, axis)), x)


def test_many_sums_of_columns_share_what_scratch_there_is() -> None:
    def sums(x: Any) -> Any:
        return tuple(np.maximum(x, k * 0.001).sum(axis=0) for k in range(40))

    x = np.random.default_rng(3).random((30, 4096))
    reserved = sum(int(count) * 8 for count in re.findall(r"scratch_f64\((\d+)\)", source_of(sums, x)))
    assert 0 < reserved <= 2**18
    for found, expected in zip(xjit.jit(sums)(x), sums(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_sums_over_no_columns() -> None:
    def ratios(b: Any) -> Any:
        empty = b[2:1, :-1]
        sums = np.sum(empty, axis=1, keepdims=True)
        return empty / sums[::-1, None], sums

    found = run_uncompiled(ratios, [np.ones((2, 7), bool, order="F")])
    assert [one.shape for one in found] == [(0, 0, 6), (0, 1)]


def test_no_columns_of_rows_with_gaps_between_them() -> None:
    empty = np.ones((33, 3))[:, 1:1]
    check(lambda a: (a.sum(axis=0), (a * a.mean(axis=0)).max(axis=0)), empty)
