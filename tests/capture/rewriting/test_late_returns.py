"""Returns in loops of arrays that these write to, and of views that one arm has: they stay the arrays they are."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import FallbackWarning


def until_small(x: Any) -> Any:
    while True:
        x *= 0.5
        if x.max() < 0.1:
            return x


def with_turns(x: Any) -> Any:
    for turn in range(100):
        x *= 0.5
        if x.max() < 0.1:
            return x, turn
    return x, 100


def or_error(x: Any) -> Any:
    for turn in range(3):
        x *= 0.5
        if x.max() < 0.1:
            return x, turn
    raise RuntimeError(f"{x.max():.3f} is left")


def view_of_an_argument(x: Any) -> Any:
    inner = x[1:-1]
    while True:
        inner *= 0.5
        if inner.max() < 0.1:
            return inner


def view_made_at_the_end(x: Any) -> Any:
    for turn in range(100):
        x *= 0.5
        if x.max() < 0.1:
            return x[1:], turn
    return None


def out_of_two_loops(x: Any) -> Any:
    while True:
        for k in range(3):
            x[k] *= 0.5
            if x[k] < 0.05:
                return x, k
        x[1:] -= 0.01
        if x[5] < -3:
            return x[::2], "far"


def arguments_in_turn(x: Any, y: Any) -> Any:
    for turn in range(60):
        x, y = y, x
        x *= 0.9
        y -= 0.1
        if x.max() < 0.1 and turn % 2:
            return x, y, turn
    return None


def in_a_try(x: Any) -> Any:
    try:
        turn = 0
        rows = x.reshape(3, 4)
        while True:
            rows[turn % 3, turn % 4] *= 0.5
            turn += 1
            if np.abs(x).max() < 0.2:
                return turn, rows
            if turn > 40:
                raise ValueError("many turns")
    except ValueError as error:
        return str(error)
    finally:
        x[0] = -1


def optional_view(x: Any) -> Any:
    part = x[1:4] if x[0] > 0 else None
    x[2] = 77
    return part


def written_through_a_view(x: Any) -> Any:
    if x[0] > 0:
        part = x[1:]
        part[0] = 5
        return part
    x[0] = 9
    return None


WHOLE = (
    until_small,
    with_turns,
    view_of_an_argument,
    arguments_in_turn,
    in_a_try,
    optional_view,
    written_through_a_view,
)


def arguments(function: Any, sign: float) -> list[Any]:
    values = sign * np.abs(np.random.default_rng(4).normal(size=12)) - 0.01
    return [values, -values][: function.__code__.co_argcount]


def shared(result: Any, given: list[Any]) -> list[bool]:
    parts = result if isinstance(result, tuple) else (result,)
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    return [part is one or np.shares_memory(part, one) for part in arrays for one in given]


def behaviour(function: Any, given: list[Any]) -> Any:
    try:
        result = function(*given)
    except RuntimeError as error:
        return str(error), given
    return result, shared(result, given), given


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "function", [*WHOLE, or_error, view_made_at_the_end, out_of_two_loops], ids=lambda f: f.__name__
)
def test_returns_what_python_returns(function: Any, sign: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XJIT_STRICT", "0")
    given = arguments(function, sign)
    expected = behaviour(function, copy.deepcopy(given))
    compiled = xjit.jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for _ in range(2):
            np.testing.assert_equal(behaviour(compiled, copy.deepcopy(given)), expected)


@pytest.mark.filterwarnings("error::xjit.errors.FallbackWarning")
@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_is_compiled_whole(function: Any) -> None:
    compiled = xjit.jit(function, strict=True)
    compiled(*arguments(function, 1.0))
    assert compiled.stats().traces == 1
    assert compiled.stats().fallbacks == 0


def test_many_turns_are_one_loop() -> None:
    """The loop that a return leaves is not written out where it can be one of the graph with the return behind it."""
    compiled = xjit.jit(with_turns)
    given = arguments(with_turns, 1.0)
    compiled(*given)
    assert len(compiled.graph(*given).splitlines()) < 60
