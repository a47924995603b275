"""Starts of windows: positions from data, exact in every integer type, moved to where the window fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xjit.errors import ArgumentError
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, as_operand, aval_of, constant, dtype_of, has_dtype
from xjit.ops.dynamic.dimension_sizes import at_bound
from xjit.ops.dynamic.extents import dynamic_axes, extent
from xjit.ops.elements.compare import ge
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import max as larger
from xjit.ops.elements.elementwise import min as smaller
from xjit.ops.elements.elementwise import sub
from xjit.ops.elements.select import clamp
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import reshape
from xjit.ops.whole_arrays.shape import slice as cut
from xjit.types import INT64

_WIDEST = np.dtype(np.uint64)
_LAST = np.uint64((1 << 63) - 1)


def exact(positions: Operand) -> Any:
    """Positions of any integer type as S64; those beyond its range as the largest of it."""
    dtype = dtype_of(positions)
    if dtype == _WIDEST:
        positions = smaller(positions, constant(np.asarray(_LAST)))
    return positions if dtype == INT64 else convert_element_type(positions, INT64)


def fitting(positions: Operand, operand: Operand, axis: int, window: int) -> Any:
    """The nearest S64 positions at which a window of this length lies within a dimension of an operand."""
    first, last = (constant(np.asarray(np.int64(place))) for place in (0, aval_of(operand).shape[axis] - window))
    if axis in dynamic_axes(operand):
        last = larger(sub(exact(extent(operand, axis)), constant(np.asarray(np.int64(window)))), first)
    return clamp(first, exact(positions), last)


def with_room(name: str, operand: Operand, windows: Mapping[int, int]) -> Any:
    """The operand at its bound along dimensions in which windows of these lengths move: positions that fit see
    nothing behind its size. ShapeError when the program runs, should it be shorter than a window.
    """
    for axis in windows.keys() & set(dynamic_axes(operand)):
        room = ge(extent(operand, axis), np.int32(windows[axis]))
        rule = f"a size of dimension {axis} of at least {windows[axis]}, the window's, is required"
        operand = require(operand, room, "shape", f"ops.{name}: operand: {rule}; got less")
    return at_bound(operand, tuple(windows))


def scalar_starts(name: str, value: Any) -> list[Operand]:
    """The starts of one window, by themselves or in an array of rank 1, one for each dimension.

    Raises DTypeError unless all are of one integer type.
    """
    argument = "start_indices"
    if not isinstance(value, tuple | list):
        array = as_operand(value, name, argument)
        rules.check_class(name, argument, aval_of(array), "I")
        rules.check_rank(name, argument, aval_of(array), 1)
        return [reshape(cut(array, (k,), (k + 1,)), ()) for k in range(aval_of(array).shape[0])]
    like = next((dtype_of(one) for one in value if has_dtype(one)), None)
    names = [f"{argument}[{k}]" for k in range(len(value))]
    starts = [as_operand(one, name, argument, like) for one, argument in zip(value, names, strict=True)]
    types = [aval_of(one) for one in starts]
    for argument, type in zip(names, types, strict=True):
        rules.check_class(name, argument, type, "I")
    rules.check_same_dtype(name, names, types)
    return starts


def check_starts(name: str, starts: Sequence[Operand], rank: int) -> None:
    """ArgumentError unless there is a start for each dimension."""
    if len(starts) != rank:
        raise ArgumentError(f"ops.{name}: start_indices: {rank} values are required; got {len(starts)}")


def check_scalars(name: str, starts: Sequence[Operand]) -> None:
    """ShapeError unless all starts have rank 0."""
    for number, one in enumerate(starts):
        rules.check_rank(name, f"start_indices[{number}]", aval_of(one), 0)
