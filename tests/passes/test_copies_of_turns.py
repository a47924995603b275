"""Loops whose turns copy rows become one copy; others stay loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import xjit


def rows(x: Any, y: Any) -> Any:
    """Rows of another array."""
    for i in range(x.shape[0]):
        x[i] = y[i]
    return x


def across(x: Any, y: Any) -> Any:
    """Columns as rows, all but the first ones."""
    for i in range(2, x.shape[0]):
        x[i, :] = y[:, i]
    return x


def planes(z: Any, k: int) -> Any:
    """Lines of one plane of a cube as columns of another array."""
    found = np.zeros((z.shape[2], z.shape[1]))
    for i in range(z.shape[1]):
        found[:, i] = z[k, i, :]
    return found


def lines(z: Any) -> Any:
    """All lines of a cube, one by one, in a cube with another order of axes."""
    found = np.zeros((z.shape[1], z.shape[0], z.shape[2]))
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            found[j, i] = z[i, j]
    return found


def shifted(x: Any) -> Any:
    """Rows of the array itself, which turns before have changed."""
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1]
    return x


def diagonal(x: Any, y: Any) -> Any:
    """Elements along two axes."""
    for i in range(y.shape[0]):
        x[i, i] = y[i, 3]
    return x


def backward(x: Any, y: Any) -> Any:
    """Rows in the other order."""
    for i in range(x.shape[0]):
        x[x.shape[0] - 1 - i] = y[i]
    return x


def twice(x: Any, y: Any) -> Any:
    """Rows of which a part is written again."""
    for i in range(x.shape[0]):
        x[i] = y[i]
        x[i, :20] = y[0, :20]
    return x


def matrix(rows: int, columns: int) -> Any:
    return np.random.default_rng(5).standard_normal((rows, columns))


CUBE = np.random.default_rng(6).standard_normal((40, 50, 60))
COPIED = (
    (rows, (matrix(50, 60), matrix(70, 60))),
    (across, (matrix(50, 60), matrix(60, 50))),
    (planes, (CUBE, 3)),
    (lines, (CUBE,)),
)
LEFT = (
    (shifted, (matrix(50, 60),)),
    (diagonal, (matrix(60, 60), matrix(50, 60))),
    (backward, (matrix(50, 60), matrix(50, 60))),
    (twice, (matrix(50, 60), matrix(50, 60))),
)


def label(value: Any) -> str | None:
    return value.__name__ if callable(value) else None


def loops(function: Callable[..., Any], *arrays: Any) -> int:
    """The number of loops after the stage."""
    texts = {one.name: one.text for one in xjit(function, strict=True).stages(*arrays).reports}
    names = ("copies", "turns", "batches", "loops", "windows", "simplify", "trace")
    return next(filter(None, (texts[name] for name in names))).count("while_loop")


@pytest.mark.parametrize(("function", "arrays"), (*COPIED, *LEFT), ids=label)
def test_values(function: Callable[..., Any], arrays: tuple[Any, ...]) -> None:
    given, own = ([np.array(one) if np.ndim(one) else one for one in arrays] for _ in range(2))
    found, wanted = xjit(function, strict=True)(*given), function(*own)
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, wanted)), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(given, own, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("function", "arrays"), COPIED, ids=label)
def test_copies_of_turns_are_one_copy(function: Callable[..., Any], arrays: tuple[Any, ...]) -> None:
    assert loops(function, *arrays) == 0


@pytest.mark.parametrize(("function", "arrays"), LEFT, ids=label)
def test_other_loops_stay(function: Callable[..., Any], arrays: tuple[Any, ...]) -> None:
    assert loops(function, *arrays)
