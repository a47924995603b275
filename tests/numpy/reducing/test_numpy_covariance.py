"""Covariances and correlations against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.helpers.oracles.numpy_oracle import Traced
from tests.helpers.oracles.numpy_tables import array, check_compiled, check_lines, layouts, lines

TABLE = """
    cov(a)
    cov(a, rowvar=False)
    cov(a, bias=True)
    cov(a, ddof=0)
    cov(a, ddof=2)
    cov(a, a[::-1])
    cov(a, a[0])
    cov(a, a, rowvar=False, bias=True)
    cov(a[0])
    cov(a[0], a[1], False)
    cov(a[0], rowvar=False)
    cov(a[0, 0])
    cov(a[:, :0].T)
    cov(a, dtype=np.float32)
    cov(a, dtype=np.complex128)
    cov(a, fweights=[1, 2, 0, 3])
    cov(a, fweights=[1, 2, 0, 3], ddof=0)
    cov(a, aweights=[0.5, 2, 1, 0])
    cov(a, aweights=[0.5, 2, 1, 0], ddof=0)
    cov(a, fweights=[1, 2, 1, 3], aweights=[0.5, 2, 1, 1])
    cov(a, fweights=[1, 2, 1, 3], aweights=[0.5, 2, 1, 1], ddof=2)
    cov(a, ddof=4)
    cov(a, fweights=[1, 1, 0, 0], ddof=3)
    corrcoef(a)
    corrcoef(a, rowvar=False)
    corrcoef(a, a[:1])
    corrcoef(a[0])
    corrcoef(a, dtype=np.float32)
"""
ERRORS = """
    cov(a, ddof=0.5)
    cov(a[None])
    cov(a, a[None])
    cov(a, a[:, 1:])
    cov(a, dtype=int)
    cov(a, fweights=[1, 2, 0.5, 3])
    cov(a, fweights=[1, 2, -1, 3])
    cov(a, aweights=[1, 2, -1, 3])
    cov(a, aweights=[0, 0, 0, 0])
    cov(a, fweights=3)
"""


@pytest.mark.parametrize("code", "?HefdFD")
def test_covariances(code: str) -> None:
    samples = array(code, 3, 4)
    # Products are summed in another order than BLAS has, of numbers whose mean was taken off.
    check_lines(TABLE, layouts(samples) if code == "d" else [samples], ulp=64, zeros=False)


def test_mistakes() -> None:
    check_lines(ERRORS, [array("d", 3, 4), array("F", 3, 4)])


def test_weights_of_another_shape() -> None:
    samples = array("d", 3, 4)
    for words, weights in {
        "incompatible numbers of samples and fweights": {"fweights": [1, 2]},
        "incompatible numbers of samples and aweights": {"aweights": [1, 2]},
        "cannot handle multidimensional aweights": {"aweights": [[1, 2, 3, 4]]},
    }.items():
        for namespace in (np, None):
            with pytest.raises(RuntimeError, match=words):
                np.cov(samples, **weights) if namespace else Traced(lambda xp, x: xp.cov(x, **weights), [samples])  # noqa: B023


def test_compiled() -> None:
    check_compiled("\n".join(lines(TABLE)[::6]), array("d", 3, 4), ulp=64)

    def program(x: Any, counts: Any, weights: Any) -> Any:
        return np.corrcoef(x * 2, x + 1), np.cov(x, fweights=counts, aweights=weights)

    samples, counts, weights = array("d", 3, 50), array("u1", 50), np.linspace(0.5, 2, 50)
    for got, want in zip(
        xjit.jit(program, strict=True)(samples, counts, weights), program(samples, counts, weights), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-13)
    # By hand: deviations (-1, 0, 1) and (1, 1, -2) over two degrees of freedom.
    found = xjit.jit(lambda x: np.cov(x), strict=True)(np.array([[1.0, 2, 3], [5, 5, 2]]))
    np.testing.assert_array_equal(found, [[1.0, -1.5], [-1.5, 3.0]])


def test_weights_are_checked_when_the_program_runs() -> None:
    jitted = xjit.jit(lambda x, w: np.cov(x, fweights=w), strict=True)
    samples = array("d", 3, 4)
    np.testing.assert_allclose(jitted(samples, np.ones(4)), np.cov(samples), rtol=1e-14)
    with pytest.raises(TypeError, match="fweights must be integer"):
        jitted(samples, np.array([1, 2, 1.5, 0]))
    with pytest.raises(ValueError, match="fweights cannot be negative"):
        jitted(samples, np.array([1.0, 2, -1, 0]))
