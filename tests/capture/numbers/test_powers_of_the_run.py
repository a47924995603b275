"""Powers and shifts of integers by integers that only the run tells: Python's numbers, and errors, at any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.capture.numbers.beside_python import check_whole
from xjit import xjit

PAIRS = [
    (3, 4),
    (5, 0),
    (-3, 3),
    (0, 5),
    (2, 62),
    (2, 63),
    (-2, 63),
    (10, 18),
    (10, 19),
    (1, 1000),
    (-1, 1001),
    (3, -2),
    (2**40, 23),
]


def powers(x: Any) -> Any:
    n = int(x[1])
    return 2**n, 10**n, (-1) ** n, (-3) ** n, 0**n, 1**n


def power_of_run(x: Any) -> Any:
    return int(x[0]) ** int(x[1])


def left(x: Any) -> Any:
    return int(x[0]) << int(x[1]), 5 << int(x[1]), -1 << int(x[1])


def right(x: Any) -> Any:
    return int(x[0]) >> int(x[1]), 1000 >> int(x[1]), -7 >> int(x[1])


@pytest.mark.parametrize("function", [powers, power_of_run, left, right])
def test_exponents_of_the_run(function: Any) -> None:
    shifts = function in (left, right)
    check_whole(function, *((np.array(pair),) for pair in PAIRS if not shifts or pair[1] >= 0))


@pytest.mark.parametrize("function", [left, right])
def test_negative_counts_raise(function: Any) -> None:
    compiled = xjit(function, strict=True)
    compiled(np.array([3, 2]))
    with pytest.raises(ValueError, match="negative shift count"):
        compiled(np.array([3, -2]))


def masks(values: Any) -> Any:
    found, total, sign = 0, 0, 0.0
    for v in values:
        found |= 1 << int(v)
        total += 2 ** int(v) - 1
        sign += (-1) ** int(v) * 0.5
    return found, total, sign


def test_powers_in_loops() -> None:
    values = np.random.default_rng(1).integers(0, 9, 200)
    check_whole(masks, (values,), (values[:3] + 50,))


def by_lengths(x: Any) -> Any:
    n = len(x[x > 2])
    return x / 2**n, np.zeros(2**n).shape


def test_powers_of_lengths() -> None:
    check_whole(by_lengths, (np.arange(5.0),), (np.arange(8.0),))


def of_numpys(x: Any) -> Any:
    return x**x, 2**x, x[0] ** x[1], (-1) ** x


def test_powers_of_arrays_of_integers() -> None:
    check_whole(of_numpys, (np.array([3, 4]),), (np.array([0, 70]),))
    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        xjit(of_numpys, strict=True)(np.array([3, -1]))
