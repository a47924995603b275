"""Folds of the pieces of a line between positions, as ``np.add.reduceat`` makes them: a loop over the pieces.

    line  a b c d e      positions  0 3 2      pieces  a b c | d | c d e

A piece ends where the next one begins; one whose end is not behind its beginning is one element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.numpy.reducing.axis_reductions import FOLDS, reduction_type
from xjit.numpy.rules.library_folds import library_pieces
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.values import as_value, shape_of
from xjit.ops.control.while_loop import bounded_while
from xjit.ops.define.core import Operand, dtype_of
from xjit.ops.dynamic.limited_windows import Range, bound_of, limited_window, number, store_window
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import INT64, DType

_FOLDED = frozenset({np.add, np.multiply, np.maximum, np.minimum})


def reduceat(ufunc: np.ufunc, array: Any, indices: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """``ufunc.reduceat``: the folds of the pieces from each position to the next one, along an axis.

    Kernels fold lines of numbers by sums, products and extremes; the rest is a library step. Raises what NumPy raises
    of the arguments, CaptureError for ufuncs of the program's own, and IndexOutOfBoundsError when the program runs.

    >>> reduceat(np.add, np.array([1, 2, 3, 4]), np.array([0, 3, 1]))
    array([6, 4, 9])
    """
    name = f"numpy.{ufunc.__name__}.reduceat"
    if ufunc in _FOLDED and axis in (0, -1):
        value, positions = as_value(array, name), as_value(indices, name, "indices")
        if _are_lines(value, positions):
            return _folded(ufunc, value, positions, reduction_type(ufunc, value, dtype, name.partition(".")[2]))
    return library_pieces(ufunc, array, indices, axis, dtype)


def _are_lines(value: Operand, positions: Operand) -> bool:
    """Return whether these are a line of numbers and one of positions, neither of them empty."""
    are_lines = all(len(shape) == 1 and shape[0] for shape in (shape_of(value), shape_of(positions)))
    return are_lines and dtype_of(value).kind in "iuf" and dtype_of(positions).kind in "iu"


def _folded(ufunc: np.ufunc, value: Operand, positions: Operand, dtype: DType) -> Any:
    wide, name = cast(value, dtype), f"{ufunc.__name__}.reduceat"
    (size,), (count,) = shape_of(wide), shape_of(positions)
    begins = _checked(cast(positions, INT64), size, name)
    following = ops.slice(begins, (1,), (count,)) if count > 1 else np.zeros(0, INT64)
    lengths = ops.sub(ops.concatenate((following, np.asarray([size], INT64)), 0), begins)
    lengths = ops.max(lengths, _like(1, count))

    def piece(state: Any) -> Any:
        place, results = state
        begin, length = (_element(one, place) for one in (begins, lengths))
        elements = limited_window(wide, [Range(begin, 1, length, bound_of(size))])
        folded = ops.reshape(FOLDS[ufunc].run(elements, (0,)), (1,))
        return ops.add(place, number(1)), store_window(results, folded, [Range(place, 1, 1, 1)])

    start = (number(0), ops.broadcast_in_dim(np.zeros((), dtype_of(wide)), (count,), ()))
    return bounded_while(lambda state: ops.lt(state[0], number(count)), piece, start, count)[1]


def _checked(positions: Any, size: int, name: str) -> Any:
    """The positions; those beyond the line are zero, as kernels read there before the program raises."""
    (count,) = shape_of(positions)
    inside = ops.logical_and(ops.ge(positions, _like(0, count)), ops.lt(positions, _like(size, count)))
    safe = ops.select(inside, positions, _like(0, count))
    return require(safe, inside, "index", f"{name}: a position is out of bounds for {size} elements")


def _like(value: int, count: int) -> Any:
    return ops.broadcast_in_dim(number(value), (count,), ())


def _element(line: Any, place: Any) -> Any:
    return ops.reshape(limited_window(line, [Range(place, 1, 1, 1)]), ())
