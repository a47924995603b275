"""Integers at the ends of their types, compiled: as NumPy computes them, as documented where NumPy leaves it open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit

INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")


def ends(dtype: str) -> tuple[Any, Any]:
    """Every pair of: the ends of the type, their neighbours, zero, ones, the widths of types."""
    info = np.iinfo(dtype)
    numbers = {info.min, info.min + 1, info.max - 1, info.max, 0, 1, 2, 3, 7, 8, info.bits - 1, info.bits, 100}
    numbers |= {-1, -2, -7} if info.min else set()
    line = np.array(sorted(numbers), dtype)
    return np.repeat(line, len(line)), np.tile(line, len(line))


def arithmetic(x: Any, y: Any) -> Any:
    return (
        *(x + y, x - y, x * y, -x, abs(x), x // y, x % y, np.fmod(x, y), *divmod(x, y)),
        *(x << y, x >> y, x & y, x | y, x ^ y, ~x, np.square(x), np.sign(x), np.gcd(x, y), np.lcm(x, y)),
        *(np.maximum(x, y), np.minimum(x, y), x < y, x == y, x / y, np.bitwise_count(x), np.positive(x)),
        *(x.sum(), x.sum(dtype=x.dtype), x.prod(dtype=x.dtype), x.cumsum(dtype=x.dtype), x.max(), x.argmin()),
    )


@pytest.mark.parametrize("dtype", INTEGERS)
def test_arithmetic_wraps_and_divides_as_numpy_does(dtype: str) -> None:
    operands = ends(dtype)
    with np.errstate(all="ignore"):
        wanted = arithmetic(*operands)
    for place, (got, want) in enumerate(zip(xjit.jit(arithmetic)(*operands), wanted, strict=True)):
        assert type(got) is type(want)
        np.testing.assert_array_equal(got, want, strict=True, err_msg=f"result {place}")


def test_literal_edges() -> None:
    low = np.array([-128, 127, -128], np.int8)
    other = np.array([-1, 1, 0], np.int8)
    found = xjit.jit(lambda x, y: (x // y, x % y, x + y, abs(x), x << 8, x >> 9, x * x, -x))(low, other)
    expected = ([-128, 127, 0], [0, 0, 0], [127, -128, -128], [-128, 127, -128], [0, 0, 0], [-1, 0, -1])
    for got, want in zip(found, (*expected, [0, 1, 0], [-128, -127, -128]), strict=True):
        assert got.dtype == np.int8
        assert got.tolist() == want


@pytest.mark.parametrize("source", ("f2", "f4", "f8"))
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_out_of_range_saturate(source: str, target: str) -> None:
    info = np.iinfo(target)
    x = np.array([np.nan, np.inf, -np.inf, -0.0, -0.9, 2.9, 100.5], source)
    expected = [0, info.max, info.min, 0, 0, 2, 100]
    for function in (lambda x: x.astype(target), lambda x: np.asarray(x, target)):
        found = xjit.jit(function)(x)
        assert found.dtype == np.dtype(target)
        assert found.tolist() == expected


def test_conversions_between_integers_wrap() -> None:
    for source in INTEGERS:
        x, _ = ends(source)
        function = lambda x: tuple(x.astype(target) for target in (*INTEGERS, "?", "f4", "f8", "c8"))  # noqa: E731
        for got, want in zip(xjit.jit(function)(x), function(x), strict=True):
            np.testing.assert_array_equal(got, want, strict=True)


def test_python_numbers_out_of_range_raise() -> None:
    x = np.arange(3, dtype=np.uint8)
    for function in (lambda x: x + 300, lambda x: x * -1, lambda x: np.maximum(x, 256), lambda x: 1000 // x):
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            function(x)
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            xjit.jit(function)(x)
    assert xjit.jit(lambda x: (x < 300, x == -1))(x)[0].all()
