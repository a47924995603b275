"""Results that show other results, behind loops and branches and of arrays without elements of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.capture.memory.seen_memory import check_like_numpy
from tests.capture.memory.test_moving_views import seen
from xjit import jit

G = np.arange(4.0)


def halved_by_columns(x: Any) -> Any:
    largest, turns = 1.0, 0
    while largest > 0.01 and turns < 5:
        y = x * 0.5
        largest = y.max()
        turns += 1
    return np.diagonal(y), y, y[1]


def perhaps_the_argument(x: Any) -> Any:
    y = x
    while y[0, 1] > 0.5:
        y = y * 0.5
    return y[1], y, y.reshape(-1)


def perhaps_a_global(x: Any) -> Any:
    y = G + 2
    if x[0, 0] > 0.4:
        y = G
    return y.reshape(-1), y, y[:]


def one_element(x: Any) -> Any:
    y = x[0, :1] + 1.0
    y[0] = -1.0
    return y, y[None]


def stored_through_out(x: Any) -> Any:
    y = x[0, :1] * 0.5
    return y, np.subtract(0.125, 6, y[None].real)


def zeros_of_parts(x: Any) -> Any:
    imaginary = x.imag
    return imaginary[None], imaginary


def repeated_number(x: Any) -> Any:
    return np.full(3, x[0, 0])[:], np.zeros((2, 3))[1]


def turned_in_turns_of_turns(x: Any) -> Any:
    y = x
    for _ in range(60):
        for _ in range(60):
            y = y.T
    return y


def reversed_in_turns_of_turns(x: Any) -> Any:
    y = x
    for _ in range(61):
        for _ in range(61):
            y = y[::-1]
    return x, y


def the_argument_unless_a_turn_of_a_turn_is_taken(x: Any) -> Any:
    y, n = x, 0
    while n < 40:
        while y[0, 0] > 0.5:
            y = y * 0.5
        n += 1
    return y


FUNCTIONS: list[Callable[..., Any]] = [
    *(halved_by_columns, perhaps_the_argument, perhaps_a_global, one_element, stored_through_out, zeros_of_parts),
    *(repeated_number, turned_in_turns_of_turns, reversed_in_turns_of_turns),
    the_argument_unless_a_turn_of_a_turn_is_taken,
]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::xjit.errors.FallbackWarning")
def test_results_share_memory_as_numpys(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], seed: int, order: Any
) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")

    def make() -> tuple[Any, ...]:
        return (np.array(np.random.default_rng(seed).random((3, 4)), order=order),)

    check_like_numpy(function, make, strict=False)


def test_views_of_what_may_be_an_argument_stay_compiled() -> None:
    def chosen(x: Any) -> Any:
        y = x
        while y[0] > 0.5:
            y = y * 0.5
        return y[1:], y

    compiled = jit(chosen, strict=True)
    for first in (0.25, 0.75):
        x = np.array([first, 1.0, 2.0])
        assert seen(x, compiled(x)) == seen(x, chosen(x))


def test_elements_chosen_of_nothing_are_an_array_of_their_own() -> None:
    def chosen(x: Any) -> Any:
        return np.compress(x.ravel() > 1, x), np.setdiff1d(x, x)

    x = np.zeros(0)
    x.flags.writeable = False
    for one in jit(chosen, strict=True)(x):
        assert one is not x
        assert one.flags.writeable
