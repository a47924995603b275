"""Long windows of reducers, by running results of blocks: the cost of an element does not depend on the window.

The axis is cut into blocks of one element less than the window (van Herk; Gil and Werman). A window begins somewhere
in a block and ends at the same place of the next one::

    block            a b c d | e f g h | i j         windows of 5
    suffixes of it   a.. b.. c.. d                   from each element to the end of its block, last element first
    prefixes of the  e  ..f ..g ..h                  from the beginning of the next block to each element
    results          suffix(a) + prefix(e), suffix(b) + prefix(f), ...

Nothing is ever taken away from a sum, so that an infinity is in no result but those of its own windows.
"""

from __future__ import annotations

from typing import Any

from xjit.ir.opdef import Reducer
from xjit.ops.define.core import aval_of
from xjit.ops.whole_arrays.reduce import reducer_function
from xjit.ops.whole_arrays.scan import running_fold
from xjit.ops.whole_arrays.shape import broadcast, rev, slice, transpose
from xjit.ops.windows.joined_blocks import joined_blocks
from xjit.ops.windows.window_view import window_view


def slid(array: Any, reducer: Reducer, start: Any, axis: int, window: int) -> Any:
    """The reduction, from ``start``, of every window that lies within an array, along one axis; of two elements at
    least.
    """
    size, length = aval_of(array).shape[axis], window - 1
    blocks = _blocks(array, axis, length)
    number, rest = size // length, size % length
    last = _part(array, axis, (number - 1) * length, number * length)
    ends = _part(array, axis, 0, 0)
    if rest:
        begun = _running(_part(array, axis, number * length, size), reducer, axis)
        ends = _combined(reducer, start, _part(_suffixes(last, reducer, axis), axis, 0, rest), begun)
    if number == 1:
        return ends
    suffixes = _suffixes(_part(blocks, axis, 0, number - 1), reducer, axis + 1)
    prefixes = _running(_part(blocks, axis, 1, number), reducer, axis + 1)
    return joined_blocks(_combined(reducer, start, suffixes, prefixes), ends, axis)


def _combined(reducer: Reducer, start: Any, left: Any, right: Any) -> Any:
    combine = reducer_function(reducer)
    return combine(combine(broadcast(start, aval_of(left).shape), left), right)


def _blocks(array: Any, axis: int, length: int) -> Any:
    """Whole blocks along an axis, and their elements along the next one."""
    rank = aval_of(array).rank
    view = window_view(array, (length,), (length,), axes=(axis,), outer=False)
    return transpose(view, (*range(axis + 1), rank, *range(axis + 1, rank)))


def _suffixes(array: Any, reducer: Reducer, axis: int) -> Any:
    """The running results from the end of an axis."""
    return rev(_running(rev(array, (axis,)), reducer, axis), (axis,))


def _running(array: Any, reducer: Reducer, axis: int) -> Any:
    return running_fold(array, reducer, reducer_function(reducer), axis, "reduce_window")


def _part(array: Any, axis: int, start: int, stop: int) -> Any:
    """The elements between two positions along an axis."""
    dims = aval_of(array).shape
    first = tuple(start if place == axis else 0 for place in range(len(dims)))
    return slice(array, first, tuple(stop if place == axis else size for place, size in enumerate(dims)))
