"""Elements that a mask chooses as limited arrays: where they lie, and packed in front of a bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit import ops
from xjit.dataclass import dataclass
from xjit.ir.current import current
from xjit.numpy import ufuncs
from xjit.numpy.limited.arrays import LimitedArray, Sizes, limited, made, sizes_of, value_of
from xjit.numpy.limited.run_time_integers import Integer, integer
from xjit.numpy.reducing import scans
from xjit.numpy.rules.values import as_value, copied, shape_of
from xjit.ops.define.core import Operand
from xjit.ops.dynamic.compaction import chosen_positions, compact, count_chosen
from xjit.ops.dynamic.limited_windows import bound_of, number
from xjit.ops.whole_arrays.index import look_up


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The choice of a mask in a line: the mask, how many it has chosen at the end of each block, and in all."""

    mask: Operand
    ends: Operand
    count: Integer

    @property
    def bound(self) -> int:
        """The dimension of packed elements."""
        return bound_of(self.count.high)


def chosen_by(mask: Operand, size: Integer | None = None) -> Chosen:
    """The choice of a mask that is read in row-major order: of a limited one the first ``size`` elements."""
    most = math.prod(shape_of(mask))
    flat = mask if len(shape_of(mask)) == 1 else ops.reshape(mask, (most,))
    size = integer(most) if size is None else size
    if not most:
        return Chosen(flat, number(0), integer(0))
    operand = size.operand
    ends = scans.cumsum(count_chosen(flat, number(operand) if isinstance(operand, int) else operand))
    blocks = shape_of(ends)[0]
    last = ops.reshape(ops.slice(ends, (blocks - 1,), (blocks,), (1,)), ())
    trace = current()
    assert trace is not None
    trace.spans[last.node] = (0, size.high)
    return Chosen(flat, ends, integer(last))


def chosen_in(mask: Any) -> Chosen:
    """The choice of a mask, limited or not."""
    if isinstance(mask, LimitedArray):
        (size,) = sizes_of(mask)
        return chosen_by(mask.value, size)
    return chosen_by(as_value(mask, "nonzero"))


def positions_in(chosen: Chosen) -> Any:
    """The positions that are chosen, in the line."""
    if not shape_of(chosen.mask)[0]:
        return copied(ops.iota("s64[0]", 0))
    found = chosen_positions(chosen.mask, chosen.ends, chosen.bound)
    return packed(between(found, shape_of(chosen.mask)[0]), (chosen.count,))


def packed(value: Any, sizes: Sizes) -> Any:
    """A value at its bounds as an array of these sizes."""
    return made(limited(value, sizes), sizes)


def elements_in(value: Any, chosen: Chosen) -> Any:
    """The elements of a line that are chosen."""
    flat = value_of(value)
    if not shape_of(flat)[0]:
        return copied(flat)
    return packed(compact(flat, chosen.mask, chosen.ends, chosen.bound), (chosen.count,))


def rows_in(value: Operand, chosen: Chosen, axis: int, rank: int, *, found_first: bool = True) -> Any:
    """The rows that are chosen along an axis, which stands for so many others; first in memory if ``found_first``."""
    dims = shape_of(value)
    own = (*dims[:axis], math.prod(dims[axis : axis + rank]), *dims[axis + rank :])
    flat = ops.reshape(value, own) if own != dims else value
    places = positions_in(chosen)
    found = look_up(flat, (value_of(places),), (axis,), axis, positions_first=found_first)
    return made(found, tuple(sizes_of(places)[0] if one == axis else integer(size) for one, size in enumerate(own)))


def elements(value: Operand, mask: Operand, axis: int = 0) -> Any:
    """``value[:, ..., mask]``, for a mask of the dimensions from an axis on: they become one dimension."""
    chosen, rank = chosen_by(mask), len(shape_of(mask))
    if rank < len(shape_of(value)):
        return rows_in(value, chosen, axis, rank)
    size = math.prod(shape_of(value))
    return elements_in(ops.reshape(value, (size,)) if rank > 1 else value, chosen)


def coordinates(places: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    """The positions along each axis of what lies at these places in row-major order."""
    sizes, found = sizes_of(places), list[Any]()
    left: Any = value_of(places)
    for axis, size in reversed(list(enumerate(shape))):
        here = ufuncs.call(np.remainder, left, max(size, 1)) if axis else left
        found.append(made(between(here, size), sizes))
        left = ufuncs.call(np.floor_divide, left, max(size, 1)) if axis else left
    return tuple(reversed(found))


def between(places: Any, size: int) -> Any:
    """Positions that are known to lie along an axis of this size."""
    trace = current()
    assert trace is not None
    trace.spans[places.node] = (0, max(size - 1, 0))
    return places
