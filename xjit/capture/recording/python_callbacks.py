"""Functions of NumPy that call one of the user's for rows or indices, as NumPy's own text does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xjit.capture.tracers.numpy_call import call_function
from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import TracedValue

MOST_ROWS = 64
"""Rows for each of which a function is traced by itself."""


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, like: Any = None, **rest: Any
) -> Any:
    """``numpy.fromfunction``: one call of the function, with the positions along each axis."""
    if like is not None:
        refuse("numpy.fromfunction makes an array like another one", fix="leave out like=")
    return function(*np.indices(shape, dtype=dtype), **rest)


def apply_along_axis(function: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """``numpy.apply_along_axis``: one call for each line of an array; the first result decides about the type."""
    if not isinstance(arr, TracedValue):
        arr = np.asarray(arr)
    rank = np.ndim(arr)
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(axis, rank)
    axis %= rank
    lines = np.moveaxis(arr, axis, -1)
    outer, rows = lines.shape[:-1], lines.reshape(-1, lines.shape[-1])
    if not 0 < len(rows) <= MOST_ROWS:
        refuse(f"a function is called for each of {len(rows)} lines", fix="use operations on whole arrays")
    found: list[Any] = [function(row, *args, **kwargs) for row in rows]
    if not all(isinstance(one, TracedValue | np.ndarray | np.generic | float | int) for one in found):
        refuse("a function that numpy.apply_along_axis calls returns no array")
    first, *others = list[Any](one if isinstance(one, TracedValue) else np.asarray(one) for one in found)
    same = [first, *(one if one.dtype == first.dtype else one.astype(first.dtype) for one in others)]
    stacked = call_function(np.stack, (same,), {}).reshape(outer + first.shape)
    inner = range(len(outer), len(outer) + len(first.shape))
    return stacked.transpose(*range(axis), *inner, *range(axis, len(outer)))


def ndenumerate(arr: Any) -> Iterator[Any]:
    """``numpy.ndenumerate``: each index with the element there."""
    if not isinstance(arr, TracedValue):
        arr = np.asarray(arr)
    for index in np.ndindex(*arr.shape):
        yield index, arr[index]


REPLACED: dict[Any, Callable[..., Any]] = {
    np.fromfunction: fromfunction,
    np.apply_along_axis: apply_along_axis,
    np.ndenumerate: ndenumerate,
}
"""The functions that take the place of NumPy's where a call is traced."""
