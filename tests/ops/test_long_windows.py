"""Windows of many elements: sums and extremes by running results of blocks, one axis after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from tests.helpers.harness import array
from tests.helpers.kernel_executors import PROCESSOR, on, small_tiles
from xjit import jit, numerics, ops, xjit
from xjit.ops.windows.joined_blocks import joined_blocks

Array = np.ndarray[Any, Any]

FOLDS: dict[str, tuple[Any, Any]] = {
    "sum": (ops.add, np.add.reduce),
    "product": (ops.mul, np.multiply.reduce),
    "largest": (ops.max, np.maximum.reduce),
    "smallest": (ops.min, np.minimum.reduce),
    "or": (ops.or_, np.bitwise_or.reduce),
    "xor": (ops.xor, np.bitwise_xor.reduce),
}


def _windows(x: Array, window: tuple[int, ...], strides: tuple[int, ...], pairs: Any, fill: Any, fold: Any) -> Array:
    around = np.pad(x, pairs, constant_values=fill)
    views = sliding_window_view(around, window)[tuple(slice(None, None, step) for step in strides)]
    return np.asarray(fold(views, tuple(range(x.ndim, 2 * x.ndim)), dtype=x.dtype, initial=fill))


def _length(size: int) -> int:
    """A window of about as many elements as are no longer written out, or more by ``size``."""
    return numerics.WRITTEN_OUT_WINDOW + size


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize(
    ("shape", "window", "strides", "pairs"),
    [
        ((200,), (_length(1),), (1,), ((0, 0),)),
        ((_length(20),), (_length(20),), (1,), ((0, 0),)),
        ((_length(20),), (_length(19),), (1,), ((0, 0),)),
        ((2 * _length(20) - 1,), (_length(20),), (1,), ((0, 0),)),
        ((3, 150), (1, _length(8)), (1, 1), ((0, 0), (_length(7), 0))),
        ((150, 3), (_length(8), 1), (1, 1), ((10, 0), (0, 0))),
        ((90, 70), (_length(3), _length(5)), (1, 1), ((0, 0), (3, 4))),
        ((60, 40), (5, 9), (1, 2), ((0, 0), (3, 4))),
        ((2, 99, 5), (1, _length(2), 3), (1, 1, 1), ((0, 0), (9, 9), (1, 1))),
        ((300,), (3 * _length(2),), (2,), ((0, 0),)),
        ((300,), (_length(2),), (9,), ((0, 0),)),
    ],
    ids=str,
)
def test_integers_against_windows_of_numpy(name: str, shape: Any, window: Any, strides: Any, pairs: Any) -> None:
    operation, fold = FOLDS[name]
    x = np.random.default_rng(4).integers(1, 100, shape).astype(np.int32)
    start = {"smallest": 120, "product": 1}.get(name, 0)
    init, config = np.int32(start), tuple(pairs)

    def call(a: Any) -> Any:
        return ops.reduce_window(a, init, operation, window, strides, padding=config)

    expected = _windows(x, window, strides, pairs, init, fold)
    assert np.array_equal(call(x), expected)
    assert np.array_equal(xjit(call)(x), expected)


@pytest.mark.parametrize("room", [400, 4000])
@pytest.mark.parametrize(
    ("shape", "window", "pairs"),
    [
        ((700,), (_length(1),), ((0, 0),)),
        ((3, 350), (1, _length(8)), ((0, 0), (_length(7), 0))),
        ((190, 170), (_length(3), _length(5)), ((0, 0), (3, 4))),
        ((2, 299, 5), (1, _length(2), 3), ((0, 0), (9, 9), (1, 1))),
    ],
    ids=str,
)
def test_running_results_stay_in_scratch(shape: Any, window: Any, pairs: Any, room: int) -> None:
    x = np.random.default_rng(4).integers(1, 100, shape).astype(np.int32)
    config = tuple(pairs)

    def call(a: Any) -> Any:
        return ops.reduce_window(a, np.int32(0), ops.add, window, padding=config)

    compiled = jit(call, target=on(small_tiles(PROCESSOR, room)))
    assert np.array_equal(compiled(x), _windows(x, window, (1,) * x.ndim, pairs, 0, np.add.reduce))
    is_small = shape == (2, 299, 5) and room == 400  # not even one row fits
    assert ("scan" in " ".join(one for one in compiled.explain(x).reasons if "a tile at a time" in one)) != is_small


def test_rolling_sums_take_one_kernel_and_two_ends() -> None:
    def rolling(a: Any) -> Any:
        return ops.reduce_window(a, np.float64(0), ops.add, (100,))

    explanation = xjit(rolling).explain(np.zeros(10**6))
    assert explanation.temporary_bytes < 10_000
    assert sum(report.bytes_written > 1000 for report in explanation.kernels) == 1


def test_init_value_counts_once_and_in_padding() -> None:
    x = np.arange(100, dtype=np.int32)
    length = _length(8)

    def call(a: Any) -> Any:
        return ops.reduce_window(a, np.int32(5), ops.add, (length,), padding=((2, 0),))

    around = np.concatenate([[5, 5], x])
    expected = 5 + np.array([around[k : k + length].sum() for k in range(len(around) - length + 1)])
    assert np.array_equal(call(x), expected) and np.array_equal(xjit(call)(x), expected)


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16"])
def test_infinity_is_in_no_sum_but_those_of_its_windows(dtype: str) -> None:
    length = _length(9)
    x = np.full(300, 0.25)
    x[[7, 150]] = np.inf, np.nan
    operand = array(dtype, x)
    zero = operand.dtype.type(0)

    def rolling(a: Any) -> Any:
        return ops.reduce_window(a, zero, ops.add, (length,))

    views = sliding_window_view(x, length)
    for got in (rolling(operand), xjit(rolling)(operand)):
        assert got.dtype == operand.dtype
        assert np.allclose(got.astype(np.float64), views.sum(axis=1), rtol=1e-3, equal_nan=True)


def test_negative_zeros_and_nan_of_extremes() -> None:
    x = np.random.default_rng(0).choice([-0.0, 0.0, np.nan, -1.0], 400, p=[0.5, 0.4, 0.01, 0.09])

    def largest(a: Any) -> Any:
        return ops.reduce_window(a, -np.float64(np.inf), ops.max, (_length(4),))

    expected = [
        max(part, key=lambda v: (v != v, v, not np.signbit(v))) for part in sliding_window_view(x, _length(4))
    ]
    got = xjit(largest)(x)
    assert np.array_equal(got, expected, equal_nan=True)
    assert np.array_equal(np.signbit(got)[~np.isnan(got)], np.signbit(expected)[~np.isnan(got)])


def test_running_sums_by_windows_as_long_as_the_array() -> None:
    x = np.random.default_rng(1).integers(0, 9, (5, 200))

    def running(a: Any) -> Any:
        return ops.reduce_window(a, np.int64(0), ops.add, (1, 200), padding=((0, 0), (199, 0)))

    assert np.array_equal(xjit(running)(x), np.cumsum(x, axis=1))


def test_joined_blocks_are_written_where_they_are_made() -> None:
    x = np.arange(12, dtype=np.int32)

    def joined(a: Any) -> Any:
        blocks = ops.add(
            ops.reshape(ops.slice(a, (0,), (9,)), (3, 3)), ops.reshape(ops.slice(a, (3,), (12,)), (3, 3))
        )
        return joined_blocks(blocks, ops.slice(a, (10,), (12,)), 0)

    expected = np.concatenate([x[:9] + x[3:], x[10:]])
    compiled = xjit(joined)
    assert np.array_equal(joined(x), expected) and np.array_equal(compiled(x), expected)
