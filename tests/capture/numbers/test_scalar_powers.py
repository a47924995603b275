"""Powers of numbers, whose operator is C's pow, where NumPy's function of arrays takes a root."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.capture.numbers.beside_python import check_whole

EDGES = (-0.0, 0.0, -np.inf, np.inf, np.nan, 2.0)


def of_an_element(x: Any, p: Any) -> Any:
    return x[0] ** 0.5, x.min() ** 0.5, pow(x[0], 0.5), x[0] ** (1 / 2)


def of_arrays(x: Any, p: Any) -> Any:
    return x**0.5, np.power(x, 0.5), np.power(x[0], 0.5), x[:1] ** 0.5, x[0] ** x


def in_a_loop(x: Any, p: Any) -> Any:
    roots = np.zeros(len(x))
    for i in range(len(x)):
        roots[i] = x[i] ** 0.5
    return roots, [v**0.5 for v in x]


def of_any_exponent(x: Any, p: Any) -> Any:
    return x[0] ** p, x[1] ** p


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("function", [of_an_element, of_arrays, in_a_loop, of_any_exponent])
def test_roots_of_numbers(function: Any, dtype: Any) -> None:
    calls = [(np.full(3, edge, dtype), p) for edge in EDGES for p in (0.5, 0.25)]
    check_whole(function, *calls)


def test_roots_of_pythons_numbers() -> None:
    def root(s: Any) -> Any:
        return s**0.5, (s * 2.0) ** 0.5

    check_whole(root, *((edge,) for edge in (-0.0, 0.0, np.inf, 2.0)))


def test_roots_of_numbers_in_doubt() -> None:
    def root(x: Any, n: int) -> Any:
        s = 0.0
        for v in x[:n]:
            s = v
        return s**0.5

    check_whole(root, *((np.full(3, edge), n) for edge in (-0.0, -np.inf, 2.0) for n in (0, 2)))
