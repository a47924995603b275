"""Passes over rows: scans and what reads them, at the same position and at others; rows in pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled

Function = Callable[..., Any]


def rolling_mean(width: int, axis: int = -1) -> Function:
    """The mean of so many neighbours, by differences of running sums."""

    def function(x: Any) -> Any:
        total = np.moveaxis(np.cumsum(x, axis=axis), axis, -1)
        return (total[..., width:] - total[..., : total.shape[-1] - width]) / 20.0

    return function


def running_mean(x: Any) -> Any:
    return np.add.accumulate(x, axis=-1) / np.arange(1, x.shape[-1] + 1)


def drawdown(x: Any) -> Any:
    return x / np.maximum.accumulate(x, axis=-1) - 1.0


def drawdown_of_columns(x: Any) -> Any:
    return x / np.maximum.accumulate(x, axis=0) - 1.0


def distribution(x: Any) -> Any:
    return np.cumsum(np.exp(x), axis=-1)


def standardised(x: Any) -> Any:
    total = np.cumsum(x, axis=-1)
    return (total - total.mean(axis=-1, keepdims=True)) / total.std(axis=-1, keepdims=True)


def stored_between(x: Any) -> Any:
    total = 2.0 * np.cumsum(x, axis=-1)
    centred = total - total.mean(axis=-1, keepdims=True)
    return total, centred, centred[..., 5:] - total[..., :-5], np.cumsum(centred * total, axis=-1)


def normalised(x: Any) -> Any:
    low = np.minimum.accumulate(np.exp(x), axis=-1)
    return np.cumprod(low / low.sum(axis=-1, keepdims=True), axis=-1) + low


def largest_rise(x: Any) -> Any:
    total = np.cumsum(x, axis=-1)
    rise = total[..., 3:] - total[..., :-3]
    return rise.max(axis=-1), rise.sum(axis=-1), total[..., 1:].min(axis=-1), rise.argmin(axis=-1)


def lowest_places(x: Any) -> Any:
    total = np.cumsum(x, axis=-1)
    fall = np.maximum.accumulate(x, axis=-1) - x
    return total, fall.argmax(axis=-1), total[..., 3:].argmin(axis=-1), x.argmax(axis=-1)


def sines_of_columns(x: Any) -> Any:
    total = np.cumsum(np.sin(x), axis=0)
    return np.cos(total), total, np.sin(x) + np.cos(np.sin(total))


def three_places(x: Any) -> Any:
    total = np.cumsum(x, axis=-1)
    return total[..., 9:-2] - 2.0 * total[..., 5:-6] + total[..., 2:-9]


def scan_of_a_scan(x: Any) -> Any:
    first = np.cumsum(x, axis=-1)
    second = np.cumsum(first[..., 4:] - first[..., :-4], axis=-1)
    return second[..., 2:] * first[..., 6:], first


def two_scans(x: Any) -> Any:
    high, low = np.maximum.accumulate(x, axis=-1), np.minimum.accumulate(x, axis=-1)
    return high[..., 7:] - low[..., :-7], np.sqrt(high - low)


def dear_operands(x: Any) -> Any:
    total = np.cumsum(np.exp(np.sin(x)), axis=-1)
    later = np.cumsum(np.cos(total[..., 6:]), axis=-1)
    earlier = np.cumsum(np.cos(total[..., :-6]), axis=-1)
    return later - earlier, np.exp(np.sin(x)), np.cos(total)


def with_positions(x: Any) -> Any:
    total = np.cumprod(x, axis=-1)
    return total[..., 5:] * np.arange(total.shape[-1] - 5) + x[..., 2:-3]


def behind_a_start_value(x: Any) -> Any:
    first = np.cumsum(x, axis=-1)
    total = np.cumsum(np.insert(first, 0, 0.0, axis=-1), axis=-1)
    return total, total[..., 20:] - total[..., :-20]


def returned_as_well(x: Any) -> Any:
    total = np.cumsum(x, axis=-1)
    return total, np.diff(total, axis=-1), x * 2.0


def changes(x: Any) -> Any:
    return np.diff(np.cumsum(x, axis=-1), n=2, axis=-1)


FUNCTIONS = (
    rolling_mean(3),
    running_mean,
    drawdown,
    drawdown_of_columns,
    distribution,
    standardised,
    stored_between,
    normalised,
    largest_rise,
    lowest_places,
    sines_of_columns,
    three_places,
    scan_of_a_scan,
    two_scans,
    dear_operands,
    with_positions,
    behind_a_start_value,
    returned_as_well,
    changes,
)


def check(function: Function, *arguments: Any, relative: float = 0.0) -> None:
    """Uncompiled and compiled, on one thread and in pieces: NumPy's answer."""
    with np.errstate(all="ignore"):
        expected = function(*arguments)
    for run in (run_uncompiled, run_serial, run_parallel):
        found = run(function, arguments)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else ((found, expected),)
        for one, other in pairs:
            assert one.dtype == other.dtype and one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=relative, atol=relative)


