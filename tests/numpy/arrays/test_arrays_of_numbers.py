"""Arrays that NumPy makes of numbers, and of lines that lie in every order: memory of their own, or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.capture.memory.seen_memory import check_like_numpy
from xjit import jit

OF_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "atleast_1d": np.atleast_1d,
    "atleast_2d": np.atleast_2d,
    "ascontiguousarray": np.ascontiguousarray,
    "asfortranarray": np.asfortranarray,
    "ravel": np.ravel,
    "reshape": lambda one: one.reshape(1, 1),
    "expand_dims": lambda one: np.expand_dims(one, 0),
    "new axis": lambda one: one[None],
    "ellipsis": lambda one: one[...],
    "method": lambda one: one.ravel(),
}
IN_EVERY_ORDER: dict[str, Callable[[Any], Any]] = {
    "asfortranarray": np.asfortranarray,
    "ascontiguousarray": np.ascontiguousarray,
    "array": lambda one: np.array(one, copy=None, order="F"),
    "asarray": lambda one: np.asarray(one, order="C"),
}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_arrays_of_numbers_are_memory_of_their_own(name: str) -> None:
    def function(x: Any) -> Any:
        of_an_element, of_a_sum = x[1], x.sum()
        one, other = OF_NUMBERS[name](of_an_element), OF_NUMBERS[name](of_a_sum)
        one[...] = -1.0
        other += 1.0
        return one, other, of_an_element, of_a_sum, x

    check_like_numpy(function, lambda: (np.arange(1.0, 4.0),), strict=True)


@pytest.mark.parametrize("shape", [(4, 1), (1, 4), (1, 3, 1), (3, 2)])
@pytest.mark.parametrize("name", IN_EVERY_ORDER)
def test_lines_lie_in_both_orders(name: str, shape: tuple[int, ...]) -> None:
    def function(x: Any) -> Any:
        same, computed = IN_EVERY_ORDER[name](x), x * 2
        other = IN_EVERY_ORDER[name](computed)
        same[0] = 5.0
        other[0] = 6.0
        return same, computed, other

    check_like_numpy(function, lambda: (np.arange(float(np.prod(shape))).reshape(shape),), strict=True)


@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (2, 3)])
def test_diagonals_are_read_only(shape: tuple[int, int]) -> None:
    def line(x: Any) -> Any:
        return np.diagonal(x), np.atleast_2d(x.diagonal())

    def is_sorted(x: Any) -> None:
        x.diagonal().sort()

    def is_written(x: Any) -> None:
        np.diagonal(x)[0] = 1.0

    check_like_numpy(line, lambda: (np.ones(shape),), strict=True)
    for function in (is_sorted, is_written):
        with pytest.raises(ValueError, match="read-only"):
            function(np.ones(shape))
        with pytest.raises(ValueError, match="read-only"):
            jit(function, strict=True)(np.ones(shape))
