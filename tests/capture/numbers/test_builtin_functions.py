"""Builtin functions of values that only the run tells, beside Python's: types, NaN, zeros, order and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.numbers.beside_python import check_whole
from tests.capture.splits.split_calls import check_split
from xjit.errors import CaptureError

NAN = np.nan
LINES = [
    np.array(values)
    for values in (
        [3.0, 1.0, 2.5, -4.0],
        [NAN, 1.0, 2.0, 0.5],
        [1.0, NAN, 2.0, NAN],
        [-0.0, 0.0, -0.0, -1.0],
        [0.0, -0.0, 5.0, 5.0],
        [-np.inf, NAN, -np.inf, NAN],
    )
]
INTEGERS = [np.array([3, 1, 2, -4]), np.array([7, 7, 5, 1])]
CALLS = [(line,) for line in LINES]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (min(x), max(x)),
        lambda x: (min(x[0], x[1]), max(x[0], x[1], x[2])),
        lambda x: max(x, key=lambda v: -v),
        lambda x: min([x[0], x[1], x[2]], key=lambda v: abs(v)),
        lambda x: max(x, default=7),
        lambda x: (all(x), any(x), all(v > 0 for v in x), any(v > 2 for v in x)),
        lambda x: all([x[0] > 1, True, x[1] > 1]) or any([False, x[2] > 2]),
        lambda x: (round(x.sum(), 1), abs(x[3]), divmod(x[0], 2), pow(x[1], 2), sum(x)),
    ],
)
def test_floats(function: Any) -> None:
    check_whole(function, *CALLS)
    check_whole(function, *((line.astype(np.float32),) for line in LINES))


def test_numbers_of_python_among_floats() -> None:
    check_whole(lambda x: (max(x[0], 2.0), min(2.0, x[1]), max(0.0, x[2]), min(x[0], x[1], 4.0)), *CALLS)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (min(x), max(x), sorted(x), sorted(x, reverse=True)),
        lambda x: (all(x), any(x), all(v > 0 for v in x), sum(x)),
        lambda x: (round(x[0]), round(x[1], -1), abs(x[3]), max(x, key=lambda v: v % 3)),
        lambda x: (x[0].item() + 1, x.item(2), int(x[3]), float(x[1]), bool(x[0]), complex(x[1])),
        lambda x: sorted([int(v) for v in x]),
    ],
)
def test_integers(function: Any) -> None:
    check_whole(function, *((line,) for line in INTEGERS))
    check_whole(function, *((line.astype(np.int8),) for line in INTEGERS))


def test_truth_values() -> None:
    lines = [(np.array(line),) for line in ([True, False], [True, True], [False, False])]
    check_whole(lambda x: (min(x), max(x), all(x), any(x), sum(x), x[0].item(), int(x[1])), *lines)


def test_nothing_at_all() -> None:
    check_whole(lambda x: (all(x), any(x), sum(x), sorted(x), max(x, default=3)), (np.zeros(0),))
    check_whole(lambda x: max(x), (np.zeros(0),))


def test_orders_keep_equal_elements_as_they_are() -> None:
    zeros = (np.array([0.0, -0.0, 1.0, -0.0, 0.0, -1.0]),)
    check_whole(lambda x: sorted(x), zeros)
    check_whole(lambda x: sorted(x, reverse=True), zeros)
    check_whole(lambda x: sorted(x, key=lambda v: -v), zeros)
    check_whole(lambda x: sorted([x[5], x[2], x[0]]), zeros)


def test_python_orders_what_nan_is_among() -> None:
    compiled = xjit.jit(lambda x: sorted(x))
    for line in LINES:
        assert repr(compiled(line)) == repr(sorted(line))
    assert compiled.stats().traces == 1


def test_extremes_of_two_types_are_steps() -> None:
    check_split(lambda x: max(x[0], 0.5), np.array([3, 1]))
    check_split(lambda x: max(x[0], 0.5), np.array([-3, 1]))


def test_the_text_of_refusals() -> None:
    with pytest.raises(CaptureError, match="numbers of several types are put in an order"):
        xjit.jit(lambda x, n: sorted([x[0], n[0]]), strict=True)(np.ones(2), np.array([1, 2]))
    with pytest.raises(CaptureError, match="a list of 100 numbers in an order"):
        xjit.jit(lambda x: sorted((*x,)), strict=True)(np.ones(100))


def test_what_has_effects_is_no_truth_of_several() -> None:
    def shown(value: Any) -> Any:
        print(value)
        return value > 0

    check_split(lambda x: [all([shown(x[0]), shown(x[1])]), x * 2][1], np.array([1.0, -1.0]))


MAPPED = (
    lambda x: list(map(float, x[:3])),
    lambda x: tuple(map(int, x * 10)),
    lambda x: list(map(bool, x)),
    lambda x: max(map(np.square, x)),
    lambda x: min(v * v for v in x),
    lambda x: sorted(map(abs, x)),
    lambda x: sum(map(np.square, x)),
    lambda x: x * sum(map(int, ["1", "2", "3"])),
)


@pytest.mark.parametrize("function", MAPPED)
def test_map_converts_what_only_the_run_tells(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    for line in (np.array([0.5, -2.25, 0.0, 3.0]), np.array([-1.5, -2.0, 7.0, 0.25])):
        assert repr(compiled(line)) == repr(function(line))
