"""Short loops that are unrolled, and those that are loops of the graph: by the memory that their turns move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xjit import xjit

TURNS = 40
LARGE, SMALL = (300, 400), (20, 30)


def escapes(c: Any) -> Any:
    x, steps = np.zeros(c.shape), np.zeros(c.shape, np.int32)
    for _ in range(TURNS):
        inside = x * x <= 4.0
        steps = steps + inside
        x = np.where(inside, x * x + c, x)
    return steps


def grown(c: Any) -> Any:
    x = c.copy()
    for k in range(TURNS):
        x += 0.25 * x * (1.0 - x) / (1.0 + k * x * x)
    return x


def smoothed(c: Any) -> Any:
    for _ in range(TURNS):
        c = 0.5 * c + 0.125 * (np.roll(c, 1, 0) + np.roll(c, -1, 0) + np.roll(c, 1, 1) + np.roll(c, -1, 1))
    return c


def centred(c: Any) -> Any:
    for _ in range(TURNS):
        c = c - c.mean() + 0.1 * c * c * c - 0.2 * c * c
    return c


def shuffled(c: Any) -> Any:
    x = np.arange(float(c.size)).reshape(c.shape)
    for _ in range(TURNS):
        x = x[::-1] + c * 0.5 - x * x * 0.25 + c * x
    return x


def has_loop(function: Callable[..., Any], shape: tuple[int, ...]) -> bool:
    argument = np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape)
    compiled = xjit(function, strict=True)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(compiled(argument.copy()), function(argument.copy()), rtol=1e-10)
    return "while_loop" in str(compiled.explain(argument))


@pytest.mark.parametrize("function", [escapes, grown])
def test_turns_that_fuse_are_unrolled_where_that_saves_memory_traffic(function: Callable[..., Any]) -> None:
    assert not has_loop(function, LARGE)
    assert has_loop(function, SMALL)


@pytest.mark.parametrize("function", [smoothed, centred, shuffled])
def test_turns_that_read_other_elements_are_turns_of_a_loop(function: Callable[..., Any]) -> None:
    assert has_loop(function, LARGE)


def test_many_turns_are_turns_of_a_loop() -> None:
    def many(c: Any) -> Any:
        x = c
        for k in range(5000):
            x = x * 0.5 + k
        return x

    assert has_loop(many, LARGE)
