"""Complex numbers of Python's that only the run tells: which of them Python makes, and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.capture.numbers.beside_python import check_whole, outcome
from xjit import xjit

CALLS = [(np.array([0.5, -1.25, 3.0]),), (np.array([-0.5, 2.0, 0.25]),)]


def summed(x: Any) -> Any:
    total = 0j
    for value in x:
        total += value
    return total


def branched(x: Any) -> Any:
    z = 1j + x[0] if x[0] > 0 else 1j * x[1]
    return z, z * x


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (1j + x[0], x[0] + 1j, 1j - x[0], 1j * x[0], 1j / x[0], x[0] / 1j),
        lambda x: (1j * float(x[0]) + x[1], x[1] * (1j * float(x[0])), 1j * float(x[0]) + np.float64(2.5)),
        lambda x: (1j * x[0].astype(np.float32), 1j + (x * 4).astype(int)[0]),
        lambda x: (1j + x[:1], 1j * x, 1j * np.array(x[0]) + x[0]),
        lambda x: (x[0] * 1j == 2j, (1j * x[0]) == 2j, (1j * x[0]) != x[0]),
        lambda x: ((1j + x[0]).real, (1j + x[0]).imag, (1j + x[0]).conjugate(), abs(1j + x[0])),
        lambda x: (float(x[0]).real, float(x[0]).imag, float(x[0]).conjugate(), x[0].real, x[0].conjugate()),
        summed,
        branched,
    ],
)
def test_who_makes_a_complex_number(function: Any) -> None:
    check_whole(function, *CALLS)


def test_a_complex_argument_is_pythons() -> None:
    check_whole(lambda x, z: (z + x[0], x[0] + z, z * z, (z + x[1]).real), *[(*one, 0.5j) for one in CALLS])


@pytest.mark.parametrize("function", [lambda x: 1j / x[0], lambda x: 1j / float(x[0]), lambda x: (x[1] * 1j) / x[0]])
def test_divisions_by_zero_raise_pythons_error(function: Any) -> None:
    compiled = xjit(function)
    for x in (np.array([2.0, 1.0]), np.array([0.0, 1.0]), np.array([4.0, 3.0])):
        assert outcome(compiled, (x,)) == outcome(function, (x,))


def test_powers() -> None:
    def powers(x: Any) -> Any:
        return 1j ** x[0], x[0] ** 1j, (x[0] * 1j) ** 2, (1j * x[0]) ** 2, (1j * x[0]) ** -1

    for (x,) in CALLS:
        found, wanted = xjit(powers, strict=True)(x), powers(x)
        assert list(map(type, found)) == list(map(type, wanted))
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_a_power_that_divides_by_zero_raises_pythons_error() -> None:
    compiled = xjit(lambda x: (1j * x[0]) ** -1)
    for x in (np.array([2.0]), np.array([0.0])):
        assert outcome(compiled, (x,)) == outcome(lambda x: (1j * x[0]) ** -1, (x,))
