"""Cases of windows and positions whose places and numbers are operands: sums of what is read, what is replaced."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases.cases_shape import numbered
from tests.helpers.harness import Case
from xjit import ops
from xjit.ops.dynamic.limited_places import store_at
from xjit.ops.dynamic.limited_windows import Range, bound_of, limited_window, store_window

Place = tuple[int, int, int]
"""The start, the step and the count along an axis."""


def ranges_of(places: tuple[Place, ...], shape: tuple[int, ...], numbers: tuple[Any, ...]) -> list[Range]:
    """Ranges along all axes, whose starts and counts are operands."""
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    rows = zip(places, shape, pairs, strict=True)
    return [Range(start, step, count, bound_of(size)) for (_, step, _), size, (start, count) in rows]


def numbers_of(places: tuple[Place, ...]) -> tuple[Any, ...]:
    return tuple(np.array(number, np.int64) for start, _, count in places for number in (start, count))


def mesh(places: tuple[Place, ...]) -> Any:
    """The positions that NumPy picks."""
    return np.ix_(*(start + step * np.arange(count) for start, step, count in places))


def read_case(operand: Any, places: tuple[Place, ...], dims: tuple[int, ...]) -> Case:
    """The sums of a window along some axes; along the others it is whole."""

    def function(a: Any, *numbers: Any) -> Any:
        window = limited_window(a, ranges_of(places, operand.shape, numbers))
        return ops.reduce(window, np.zeros((), operand.dtype), ops.add, dims)

    expected = np.asarray(operand[mesh(places)].sum(axis=dims, dtype=operand.dtype))
    return Case("limited_window", function, (operand, *numbers_of(places)), expected, label=f"{places}")


def store_case(operand: Any, places: tuple[Place, ...]) -> Case:
    """One window replaced."""
    update = -numbered("s32", *(bound_of(size) for size in operand.shape))

    def function(a: Any, b: Any, *numbers: Any) -> Any:
        return store_window(a, b, ranges_of(places, operand.shape, numbers))

    expected = operand.copy()
    expected[mesh(places)] = update[tuple(slice(count) for _, _, count in places)]
    return Case("store_window", function, (operand, update, *numbers_of(places)), expected, label=f"{places}")


def positions_case(operand: Any, shape: tuple[int, ...], counts: tuple[int, ...]) -> Case:
    """Single elements replaced, of equal positions by the last."""
    rng = np.random.default_rng([*shape, *counts])
    update = -numbered("s32", *shape)
    positions = tuple(rng.integers(0, size, shape) for size in operand.shape)
    there = tuple(map(slice, counts))

    def function(a: Any, b: Any, *others: Any) -> Any:
        return store_at(a, b, others[: a.ndim], others[a.ndim :])

    expected = operand.copy()
    for place in np.ndindex(*counts):
        expected[tuple(one[there][place] for one in positions)] = update[there][place]
    numbers = tuple(np.array(count, np.int64) for count in counts)
    return Case("store_at", function, (operand, update, *positions, *numbers), expected, label=f"{shape} {counts}")


LINE, GRID = numbered("s32", 40), numbered("s32", 12, 20)
ALONG = ((0, 1, 40), (3, 1, 0), (3, 1, 1), (39, -1, 40), (2, 3, 8), (30, -2, 9), (31, 1, 9))
ACROSS = (((2, 1, 3), (4, 2, 5)), ((11, -1, 12), (0, 1, 20)), ((0, 1, 0), (1, 1, 5)), ((5, 1, 4), (19, -3, 2)))

CASES = [
    *(read_case(LINE, (place,), (0,)) for place in ALONG),
    *(read_case(GRID, places, (0, 1)) for places in ACROSS),
    *(store_case(LINE, (place,)) for place in ALONG),
    *(store_case(GRID, places) for places in ACROSS),
    *(positions_case(LINE, (60,), (count,)) for count in (0, 1, 25, 60)),
    *(positions_case(GRID, (30,), (count,)) for count in (0, 29)),
    *(positions_case(GRID, (15, 20), counts) for counts in ((0, 20), (7, 3), (15, 20))),
]
