"""Sums of integers as floats are sums of integers where floats would lose nothing, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit

RANDOM = np.random.default_rng(6)
NUMBERS = RANDOM.random((70, 90))


def whole(dtype: str, *shape: int) -> Any:
    """All numbers of a type, at random."""
    least, most = (0, 2) if dtype == "?" else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
    return RANDOM.integers(least, most, shape, dtype=np.int64).astype(dtype)


def masked(x: Any) -> Any:
    return (x > 0.5).mean(), (x > 0.5).mean(axis=0), (x > 0.25).sum(axis=1, dtype=float)


def averaged(x: Any) -> Any:
    return x.mean(), x.mean(axis=0), x.mean(axis=1), x.sum(dtype=np.float64)


def said(function: Any, *arguments: Any) -> str:
    """Text of the stage that adds integers as integers."""
    return str(xjit.jit(function).stages(*arguments)).split("\nexact: ")[1].split("\n\n")[0]


def assert_equal_bits(found: Any, wanted: Any) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_equal(one, other, strict=True)


def test_means_of_masks_count() -> None:
    assert "nothing to do" not in said(masked, NUMBERS)
    assert_equal_bits(xjit.jit(masked)(NUMBERS), masked(NUMBERS))


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 700), (700, 3), (40, 61)])
def test_means_of_integers_have_the_bits_of_numpy(dtype: str, shape: tuple[int, int]) -> None:
    numbers = whole(dtype, *shape)
    assert "nothing to do" not in said(averaged, numbers)
    assert_equal_bits(xjit.jit(averaged)(numbers), averaged(numbers))


@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        (lambda x: x.mean(), whole("i8", 40)),
        (lambda x: x.mean(dtype=np.float32), whole("u1", 40)),
        (lambda x: x.mean(), NUMBERS),
        (lambda x: np.broadcast_to(x, (1 << 22, 2)).mean(axis=0), whole("i4", 2)),
    ],
)
def test_sums_that_might_be_rounded_stay(function: Any, numbers: Any) -> None:
    assert "nothing to do" in said(function, numbers)


def test_no_elements() -> None:
    nothing = np.ones((0, 3), bool)
    assert_equal_bits((xjit.jit(lambda x: x.sum(axis=0, dtype=float))(nothing),), (nothing.sum(axis=0, dtype=float),))
