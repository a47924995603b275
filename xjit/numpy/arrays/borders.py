"""Borders that repeat elements of an array or one number: all sides and corners are put in place at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from xjit import ops
from xjit.dataclass import dataclass
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import shape_of
from xjit.numpy.selecting.picking import MOST_RUNS, Run, own, picked, runs_of
from xjit.ops.define.core import Array, Operand, dtype_of
from xjit.ops.whole_arrays.tile_concat import mosaic

FEW_PARTS = 9
"""Up to so many combinations of segments are parts of their own, as stencils want them: all sides of two axes."""

SMALL = 4096
"""Results of up to this many elements are filled first and then written over: two loops instead of many."""


@dataclass(frozen=True, slots=True)
class Border:
    """Widths of the border of one axis, and the arguments of the mode, for either side."""

    axis: int
    before: int
    after: int
    extra: tuple[Any, Any] = (None, None)


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Neighbours along one axis of the result: elements of the operand, as a run or by positions, or one number."""

    count: int
    source: Run | Array | None
    fill: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Segments along one axis of the result: the segments of both borders, and the operand's axis in between."""

    before: tuple[Segment, ...]
    inner: Segment
    after: tuple[Segment, ...]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All that have elements, in order."""
        return tuple(one for one in (*self.before, self.inner, *self.after) if one.count)

    @property
    def whole(self) -> Segment:
        """All of them as one segment, which has no source if a part of it is a number."""
        if len(self.segments) == 1:
            return self.segments[0]
        known = all(one.source is not None for one in self.segments)
        positions = np.concatenate(list(map(_positions, self.segments))) if known else None
        return Segment(sum(one.count for one in self.segments), positions)


def _positions(segment: Segment) -> Array:
    if not isinstance(segment.source, Run):
        assert segment.source is not None
        return segment.source
    return segment.source.first + segment.source.step * np.arange(segment.count)


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

_NOWHERE = np.zeros(0, np.int64)


def repeated(value: Operand, borders: list[Border], mode: str, order: tuple[int, ...]) -> Any:
    """The array with borders of its own elements, packed in this memory order.

    Any element type; no axis with a border is empty. Modes: those of ``REPEATING``.
    """
    outside, lines = REPEATING[mode], []
    for border, size in zip(borders, shape_of(value), strict=True):
        before = outside(np.arange(-border.before, 0), size) if border.before else _NOWHERE
        after = outside(np.arange(size, size + border.after), size) if border.after else _NOWHERE
        lines.append(Line(_segments(before), _kept(size), _segments(after)))
    return _assembled(value, lines, order, order)


def _kept(size: int) -> Segment:
    return Segment(size, Run(0, 1, size))


def _segments(positions: Array) -> tuple[Segment, ...]:
    """A segment for each run; for many runs one, whose elements are looked up one by one."""
    runs = list(itertools.islice(runs_of(positions), MOST_RUNS + 1))
    if len(runs) > MOST_RUNS:
        return (Segment(len(positions), positions),)
    return tuple(Segment(run.count, run) for run in runs)


def filled(value: Operand, borders: list[Border], order: tuple[int, ...]) -> Any:
    """The array with borders of numbers, two for each axis, packed in this memory order. Any element type."""
    dtype, shape = dtype_of(value), shape_of(value)
    sizes = [border.before + size + border.after for border, size in zip(borders, shape, strict=True)]
    numbers = [cast(number, dtype) for border in borders for number in border.extra]
    if np.prod(sizes, dtype=int) <= SMALL and all(_same(number, numbers[0]) for number in numbers) and numbers:
        config = tuple((border.before, border.after, 0) for border in borders)
        return own(ops.pad(value, numbers[0], config), value, order)
    lines = [
        Line(
            (Segment(border.before, None, numbers[2 * border.axis]),),
            _kept(size),
            (Segment(border.after, None, numbers[2 * border.axis + 1]),),
        )
        for border, size in zip(borders, shape, strict=True)
    ]
    return _assembled(value, lines, range(len(shape)), order)


def _same(number: Operand, other: Operand) -> bool:
    if isinstance(number, np.ndarray) and isinstance(other, np.ndarray):
        return number.tobytes() == other.tobytes()
    return number is other


def _assembled(value: Operand, lines: list[Line], sequence: Sequence[int], order: tuple[int, ...]) -> Any:
    """The array of such lines; where numbers of several axes meet, that of the last one counts."""
    dims = tuple(sum(one.count for one in line.segments) for line in lines)
    if 0 in dims or all(line.segments == (line.inner,) for line in lines):
        return own(broadcast_to_shape(_nothing(value), dims) if 0 in dims else value, value, order)
    parts, starts = [], []
    fills: dict[Any, Any] = {}
    few = math.prod(len(line.segments) for line in lines) <= FEW_PARTS
    for box in itertools.product(*map(_placed, lines)) if few else _slabs(lines, sequence):
        starts.append(tuple(start for start, _ in box))
        segments = [segment for _, segment in box]
        numbers = [segment.fill for segment in segments if segment.fill is not None]
        if numbers:
            parts.append(_filling(numbers[-1], tuple(segment.count for segment in segments), fills))
        else:
            parts.append(_picked(value, segments))
    return mosaic(parts, starts, dims, order)


def _slabs(lines: list[Line], sequence: Sequence[int]) -> Iterator[tuple[tuple[int, Segment], ...]]:
    """A box for each segment of a border, and the interior: combinations grow exponentially with the number of axes.

    A border reaches over all of the axes before its own in ``sequence``, and over the interior of those behind it.
    """
    inner = [(sum(one.count for one in line.before), line.inner) for line in lines]
    if 0 not in [segment.count for _, segment in inner]:
        yield tuple(inner)
    for place, axis in enumerate(sequence):
        box = list(inner)
        for earlier in sequence[:place]:
            box[earlier] = 0, lines[earlier].whole
        for start, segment in _placed(lines[axis]):
            box[axis] = start, segment
            if segment is not lines[axis].inner and 0 not in [one.count for _, one in box]:
                yield tuple(box)


def _placed(line: Line) -> Iterator[tuple[int, Segment]]:
    """The segments of an axis, each with its start."""
    start = 0
    for segment in line.segments:
        yield start, segment
        start += segment.count


def _nothing(value: Operand) -> Array:
    return np.zeros((), dtype_of(value))


def _filling(number: Any, counts: tuple[int, ...], known: dict[Any, Any]) -> Any:
    """So many elements of one number; opposite borders are often alike, and are ``known`` then."""
    key = number.tobytes() if isinstance(number, np.ndarray | np.generic) else id(number), counts
    if key not in known:
        known[key] = broadcast_to_shape(number, counts)
    return known[key]


def _picked(value: Operand, segments: list[Segment]) -> Any:
    result: Any = value
    for axis, segment in enumerate(segments):
        if isinstance(segment.source, Run):
            result = picked(result, segment.source, axis)
        elif segment.source is not None:
            result = ops.look_up(result, (segment.source,), (axis,), axis)
    return result
