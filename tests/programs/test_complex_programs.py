"""Functions of complex arrays under @xjit: compiled, none of them run by NumPy, and near what NumPy gives."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.vector_loops import AVX512
from xjit import xjit
from xjit.codegen.cpu import llvm_pipeline
from xjit.codegen.front_end.numba_compat import compile_kernel

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def compiled_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_NO_FALLBACK", "1")


def numbers(dtype: Any, count: int = 1300) -> tuple[Array, Array]:
    rng = np.random.default_rng(5)
    z, w = (rng.normal(size=count) * 2 + 1j * rng.normal(size=count) * 2 for _ in range(2))
    return z.astype(dtype), w.astype(dtype)


def _exponentials(z: Array, w: Array) -> tuple[Array, ...]:
    return np.exp(z), np.sin(w), np.cosh(z - w), np.tanh(z), np.expm1(w)


def _logarithms(z: Array, w: Array) -> tuple[Array, ...]:
    return np.log(z), np.log10(w), np.sqrt(z), np.abs(z), np.angle(w)


def _inverses(z: Array, w: Array) -> tuple[Array, ...]:
    return np.arcsin(z), np.arccosh(w), np.arctan(z * w)


def _powers(z: Array, w: Array) -> tuple[Array, ...]:
    return z**w, z**0.5, 2.5**w, z**-3


def _mixed(z: Array, w: Array) -> tuple[Array, ...]:
    return np.angle(z, deg=True), np.angle(z.real), np.sum(np.exp(1j * w.real)), np.conj(np.exp(z[::-2]))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("program", [_exponentials, _logarithms, _inverses, _powers, _mixed])
def test_programs_are_near_those_of_numpy(program: Callable[..., tuple[Array, ...]], dtype: Any) -> None:
    z, w = numbers(dtype)
    compiled: Any = xjit(program)
    for result, expected in zip(compiled(z, w), program(z, w), strict=True):
        assert result.dtype == expected.dtype and result.shape == expected.shape
        # NumPy's own powers and sums are a few units off.
        assert np.all(np.abs(result - expected) <= 60 * np.finfo(dtype).eps * np.abs(expected))


def test_huge_angles_are_right_wherever_they_stand() -> None:
    z, _ = numbers(np.complex128)
    for place in (0, 511, 512, 1299):
        far = z.copy()
        far[place] = 0.5 + 1e22j
        result = xjit(np.exp)(far)
        assert np.allclose(result, np.exp(far), rtol=1e-14, atol=0)
        far[place] = complex(-np.inf, np.inf)
        assert xjit(np.exp)(far)[place] == 0


def test_one_element_is_computed_as_many_are() -> None:
    z, w = numbers(np.complex128)
    many = xjit(_powers)(z, w)
    for place in (0, 700):
        one = xjit(_powers)(z[place : place + 1], w[place : place + 1])
        assert all(first[0] == second[place] for first, second in zip(one, many, strict=True))


# ---- sums: of the real and of the imaginary parts, in one sweep

SUMS: dict[str, tuple[Callable[[Array], Any], int]] = {
    # name: function, kernels of a matrix of 40 by 1000
    "all": (lambda z: z.sum(), 2),
    "mean": (lambda z: z.mean(), 2),
    "rows": (lambda z: z.sum(axis=1), 1),
    "columns": (lambda z: z.sum(axis=0), 1),
    "centred": (lambda z: z - z.mean(axis=1, keepdims=True), 1),
    "products": (lambda z: (np.conj(z) * z[::-1]).sum(axis=1), 1),
    "from a number": (lambda z: z.sum(axis=1, initial=2 - 3j), 1),
    "few": (lambda z: z[:, :3].sum(axis=1), 1),
    "transposed": (lambda z: z.T.sum(axis=0), 1),
    "none": (lambda z: z[:, :0].sum(axis=1), 1),
}


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", SUMS)
def test_sums_are_near_those_of_numpy(name: str, dtype: Any) -> None:
    z = numbers(dtype, 40_000)[0].reshape(40, 1000)
    function, kernels = SUMS[name]
    compiled = xjit(function)
    result, expected = compiled(z), function(z)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    assert np.all(np.abs(result - expected) <= 20 * np.finfo(dtype).eps * np.abs(z).max() * 40_000**0.5)
    assert len(compiled.explain(z).kernels) == kernels


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_long_sums_are_as_exact_as_those_of_floats(dtype: Any) -> None:
    """Added one after the other, so many equal numbers lose five digits."""
    z = np.full(1_000_000, 0.1 + 0.7j, dtype)
    parts = complex(z[0])
    exact = complex(math.fsum([parts.real] * z.size), math.fsum([parts.imag] * z.size))
    assert abs(xjit(np.sum)(z) - exact) <= np.finfo(dtype).eps * abs(exact)


def test_an_infinite_part_leaves_the_other_alone() -> None:
    z = np.full(3000, 1 + 1j)
    z[1234] = complex(np.inf, 2)
    assert xjit(np.sum)(z) == complex(np.inf, 3001)
    z[7] = complex(-np.inf, np.nan)
    result = xjit(np.sum)(z)
    assert np.isnan(result.real) and np.isnan(result.imag)


@pytest.mark.skipif(not llvm_pipeline.host().triple.startswith("x86_64"), reason="needs the code generator of x86")
def test_sums_are_vector_code() -> None:
    source = xjit(lambda z: z.sum(axis=1)).source(np.ones((30, 100), np.complex64))
    ir = compile_kernel(source, keep_ir=True, target=AVX512).llvm_ir
    assert ir is not None and re.search(r"= fadd <64 x float>", ir) and "gather" not in ir
