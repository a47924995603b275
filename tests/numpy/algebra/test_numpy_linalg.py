"""Solvers and decompositions against NumPy, over element types, memory layouts and stacks of matrices."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.helpers.oracles.numpy_tables import array, check_compiled, check_eager, check_lines, layouts
from xjit import xjit
from xjit.errors import CaptureError, ShapeError

SQUARE = """
    np.linalg.inv(a)
    np.linalg.det(a)
    np.linalg.slogdet(a)
    np.linalg.solve(a, a[..., :1])
    np.linalg.solve(a, a[0] if a.ndim == 3 else a[:, 0])
    np.linalg.eigvalsh(a)
    np.linalg.eigvalsh(a, "u")
    np.linalg.cond(a, 1)
    np.linalg.cond(a, "fro")
    np.linalg.matrix_power(a, -2)
    np.linalg.eigvalsh(a, "M")
    np.linalg.solve(a, a[..., :2, :])
    np.linalg.solve(a, 2)
"""

ANY = """
    np.linalg.svdvals(a)
    np.linalg.svd(a, compute_uv=False)
    np.linalg.matrix_rank(a)
    np.linalg.matrix_rank(a, 0.5)
    np.linalg.cond(a)
    np.linalg.cond(a, -2)
    np.linalg.norm(a, 2, axis=(-2, -1))
    np.linalg.norm(a, "nuc", axis=(0, -1), keepdims=True)
    np.linalg.matrix_norm(a, ord=-2)
    np.linalg.inv(a)
    np.linalg.det(a)
    np.linalg.cholesky(a)
    np.linalg.eigh(a)
    np.linalg.solve(a, a)
    np.linalg.qr(a, mode="none")
"""

# What is determined up to signs, or rounded in other ways for other memory: equal for equal layouts.
FACTORS = """
    np.linalg.qr(a)
    np.linalg.qr(a, "complete")
    np.linalg.qr(a, "r")
    np.linalg.qr(a, "raw")
    np.linalg.svd(a)
    np.linalg.svd(a, full_matrices=False)
    np.linalg.pinv(a)
    np.linalg.pinv(a, rtol=0.1)
    np.linalg.pinv(a, rtol=None)
    np.linalg.pinv(a, 0.1, rtol=0.1)
"""

HERMITIAN = """
    np.linalg.cholesky(a)
    np.linalg.cholesky(a, upper=True)
    np.linalg.eigh(a)
    np.linalg.eigh(a, UPLO="U")
    np.linalg.svd(a, hermitian=True)
    np.linalg.pinv(a, hermitian=True)
"""

COMPLEX = """
    np.linalg.eig(a)
    np.linalg.eigvals(a)
"""


def square(code: str, *shape: int) -> Any:
    return array(code, *shape) + (4 * np.eye(shape[-1])).astype(code)


def hermitian(code: str, *shape: int) -> Any:
    matrix = square(code, *shape)
    return matrix @ matrix.swapaxes(-1, -2).conj()


@pytest.mark.parametrize("code", "ifdFD")
def test_layouts(code: str) -> None:
    check_lines(SQUARE, [*layouts(square(code, 3, 3)), *layouts(square(code, 2, 3, 3))], ulp=4)
    rectangles = [*layouts(array(code, 3, 4)), *layouts(array(code, 2, 4, 3))]
    check_lines(ANY, rectangles, ulp=64)
    check_lines(FACTORS, rectangles, ulp=64)
    check_lines(HERMITIAN, [*layouts(hermitian(code, 3, 3)), *layouts(hermitian(code, 2, 3, 3))], ulp=4)


@pytest.mark.parametrize("code", "FD")
def test_complex(code: str) -> None:
    check_lines(COMPLEX, [*layouts(square(code, 3, 3)), *layouts(square(code, 2, 3, 3)), array(code, 2, 3)])


@pytest.mark.parametrize("code", "?e")
def test_element_types(code: str) -> None:
    check_lines(SQUARE + ANY + FACTORS + HERMITIAN, [array(code, 3, 3)], ulp=4)


def test_small_arrays() -> None:
    table = SQUARE.replace("a[0] if a.ndim == 3 else a[:, 0]", "a") + ANY + FACTORS
    for shape in ((0, 0), (2, 0, 0), (0, 2, 2), (1, 1), (0, 3), (3, 0)):
        check_lines(table, [array("d", *shape)])
    without_ranks = "\n".join(line for line in table.splitlines() if "matrix_rank" not in line)
    for shape in ((3,), ()):
        check_lines(without_ranks, [array("d", *shape)])


LEAST = """
    np.linalg.lstsq(a, b)
    np.linalg.lstsq(a, b, rcond=0.1)[0]
    np.linalg.lstsq(a, b[..., 0] if b.ndim == 2 else b)
    np.linalg.lstsq(a, a.T)
