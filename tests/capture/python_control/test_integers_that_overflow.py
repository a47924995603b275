"""Python's integers in loops: within 64 bits the program computes them, beyond these Python does the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import xjit
from xjit.capture.tracers.overflow import products_of


def doubled(n: int) -> Any:
    value = 1
    for _ in range(n):
        value *= 2
    return value


def fibonacci(n: int) -> Any:
    one, other = 0, 1
    for _ in range(n):
        one, other = other, one + other
    return one


def factorial(n: int) -> Any:
    value = 1
    for i in range(2, n + 1):
        value *= i
    return value


def signs(n: int) -> Any:
    value = -1
    for _ in range(n):
        value = value * -3
    return value


def shifted(n: int) -> Any:
    value = 1
    for _ in range(n):
        value = value << 1
    return value, -value, abs(-value)


def squares(n: int) -> Any:
    value, number = 0, n
    for _ in range(40):
        value, number = number**2, number + 1
    return value


def differences(n: int) -> Any:
    value, step = 0, 1
    for _ in range(n):
        value, step = step - value, value - step
    return value, step


def hashed(n: int) -> Any:
    found = 7
    for i in range(n):
        found = (found * 1103515245 + i) % 2147483648
    return found


def hailstones(n: int) -> Any:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def quotients(n: int) -> Any:
    value, total = 1, 0.0
    for _ in range(n):
        value = value * 2 + 1
        total += value / 3
    return total


CASES: list[tuple[Callable[..., Any], tuple[int, ...]]] = [
    (doubled, (62, 63, 64, 200)),
    (fibonacci, (60, 91, 92, 93, 94, 200)),
    (factorial, (15, 20, 21, 40)),
    (signs, (38, 39, 40, 41, 80)),
    (shifted, (61, 62, 63, 64)),
    (squares, (10, 3037000459, 3037000460, 3037000461)),
    (differences, (30, 61, 62, 63, 64, 65, 90)),
    (hashed, (50, 1000)),
    (hailstones, (27, 97)),
    (quotients, (40, 52, 53, 60, 70)),
]


@pytest.mark.parametrize(("function", "numbers"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_integers_are_pythons(function: Callable[..., Any], numbers: tuple[int, ...]) -> None:
    compiled = xjit(strict=True)(function)
    for number in numbers:
        found, wanted = compiled(number), function(number)
        assert (type(found), found) == (type(wanted), wanted)
    assert compiled.stats().fallbacks == 0


def test_arguments_stay_as_python_leaves_them() -> None:
    def powers(out: Any, n: int) -> Any:
        value = 1
        for i in range(n):
            out[i % 50] += 1.0
            value = value * 3 - 1
        return value

    compiled = xjit(strict=True)(powers)
    for n in (30, 38, 80):
        own, given = np.zeros(50), np.zeros(50)
        assert compiled(given, n) == powers(own, n)
        np.testing.assert_array_equal(given, own)


def test_positions_made_of_what_overflows_are_harmless() -> None:
    def chosen(x: Any, n: int) -> Any:
        value, total = 1, 0.0
        for _ in range(n):
            value = value * 5 + 3
            total += x[value % 7]
        return value, total

    x = np.arange(7.0)
    compiled = xjit(strict=True)(chosen)
    for n in (20, 27, 28, 60):
        assert compiled(x, n) == chosen(x, n)


def tripled(value: int, n: int, factor: int) -> Any:
    for _ in range(n):
        value = value * factor
    return value


@pytest.mark.parametrize("factor", [3, -3, -1, 2**20 + 7])
@pytest.mark.parametrize("first", [1, -1, 3, 1000])
def test_products_with_known_numbers_leave_64_bits_where_pythons_do(factor: int, first: int) -> None:
    captured = xjit(lambda value, n: tripled(value, n, factor))
    for n in (2, 30, 38, 39, 40, 41):
        assert captured(first, n) == tripled(first, n, factor)


@pytest.mark.parametrize(
    "factor", [*range(-9, 0), *range(1, 10), 2**62, -(2**62), 2**63 - 1, -(2**63), 2**40 + 7, -(2**40) - 7]
)
def test_the_ends_of_products_that_fit_are_exact(factor: int) -> None:
    least, most = products_of(factor)
    numbers = range(-(2**63), 2**63)
    assert all(one in numbers and one * factor in numbers for one in (least, most))
    assert not any(one in numbers and one * factor in numbers for one in (least - 1, most + 1))


def test_products_with_known_numbers_are_compared_as_integers() -> None:
    captured = xjit(lambda value, n: tripled(value, n, 3))
    assert captured(1, 30) == 3**30
    assert "fabs" not in captured.source(1, 30)
