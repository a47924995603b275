"""Cholesky factors and triangular systems, which run among the kernels: the bits are those of the references."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import xjit
from xjit import ops
from xjit.runtime.parallel.threads import threads
from xjit.runtime.steps.blas_steps import blas_products

TYPES = ("f4", "f8", "c8", "c16")
needs_blas = pytest.mark.skipif(blas_products() is None, reason="the library behind NumPy's products is not known")
TRANSPOSITIONS = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


def numbers(kind: str, *shape: int) -> Any:
    rng = np.random.default_rng([*shape, len(kind)])
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if kind[0] == "c" else values).astype(kind)


def positive(kind: str, *shape: int) -> Any:
    """Hermitian matrices that are positive definite."""
    matrices = numbers(kind, *shape)
    return matrices @ matrices.conj().swapaxes(-1, -2) + (2 * shape[-1] * np.eye(shape[-1])).astype(kind)


def turned(function: Any, *operands: Any) -> tuple[Any, str]:
    """The result of a function within the turns of a loop, and the explanation of the loop.

    The first operand is another one in each turn, for all that the compiler knows.
    """

    def run(first: Any, *others: Any) -> Any:
        def turn(number: Any, _: Any) -> Any:
            return function(first + np.minimum(number, 0).astype(first.dtype), *others)

        return xjit.fori_loop(0, 2, turn, function(first, *others))

    compiled = xjit.jit(run)
    return compiled(*operands), str(compiled.explain(*operands))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (40, 40), (100, 100), (2, 3, 2, 2)], ids=str)
def test_factors_have_the_bits_of_the_reference(kind: str, shape: tuple[int, ...]) -> None:
    for lower in (True, False):
        matrices = positive(kind, *shape)
        other = np.triu(np.ones(shape[-2:], bool), 1)  # the triangle that is not read
        matrices[..., other if lower else other.T] = 99
        found, text = turned(lambda a, lower=lower: ops.cholesky(a, lower), matrices)
        assert found.tobytes() == ops.cholesky(matrices, lower).tobytes()
        assert ("steps in Python" in text) == (kind != "f8" or blas_products() is None)


@needs_blas
@pytest.mark.parametrize("lower", [True, False])
def test_matrices_without_a_factor_are_nan_and_others_are_not(lower: bool) -> None:
    matrices = np.stack([positive("f8", 3, 3), -np.eye(3), np.eye(3), np.diag([1.0, 0.0, 1.0])])
    found, _ = turned(lambda a: ops.cholesky(a, lower), matrices)
    assert np.isnan(found).all(axis=(1, 2)).tolist() == [False, True, False, True]
    assert found[2].tolist() == np.eye(3).tolist()
    assert not np.triu(found[0], 1).any() if lower else not np.tril(found[0], -1).any()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (50, 50), (3, 4, 4)], ids=str)
def test_factors_of_numpy_have_its_bits_and_its_errors(kind: str, shape: tuple[int, ...]) -> None:
    matrices = positive(kind, *shape)
    function = xjit.jit(lambda a: np.linalg.cholesky(a * 1) + 0)
    for _ in range(2):
        assert function(matrices).tobytes() == (np.linalg.cholesky(matrices) + 0).tobytes()
        with pytest.raises(np.linalg.LinAlgError, match=r"^Matrix is not positive definite$"):
            function(-matrices)
    found, text = turned(np.linalg.cholesky, matrices)
    assert found.tobytes() == np.linalg.cholesky(matrices).tobytes()
    assert ("steps in Python" in text) == (kind != "f8" or blas_products() is None)
    upper = xjit.jit(lambda a: np.linalg.cholesky(a, upper=True))(matrices)
    assert upper.tobytes() == np.linalg.cholesky(matrices, upper=True).tobytes()


def test_a_loop_ends_where_a_matrix_has_no_factor() -> None:
    """After so many turns that it would not be there yet, had it gone on."""

    def run(a: Any) -> Any:
        return xjit.fori_loop(0, 10**9, lambda _, x: np.linalg.cholesky(x) - np.eye(4), a)

    with pytest.raises(np.linalg.LinAlgError):
        xjit.jit(run)(positive("f8", 4, 4))


WIDE = ("f8", "c16")


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (7, 7), (64, 64), (65, 65), (3, 2, 5, 5)], ids=str)
def test_inverses_and_solutions_have_the_bits_of_numpy(kind: str, shape: tuple[int, ...]) -> None:
    matrices, right = numbers(kind, *shape), numbers(kind, *shape[:-1], 3)
    small = kind in WIDE and shape[-1] <= 64 and blas_products() is not None
    for found, text, wanted in (
        (*turned(np.linalg.inv, matrices), np.linalg.inv(matrices)),
        (*turned(np.linalg.solve, matrices, right), np.linalg.solve(matrices, right)),
    ):
        assert found.tobytes() == wanted.tobytes()
        assert ("steps in Python" in text) == (not small)


@pytest.mark.parametrize("kind", TYPES)
def test_systems_with_a_vector_have_the_bits_of_numpy(kind: str) -> None:
    matrix, right = numbers(kind, 5, 5), numbers(kind, 5)
    found, text = turned(np.linalg.solve, matrix, right)
    assert found.tobytes() == np.linalg.solve(matrix, right).tobytes()
    assert ("steps in Python" in text) == (kind not in WIDE or blas_products() is None)


@pytest.mark.parametrize("kind", WIDE)
def test_matrices_by_columns_are_read_as_such(kind: str) -> None:
    matrices, right = np.asfortranarray(numbers(kind, 2, 3, 3)), numbers(kind, 2, 3, 3)
    for function in (np.linalg.inv, np.linalg.det, lambda a: np.linalg.solve(a, right)):
        assert xjit.jit(strict=True)(function)(matrices).tobytes() == function(matrices).tobytes()
    hermitian = np.asfortranarray(positive("f8", 3, 3))
    hermitian[0, 2] = 99
    found = xjit.jit(strict=True)(np.linalg.cholesky)(hermitian)
    assert found.tobytes() == np.linalg.cholesky(hermitian).tobytes()


@pytest.mark.parametrize("columns", [1, 64, 65])
def test_right_sides_that_broadcast_or_are_many_are_left_to_numpy(columns: int) -> None:
    matrices, right = numbers("f8", 3, 64, 64), numbers("f8", 1, 64, columns)
    for some in (right, np.repeat(right, 3, axis=0)):
        found, text = turned(np.linalg.solve, matrices, some)
        assert found.tobytes() == np.linalg.solve(matrices, some).tobytes()
        native = len(some) == 3 and columns <= 64 and blas_products() is not None
        assert ("steps in Python" in text) != native


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (6, 6), (65, 65), (40, 3, 3)], ids=str)
def test_determinants_have_the_bits_of_numpy(kind: str, shape: tuple[int, ...]) -> None:
    matrices = numbers(kind, *shape)
    matrices /= -3
    found, text = turned(np.linalg.det, matrices)
    assert np.asarray(found).tobytes() == np.asarray(np.linalg.det(matrices)).tobytes()
    native = kind == "f8" and shape[-1] <= 64 and blas_products() is not None
    assert ("steps in Python" in text) != native


def test_singular_matrices_have_determinants_but_no_inverses() -> None:
    stack = np.stack([np.eye(3), np.ones((3, 3)), 0.0 - np.eye(3), np.full((3, 3), np.nan)])
    found, _ = turned(np.linalg.det, stack)
    with np.errstate(invalid="ignore"):
        assert found.tobytes() == np.linalg.det(stack).tobytes()
    for function in (np.linalg.inv, lambda a: np.linalg.solve(a, a)):
        assert turned(function, stack[::2].copy())[0].tobytes() == function(stack[::2]).tobytes()
        with pytest.raises(np.linalg.LinAlgError, match=r"^Singular matrix$"):
            turned(function, stack)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("stack", [(), (4,)], ids=str)
@pytest.mark.parametrize("left", [True, False])
def test_solutions_have_the_bits_of_the_reference(kind: str, stack: tuple[int, ...], left: bool) -> None:
    for size, lower, unit, turn in itertools.product((1, 6, 40), (True, False), (True, False), TRANSPOSITIONS):
        matrices = numbers(kind, *stack, size, size) / 50 + np.eye(size).astype(kind)
        right = numbers(kind, *stack, *((size, 3) if left else (3, size)))

        def solve(a: Any, b: Any, options: Any = (left, lower, unit, turn)) -> Any:
            return ops.triangular_solve(a, b, *options)

        found = xjit.jit(solve)(matrices, right)
        assert found.tobytes() == solve(matrices, right).tobytes()


@needs_blas
def test_systems_are_solved_within_native_loops() -> None:
    matrix, right = positive("f8", 60, 60), numbers("f8", 60, 2)

    def solve(a: Any, b: Any) -> Any:
        factor = ops.cholesky(a, True)
        return ops.triangular_solve(
            factor, ops.triangular_solve(factor, b, True, True, False), True, True, False, "TRANSPOSE"
        )

    for limit in (1, 2):
        with threads(limit):
            found, text = turned(solve, matrix, right)
        np.testing.assert_allclose(matrix @ found, right, rtol=1e-10)
        assert ", native" in text and "steps in Python" not in text


@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3)], ids=str)
def test_systems_without_elements(shape: tuple[int, ...]) -> None:
    found = xjit.jit(lambda a: (ops.cholesky(a, True), ops.triangular_solve(a, a, True, True, False)))(
        np.zeros(shape)
    )
    assert [one.shape for one in found] == [shape, shape]


def test_matrices_that_lie_across_are_packed_first() -> None:
    matrix = positive("f8", 5, 5)
    compiled = xjit.jit(lambda a: ops.cholesky(ops.transpose(a, (1, 0)), False))
    assert compiled(matrix).tobytes() == ops.cholesky(np.ascontiguousarray(matrix.T), False).tobytes()
    assert compiled(np.asfortranarray(matrix)).tobytes() == compiled(matrix).tobytes()
