"""Conversions to numbers of Python's, and arithmetic with these, beside Python's own."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole, described, outcome
from tests.capture.splits.split_calls import check_split, split

VALUES = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.5, 1e15, 1e16 + 2, 1e17, -1e300, 5e-324, math.inf, -math.inf, math.nan]


NUMBERS = [0.0, 1.0, 4.0, -4.0, 0.25, -2.0, 1e300, math.inf, -math.inf, math.nan]
PAIRS = [(np.array([v, w]),) for v in NUMBERS for w in NUMBERS]


def arrays(values: Any, dtype: Any = np.float64) -> Any:
    return [(np.array([value], dtype),) for value in values]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: int(x[0]),
        lambda x: round(x[0]),
        lambda x: round(float(x[0])),
        lambda x: (x[0].item(), x.item(), x.item(0), float(x[0]), bool(x[0]), complex(x[0])),
        lambda x: (round(float(x[0]), 0), round(x[0], 0), round(float(x[0]), 3)),
    ],
)
def test_conversions(function: Any) -> None:
    check_whole(function, *arrays(VALUES))


def test_integers_that_python_holds() -> None:
    check_whole(lambda x: (int(x[0]), x[0].item()), *arrays([0, 5, 2**63 - 1, 2**63, 2**64 - 1], np.uint64))
    check_whole(lambda x: (x.item() * 3 - 1, round(x[0])), *arrays([2**62, -(2**63), 7], np.int64))


def test_complex_numbers() -> None:
    check_whole(
        lambda x: (x[0].item(), complex(x[0]) * 2), (np.array([1.5 - 2j]),), (np.array([1 + 0j], np.complex64),)
    )


@pytest.mark.parametrize("digits", [0, 1, 2, 5, 15, 22])
def test_decimal_digits_of_floats(digits: int) -> None:
    source = random.Random(digits)
    values = [source.uniform(-1, 1) * 10.0 ** source.randint(-8, 18) for _ in range(2000)]
    values += [(2 * source.randrange(10**6) + 1) / 2.0 ** source.randint(1, 12) for _ in range(2000)]  # many ties
    values += [round(source.uniform(0, 1000), digits) + 0.5 * 10.0**-digits for _ in range(2000)]  # nearly ties
    values += [2.0**power for power in range(-60, 60)] + VALUES
    x = np.array(values)

    def function(x: Any) -> Any:
        found = np.zeros(len(x))
        for place in range(len(x)):
            found[place] = round(float(x[place]), digits)
        return found

    found = xjit.jit(function, strict=True)(x)
    assert described(found) == described(np.array([round(value, digits) for value in values]))


def test_other_digits_are_a_step() -> None:
    check_split(lambda x: round(float(x[0]), -2) + round(int(x[1]), -1), np.array([1234.5, 16.0]))


@pytest.mark.parametrize(
    "function",
    [
        lambda v, w: (v // w, v % w, divmod(v, w), v / w),
        lambda v, w: (v // 2, v % 2, divmod(v, 2.0), 3 / w, -v, abs(w), v * 2, 2 - w, divmod(7, w)),
    ],
)
def test_arithmetic_of_floats(function: Any) -> None:
    check_whole(lambda x: function(float(x[0]), float(x[1])), *PAIRS)


@pytest.mark.parametrize(
    "function",
    [
        lambda v, w: v**2 + v**3,
        lambda v, w: v**0.5,
        lambda v, w: v**w,
        lambda v, w: 2**w,
        lambda v, w: v**-1,
    ],
)
def test_powers_of_floats(function: Any) -> None:
    def of_elements(x: Any) -> Any:
        return function(float(x[0]), float(x[1]))

    compiled = xjit.jit(of_elements, strict=True)
    for arguments in PAIRS:
        found, wanted = outcome(compiled, arguments), outcome(of_elements, arguments)
        assert found[0] is wanted[0]
        if wanted[0] is float:
            np.testing.assert_allclose(compiled(*arguments), of_elements(*arguments), rtol=1e-15)
        else:
            assert found == wanted


@pytest.mark.parametrize(
    "function",
    [
        lambda v, w: (v // w, v % w, divmod(v, w), v / w),
        lambda v, w: (v // 3, v % -3, divmod(v, 3), 7 // w, v / 4, 7 / w),
    ],
)
def test_arithmetic_of_integers(function: Any) -> None:
    numbers = [0, 1, -1, 5, -7, 2**40]
    calls = [(np.array([v, w]),) for v in numbers for w in numbers]
    check_whole(lambda x: function(int(x[0]), int(x[1])), *calls)
    check_whole(lambda x: int(x[0]) // int(x[1]), (np.array([-(2**63), -1]),))


def test_division_by_a_zero_that_is_known() -> None:
    check_whole(lambda x: float(x[0]) / 0, (np.ones(1),))
    check_whole(lambda x: int(x[0]) % 0, (np.ones(1, int),))


def test_powers_that_turn_complex_end_loops() -> None:
    def function(x: Any) -> Any:
        total = 0.0
        for value in x:
            total = total + float(value) ** 0.5
        return total

    x = np.arange(400.0)
    compiled = xjit.jit(function, strict=True)
    assert compiled(x) == function(x)
    assert compiled(x - 2) == function(x - 2)  # by Python


def test_integers_are_errors_beside_effects() -> None:
    def function(x: Any) -> Any:
        print("once")
        return int(x[0])

    compiled = check_split(function, np.array([4.0]))
    with split(), pytest.raises(ValueError, match="leaves 53 bits"):
        compiled(np.array([math.nan]))


@pytest.mark.parametrize("numbers", [np.array([1.0, 1e300, math.nan]), np.array([1, 2**63 + 5, 3], np.uint64)])
def test_what_follows_a_conversion_that_fails_is_harmless(numbers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    monkeypatch.setenv("XJIT_DEBUG", "1")

    def function(x: Any, y: Any) -> Any:
        return x[int(y[0]) // 2**62 + 1]

    compiled, x = xjit.jit(function), np.arange(5.0)
    for number in numbers:
        y = np.array([number])
        assert outcome(compiled, (x, y)) == outcome(function, (x, y)), number
