"""Short reductions that fill a row: written out over packed operands, vector code, and NumPy's numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers import formulas
from tests.helpers.kernel_executors import run_parallel, run_uncompiled, uncompiled
from xjit.codegen.front_end.numba_compat import compile_kernel

RNG = np.random.default_rng(17)
POINTS, CENTRES = RNG.normal(size=(50, 12)), RNG.normal(size=(24, 12))
WEIGHTS = RNG.random(size=(24, 12))


def largest_difference(x: Any, y: Any) -> Any:
    return np.abs(x[:, None, :] - y[None, :, :]).max(axis=2).min(axis=1)


def transposed(x: Any, y: Any) -> Any:
    return np.square(x[:, None, :] - y.T[None, :, :]).sum(axis=2).min(axis=1)


def weighted(x: Any, y: Any, w: Any) -> Any:
    return (w * np.square(x[:, None, :] - y[None, :, :])).sum(axis=2).min(axis=1)


def with_start(x: Any, y: Any) -> Any:
    return (x[:, None, :] * y[None, :, :]).sum(axis=2, initial=2.0).max(axis=1)


def both_ways(x: Any, y: Any) -> Any:
    squares = np.square(x[:, None, :] - y[None, :, :]).sum(axis=2)
    return squares.min(axis=1), np.exp(-squares).sum(axis=1)


def sums_of_squares(x: Any, y: Any) -> Any:
    return np.square(x - y).sum(axis=2).min(axis=1)


def sums_of_sines(x: Any, y: Any) -> Any:
    return np.sin(x[:, None] - y).sum(axis=2).min(axis=1)


def kernel_of(function: Callable[..., Any], *arrays: Any) -> str:
    source = xjit.jit(function).source(*arrays)
    assert source.count("def kernel") == 1
    return source


PACKED = {
    "nearest": (formulas.nearest, (POINTS, CENTRES), 1),
    "single precision": (formulas.nearest, (POINTS.astype(np.float32), CENTRES.astype(np.float32)), 1),
    "largest difference": (largest_difference, (POINTS, CENTRES), 1),
    "two operands": (weighted, (POINTS, CENTRES, WEIGHTS), 2),
    "a value to start from": (with_start, (POINTS, CENTRES), 1),
    "read along memory already": (transposed, (POINTS, np.ascontiguousarray(CENTRES.T)), 0),
    "strided": (formulas.nearest, (RNG.normal(size=(100, 24))[::2, ::2], CENTRES[::-1]), 1),
    "read by two passes": (both_ways, (POINTS, CENTRES), 1),
}


@pytest.mark.parametrize("name", PACKED)
def test_no_loop_over_the_short_axis_is_left(name: str) -> None:
    function, arrays, packed = PACKED[name]
    source = kernel_of(function, *arrays)
    assert not re.findall(r"for d[\d_]+ in", source)
    prologue = source[: source.index("for i0 in range(lo, hi)")]
    assert prologue.count("turn_") == source.count("turn_") == packed


@pytest.mark.parametrize("run", [run_uncompiled, run_parallel, lambda f, arrays: xjit.jit(f)(*arrays)])
@pytest.mark.parametrize("name", PACKED)
def test_answers_are_numpys(name: str, run: Any) -> None:
    function, arrays, _ = PACKED[name]
    found, expected = run(function, arrays), function(*arrays)
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6 if one.dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("name", PACKED)
def test_no_access_leaves_its_buffer(name: str) -> None:
    function, arrays, _ = PACKED[name]
    with uncompiled():
        found = xjit.jit(function)(*arrays)
    expected = function(*arrays)
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        pytest.param(formulas.nearest, (POINTS, CENTRES[:15]), id="a short row"),
        pytest.param(formulas.nearest, (POINTS[:31], CENTRES), id="few rows"),
        pytest.param(formulas.nearest, (np.tile(POINTS, (1, 3)), np.tile(CENTRES, (1, 3))), id="too many elements"),
        pytest.param(formulas.nearest, (POINTS, np.tile(CENTRES, (8, 1))), id="more than fits into cache"),
        pytest.param(formulas.nearest, (POINTS.astype(np.int64), CENTRES.astype(np.int64)), id="integers"),
        pytest.param(
            lambda x, y: np.square(x - y).sum(axis=2).min(axis=1), (RNG.random((50, 24, 12)), CENTRES), id="rows"
        ),
        pytest.param(
            lambda x, y: np.sin(x[:, None] - y).sum(axis=2).min(axis=1), (POINTS, CENTRES), id="rare arguments"
        ),
    ],
)
def test_other_reductions_keep_their_loop(function: Any, arrays: tuple[Any, ...]) -> None:
    source = xjit.jit(function).source(*arrays)
    assert "turn_" not in source
    np.testing.assert_allclose(xjit.jit(function)(*arrays), function(*arrays), rtol=1e-12)


def test_the_loop_along_the_row_is_vector_code() -> None:
    points, centres = np.ones((50, 16), np.float32), np.ones((64, 16), np.float32)
    module = compile_kernel(kernel_of(formulas.nearest, points, centres), keep_ir=True)
    assert re.search(r"fsub <\d+ x float>", module.llvm_ir) and "vector.reduce.fadd" not in module.llvm_ir


def test_sums_in_pairs_are_as_exact_as_numpys() -> None:
    x = RNG.random((300, 32)).astype(np.float32) * 1000.0
    y = RNG.random((32, 32)).astype(np.float32)

    def sums(x: Any, y: Any) -> Any:
        return (x[:, None, :] + y[None, :, :]).sum(axis=2).max(axis=1)

    exact = (x[:, None, :] + y[None, :, :]).astype(np.float64).sum(axis=2).max(axis=1)
    found, numpys = (np.abs(one - exact).max() for one in (xjit.jit(sums)(x, y), sums(x, y)))
    assert found <= 1.5 * numpys


def test_what_is_packed_may_be_read_on_its_own_as_well() -> None:
    def spread(x: Any, y: Any) -> Any:
        squares = np.square(x[:, None, :] - y[None, :, :]).sum(axis=2)
        return (np.abs(squares - squares.min(axis=1)[:, None]) * y[None, :, 0]).sum(axis=1)

    for run in (run_uncompiled, run_parallel):
        np.testing.assert_allclose(run(spread, [POINTS, CENTRES]), spread(POINTS, CENTRES), rtol=1e-12)
