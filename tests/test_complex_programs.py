"""Functions of complex arrays under @xjit: compiled, none of them run by NumPy, and near what NumPy gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import xjit

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
