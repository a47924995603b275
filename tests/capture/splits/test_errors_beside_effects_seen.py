"""Errors that the run finds beside effects which somebody sees: these happen once, whoever raises the error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.capture.splits.split_calls import printed, split
from xjit import xjit

DRAWS = np.random.default_rng(5)


def place(y: Any) -> Any:
    """A number that only the run knows: 4 where an element is large, else 0."""
    found = 0
    while found < 4 and np.any(y > 2.0):
        found += 1
    return found


def read(x: Any, y: Any) -> Any:
    found = place(y)
    print(np.sum(x))
    return x[found]


def written(x: Any, y: Any) -> Any:
    found = place(y)
    print(np.sum(x))
    x[0] = 5.0
    return x[found]


def drawn(x: Any, y: Any) -> Any:
    found = place(y)
    x[0] = DRAWS.integers(int(abs(x[0]).sum()) % 7 + 1)
    return x[found]


def in_turns(x: Any, y: Any) -> Any:
    found = place(y)
    for i in range(300):
        if i % 100 == 0:
            print(i)
        x[0] += x[found - 1] + x[found if i > 150 else 0]
    return x


def between_texts(x: Any, y: Any) -> Any:
    print("before")
    found = x[place(y)] * 2
    print("behind")
    return found


def of_nobodys(x: Any, y: Any) -> Any:
    print("before")
    x[place(y)]
    print("behind")
    return x + 1


def of_nobodys_at_last(x: Any, y: Any) -> Any:
    print("before")
    x[place(y)]
    return x + 1


def ahead_of_draws(x: Any, y: Any) -> Any:
    first = DRAWS.random()
    found = x[place(y)]
    return found * DRAWS.random() + first


@pytest.mark.parametrize(
    "function", [read, written, drawn, in_turns, between_texts, of_nobodys, of_nobodys_at_last, ahead_of_draws]
)
def test_effects_happen_once(function: Callable[..., Any]) -> None:
    compiled = xjit(function)
    outcomes = []
    with split():
        for tried in (compiled, function):
            DRAWS.bit_generator.state = np.random.default_rng(5).bit_generator.state
            texts = []
            for large in (1.0, 9.0, 1.0):
                x, y = np.array([-1.0, 1.5, 0.5]), np.array([0.5, large])
                texts.append(printed(lambda: _told(tried, x, y), ()))  # noqa: B023
            outcomes.append((texts, DRAWS.bit_generator.state))
    assert outcomes[0] == outcomes[1]


def _told(function: Callable[..., Any], x: Any, y: Any) -> str:
    """The result, or the kind of the error."""
    try:
        return repr(function(x, y))
    except IndexError:
        return "IndexError"
