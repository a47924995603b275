"""Products of windows that move with the turns of a loop are parts of one product in front of it, where that pays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import xjit


def triangle(x: Any) -> Any:
    """Products of each column with those behind it, as rows and as columns."""
    count = x.shape[1]
    found = np.zeros((count, count))
    for i in range(count):
        found[i, i:] = found[i:, i] = x[:, i] @ x[:, i:]
    return found


def below(x: Any) -> Any:
    """The same without the diagonal, by the transposed window."""
    found = np.eye(x.shape[1])
    for i in range(x.shape[1] - 1):
        found[i + 1 :, i] = x[:, i + 1 :].T @ x[:, i]
        found[i, i + 1 :] = found[i + 1 :, i]
    return found


def rows(x: Any, y: Any) -> Any:
    """Products of each row with the last columns, fewer from turn to turn."""
    found = np.zeros((x.shape[0], y.shape[1]))
    for i in range(x.shape[0]):
        found[i, : i + 1] = x[i] @ y[:, : i + 1]
    return found


def columns(x: Any, y: Any) -> Any:
    """A matrix times one column after the other."""
    found = np.zeros((y.shape[1], x.shape[0]))
    for i in range(y.shape[1]):
        found[i] = x @ y[:, i]
    return found


def blocks(x: Any, y: Any) -> Any:
    """A product of two windows of several rows each, summed."""
    found = np.zeros((8, y.shape[1]))
    for i in range(0, x.shape[0] - 8, 2):
        found += x[i : i + 8] @ y
    return found


def own_rows(x: Any, y: Any) -> Any:
    """Products of rows in place of them: a turn finds its own as it was."""
    for i in range(x.shape[0]):
        x[i] = x[i] @ y
    return x


def own_columns(x: Any, y: Any) -> Any:
    """The same of columns, which neighbours are added to."""
    for i in range(1, x.shape[1]):
        x[:, i] = y @ x[:, i] + x[:, i - 1]
    return x


def own_lines(x: Any, y: Any) -> Any:
    """Products of the lines of a cube in place of them, one by one."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j, :] = x[i, j, :] @ y
    return x


def own_planes(x: Any, y: Any) -> Any:
    """Products of the planes of a cube, whose lines are changed one by one."""
    for i in range(x.shape[1]):
        z = x[:, i] @ y
        for j in range(x.shape[0]):
            x[j, i] += z[j] * x[j, 0]
    return x


def windows_of_cubes(x: Any, y: Any) -> Any:
    """Products of rows of one plane, with a few columns."""
    found = np.zeros((x.shape[1], 9))
    for i in range(x.shape[1]):
        found[i] = x[2, i] @ y[:, 40:49]
    return found


def banded(x: Any) -> Any:
    """Products of each column with its neighbours alone: a small part of the whole product."""
    count = x.shape[1]
    found = np.zeros((count, count))
    for i in range(count):
        found[i, i : min(i + 3, count)] = x[:, i] @ x[:, i : min(i + 3, count)]
    return found


def changing(x: Any) -> Any:
    """Columns that the turns before have changed."""
    for i in range(1, x.shape[1]):
        x[:, i] -= x[:, :i] @ (x[:, i] @ x[:, :i]) * 1e-3
    return x


def before(x: Any, y: Any) -> Any:
    """Products of rows that the turn before has changed."""
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1] @ y
    return x


def ahead(x: Any, y: Any) -> Any:
    """Products of rows that the turn itself has changed before, and of which others are changed."""
    for i in range(x.shape[0] - 1):
        x[i] = x[i] * 2.0
        x[i] = x[i] @ y
        x[i + 1] = x[i + 1] @ y
    return x


def all_rows(x: Any, y: Any) -> Any:
    """Products of rows, of which each turn changes all in a loop of its own."""
    for i in range(x.shape[0]):
        z = x[i] @ y
        for j in range(x.shape[0]):
            x[j] += z
    return x


def ended(x: Any, most: float) -> Any:
    """The same products until one is large, which nobody knows ahead."""
    found = np.zeros((x.shape[1], x.shape[1]))
    for i in range(x.shape[1]):
        found[i, i:] = x[:, i] @ x[:, i:]
        if found[i, i] > most:
            break
    return found


def parts(x: Any) -> Any:
    """Sums over a part of the rows only, which is another one in each turn."""
    found = np.zeros((x.shape[1], x.shape[1]))
    for i in range(x.shape[1]):
        found[i] = x[i:, i] @ x[i:]
    return found


def total(x: Any) -> Any:
    """A number from many products of few elements each: all products at once would take much memory."""
    found = 0.0
    for i in range(x.shape[1]):
        found += (x[:, i] @ x[:, i:]).sum()
    return found


