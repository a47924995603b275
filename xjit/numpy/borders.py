"""Borders that repeat elements of an array or one number: all sides and corners are put in place at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from xjit import ops
from xjit.numpy.broadcasting import broadcast_to_shape
from xjit.numpy.picking import Run, along, own, picked, runs_of
from xjit.numpy.promotion import cast
from xjit.numpy.values import shape_of
from xjit.ops._core import Array, Operand, dtype_of
from xjit.ops.mosaic import mosaic

MOST_PARTS = 100
"""Parts are loops of their own: where there are more, elements are looked up one by one."""

SMALL = 4096
"""Results of up to this many elements are filled first and then written over: two loops instead of many."""


@dataclass(frozen=True, slots=True)
class Border:
    """How wide the border of one axis is, and what the mode wants to know besides, for either side."""

    axis: int
    before: int
    after: int
    extra: tuple[Any, Any] = (None, None)


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbours along one axis of the result: a run of elements of the operand, or one number for all."""

    count: int
    run: Run | None
    fill: Any = None


def _reflected(index: Array, size: int) -> Array:
    if size == 1:
        return np.zeros_like(index)
    there = index % (2 * size - 2)
    return np.where(there < size, there, 2 * size - 2 - there)


def _mirrored(index: Array, size: int) -> Array:
    there = index % (2 * size)
    return np.where(there < size, there, 2 * size - 1 - there)


REPEATING: dict[str, Callable[[Array, int], Array]] = {
    "edge": lambda index, size: np.clip(index, 0, size - 1),
    "reflect": _reflected,
    "symmetric": _mirrored,
    "wrap": lambda index, size: index % size,
}
"""Which element stands at a position outside of an axis of so many elements."""


def repeated(value: Operand, borders: list[Border], mode: str, order: tuple[int, ...]) -> Any:
    """The array with borders of its own elements, packed in this memory order.

    Any element type; no axis with a border is empty. Modes: those of ``REPEATING``.
    """
    outside, shape = REPEATING[mode], shape_of(value)
    segments = []
    for border in borders:
        size = shape[border.axis]
        before, after = np.arange(-border.before, 0), np.arange(size, size + border.after)
        runs = [Run(0, 1, size)]
        if border.before or border.after:
            runs = [*runs_of(outside(before, size)), *runs, *runs_of(outside(after, size))]
        segments.append([Segment(run.count, run) for run in runs if run.count])
    if np.prod([len(one) for one in segments]) > MOST_PARTS:
        return _looked_up(value, borders, outside, order)
    return _assembled(value, segments, order)


def _looked_up(
    value: Operand, borders: list[Border], outside: Callable[[Array, int], Array], order: tuple[int, ...]
) -> Any:
    result = value
    for border in borders:
        size = shape_of(value)[border.axis]
        if border.before or border.after:
            positions = outside(np.arange(-border.before, size + border.after), size)
            result = along(result, positions, border.axis)
    return own(result, value, order)


def filled(value: Operand, borders: list[Border], order: tuple[int, ...]) -> Any:
    """The array with borders of numbers, two for each axis, packed in this memory order. Any element type."""
    dtype, shape = dtype_of(value), shape_of(value)
    sizes = [border.before + size + border.after for border, size in zip(borders, shape, strict=True)]
    numbers = [cast(number, dtype) for border in borders for number in border.extra]
    if np.prod(sizes, dtype=int) <= SMALL and all(_same(number, numbers[0]) for number in numbers) and numbers:
        config = tuple((border.before, border.after, 0) for border in borders)
        return own(ops.pad(value, numbers[0], config), value, order)
    segments = [
        [
            Segment(border.before, None, numbers[2 * border.axis]),
            Segment(size, Run(0, 1, size)),
            Segment(border.after, None, numbers[2 * border.axis + 1]),
        ]
        for border, size in zip(borders, shape, strict=True)
    ]
    return _assembled(value, [[one for one in axis if one.count] for axis in segments], order)


def _same(number: Operand, other: Operand) -> bool:
    if isinstance(number, np.ndarray) and isinstance(other, np.ndarray):
        return number.tobytes() == other.tobytes()
    return number is other


def _assembled(value: Operand, segments: list[list[Segment]], order: tuple[int, ...]) -> Any:
    """All combinations of segments; where numbers of several axes meet, that of the last one counts."""
    dims = tuple(sum(one.count for one in axis) for axis in segments)
    if 0 in dims or all(len(axis) == 1 and axis[0].run is not None for axis in segments):
        return own(broadcast_to_shape(_nothing(value), dims) if 0 in dims else value, value, order)
    parts, starts = [], []
    for combination in itertools.product(*map(_placed, segments)):
        starts.append(tuple(start for start, _ in combination))
        parts.append(_part(value, [segment for _, segment in combination]))
    return mosaic(parts, starts, dims, order)


def _placed(axis: list[Segment]) -> Iterator[tuple[int, Segment]]:
    """The segments of an axis, each with its start."""
    start = 0
    for segment in axis:
        yield start, segment
        start += segment.count


def _nothing(value: Operand) -> Array:
    return np.zeros((), dtype_of(value))


def _part(value: Operand, segments: list[Segment]) -> Any:
    numbers = [segment.fill for segment in segments if segment.run is None]
    if numbers:
        return broadcast_to_shape(numbers[-1], tuple(segment.count for segment in segments))
    result: Any = value
    for axis, segment in enumerate(segments):
        if segment.run is not None:
            result = picked(result, segment.run, axis)
    return result
