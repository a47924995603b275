"""Positions along one axis, whose number only the run knows, beside slices and integers: ``A[:, chosen]``.

A[2:, chosen]       look up the positions in A[2:, :], along axis 1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.ir.context import TracedValue
from xjit.numpy.limited.arrays import LimitedArray, Sizes, made, part_at, picked, sizes_of, value_of
from xjit.numpy.limited.run_time_integers import Integer
from xjit.numpy.rules.values import as_value, shape_of
from xjit.numpy.selecting.indexing import expanded
from xjit.ops.whole_arrays.index import look_up
from xjit.types import dtype_class

_ALL = slice(None)


def place_among(value: Any, index: Any) -> int | None:
    """Return the number of the one entry of an index that is an array of positions, among slices and integers.

    None of other indices, of those in which something known has known positions, and where NumPy has the positions
    along the first axis although they are of another one.
    """
    if not isinstance(index, tuple):
        return None
    rank = len(sizes_of(value))
    arrays = [number for number, entry in enumerate(index) if _is_array(entry)]
    if len(arrays) != 1 or not (isinstance(value, LimitedArray) or isinstance(index[arrays[0]], LimitedArray)):
        return None
    rest = [entry for number, entry in enumerate(index) if number != arrays[0]]
    if not rest or not all(map(_is_beside, rest)) or len(rest) - sum(one is Ellipsis for one in rest) >= rank:
        return None
    entries = _entries(value, index)
    advanced = [number for number, entry in enumerate(entries) if not isinstance(entry, slice)]
    return arrays[0] if advanced[-1] - advanced[0] == len(advanced) - 1 else None


def _entries(value: Any, index: Sequence[Any]) -> list[Any]:
    """An entry for each axis of a value."""
    return expanded((0,) * len(sizes_of(value)), list(index))


def _is_array(entry: Any) -> bool:
    if isinstance(entry, LimitedArray):
        return dtype_class(entry.dtype) == "I"
    if isinstance(entry, TracedValue | np.ndarray):
        return dtype_class(entry.dtype) == "I" and bool(shape_of(entry))
    return isinstance(entry, list)


def _is_beside(entry: Any) -> bool:
    if entry is Ellipsis or (isinstance(entry, slice) and not isinstance(entry.step, TracedValue)):
        return True
    if isinstance(entry, TracedValue):
        return not entry.node.aval.rank and dtype_class(entry.dtype) == "I" and (entry.scalar or entry.weak is int)
    return isinstance(entry, int | np.integer) and not isinstance(entry, bool | np.bool_)


def along(value: Any, index: Sequence[Any], place: int, places: Any) -> Any:
    """``value[index]`` for an index of which one entry is an array of positions: `place_among` tells which one.

    ``places`` makes valid positions along an axis of one size of an array of them.
    """
    chosen, entries = index[place], _entries(value, index)
    axis = next(number for number, entry in enumerate(entries) if entry is chosen)
    entries[axis] = _ALL
    if not all(map(_is_all, entries)):
        value = picked(part_at(value, entries))
    axis = sum(isinstance(entry, slice) for entry in entries[:axis])
    own = sizes_of(value)
    source = value.value if isinstance(value, LimitedArray) else as_value(value, "getitem")
    found = look_up(source, (places(value_of(chosen), own[axis], axis),), (axis,), axis, positions_first=True)
    return made(found, _with(own, axis, sizes_of(chosen)))


def _is_all(entry: Any) -> bool:
    return isinstance(entry, slice) and all(one is None for one in (entry.start, entry.stop, entry.step))


def _with(own: Sizes, axis: int, sizes: Sequence[Integer]) -> Sizes:
    return (*own[:axis], *sizes, *own[axis + 1 :])
