"""Sums have the bits that `xjit.numerics` promises, whatever memory, neighbours, threads and vectors are."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import one_kernel_for_each
from tests.helpers.oracles.sum_order import ordered_sum
from xjit.codegen.cpu import llvm_pipeline

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]

LENGTHS = (1, 2, 7, 8, 9, 15, 16, 31, 32, 33, 40, 63, 64, 65, 100, 511, 512, 513, 777, 1100, 5000)
HAS_WIDTHS = llvm_pipeline.host().triple.startswith("x86_64")


def numbers(shape: tuple[int, ...], dtype: str) -> Array:
    return np.random.default_rng(3).standard_normal(shape).astype(dtype)


def check(function: Function, x: Array, dims: tuple[int, ...], values: Array | None = None) -> None:
    expected = ordered_sum(x if values is None else values, dims)
    assert np.asarray(xjit.jit(function)(x)).tobytes() == expected.tobytes(), (x.shape, x.strides, dims)


def view_of(x: Array, steps: tuple[int, ...]) -> Array:
    """The same elements with other elements between them and around."""
    larger = np.zeros([abs(step) * size + 2 for step, size in zip(steps, x.shape, strict=True)], x.dtype)
    places = tuple(slice(1, 1 + step * size, step) for step, size in zip(steps, x.shape, strict=True))
    larger[places] = x
    return larger[places]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_of_every_length(dtype: str) -> None:
    for length in LENGTHS:
        x = numbers((5, length), dtype)
        check(lambda x: x.sum(axis=1), x, (1,))
        check(lambda x: x.sum(axis=0), x.T, (0,))
        check(lambda x: x.sum(axis=1), view_of(x, (1, 2)), (1,))
        check(lambda x: x.sum(axis=1), x[:, ::-1], (1,))
        check(lambda x: (x * x).sum(axis=1), x, (1,), x * x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("dims", [(3,), (2, 3), (1, 2, 3), (0, 1, 2, 3), (1, 3), (0, 3), (0, 2, 3)])
def test_several_axes_and_views_of_them(dims: tuple[int, ...], dtype: str) -> None:
    x = numbers((7, 6, 5, 40), dtype)
    for array in (x, x[:, ::2, 1:, 1:-1], view_of(x, (1, 2, 1, 3))):
        check(lambda x: x.sum(axis=dims), array, dims)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(200_000,), (400, 500), (2, 70_000), (20, 30, 200)])
def test_sums_in_chunks(shape: tuple[int, ...], dtype: str) -> None:
    x = numbers(shape, dtype)
    dims = tuple(range(len(shape)))
    for array in (x, np.asfortranarray(x), view_of(x, (2,) * len(shape)), view_of(x, (1,) * len(shape))):
        check(lambda x: x.sum(), array, dims)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_few_columns(dtype: str) -> None:
    check(lambda x: x.sum(axis=0), numbers((20_000, 3), dtype), (0,))
    check(lambda x: x.sum(axis=0), numbers((33, 2, 3), dtype), (0,))
    check(lambda x: x.sum(axis=0), numbers((129, 2, 4), dtype), (0,))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_few_rows_of_columns_that_fill_vectors_are_added_one_after_the_other(dtype: str) -> None:
    for x in (numbers((33, 2, 4), dtype), numbers((128, 4), dtype), view_of(numbers((9, 8), dtype), (1, 2))):
        expected = functools.reduce(np.add, x)
        assert xjit.jit(lambda x: x.sum(axis=0))(x).tobytes() == expected.tobytes()


# What a sum is taken of, in lengths that fill lanes, blocks and neither.
VALUES: dict[str, Function] = {
    "a cheap value": lambda x: 3 * x + 1,
    "a function": np.exp,
    "a function with rare arguments": lambda x: np.sin(x * 1e5),
    "a remainder": lambda x: np.fmod(x, 0.7),
    "an array of its own": lambda x: np.sqrt(np.abs(x)),
    "half precision": lambda x: x.astype(np.float16).astype(np.float32) * 2,
    "part of complex numbers": lambda x: (x + 1j * x).imag,
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("length", [20, 100, 777])
def test_what_is_summed_in_a_loop_is_summed_alike_from_memory(name: str, length: int) -> None:
    x, value = numbers((9, length), "f4"), VALUES[name]
    inside = xjit.jit(lambda x: value(x).sum(axis=1))(x)
    beside = xjit.jit(lambda x: (value(x).sum(axis=1), value(x).max(axis=1), value(x) - 1))(x)[0]
    alone = xjit.jit(lambda x: x.sum(axis=1))(np.ascontiguousarray(xjit.jit(value)(x)))
    assert inside.tobytes() == beside.tobytes() == alone.tobytes()


FUSED: dict[str, Function] = {
    "nearest": lambda x: ((x[:, None, :] - x[None, :40, :]) ** 2).sum(axis=-1).min(axis=1),
    "nearest across": lambda x: ((x[:, :, None] - x.T[None, :, :40]) ** 2).sum(axis=1).min(axis=1),
    "distances": lambda x: ((x[:, None, :] - x[None, :20, :]) ** 2).sum(axis=-1),
    "softmax": lambda x: np.exp(x) / np.exp(x).sum(axis=1, keepdims=True),
    "gradient": lambda x: x.T @ (np.exp(x @ x[0]) - x[:, 0]),
    "deviation": lambda x: x.std(axis=1),
    "deviation of all": lambda x: x.std(),
    "both ways": lambda x: (x - x.sum(axis=1)[:, None]).sum(axis=0),
    "running mean": lambda x: np.cumsum(x, axis=1)[:, 3:].sum(axis=1),
    "products": lambda x: np.prod(1 + x / 9, axis=1),
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [7, 12, 24, 100])
@pytest.mark.parametrize("name", FUSED)
def test_fusion_changes_no_bits(name: str, columns: int, dtype: str) -> None:
    x, function = numbers((64, columns), dtype), FUSED[name]
    fused = xjit.jit(function)(x)
    with xjit.threads(1):
        assert xjit.jit(function)(x).tobytes() == fused.tobytes()
    with one_kernel_for_each():
        apart = xjit.jit(function)(x)
    assert np.asarray(apart).tobytes() == np.asarray(fused).tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_blocks_of_a_sum_behind_a_scan_begin_at_its_first_element(dtype: str) -> None:
    def rises(x: Any) -> Any:
        total = np.cumsum(x, axis=1)
        return (total[:, 20:] - total[:, :-20]).sum(axis=1)

    x = numbers((8, 1500), dtype)
    with one_kernel_for_each():
        apart = xjit.jit(rises)(x)
    assert np.asarray(apart).tobytes() == np.asarray(xjit.jit(rises)(x)).tobytes()


@pytest.mark.skipif(not HAS_WIDTHS, reason="vectors of this processor have one width")
@pytest.mark.parametrize("name", FUSED)
def test_the_width_of_vectors_changes_no_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for bits in ("128", "256", "512"):
        monkeypatch.setenv("XJIT_VECTOR_BITS", bits)
        found.add(np.asarray(xjit.jit(FUSED[name])(numbers((64, 77), "f4"))).tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_order_zeros_and_keep_nan(name: str, dtype: str) -> None:
    lines = numbers((40, 100), dtype)
    lines = -np.abs(lines) if name == "max" else np.abs(lines)
    lines[1:20, 50], lines[2:20:2, 70], lines[30:, 20] = -0.0, 0.0, np.nan
    found = xjit.jit(lambda x: getattr(np, name)(x, axis=1))(lines)
    expected = getattr(np, name)(lines, axis=1)
    np.testing.assert_array_equal(found, expected)
    zeros = found[1:20]
    assert list(np.signbit(zeros)) == [name == "min" or place % 2 == 0 for place in range(19)]


ADVERSARIAL: dict[str, Function] = {
    "equal numbers": lambda n: np.full(n, 0.7),
    "alternating signs": lambda n: np.where(np.arange(n) % 2, -0.3, 0.7),
    "growing magnitudes": lambda n: np.geomspace(1e-8, 1e8, n),
    "falling magnitudes": lambda n: np.geomspace(1e8, 1e-8, n),
    "a large number first": lambda n: np.r_[1e8, np.full(n - 1, 1e-3)],
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_the_error_stays_within_its_bound(name: str, dtype: str) -> None:
    """Per lane 7 or 15 additions, 6 or 5 of the tree, 8 of what is left over, and the roundings of the total."""
    x = ADVERSARIAL[name](10_000_019).astype(dtype)
    parts = [x.real, x.imag] if np.iscomplexobj(x) else [x]
    result = xjit.jit(np.sum)(x)
    found = [result.real, result.imag] if np.iscomplexobj(x) else [result]
    eps = float(np.finfo(x.dtype).eps)
    for part, sum in zip(parts, found, strict=True):
        bound = 12 * eps * math.fsum(np.abs(part).tolist())
        assert abs(float(sum) - math.fsum(part.tolist())) <= bound