def values(*shape: int, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(7).uniform(0.5, 1.5, shape).astype(dtype)


@pytest.mark.parametrize("shape", [(13,), (3, 40), (2, 3, 25), (1, 1200)], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_forms(function: Function, shape: tuple[int, ...]) -> None:
    check(function, values(*shape), relative=1e-10)


@pytest.mark.parametrize("width", [0, 1, 2, 20, 510, 511, 512, 513, 1023, 1024, 1025, 1299, 1300])
def test_widths(width: int) -> None:
    check(rolling_mean(width), values(2, 1300))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("order", ["C", "F"])
def test_axes(axis: int, order: Any) -> None:
    x = np.array(values(9, 11, 10), order=order)
    check(rolling_mean(4, axis), x)
    check(rolling_mean(4, axis), x[::2, ::-1, ::2])


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("width", [1, 5])
def test_element_types(dtype: str, width: int) -> None:
    x = (values(3, 30) * 4).astype(dtype)
    check(rolling_mean(width), x)


def test_not_numbers_reach_what_reads_them() -> None:
    x = values(3, 50)
    x[0, 7], x[1, 0], x[2, 20] = np.nan, np.inf, -0.0
    for function in (rolling_mean(5), two_scans, running_mean, drawdown):
        check(function, x)


def test_an_empty_axis_and_no_rows() -> None:
    check(rolling_mean(2), np.ones((3, 2)))
    check(rolling_mean(2), np.ones((0, 9)))
    check(running_mean, np.ones((3, 0)))


@pytest.mark.parametrize(
    "function", [rolling_mean(20), running_mean, three_places, two_scans, changes], ids=lambda f: f.__name__
)
def test_a_scan_and_its_readers_are_one_kernel(function: Function) -> None:
    report = xjit.jit(function).explain(values(4, 100))
    assert len(report.kernels) == 1 and report.temporary_bytes == 0


def test_a_row_of_a_scan_waits_for_what_reduces_it() -> None:
    for function in (standardised, normalised):
        report = xjit.jit(function).explain(values(4, 100))
        assert len(report.kernels) == 1 and report.temporary_bytes == 0
        assert len(xjit.jit(function).explain(values(2, 20_000)).kernels) > 1  # too long for scratch
        np.testing.assert_allclose(xjit.jit(function)(values(2, 9000)), function(values(2, 9000)), rtol=1e-10)


def test_what_lies_too_far_back_is_another_kernel() -> None:
    report = xjit.jit(rolling_mean(2000)).explain(values(4, 5000))
    assert len(report.kernels) == 2
    assert any("other extents" in reason for reason in report.reasons)


def follows_a_product(x: Any) -> Any:
    product = x @ x.T
    total = np.cumsum(product, axis=1)
    nearer = total / (product + 3.0)
    return nearer, np.cumsum(np.sqrt(total) * product, axis=1)


def test_what_a_later_scan_reads_is_not_overwritten() -> None:
    for rows in (5, 9, 40):
        check(follows_a_product, values(rows, 700), relative=1e-12)


# ---- pairs of rows


def sobel(u: Any) -> Any:
    east = u[:-2, 2:] + 2.0 * u[1:-1, 2:] + u[2:, 2:]
    west = u[:-2, :-2] + 2.0 * u[1:-1, :-2] + u[2:, :-2]
    north = u[:-2, :-2] + 2.0 * u[:-2, 1:-1] + u[:-2, 2:]
    south = u[2:, :-2] + 2.0 * u[2:, 1:-1] + u[2:, 2:]
    return np.sqrt((east - west) ** 2 + (south - north) ** 2)


def mean_of_five(u: Any) -> Any:
    return (u[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 5.0


def mean_in_space(u: Any) -> Any:
    inner = (slice(1, -1),) * 3
    return u[inner] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1] + np.sin(u[:-2, 1:-1, 1:-1])


def positions_and_rows(u: Any) -> Any:
    return (u[1:] - u[:-1]) * np.arange(u.shape[0] - 1)[:, None] + np.arange(u.shape[1])


@pytest.mark.parametrize("rows", [2, 3, 4, 5, 9, 10, 11, 130])
@pytest.mark.parametrize("function", [sobel, mean_of_five, positions_and_rows, rolling_mean(3), drawdown, two_scans])
def test_rows_in_pairs(function: Function, rows: int) -> None:
    check(function, values(rows + 2, 21))
    check(function, values(rows + 2, 21).astype(np.float32))


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_in_pairs_of_other_layouts(order: Any) -> None:
    u = np.array(values(22, 30), order=order)
    for view in (u, u[::-1], u[:, ::-1], u[::2, ::3]):
        check(mean_of_five, view)
        check(rolling_mean(2), view)
    check(mean_in_space, np.array(values(5, 17, 12), order=order), relative=1e-12)
    check(mean_in_space, np.array(values(12, 13, 9), order=order)[::-1, ::-1], relative=1e-12)


def in_pairs(function: Function, x: Any) -> bool:
    steps = xjit.jit(function).explain(x).steps
    return any("factor=2, tail=Tail.OVERLAP" in step for step in steps)


def test_which_rows_are_walked_in_pairs() -> None:
    square = values(200, 200)
    assert in_pairs(sobel, square) and in_pairs(mean_of_five, square) and in_pairs(rolling_mean(9), square)
    assert not in_pairs(lambda u: u[1:] * u[1:], square)
    assert not in_pairs(lambda u: u[:, 1:-1] + u[:, 2:] + u[:, :-2], square)
    assert not in_pairs(rolling_mean(9), values(7, 200))
    assert not in_pairs(lambda u: np.cumsum(u, axis=0), square)


def test_large_scans_are_walked_in_pairs_where_that_is_not_slower() -> None:
    def together(dtype: Any, rows: int, columns: int) -> bool:
        return in_pairs(lambda u: np.cumsum(u, axis=1), np.ones((rows, columns), dtype))

    assert together("i8", 300, 200) and together("i4", 300, 200) and together("f8", 300, 200)  # in caches
    assert together("f8", 1000, 2000) and together("f4", 20_000, 200)
    assert not together("f8", 20_000, 200)
    assert not together("i8", 1000, 2000) and not together("i4", 20_000, 200)


def test_the_width_is_not_part_of_the_text() -> None:
    x = values(4, 1000)
    assert xjit.jit(rolling_mean(20)).source(x) == xjit.jit(rolling_mean(30)).source(x)


def test_readers_of_a_scan_beside_operands_that_run_down_columns() -> None:
    def difference(x: Any, weights: Any, y: Any) -> Any:
        total = np.cumsum(x[None, :] * weights[:, None], axis=1)
        return (total[:, 5:] - total[:, :-5]) * y[:, 5:]

    rng = np.random.default_rng(4)
    arguments = [rng.random(60), rng.random(40), np.asfortranarray(rng.random((40, 60)))]
    for run in (run_uncompiled, run_serial, run_parallel):
        np.testing.assert_allclose(run(difference, arguments), difference(*arguments), rtol=1e-12)


def test_a_reader_of_a_scan_with_gaps_between_its_elements() -> None:
    @xjit.xjit(strict=True)
    def function(x: Any) -> Any:
        total = np.cumsum(x)
        spread = xjit.ops.pad(total, np.float64(0.0), [(0, 0, 1)])
        return 2.0 * spread[:20], spread

    x = values(30)
    doubled, spread = function(x)
    expected = np.zeros(59)
    expected[::2] = np.cumsum(x)
    np.testing.assert_allclose(spread, expected, rtol=1e-12)
    np.testing.assert_allclose(doubled, 2.0 * expected[:20], rtol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_of_scans_down_columns(axis: int) -> None:
    def function(x: Any, y: Any) -> Any:
        rest = y - np.cumsum(x, axis=axis)
        return rest.max(axis=axis), rest.argmin(axis=axis), (y * np.maximum.accumulate(x, axis=axis)).min(axis=axis)

    for x in (values(20, 30), np.asfortranarray(values(20, 30))):
        check(function, x, values(20, 30) * 3.0, relative=1e-12)


def five_points(u: Any) -> Any:
    return u[1:-1, 1:-1] + u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]


def seven_points(u: Any) -> Any:
    plane = u[1:-1, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
    return plane + u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1]


@pytest.mark.parametrize(
    ("function", "shape", "is_paired"),
    [
        (five_points, (200, 200), True),
        (five_points, (1200, 1200), True),
        (seven_points, (30, 30, 30), True),
        (seven_points, (90, 90, 90), False),
    ],
)
def test_rows_that_share_few_loads_go_in_pairs_in_cache_alone(
    function: Function, shape: tuple[int, ...], is_paired: bool
) -> None:
    u = np.random.default_rng(5).standard_normal(shape)
    compiled = xjit.jit(function)
    assert ("UnrollAndJam" in str(compiled.explain(u))) is is_paired
    np.testing.assert_array_equal(compiled(u), function(u))
