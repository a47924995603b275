"""Functions of NumPy that call one of the user's for rows or indices, as NumPy's own text does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from xjit.capture.rewriting.runtime_protocol import Site
from xjit.capture.tracers.numpy_call import call_function
from xjit.capture.tracers.provenance import refuse
from xjit.ir.context import TracedValue

MOST_ROWS = 64
"""Rows for each of which a function is traced by itself."""
MOST_BY_THEMSELVES = 16
"""The same for numbers; more of them are turns of a loop."""


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


class Vectorized:
    """A function that ``numpy.vectorize`` makes: a loop over the elements, which the one of the user gets as numbers.

    A call for the first elements, as numbers of NumPy's, decides about the element type of all results.
    """

    def __init__(self, pyfunc: Callable[..., Any], otypes: Any = None, **options: Any) -> None:
        if any(value not in (None, False) for value in options.values()):
            refuse(f"numpy.vectorize with {', '.join(options)}", fix="leave these arguments out")
        self.pyfunc, self.otypes = pyfunc, otypes

    def __call__(self, *args: Any) -> Any:
        from xjit.capture.python_control.runtime import TracedRuntime
        from xjit.capture.recording.module_views import traced_numpy

        make: Any = np.zeros
        listed: Any = np.array
        arrays = call_function(np.broadcast_arrays, tuple(args), {})
        lines = [one.reshape(-1) for one in arrays]
        count = lines[0].shape[0]
        if not count:
            refuse("numpy.vectorize of no elements at all", fix="leave such calls out")
        first = self.pyfunc(*(line[0] for line in lines)) if self.otypes is None else None
        dtype = _type_of(first) if self.otypes is None else np.dtype(self.otypes[0])
        if count <= MOST_BY_THEMSELVES:
            found = [self._result(self.pyfunc, lines, place, dtype) for place in range(count)]
            return traced_numpy(listed)(found, dtype).reshape(arrays[0].shape)
        result = traced_numpy(make)(count, dtype)
        place: Any = 0
        function = self.pyfunc

        def assign(number: Any) -> None:
            nonlocal place
            place = number

        def body() -> None:
            result[place] = self._result(function, lines, place, result.dtype)

        TracedRuntime().for_(range(count), assign, body, None, Site("for", 0, ("place",), (), ()))
        return result.reshape(arrays[0].shape)

    def _result(self, function: Callable[..., Any], lines: list[Any], place: Any, dtype: Any) -> Any:
        from xjit.capture.python_numbers.numbers import python_number

        found = function(*(python_number(line[place]) for line in lines))
        if not np.can_cast(_type_of(found), dtype, "same_kind") or (dtype.kind in "iu" and dtype.itemsize < 8):
            refuse(
                f"results of type {_type_of(found)} become {dtype} under numpy.vectorize",
                fix="return numbers of one type, or give otypes",
            )
        return found


def _type_of(number: Any) -> Any:
    if isinstance(number, tuple | list) or np.ndim(number):
        refuse("a function that numpy.vectorize calls returns no number")
    return number.dtype if isinstance(number, TracedValue) else np.asarray(number).dtype


REPLACED: dict[Any, Callable[..., Any]] = {
    np.fromfunction: fromfunction,
    np.apply_along_axis: apply_along_axis,
    np.ndenumerate: ndenumerate,
    np.vectorize: Vectorized,
}
"""The functions that take the place of NumPy's where a call is traced."""
