"""The order of float sums that `xjit.numerics` promises, written from its definition, one addition at a time.

Nothing of the compiler takes part: arrays go in, and the one sum that has the promised bits comes out.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
LANES, FEW, BLOCK, SHORT = {4: 64, 8: 32}, 8, 512, 8
MANY, CHUNK, FEW_RESULTS, SHORT_AXIS = 32_768, 16_384, 8, 16


def memory_order(x: Array) -> list[int]:
    """The axes from the slowest to the fastest, by the size of their strides."""
    return sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))


def tree(lanes: Array) -> Any:
    """Halves added to each other until one number is left."""
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return lanes[0]


def in_lanes(line: Array, lanes: int) -> Any:
    """Groups of lanes added one after the other, then the lanes; zero of no groups."""
    sums = np.zeros(lanes, line.dtype)
    for group in line.reshape(-1, lanes):
        sums = sums + group
    return tree(sums)


def block(line: Array) -> Any:
    """The sum of at most 512 elements."""
    lanes = LANES[line.itemsize]
    many, few = len(line) - len(line) % lanes, len(line) - len(line) % FEW
    sum = in_lanes(line[:many], lanes) + in_lanes(line[many:few], FEW)
    for value in line[few:]:
        sum = sum + value
    return sum


def compensated(values: Array) -> Any:
    """A float64 sum with the rounding errors of its additions."""
    total = error = np.float64(0.0)
    for value in values:
        new = total + value
        rest = new - total
        error = error + ((total - (new - rest)) + (value - rest))
        total = new
    return total + error if error == error else total


def total(blocks: list[Any], dtype: Any) -> Any:
    """Sums of blocks, added up in float64."""
    wide = [np.float64(one) for one in blocks]
    return compensated(np.array(wide)) if dtype == np.float64 else np.add.accumulate(np.array([0.0, *wide]))[-1]


def line_sum(lines: Array) -> Any:
    """The sum of lines of elements in blocks; no block goes beyond its line."""
    blocks = [block(line[at : at + BLOCK]) for line in lines for at in range(0, len(line), BLOCK)]
    return total(blocks, lines.dtype)


def ordered_sum(x: Array, dims: tuple[int, ...]) -> Array:
    """The sum of a float32 or float64 array over some axes, which are the fast ones in memory."""
    long = [axis for axis in memory_order(x) if x.shape[axis] > 1]
    order = [axis for axis in long if axis in dims]
    kept = [axis for axis in range(x.ndim) if axis not in dims]
    if math.prod(x.shape[axis] for axis in order) <= SHORT:
        order, run = sorted(order), len(order)
    else:
        inner = long[: long.index(order[-1]) + 1]
        run = len(list(itertools.takewhile(lambda axis: axis in dims, reversed(inner))))
    others = [axis for axis in dims if axis not in order]
    moved = x.transpose(*kept, *others, *order)
    shape = [x.shape[axis] for axis in kept]
    result = np.empty(shape, x.dtype)
    for place in itertools.product(*map(range, shape)):
        result[place] = _one(moved[place].reshape([x.shape[axis] for axis in order] or [1]), run, result.size)
    return result


def _one(items: Array, run: int, results: int) -> Any:
    if items.size <= SHORT:
        return functools.reduce(lambda one, other: one + other, items.ravel(), items.dtype.type(0.0))
    if results < FEW_RESULTS and items.size >= MANY:
        return compensated(np.array(_chunks(items, run)))
    return line_sum(items.reshape(math.prod(items.shape[: items.ndim - run]), -1))


def _chunks(items: Array, run: int) -> list[Any]:
    """The sums of chunks of the slowest axis that is not short; within one the line begins there at the earliest."""
    long = [axis for axis in range(items.ndim) if items.shape[axis] >= SHORT_AXIS]
    cut = long[0] if long else int(np.argmax(items.shape))
    size = -(-CHUNK * items.shape[cut] // items.size)
    first = max(items.ndim - run, cut)
    parts = (items.take(range(at, min(at + size, items.shape[cut])), cut) for at in range(0, items.shape[cut], size))
    return [line_sum(part.reshape(math.prod(part.shape[:first]), -1)) for part in parts]
