"""Results that are views of arrays that the function writes to, or of places that only the run tells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xjit
from tests.capture.memory.seen_memory import check_like_numpy


def rows_exchanged(x: Any) -> Any:
    x[1], x[0] = x[0], x[-1, -1]
    return x[1]


def one_number_everywhere(x: Any) -> Any:
    x[...] = x[0, 0]
    return x.ravel(), x.T[1:]


def all_replaced(x: Any) -> Any:
    x[...] = x[::-1].copy()
    return x[0], x[0] + 1


def views_in_a_loop(x: Any) -> Any:
    for i in range(2):
        x[i] = x[1] * 2
    return x[1], x[:, 0]


def stored_when_all_is_read(x: Any) -> Any:
    x[0], x[0] = x[0], x[0]
    return x[1:], np.broadcast_to(x, (2, *x.shape))


@pytest.mark.parametrize(
    "function", [stored_when_all_is_read, rows_exchanged, one_number_everywhere, all_replaced, views_in_a_loop]
)
def test_views_of_written_arguments_stay_views(function: Any) -> None:
    mine, numpys = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    got, expected = xjit.jit(function, strict=True)(mine), function(numpys)
    for one, other in zip(_tuple(got), _tuple(expected), strict=True):
        assert np.array_equal(one, other)
        assert one.strides == other.strides
        assert np.shares_memory(one, mine) == np.shares_memory(other, numpys)
    assert np.array_equal(mine, numpys)


def _tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("order", ["C", "F"])
def test_views_of_copies_are_made_before_the_write(order: Any) -> None:
    def kept(x: Any) -> Any:
        line, turned = x.flatten()[None], x.T.flatten()[::-1]
        x[0] = 0.5
        return line, turned, x.reshape(-1).copy().reshape(3, 2)

    def make() -> tuple[Any, ...]:
        return (np.array(np.arange(6.0).reshape(2, 3), order=order),)

    check_like_numpy(kept, make, strict=True)


def row_at(x: Any) -> Any:
    return x[int(x[0, 0])]


def test_a_view_at_a_place_that_the_run_tells_is_no_copy() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert np.shares_memory(xjit.jit(row_at, strict=True)(x), x)


def test_a_copy_at_a_place_that_the_run_tells_compiles() -> None:
    def row(x: Any) -> Any:
        return x[int(x[0, 1])].copy()

    x = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(xjit.jit(row, strict=True)(x), x[1])


def test_two_views_of_one_place_are_two_arrays() -> None:
    def views(x: Any) -> Any:
        return x[2::-1], x[5::-1], x.T, x.T

    x = np.arange(3.0)
    one, other, third, fourth = xjit.jit(views, strict=True)(x)
    assert len({id(view) for view in (one, other, third, fourth)}) == 4
    one[0] = 7.0
    assert x[2] == other[0] == third[2] == 7.0


def test_views_of_copies_that_need_no_move_are_not_views_of_arguments() -> None:
    x = np.arange(12.0).reshape(3, 4)
    for copy in (lambda x: x.flatten(), lambda x: np.roll(x, 0), lambda x: np.full_like(x, x), np.array):
        for part in (lambda y: y[1:], lambda y: y[None], lambda y: y.T):

            def function(x: Any, copy: Any = copy, part: Any = part) -> Any:
                return part(copy(x))

            found = xjit.jit(function, strict=True)(x)
            assert np.array_equal(found, function(x)) and not np.shares_memory(found, x)


def copies_and_views(x: Any) -> Any:
    one, other = x.copy(), x.flatten()
    return one[1:], one, other, other[None], x


def views_of_zeros(x: Any) -> Any:
    y, z = np.zeros(4), np.zeros(4)
    return y[1:], y, z.reshape(2, 2), z, y.view()


def views_of_zeros_that_are_written(x: Any) -> Any:
    y = np.zeros(4)
    part = y[1:]
    y[2] = x[0, 0] + 5
    return part, y


def parts_of_constants(x: Any) -> Any:
    return np.ones((2, 3)).diagonal(), np.ones((2, 3)).imag, np.broadcast_to(x, x.shape), x.squeeze()


@pytest.mark.parametrize(
    "function", [copies_and_views, views_of_zeros, views_of_zeros_that_are_written, parts_of_constants]
)
def test_results_share_memory_with_each_other_as_in_numpy(function: Any) -> None:
    check_like_numpy(function, lambda: (np.arange(12.0).reshape(3, 4),), strict=True)
