"""Positions as numbers of elements in order: NumPy's results, types, memory order and errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import xjit
from xjit.errors import ArgumentError, CaptureError, DTypeError

NUMBERS = np.array([[0, 5, 23], [7, 11, 2]])
SHAPES = [(2, 3, 4), (24,), (4, 6), (24, 1), (1, 2, 3, 4)]


def assert_same(result: Any, expected: Any) -> None:
    assert type(result) is type(expected)
    if isinstance(expected, tuple):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            assert_same(one, other)
        return
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)
    if isinstance(expected, np.ndarray):
        order = np.argsort(result.strides), np.argsort(expected.strides)
        np.testing.assert_array_equal(*order)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int16, np.uint64])
def test_positions_of_numbers(shape: tuple[int, ...], order: Any, dtype: Any) -> None:
    def there_and_back(i: Any) -> Any:
        found = np.unravel_index(i, shape, order)
        return found, np.ravel_multi_index(found, shape, order=order), np.ravel_multi_index(found, shape)

    function = xjit.jit(there_and_back)
    for numbers in (NUMBERS, np.asfortranarray(NUMBERS), NUMBERS[:, ::-2], NUMBERS[0, :0], NUMBERS[1, 2]):
        assert_same(function(numbers.astype(dtype)), there_and_back(numbers.astype(dtype)))


def test_the_place_of_an_extreme() -> None:
    def brightest(image: Any) -> Any:
        row, column = np.unravel_index(image.argmax(), image.shape)
        return row, column, image[row, column], image - image[row, column]

    image = np.random.default_rng(0).normal(size=(300, 200))
    assert_same(xjit.jit(brightest)(image), brightest(image))


@pytest.mark.parametrize("modes", [*itertools.product(("wrap", "clip"), repeat=2), "wrap", "clip"])
def test_positions_out_of_range(modes: Any) -> None:
    rows, columns = np.arange(-7, 9), np.arange(9, -7, -1, dtype=np.int8)
    function = lambda i, j: np.ravel_multi_index((i, j), (3, 5), mode=modes)  # noqa: E731
    assert_same(xjit.jit(function)(rows, columns), function(rows, columns))
    assert_same(xjit.jit(function)(rows[:, None], columns), function(rows[:, None], columns))


@pytest.mark.parametrize("wrong", [-1, 24, 1000])
def test_numbers_out_of_range(wrong: int) -> None:
    function = xjit.jit(lambda i: np.unravel_index(i, (4, 6))[0] + 1)
    numbers = NUMBERS.copy()
    function(numbers)
    numbers[1, 1] = wrong
    with pytest.raises(ArgumentError, match="out of bounds for array with size 24"):
        function(numbers)


@pytest.mark.parametrize("wrong", [(-1, 0), (4, 0), (0, 6), (0, -1)])
def test_coordinates_out_of_range(wrong: tuple[int, int]) -> None:
    function = xjit.jit(lambda i, j: np.ravel_multi_index((i, j), (4, 6)))
    rows, columns = np.array([1, wrong[0]]), np.array([2, wrong[1]])
    with pytest.raises(ArgumentError, match="invalid entry in coordinates array"):
        function(rows, columns)


def test_errors_while_tracing() -> None:
    cases: list[tuple[type[Exception], Any]] = [
        (DTypeError, lambda i: np.unravel_index(i * 0.5, (4, 6))),
        (DTypeError, lambda i: np.ravel_multi_index((i, i * 0.5), (4, 6))),
        (ArgumentError, lambda i: np.ravel_multi_index((i,), (4, 6))),
        (ArgumentError, lambda i: np.ravel_multi_index((i, i), (4, 6), mode="mirror")),
        (ArgumentError, lambda i: np.unravel_index(i, (4, 6), order="K")),
        (CaptureError, lambda i: np.unravel_index(i.sum(), ())),
        (ArgumentError, lambda i: np.unravel_index(i, ())),
    ]
    for kind, function in cases:
        with pytest.raises(kind):
            xjit.jit(function, strict=True)(NUMBERS)


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("shape", [(2, 1, 0), (0, 3), (0,)])
def test_arrays_without_elements_have_no_positions(shape: tuple[int, ...], mode: Any) -> None:
    function = xjit.jit(lambda *positions: np.ravel_multi_index(positions, shape, mode=mode))
    assert function(*(np.zeros((4, 0), int) for _ in shape)).shape == (4, 0)
    with pytest.raises(ValueError, match="zero entries"):
        function(*(np.zeros(3, int) for _ in shape))


def test_positions_that_meet_no_others_are_not_looked_at() -> None:
    function = xjit.jit(lambda i, j: np.ravel_multi_index((i, j), (3, 4)))
    assert function(np.zeros((0, 1), int), np.array([[7, -9]])).shape == (0, 2)
    with pytest.raises(ArgumentError, match="invalid entry"):
        function(np.zeros((1, 1), int), np.array([[7, -9]]))
