"""Elements that a mask chooses as the right side of operators in place: the array itself changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.memory.seen_memory import check_calls_like_numpy


def argument(x: Any, z: Any) -> None:
    x += x[z > 0]


def of_a_global(x: Any, z: Any) -> None:
    x *= WEIGHTS[z > 0]


def own(x: Any, z: Any) -> Any:
    y = other = np.zeros(4)
    y -= x[z > 0]
    return y * 1, other * 1


def window(x: Any, z: Any) -> None:
    y = x[1:]
    y //= x[z > 0][:1]


def window_of_the_run(x: Any, z: Any) -> Any:
    y = other = x[: int(z[0]) + 3]
    y += x[z > 0]
    return other * 1


def several(x: Any, z: Any) -> None:
    x //= x[z > 0]
    x **= x[z > 0]
    x -= x[z > 0][::-1]


WEIGHTS = np.arange(4.0)


@pytest.mark.parametrize("function", [argument, of_a_global, own, window, window_of_the_run, several])
def test_arrays_change_in_place(function: Callable[..., Any]) -> None:
    compiled = xjit.jit(function, strict=True)
    for z in ([1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]):

        def make(z: list[float] = z) -> tuple[Any, ...]:
            return np.arange(4.0) + 1, np.array(z)

        check_calls_like_numpy(compiled, make)