def matrix(rows: int, columns: int, dtype: Any = np.float64) -> Any:
    found = np.random.default_rng(3).standard_normal((rows, columns))
    return found.astype(dtype) if np.dtype(dtype).kind != "c" else (found + 1j * found[::-1]).astype(dtype)


def cube(planes: int, rows: int, columns: int) -> Any:
    return matrix(planes * rows, columns).reshape(planes, rows, columns)


def calls(function: Callable[..., Any], *arrays: Any) -> tuple[int, int]:
    """The numbers of products by the library in front of loops and of products that are left in loops."""
    texts = {one.name: one.text for one in xjit(function, strict=True).stages(*arrays).reports}
    found = next(filter(None, (texts[name] for name in ("turns", "loops", "windows", "simplify", "trace"))))
    lines = [line for line in found.splitlines() if "dot_general" in line]
    inside = sum(line.startswith(" " * 6) for line in lines)
    return len(lines) - inside, inside


WIDE = matrix(100, 120)
LIFTED = (
    (triangle, (WIDE,)),
    (below, (WIDE,)),
    (rows, (matrix(110, 120), matrix(120, 130))),
    (columns, (matrix(80, 80), matrix(80, 90))),
    (blocks, (matrix(300, 80), matrix(80, 90))),
    (own_rows, (matrix(110, 80), matrix(80, 80))),
    (own_columns, (matrix(80, 110), matrix(80, 80))),
    (own_lines, (cube(6, 40, 80), matrix(80, 80))),
    (own_planes, (cube(40, 36, 80), matrix(80, 80))),
    (windows_of_cubes, (cube(4, 110, 800), matrix(800, 90))),
)
LEFT = (
    (banded, (matrix(2000, 120),)),
    (changing, (WIDE,)),
    (before, (matrix(110, 80), matrix(80, 80) / 80)),
    (ahead, (matrix(110, 80), matrix(80, 80) / 80)),
    (all_rows, (matrix(110, 80), matrix(80, 80) / 1e4)),
    (ended, (WIDE, 80.0)),
    (parts, (WIDE,)),
    (total, (matrix(50, 800),)),
)


def label(value: Any) -> str | None:
    return value.__name__ if callable(value) else None


@pytest.mark.parametrize(("function", "arrays"), (*LIFTED, *LEFT), ids=label)
def test_values(function: Callable[..., Any], arrays: tuple[Any, ...]) -> None:
    given, own = ([np.array(one) for one in arrays] for _ in range(2))
    np.testing.assert_allclose(xjit(function, strict=True)(*given), function(*own), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
def test_types_of_the_library(dtype: Any) -> None:
    def products(x: Any, y: Any) -> Any:
        found = np.zeros((x.shape[0], y.shape[1]), x.dtype)
        for i in range(x.shape[0]):
            found[i, i:] = x[i] @ y[:, i:]
        return found

    x, y = matrix(110, 100, dtype), matrix(100, 120, dtype)
    assert calls(products, x, y) == (1, 0)
    found = xjit(products, strict=True)(x, y)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, products(x, y), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("function", "arrays"), LIFTED, ids=label)
def test_products_of_turns_are_one_product(function: Callable[..., Any], arrays: tuple[Any, ...]) -> None:
    assert calls(function, *arrays) == (1, 0)


@pytest.mark.parametrize(("function", "arrays"), LEFT, ids=label)
def test_products_stay_where_the_whole_does_not_pay_or_is_not_there(
    function: Callable[..., Any], arrays: tuple[Any, ...]
) -> None:
    before, inside = calls(function, *arrays)
    assert before == 0 and inside


def test_small_products_stay_in_the_loop() -> None:
    assert calls(triangle, matrix(20, 12)) == (0, 1)


@pytest.mark.parametrize("dtype", [np.int64, np.float16])
def test_what_the_library_does_not_know_stays(dtype: Any) -> None:
    def products(x: Any, y: Any) -> Any:
        found = np.zeros((x.shape[0], y.shape[1]), x.dtype)
        for i in range(x.shape[0]):
            found[i] = x[i] @ y
        return found

    x, y = (np.ones(shape, dtype) for shape in ((90, 80), (80, 90)))
    assert calls(products, x, y) == (0, 1)


def test_elements_beyond_the_window_do_not_matter() -> None:
    x = matrix(70, 90)
    x[:, 0], x[3, 1] = np.nan, np.inf
    np.testing.assert_allclose(xjit(below, strict=True)(x), below(x), rtol=1e-11, atol=1e-11)
