"""Folds of pieces of a line, as ``reduceat`` makes them: kernels, with NumPy's pieces, types and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import IndexOutOfBoundsError

RNG = np.random.default_rng(11)
COUNTS = RNG.integers(0, 40, 60)
STARTS = np.minimum(np.cumsum(COUNTS), COUNTS.sum() - 1)
LINE = RNG.standard_normal(COUNTS.sum())
UFUNCS = (np.add, np.multiply, np.maximum, np.minimum)


def folded(ufunc: Any, **options: Any) -> Any:
    return xjit.jit(strict=True)(lambda x, starts: ufunc.reduceat(x, starts, **options))


@pytest.mark.parametrize("ufunc", UFUNCS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4", "i8", "u1"])
def test_pieces_of_all_types(ufunc: Any, dtype: str) -> None:
    line = (LINE / 2 if dtype[0] == "f" else np.abs(LINE * 3) if dtype[0] == "u" else LINE * 3).astype(dtype)
    for starts in (STARTS, STARTS[::-1].copy(), STARTS.astype(np.int32), np.array([5])):
        found, wanted = folded(ufunc)(line, starts), ufunc.reduceat(line, starts)
        assert found.dtype == wanted.dtype
        if dtype == "f2":
            np.testing.assert_allclose(found, wanted, rtol=0.02, atol=0.05)
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-4 if dtype == "f4" else 1e-10, atol=1e-5)


def test_long_pieces_are_as_sums() -> None:
    line = RNG.standard_normal(5000)
    starts = np.array([0, 1, 9, 18, 1000, 4000])
    found = folded(np.add)(line, starts)
    for begin, end, one in zip(starts, [*starts[1:], 5000], found, strict=True):
        assert one == xjit.jit(lambda x: x.sum())(line[begin:end])


def test_a_given_type_and_known_positions() -> None:
    for dtype in ("f4", "f8"):
        found, wanted = folded(np.add, dtype=dtype)(LINE, STARTS), np.add.reduceat(LINE, STARTS, dtype=dtype)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    known = xjit.jit(strict=True)(lambda x: np.add.reduceat(x, [0, 30, 7]))
    np.testing.assert_allclose(known(LINE), np.add.reduceat(LINE, [0, 30, 7]))


def test_pieces_are_folded_by_kernels_in_loops() -> None:
    def smoothed(x: Any, starts: Any, turns: int) -> Any:
        for _ in range(turns):
            x = x + np.repeat(np.add.reduceat(x, starts), 4)
        return x

    x, starts = RNG.standard_normal(200), np.arange(0, 200, 4)
    compiled = xjit.jit(strict=True)(smoothed)
    np.testing.assert_allclose(compiled(x, starts, 30), smoothed(x, starts, 30))
    assert "numpy_add_reduceat" not in str(compiled.explain(x, starts, 30))


@pytest.mark.parametrize("wrong", [-1, len(LINE)])
def test_positions_beyond_the_line(wrong: int) -> None:
    starts = STARTS.copy()
    starts[7] = wrong
    with pytest.raises(IndexError):
        np.add.reduceat(LINE, starts)
    with pytest.raises(IndexOutOfBoundsError, match=r"add\.reduceat: a position is out of bounds"):
        folded(np.add)(LINE, starts)


@pytest.mark.parametrize("length", [1, 8, 9, 600])
def test_positions_of_short_and_long_rows_are_checked(length: int) -> None:
    def rows(start: Any, column: Any, value: Any, x: Any) -> Any:
        y = np.zeros(len(start) - 1)
        for i in range(len(start) - 1):
            row = slice(start[i], start[i + 1])
            y[i] = value[row] @ x[column[row]]
        return y

    start = np.arange(13) * length
    column, value = RNG.integers(0, 50, start[-1]), RNG.standard_normal(start[-1])
    x = RNG.standard_normal(50)
    compiled = xjit.jit(strict=True)(rows)
    np.testing.assert_allclose(compiled(start, column, value, x), rows(start, column, value, x))
    for wrong in (50, -51):
        column[-1] = wrong
        with pytest.raises(IndexError):
            compiled(start, column, value, x)
