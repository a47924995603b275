"""The first place of an extreme in memory: by groups of elements, one by one, among equal ones and among NaN."""

from __future__ import annotations

import numpy as np
import pytest

import xjit
from xjit.codegen.cpu.searches import TYPES, called_in

LENGTHS = (9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 519, 600)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u2", "i4", "i8"])
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_every_place(name: str, dtype: str) -> None:
    """One extreme at each place, and a second one behind it."""
    compiled = xjit.jit(lambda x: getattr(np, name)(x, axis=1), strict=True)
    for length in LENGTHS:
        x = np.full((2 * length, length), 3, dtype)
        places = np.arange(length)
        x[places, places] = x[length + places, places] = 1 if name == "argmin" else 5
        x[length:, -1] = 1 if name == "argmin" else 5
        np.testing.assert_array_equal(compiled(x), np.tile(places, 2))
    assert "first(a0, a0_at0, p0_first, p0_end, s0)" in compiled.source(x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_first_nan_and_either_zero(dtype: str) -> None:
    compiled = xjit.jit(lambda x: np.argmax(x, axis=1), strict=True)
    for length in LENGTHS:
        x = np.zeros((length, length), dtype)
        x[:, 0] = np.inf
        x[np.arange(length), np.arange(length)] = np.nan
        x[:, -1] = np.nan
        np.testing.assert_array_equal(compiled(x), np.argmax(x, axis=1))
        zeros = np.where(np.arange(length) % 3, 0.0, -0.0).astype(dtype)[None, :]
        assert compiled(zeros) == 0 and compiled(np.full_like(zeros, -np.inf)) == 0


def test_what_is_computed_is_searched_by_computing_it_again() -> None:
    x = np.random.default_rng(3).standard_normal((7, 100))
    for function in (lambda x: np.argmax(x * 2, axis=1), lambda x: np.argmax(x[:, ::2], axis=1)):
        compiled = xjit.jit(function, strict=True)
        np.testing.assert_array_equal(compiled(x), function(x))
        assert "first(" not in compiled.source(x)


def test_searches_are_found_in_text() -> None:
    text = "".join(f'declare i64 @"first_{kind}"(ptr %".1", i64 %".2")\n' for kind in TYPES)
    assert called_in(text) == tuple(sorted(TYPES)) and called_in("declare i64 @second_f64(ptr)") == ()