"""


@pytest.mark.parametrize("code", "ifD")
def test_least_squares(code: str) -> None:
    tall, wide = square(code, 4, 4)[:, :3], square(code, 4, 4)[:3]
    check_lines(
        LEAST, [(tall, array(code, 4, 2)), (wide, array(code, 3, 2)), (tall[:, :0], array(code, 4, 2))], ulp=64
    )
    check_lines("np.linalg.lstsq(a, b)", [(tall, array(code, 4)), (array(code, 2, 3, 4), array(code, 3))], ulp=64)


def test_columns_that_are_not_independent() -> None:
    a, b = np.ones((4, 2)), np.arange(4.0)
    fit = xjit(lambda a, b: np.linalg.lstsq(a, b * 2)[0] + 1)
    np.testing.assert_allclose(fit(a, b), np.linalg.lstsq(a, b * 2)[0] + 1)
    with pytest.raises(ValueError, match="not independent"):
        xjit(lambda a, b: np.linalg.lstsq(a, b)[1])(a, b)


def test_repeated_matrices() -> None:
    table = """
        np.linalg.inv(xp.broadcast_to(a, (4, 3, 3)))
        np.linalg.solve(xp.broadcast_to(a, (2, 3, 3)), xp.broadcast_to(a[0], (3, 3)))
        np.linalg.cholesky(xp.broadcast_to(a, (4, 3, 3)))
        np.linalg.svd(xp.broadcast_to(a[0], (2, 3)))
        np.linalg.inv(xp.broadcast_to(a[0], (3, 3)))
    """
    check_lines(table, layouts(hermitian("d", 3, 3)), ulp=64)
    check_compiled(table, hermitian("d", 3, 3), ulp=64)


def test_tensors() -> None:
    a, b = np.eye(24).reshape(6, 4, 2, 3, 4) + 0.5, np.arange(24.0).reshape(6, 4)
    check_lines("np.linalg.tensorsolve(a, b)\n np.linalg.tensorsolve(a, b[0])", [(a, b)], ulp=4)
    check_lines("np.linalg.tensorinv(a)\n np.linalg.tensorinv(a, 1)\n np.linalg.tensorinv(a, 0)", [a], ulp=64)
    turned = np.moveaxis(a, 3, 0)
    check_lines("np.linalg.tensorsolve(a, b, axes=(0,))", [(turned, b)])


def test_without_a_trace() -> None:
    check_eager("xp.linalg.inv(a)\n xp.linalg.slogdet(a)\n xp.linalg.qr(a)\n xp.linalg.norm(a, 2)", square("d", 3, 3))


@pytest.mark.parametrize("code", "fD")
def test_compiled(code: str) -> None:
    check_compiled(SQUARE, np.asfortranarray(square(code, 2, 3, 3)), ulp=64)
    check_compiled(FACTORS + ANY, array(code, 4, 3), ulp=256)
    check_compiled(HERMITIAN, hermitian(code, 3, 3), ulp=256)
    if code == "D":
        check_compiled(COMPLEX, square(code, 3, 3), ulp=256)


def ridge(a: Any, b: Any, penalty: float) -> Any:
    gram = a.T @ a + penalty * np.eye(a.shape[1])
    weights = np.linalg.solve(gram, (a.T @ b) * 2)
    return weights, np.exp(-np.abs(weights)).sum()


def test_steps_between_kernels() -> None:
    function, a, b = xjit(ridge), np.sin(np.arange(300.0)).reshape(30, 10), np.arange(30.0)
    for got, want in zip(function(a, b, 0.1), ridge(a, b, 0.1), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    assert function.stats().fallbacks == 0
    steps = [step for step in function.explain(a, b, 0.1).steps if step.startswith("library")]
    assert [step.split()[2] for step in steps].count("numpy_solve") == 1
    assert all("thread" in step for step in steps)


@pytest.mark.parametrize("codes", ["Dd", "dD", "qd", "dq", "qq", "fd", "fq", "Fd", "ff", "FF", "?d"])
def test_systems_of_two_element_types_have_the_bits_of_numpy(codes: str) -> None:
    a = (np.sin(np.arange(25.0)).reshape(5, 5) * 9 + 9 * np.eye(5)).astype(codes[0])
    a = np.tri(5).astype(a.dtype) if codes[0] == "?" else a
    b = (np.cos(np.arange(10.0)).reshape(5, 2) * 9).astype(codes[1])
    for right in (b, b[:, 0].copy()):
        got, want = xjit(lambda a, b: np.linalg.solve(a, b))(a, right), np.linalg.solve(a, right)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    got, want = xjit(lambda a: np.linalg.inv(a))(a), np.linalg.inv(a)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_right_sides_of_another_type_are_converted_for_the_native_routine() -> None:
    graph = xjit(lambda a, b: np.linalg.solve(a, b)).graph(square("D", 3, 3), np.arange(3.0))
    (solved,) = (line for line in str(graph).splitlines() if "numpy_solve" in line)
    assert sum("convert_element_type" in line for line in str(graph).splitlines()) == 1
    assert "c128[3]" in solved


def test_elements_of_tuples_feed_kernels() -> None:
    def whitened(x: Any) -> Any:
        values, vectors = np.linalg.eigh(x.T @ x)
        return (vectors / np.sqrt(values + 1)) @ vectors.T, values * 2, np.linalg.slogdet(x.T @ x).logabsdet

    x = np.cos(np.arange(40.0)).reshape(10, 4)
    for got, want in zip(xjit(whitened)(x), whitened(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_singular_matrices_raise_at_the_run() -> None:
    function, x = xjit(lambda a, b: np.linalg.solve(a * 2, b) + 1), np.eye(3)
    np.testing.assert_array_equal(function(x, np.ones(3)), 1.5)
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            function(x * 0, np.ones(3))
    np.testing.assert_array_equal(function(x, np.ones(3)), 1.5)
    fresh = xjit(lambda a: np.linalg.cholesky(a - 2))
    for _ in range(3):
        with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
            fresh(x)
    np.testing.assert_array_equal(fresh(x + 2), x)
    assert fresh.stats().traces == 1


def test_user_code_may_catch_singular_matrices_outside() -> None:
    inverse = xjit(lambda a: np.linalg.inv(a))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            inverse(np.zeros((2, 2)))
        except np.linalg.LinAlgError as error:
            assert "Singular" in str(error)


def test_refusals_and_sizes_in_messages() -> None:
    x = square("d", 5, 5)
    with pytest.raises(CaptureError, match="real or complex"):
        xjit(lambda a: np.linalg.eig(a))(x)
    with pytest.raises(CaptureError, match="rtol"):
        xjit(lambda a, r: np.linalg.pinv(a, rtol=r))(x, np.ones(1))
    with pytest.raises(ShapeError, match="size 7 is different from 5"):
        xjit(lambda a, b: np.linalg.solve(a, b))(x, np.ones((7, 2)))
