"""Slices between numbers of the run: loops beside Python's, errors, and lengths that are known after all."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.numpy.limited.limited_lines import GROUPS
from xjit.errors import CaptureError, ShapeError


def lines_of(lines: tuple[str, ...]) -> list[Callable[..., Any]]:
    return [eval(f"lambda i, x, A, k: {line}", {"np": np}) for line in lines]


def arguments(size: int) -> tuple[Any, ...]:
    source = np.random.default_rng(size)
    return source.standard_normal(size), source.standard_normal((size, size)), source.integers(-5, 9, size)


@pytest.mark.parametrize("size", (2, 12))
@pytest.mark.parametrize("group", GROUPS)
def test_lines_give_what_numpy_gives(group: str, size: int) -> None:
    lines, given = lines_of(GROUPS[group]), arguments(size)

    @xjit.xjit(strict=True)
    def compiled(x: Any, A: Any, k: Any) -> Any:
        def body(i: Any, found: Any) -> Any:
            for number, line in enumerate(lines):
                found[number, i] = line(i, x, A, k)
            return found

        return xjit.fori_loop(0, size, body, np.zeros((len(lines), size)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = np.array([[line(i, *given) for i in range(size)] for line in lines], np.float64)
    for line, one, two in zip(GROUPS[group], compiled(*given), wanted, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-12, err_msg=line)


def looped(body: Callable[..., Any], turns: int, *given: Any) -> Any:
    """The sum over turns of what a body makes of a counter and arrays."""

    @xjit.xjit(strict=True)
    def compiled(*arrays: Any) -> Any:
        return xjit.fori_loop(0, turns, lambda i, total: total + body(i, *arrays), np.float64(0.0))

    return compiled(*given)


def test_lengths_of_different_arrays_are_compared_when_the_program_runs() -> None:
    x, y = np.arange(5.0), np.arange(7.0)
    assert looped(lambda i, x, y: (x[:i] * y[i : 2 * i]).sum(), 4, x, y) == sum(
        (x[:i] * y[i : 2 * i]).sum() for i in range(4)
    )
    with pytest.raises(ShapeError, match="could not be broadcast"):
        looped(lambda i, x, y: (x[i:] * y[i:]).sum(), 3, x, y)
    with pytest.raises(ShapeError, match="mismatch in its core dimension"):
        looped(lambda i, x, y: x[i:] @ y[i:], 3, x, y)


def test_a_length_of_the_run_that_is_one_is_repeated() -> None:
    x, y = np.arange(1.0, 6.0), np.arange(1.0, 8.0)
    assert looped(lambda i, x, y: (x[: i + 1] * y[:4]).sum(), 1, x, y) == (x[:1] * y[:4]).sum()
    assert looped(lambda i, x, y: (x[4 - i :] + y[2 * i :]).sum(), 1, x, y) == (x[4:] + y).sum()


def test_an_extreme_of_nothing_raises() -> None:
    with pytest.raises(ValueError, match="zero-size array"):
        looped(lambda i, x: x[:i].max(), 3, np.arange(3.0))
    assert looped(lambda i, x: x[: i + 1].max(), 3, np.arange(3.0)) == 3.0


def test_a_position_outside_raises() -> None:
    with pytest.raises(IndexError, match="out of bounds"):
        looped(lambda i, x: x[: i + 1][2], 3, np.arange(3.0))
    with pytest.raises(IndexError, match="out of bounds"):
        looped(lambda i, x: x[i + 1], 3, np.arange(3.0))


def test_a_length_that_does_not_change_is_known() -> None:
    @xjit.xjit(strict=True)
    def compiled(x: Any) -> Any:
        def body(i: Any, total: Any) -> Any:
            assert (x[i : i + 3].shape, x[i + 1 : i + 4][::-1].shape, x[i + 2 : i].shape) == ((3,), (3,), (0,))
            return total + np.median(x[i : i + 3])

        return xjit.fori_loop(0, 5, body, np.float64(0.0))

    x = np.arange(8.0)
    assert compiled(x) == sum(np.median(x[i : i + 3]) for i in range(5))


def test_a_length_between_products_is_known() -> None:
    @xjit.xjit(strict=True)
    def compiled(x: Any) -> Any:
        out = np.empty((len(x) // 3, x.shape[1]))
        for i in range(len(out)):
            out[i] = x[i * 3 : (i + 1) * 3].max(axis=0)
        return out

    x = np.random.default_rng(0).standard_normal((900, 4))
    np.testing.assert_array_equal(compiled(x), x.reshape(300, 3, 4).max(axis=1))
    assert not any("require" in line for line in str(compiled.explain(x)).splitlines())


def test_what_does_not_know_such_lengths_is_refused() -> None:
    with pytest.raises(CaptureError, match=r"numpy\.roll of an array whose size only the run knows"):
        looped(lambda i, x: np.roll(x[:i], 1).sum(), 3, np.arange(3.0))
    with pytest.raises(CaptureError, match="size only the run knows"):
        looped(lambda i, x: np.asarray([x[:i], x[:i]]).sum(), 3, np.arange(3.0))


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_sums_have_the_bits_of_sums_of_known_lengths(dtype: Any) -> None:
    source = np.random.default_rng(0)
    size = 70
    x, A = (1e3 * source.standard_normal(dims).astype(dtype) for dims in (size, (size, size)))

    def sums(x: Any, A: Any, i: Any) -> tuple[Any, ...]:
        return np.sum(x[:i]), np.dot(A[3, :i], x[:i]), np.sum(A[:i, :i]), np.prod(x[i:] / 1e3)

    @xjit.xjit(strict=True)
    def compiled(x: Any, A: Any) -> Any:
        def body(i: Any, found: Any) -> Any:
            for number, one in enumerate(sums(x, A, i)):
                found[number, i] = one
            return found

        return xjit.fori_loop(0, size + 1, body, np.zeros((4, size + 1), dtype))

    found = compiled(x, A)
    for i in (0, 1, 2, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 63, 64, 65, 70):
        wanted = xjit.xjit(lambda x, A, i=i: sums(x, A, i), strict=True)(x, A)
        np.testing.assert_array_equal(found[:, i], wanted, err_msg=str(i))


def test_loops_end_at_the_length() -> None:
    @xjit.xjit(strict=True)
    def compiled(x: Any) -> Any:
        return xjit.fori_loop(0, 50, lambda i, total: total + np.exp(x[:i]).sum(), np.float64(0.0))

    text = str(compiled.source(np.arange(50.0)))
    long = "is_long0 * stop0"
    assert f"select(b0 + 512 < {long}, b0 + 512, {long})" in text, "blocks of the sum end at the length"
    assert f"range(stop0 - {long})" in text, "few elements go one by one, and in no blocks"


def rows_of(indptr: Any, columns: Any, values: Any, x: Any) -> Any:
    def row(i: Any, y: Any) -> Any:
        own = columns[indptr[i] : indptr[i + 1]]
        y[i] = values[indptr[i] : indptr[i + 1]] @ x[own]
        return y

    return xjit.fori_loop(0, indptr.shape[0] - 1, row, np.zeros(indptr.shape[0] - 1))


def test_rows_of_a_sparse_matrix_are_slices_between_numbers_of_data() -> None:
    source = np.random.default_rng(0)
    indptr = np.concatenate([[0], np.cumsum(source.integers(0, 20, 30))])
    columns, values = source.integers(-30, 30, indptr[-1]), source.standard_normal(indptr[-1])
    x, compiled = source.standard_normal(30), xjit.xjit(rows_of, strict=True)
    wanted = [values[first:last] @ x[columns[first:last]] for first, last in itertools.pairwise(indptr)]
    np.testing.assert_allclose(compiled(indptr, columns, values, x), wanted, rtol=1e-12, atol=1e-13)
    columns[5] = 30
    with pytest.raises(IndexError, match="out of bounds"):
        compiled(indptr, columns, values, x)
