"""Arrays spread over common axes: meshgrid, ix_, broadcast_arrays."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from xjit.errors import ArgumentError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.shaping import as_array, reshape
from xjit.numpy.rules.broadcasting import common_shape
from xjit.numpy.rules.values import Shape, as_value, as_view, constant, shape_of
from xjit.ops.define.core import Operand, aval_of, dtype_of
from xjit.ops.define.memory_order import pack
from xjit.ops.whole_arrays.shape import spread
from xjit.types import BOOL, INT64, c_order


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """One grid of coordinates for each vector.

    The first vector goes along the second axis for the indexing ``xy``, along the first one for ``ij``. Any element
    types; operands of other rank are flattened. With ``sparse`` the axes of the other vectors have size one; without
    ``copy`` the results are views. Raises ArgumentError for another ``indexing``.

    >>> meshgrid([1, 2], [3, 4])[0]
    array([[1, 2],
           [1, 2]])
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError("numpy.meshgrid: Valid values for `indexing` are 'xy' and 'ij'.")
    values = [as_array(as_value(x, "meshgrid")) for x in xi]
    places = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        places[:2] = (1, 0)
    open_grid = [_column(value, len(xi), place) for value, place in zip(values, places, strict=True)]
    shape = common_shape("meshgrid", [shape_of(value) for value in open_grid])
    found = open_grid if sparse else [_spread(value, shape) for value in open_grid]
    if copy:
        found = [pack(value, c_order(len(xi))) for value in found]
    return found if sparse and not copy and _open_grids_are_lists() else tuple(found)


@functools.cache
def _open_grids_are_lists() -> bool:
    """Return whether the installed NumPy hands out open grids that are views as a list; since 2.5 it does not."""
    grids: Any = np.meshgrid([0], [0], sparse=True, copy=False)
    return isinstance(grids, list)


def _column(value: Operand, rank: int, place: int) -> Any:
    shape = (*(1,) * place, aval_of(value).size, *(1,) * (rank - place - 1))
    return reshape(value, shape)


def _spread(value: Operand, shape: Shape) -> Any:
    """The operand itself, or a view of it in the common shape."""
    return value if shape_of(value) == shape else as_view(spread(value, shape))


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """All arrays in their common shape: themselves if they have it, else views.

    Any element types. Raises ShapeError if there is no common shape.
    """
    values = [as_array(as_value(one, "broadcast_arrays")) for one in args]
    shape = common_shape("broadcast_arrays", [shape_of(value) for value in values])
    return tuple(_spread(value, shape) for value in values)


def ix_(*args: Any) -> tuple[Any, ...]:
    """Vectors as an open grid: each along an axis of its own.

    Element types: integers and floats; truth values choose the positions where they hold. Raises ArgumentError for
    other ranks.
    """
    if any(isinstance(one, TracedValue) and dtype_of(one) == BOOL and len(shape_of(one)) == 1 for one in args):
        from xjit.numpy.limited.joined_arrays import ix

        return ix(*args)
    return tuple(_open(as_value(one, "ix_"), len(args), place) for place, one in enumerate(args))


def _open(value: Operand, rank: int, place: int) -> Any:
    if len(shape_of(value)) != 1:
        raise ArgumentError("numpy.ix_: Cross index must be 1 dimensional")
    if isinstance(value, np.ndarray):
        value = np.flatnonzero(value) if dtype_of(value) == BOOL else value
        value = value.astype(INT64) if value.size == 0 else value
        return constant(value.reshape((*(1,) * place, value.size, *(1,) * (rank - place - 1))))
    return _column(value, rank, place)
