"""where, clip, select, round, and products of matrices, against NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.helpers.oracles.numpy_oracle import as_numpy_since, check
from xjit import xjit as jit

DTYPES = [np.dtype(code) for code in "?bhilBHILefdFD"]
FEW = [np.dtype(code) for code in "?bLlefdF"]


def grid(dtype: np.dtype, shape: tuple[int, ...] = (3, 4), seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2 if dtype.kind == "b" else 9, shape)
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_where(dtype: np.dtype) -> None:
    mask = grid(np.dtype(bool))
    for other in FEW:
        x, y = grid(dtype), grid(other, (4,), 2)
        check(lambda xp, m, a, b: xp.where(m, a, b), mask, x, y)
    for number in (1, 2.5, True, 1j):
        check(lambda xp, m, a: xp.where(m, a, number), mask, grid(dtype))  # noqa: B023
        check(lambda xp, m, a: xp.where(m, number, a), mask, grid(dtype))  # noqa: B023
    check(lambda xp, m: xp.where(m, 1, 2.5), mask)
    check(lambda xp, c, a: xp.where(c, a, 0), grid(dtype), grid(dtype))
    check(lambda xp, c, a: xp.where(c > 1, a, 0), np.array(2), grid(dtype))
    check(lambda xp, m, a: xp.where(m, a, a), mask[:, :3], grid(dtype))
    check(lambda xp, m, a: xp.where(m, a, 0), mask, np.asfortranarray(grid(dtype)))
    check(lambda xp, m, a: xp.where(m, a, 0), np.asfortranarray(mask), np.asfortranarray(grid(dtype)))


# Numbers at and beyond the limits of integer types.
NUMBERS = (127, 128, -129, 255, 256, 300, -1, 2**31, 2**40, -(2**63), 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**70)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_where_of_python_integers_out_of_range(dtype: np.dtype) -> None:
    """Releases of NumPy differ here: such numbers wrap before 2.5 and raise OverflowError since."""
    mask, x = grid(np.dtype(bool)), grid(dtype)
    for number in NUMBERS:
        check(lambda xp, m, a: xp.where(m, a, number), mask, x)  # noqa: B023
        check(lambda xp, m, a: xp.where(m, number, a), mask, x)  # noqa: B023
        check(lambda xp, m: xp.where(m, number, 5), mask)  # noqa: B023


def test_where_of_an_integer_argument_out_of_range() -> None:
    def choose(x: Any, number: int) -> Any:
        return np.where(x > 0, number, x)

    compiled, x = jit(choose), np.array([-1, 0, 1, 2], np.int8)
    for number in (5, 300, 5, -129, 127):
        try:
            expected = choose(x, number)
        except OverflowError:
            with pytest.raises(OverflowError, match="out of bounds for int8"):
                compiled(x, number)
        else:
            np.testing.assert_array_equal(compiled(x, number), expected, strict=True)


def test_where_keeps_the_bits() -> None:
    x = np.array([-0.0, np.nan, np.inf, -1.0])
    check(lambda xp, a: xp.where(a > 0, a, -a), x)


@as_numpy_since("2.1.0")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_clip(dtype: np.dtype) -> None:
    x = grid(dtype)
    bounds: list[Any] = [None, 2, 5.5, True, np.float32(3), np.int8(2), np.array([1, 2, 3, 4]), -1, 300, 2**40]
    for low, high in itertools.product(bounds, bounds):
        check(lambda xp, a: xp.clip(a, low, high), x, zeros=False)  # noqa: B023
    check(lambda xp, a: a.clip(1, 3), x)
    check(lambda xp, a: a.clip(max=3), x)
    check(lambda xp, a: xp.clip(a, min=1, max=3), x)
    check(lambda xp, a: xp.clip(a, 1, min=3), x)
    check(lambda xp, a, b: xp.clip(a, b, 3), x, np.asfortranarray(x))


def test_clip_of_nan_and_crossed_bounds() -> None:
    x = np.array([np.nan, -np.inf, np.inf, 1.0, 5.0])
    check(lambda xp, a: xp.clip(a, 2, 3), x)
    check(lambda xp, a: xp.clip(a, 3, 2), x)
    check(lambda xp, a: xp.clip(a, np.nan, 2), x)
    check(lambda xp, a: xp.clip(a, 0, np.nan), x)
    check(lambda xp, a: xp.clip(a, 1 + 2j, 3 - 1j), x + 1j)


def test_clip_of_bfloat16_answers_in_single_precision_as_numpy_does() -> None:
    x = np.array([-2.5, 0.25, 7.0], ml_dtypes.bfloat16)
    for low, high in ((-1, 1), (-1.0, 1.0), (np.float32(0), 3), (x[1], x[2]), (np.float64(0), 3), (np.int32(1), 3)):
        check(lambda xp, a: xp.clip(a, low, high), x)  # noqa: B023
    check(lambda xp, a: xp.clip(a, 0, None), x)
    check(lambda xp, a, b: xp.clip(b, a[1], a[2]), x, np.arange(10))


def test_select() -> None:
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    check(lambda xp, a: xp.select([a < 2, a < 4], [a, a * 10], -1), x)
    check(lambda xp, a: xp.select([a < 2, a[0] < 1], [a.astype(int), 2.5]), x)
    check(lambda xp, a: xp.select([a < 2], [a, a]), x)
    check(lambda xp, a: xp.select([a], [a]), x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_select_wraps_python_integers(dtype: np.dtype) -> None:
    mask, x = grid(np.dtype(bool)), grid(dtype)
    for number in (*NUMBERS, True, 2.5, 1j):
        check(lambda xp, m, a: xp.select([m], [a], number), mask, x)  # noqa: B023
        check(lambda xp, m, a: xp.select([m], [number], a), mask, x)  # noqa: B023


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_round(dtype: np.dtype) -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, 12.345, 107.25]).astype(dtype)
    if dtype.kind in "fc":
        x = np.concatenate([x, -x, np.array([np.nan, np.inf], dtype)])
    for decimals in (0, 1, 2, -1):
        if dtype.kind == "b" and decimals:
            continue
        check(lambda xp, a: xp.round(a, decimals), x)  # noqa: B023
        check(lambda xp, a: a.round(decimals), x)  # noqa: B023


@pytest.mark.parametrize("decimals", [2.0, np.float64(1), "3"])
def test_round_takes_integers_alone(decimals: Any) -> None:
    x = np.array([1.234, 5.678])
    for function in (lambda a: np.round(a, decimals), lambda a: round(a[0], decimals)):
        with pytest.raises(TypeError):
            function(x)
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            jit(function, strict=True)(x)


@pytest.mark.parametrize("dtype", FEW, ids=str)
def test_matrix_products(dtype: np.dtype) -> None:
    shapes: list[tuple[Any, Any]] = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((2, 3), (2, 3))]
    shapes += [
        ((5, 2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((5, 1, 2, 3), (4, 3, 2)),
        ((3,), (5, 3, 4)),
        ((5, 2, 3), (3,)),
    ]
    shapes += [((), (3,)), ((2, 3), ()), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((3,), (4,)), ((5, 2, 3), (4, 3, 2))]
    for left, right in shapes:
        for other in (dtype, np.dtype(np.float32), np.dtype(np.int16)):
            x, y = grid(dtype, left), grid(other, right, 2)
            check(lambda xp, a, b: xp.matmul(a, b), x, y)
            check(lambda xp, a, b: a @ b, x, y)
            check(lambda xp, a, b: xp.dot(a, b), x, y)
            check(lambda xp, a, b: a.dot(b), x, y)


def test_products_of_python_scalars() -> None:
    x = np.arange(3, dtype=np.float32)
    check(lambda xp, a: xp.dot(a, 2), x)
    check(lambda xp, a: xp.dot(2.5, a), x)
    check(lambda xp, a: xp.matmul(a, 2), x)
    check(lambda xp, a: xp.dot(a, [1, 2, 3]), x)
