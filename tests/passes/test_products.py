"""Products with vectors: loops where these are quicker than the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.kernel_executors import run_parallel, run_serial, run_uncompiled
from xjit import ops
from xjit.alignment import SMALLEST_BYTES
from xjit.ops.whole_arrays.linalg import DOT_GENERAL, DotDimensionNumbers

Function = Callable[..., Any]

PROGRAMS: dict[str, tuple[Function, tuple[tuple[int, ...], ...]]] = {
    "matrix and vector": (lambda x, w: x @ w, ((30, 20), (20,))),
    "vector and matrix": (lambda w, x: w @ x, ((30,), (30, 20))),
    "transposed": (lambda x, w: x.T @ w, ((30, 20), (30,))),
    "vectors": (lambda v, w: v @ w, ((50,), (50,))),
    "stack and vector": (lambda x, w: x @ w, ((3, 10, 20), (20,))),
    "vector and stack": (lambda w, x: w @ x, ((10,), (3, 10, 20))),
    "stacks of rows": (lambda x, y: np.vecdot(x, y), ((4, 6, 10), (4, 6, 10))),
    "two axes": (lambda x, w: np.tensordot(x, w, axes=([2, 0], [1, 0])), ((4, 6, 10), (4, 10))),
    "einsum": (lambda x, w: np.einsum("ijk,j->ki", x, w), ((4, 6, 10), (6,))),
    "nothing to sum": (lambda x, w: x @ w, ((5, 0), (0,))),
    "no rows": (lambda x, w: x @ w, ((0, 5), (5,))),
    "one element": (lambda x, w: x @ w, ((1, 1), (1,))),
}


MATRICES: dict[str, tuple[Function, tuple[tuple[int, ...], ...]]] = {
    "plain": (lambda a, b: a @ b, ((13, 40), (40, 35))),
    "left across": (lambda a, b: a.T @ b, ((40, 13), (40, 35))),
    "right across": (lambda a, b: a @ b.T, ((13, 40), (35, 40))),
    "both across": (lambda a, b: a.T @ b.T, ((40, 13), (35, 40))),
    "stacks": (lambda a, b: a @ b, ((3, 13, 20), (3, 20, 35))),
    "a stack and one": (lambda a, b: a @ b, ((3, 13, 20), (20, 35))),
    "short": (lambda a, b: a @ b, ((70, 3, 3), (70, 3, 3))),
    "of products": (lambda a, b: (a @ b) @ (b.T @ a.T), ((13, 20), (20, 15))),
    "read and computed": (lambda a, b: np.abs((a // 3) @ (b + 1)).max(axis=1), ((13, 40), (40, 35))),
    "over two axes": (lambda a, b: np.tensordot(a, b, axes=([2, 1], [0, 1])), ((5, 6, 7), (7, 6, 20))),
    "einsum": (lambda a, b: np.einsum("ij,jk->ki", a, b), ((13, 40), (40, 35))),
    "nothing to sum": (lambda a, b: a @ b, ((13, 0), (0, 35))),
}


def whole_numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    """Small ones, so that sums are exact in any order."""
    return rng.integers(-9, 10, size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str, dtype: Any, rng: np.random.Generator) -> None:
    function, shapes = PROGRAMS[name]
    arrays = [whole_numbers(rng, shape, dtype) for shape in shapes]
    expected = function(*arrays)
    for run in (run_uncompiled, run_serial, run_parallel):
        np.testing.assert_array_equal(run(function, arrays), expected, strict=True)
    assert "library" not in str(xjit.jit(function).explain(*arrays))


@pytest.mark.parametrize("dtype", [np.int64, np.uint8])
@pytest.mark.parametrize("name", MATRICES)
def test_matrices_of_integers_are_sums(name: str, dtype: Any, rng: np.random.Generator) -> None:
    function, shapes = MATRICES[name]
    arrays = [whole_numbers(rng, shape, dtype) for shape in shapes]
    expected = function(*arrays)
    for run in (run_uncompiled, run_serial, run_parallel):
        np.testing.assert_array_equal(run(function, arrays), expected, strict=True)
    assert "library" not in str(xjit.jit(function).explain(*arrays))


@pytest.mark.parametrize(
    ("name", "sums"),
    [("plain", "rows"), ("left across", "rows"), ("right across", "elements"), ("both across", "rows")],
)
def test_sums_go_along_what_is_contiguous(name: str, sums: str) -> None:
    function, shapes = MATRICES[name]
    source = xjit.jit(function).source(*(np.ones(shape, np.int64) for shape in shapes))
    assert ("scratch_i64" in source) == (sums == "rows")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("step", [1, -1, 2])
def test_memory_layouts(order: Any, step: int, rng: np.random.Generator) -> None:
    x = np.asarray(whole_numbers(rng, (40, 60), np.float64), order=order)[::step, ::step]
    v, w = whole_numbers(rng, (x.shape[1],), np.float64), whole_numbers(rng, (x.shape[0],), np.float64)
    result = xjit.jit(lambda x, v, w: (x @ v, w @ x, x.T @ w))(x, v, w)
    for found, expected in zip(result, (x @ v, w @ x, w @ x), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_library_is_kept_for_matrices_in_caches() -> None:
    x, w = np.ones((300, 200)), np.ones(200)
    assert "library call: dot_general" in str(xjit.jit(lambda x, w: x @ w).explain(x, w))
    assert "library call: dot_general" in str(xjit.jit(lambda v, w: v @ w).explain(np.ones(9000), np.ones(9000)))
    assert "library call: dot_general" in str(xjit.jit(lambda x: x @ x).explain(np.ones((20, 20))))


SMALL: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "rotated points": ((5000, 3), (3, 3)),
    "rows of a rotation": ((4, 4), (4, 5000)),
    "stacks of rotations": ((5000, 3, 3), (5000, 3, 3)),
    "one column": ((5000, 8), (8, 1)),
    "outer product": ((5000, 1), (1, 16)),
}


@pytest.mark.parametrize("name", SMALL)
def test_products_with_small_matrices_fuse(name: str, rng: np.random.Generator) -> None:
    a, b = (whole_numbers(rng, shape, np.float64) for shape in SMALL[name])
    function = xjit.jit(lambda a, b: (a + 1.0) @ b * 2.0 + 1.0)
    np.testing.assert_array_equal(function(a, b), (a + 1.0) @ b * 2.0 + 1.0)
    assert len(function.explain(a, b).kernels) == 1


@pytest.mark.parametrize("shapes", [((5000, 3), (3, 6)), ((5000, 9), (9, 1)), ((5, 5), (5, 5))])
def test_the_library_is_kept_for_what_registers_cannot_hold(shapes: tuple[tuple[int, ...], ...]) -> None:
    arrays = [np.ones(shape) for shape in shapes]
    assert not xjit.jit(lambda a, b: a @ b).explain(*arrays).kernels


def test_the_library_is_kept_for_complex_numbers() -> None:
    x, w = np.ones((30, 20), np.complex64), np.ones(20, np.complex64)
    assert "library call: dot_general" in str(xjit.jit(lambda x, w: x @ w).explain(x, w))


def test_truth_values_are_combined_in_loops(rng: np.random.Generator) -> None:
    x, y = rng.random((30, 20)) < 0.2, rng.random((20, 40)) < 0.2
    jitted = xjit.jit(ops.dot)
    assert len(jitted.explain(x, y).steps) == len(jitted.explain(x, y).kernels) == 1
    np.testing.assert_array_equal(jitted(x, y), x @ y)


def test_narrow_floats_are_multiplied_in_float32(rng: np.random.Generator) -> None:
    x, y = (whole_numbers(rng, sizes, np.float32).astype(np.float16) for sizes in ((30, 20), (20, 40)))
    jitted = xjit.jit(lambda x, y: np.maximum(ops.dot(x, y), np.float16(0)))
    plan = jitted.explain(x, y)
    assert "library call: dot_general" in str(plan) and len(plan.kernels) == 3
    expected = np.maximum(x.astype(np.float32) @ y.astype(np.float32), 0).astype(np.float16)
    np.testing.assert_array_equal(jitted(x, y), expected)


def test_a_large_matrix_is_read_once() -> None:
    """Shapes alone decide: these arrays repeat one number."""
    x = np.broadcast_to(np.float32(1.0), (100_000, 100)).copy()

    def gradient(x: Any, labels: Any, weights: Any) -> Any:
        return x.T @ (1 / (1 + np.exp(-(x @ weights))) - labels)

    labels, weights = x[:, 0].copy(), x[0] / 100
    jitted = xjit.jit(gradient)
    plan = jitted.explain(x, labels, weights)
    assert plan.bytes_moved <= 1.1 * plan.minimum_bytes
    expected = 100_000 * (1 / (1 + np.exp(-1.0)) - 1)
    np.testing.assert_allclose(jitted(x, labels, weights), np.full(100, expected), rtol=1e-5)


def test_computed_elements_are_not_stored(rng: np.random.Generator) -> None:
    x, w = rng.normal(size=(300, 200)), rng.normal(size=200)
    jitted = xjit.jit(lambda x, w: (np.exp(x) - 1) @ w)
    plan = jitted.explain(x, w)
    assert len(plan.kernels) == len(plan.steps) == 1 and plan.temporary_bytes == 0
    np.testing.assert_allclose(jitted(x, w), (np.exp(x) - 1) @ w, rtol=1e-12, atol=1e-11)


OUTPUTS: dict[str, Any] = {
    "matrices": (((3,), (2,)), ((0, 1), (0, 1))),
    "stacks exchanged": (((3,), (2,)), ((1, 0), (1, 0))),
    "two axes summed": (((2, 3), (2, 3)), ((1, 0), (1, 0))),
    "more free axes": (((3,), (2,)), ((1,), (1,))),
}


@pytest.mark.parametrize("dtype", ["f2", "f4", "c8", "i4", "?"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_given_output_is_filled_and_returned(name: str, dtype: str, rng: np.random.Generator) -> None:
    ((left, right), (batch, _)), x = OUTPUTS[name], whole_numbers(rng, (3, 2, 4, 4), np.int64).astype(dtype)
    numbers = DotDimensionNumbers(left, right, batch, batch)
    letters = {(3,): ("abcd", "abde"), (2, 3): ("abcd", "abcd")}[left]
    second = letters[1] if batch != (1,) else "fbde"
    result = {"matrices": "abce", "stacks exchanged": "bace", "two axes summed": "ba", "more free axes": "bacfe"}[
        name
    ]
    expected = np.einsum(f"{letters[0]},{second}->{result}", x.real.astype("f8"), x.real.astype("f8"))
    out = np.ones(expected.shape, dtype)
    assert DOT_GENERAL.reference(x, x, numbers=numbers, out=out) is out
    np.testing.assert_array_equal(out, expected.astype(dtype))


def test_kernels_read_large_narrow_products_with_stacks_exchanged() -> None:
    x = np.ones((3, 2, 160, 160), np.float16)
    assert x.nbytes >= SMALLEST_BYTES, "the result is written into memory that is used again"
    function = xjit.jit(lambda x: ops.dot_general(x, x, (((3,), (2,)), ((1, 0), (1, 0)))) + np.float16(1))
    for _ in range(2):
        np.testing.assert_array_equal(function(x), np.full((2, 3, 160, 160), 161, np.float16))
