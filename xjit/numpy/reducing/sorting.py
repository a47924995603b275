"""Sorts, partitions and searches: steps between kernels, which NumPy runs."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from xjit.errors import ArgumentError, DTypeError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays.shaping import as_array, ravel
from xjit.numpy.rules.promotion import cast
from xjit.numpy.rules.static import static_array
from xjit.numpy.rules.values import as_scalar, as_value, numpy_errors, refuse, shape_of
from xjit.ops.define.core import Operand, Shape, apply, dtype_of
from xjit.ops.for_numpy import numpy_sorting as records
from xjit.ops.whole_arrays.shape import iota
from xjit.ops.whole_arrays.sort import sort as ops_sort
from xjit.types import COMPLEX64, COMPLEX128, INT64, DType, dtype_class

_KINDS = {"q": "quicksort", "h": "heapsort", "m": "mergesort", "s": "stable"}


def _line(a: Any, axis: Any, name: str) -> tuple[Operand, int]:
    """The array and the axis; without one the flattened array."""
    value = as_value(a, name)
    if axis is None:
        return ravel(as_array(value)), 0
    with numpy_errors(name, ArgumentError):
        return value, normalize_axis_index(operator.index(axis), len(shape_of(value)))


def _kind(name: str, kind: Any, stable: Any) -> str | None:
    """The algorithm: NumPy knows it by its first letter."""
    if stable is not None and kind is not None:
        raise ArgumentError(f"numpy.{name}: `kind` and keyword parameters can't be provided at the same time.")
    if stable is not None:
        return "stable" if stable else None
    if kind is None:
        return None
    if not isinstance(kind, str):
        raise DTypeError(f"numpy.{name}: kind: text is required; got {kind!r}")
    if kind[:1].lower() not in _KINDS:
        raise ArgumentError(f"numpy.{name}: sort kind must be one of 'quick', 'heap', or 'stable'; got {kind!r}")
    return _KINDS[kind[0].lower()]


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """A copy with each line along an axis in ascending order, NaNs last; any element type.

    Raises AxisError, ArgumentError for an unknown kind, CaptureError for ``order``.

    >>> sort(np.array([3, 1, 2]))
    array([1, 2, 3])
    """
    refuse("sort", order=order)
    value, place = _line(a, axis, "sort")
    return apply(records.SORT, value, axis=place, kind=_kind("sort", kind, stable))


def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """The positions, as int64, from which ``sort`` takes the elements of each line. Raises as ``sort``.

    >>> argsort(np.array([3, 1, 2]))
    array([1, 2, 0])
    """
    refuse("argsort", order=order)
    value, place = _line(_at_least_a_line(a, axis, "argsort"), axis, "argsort")
    chosen = _kind("argsort", kind, stable)
    if chosen in ("stable", "mergesort") and _sorts_in_kernels(dtype_of(value)):
        shape = shape_of(value)
        return ops_sort((value, iota(Shape(shape, INT64), place)), None, place)[1]
    return apply(records.ARGSORT, value, axis=place, kind=chosen)


def _sorts_in_kernels(dtype: DType) -> bool:
    """Return whether kernels sort by elements of this type faster than NumPy, which counts short integers."""
    return dtype_class(dtype) == "F" or (dtype_class(dtype) == "I" and dtype.itemsize > 2)


def _at_least_a_line(a: Any, axis: Any, name: str) -> Any:
    """An array of rank 0 counts as a line of one element; truth values are no axes here."""
    value = as_value(a, name)
    if isinstance(axis, bool):
        raise DTypeError(f"numpy.{name}: axis: an integer is required; got {axis}")
    return ravel(as_array(value)) if not shape_of(value) and axis in (0, -1, None) else value


def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    """A copy of which the elements at some positions of each line are where a sort would put them.

    No element before such a position is larger, none behind it smaller. ``kth`` is known while tracing. Raises
    AxisError, DTypeError and ArgumentError for ``kth``, CaptureError for ``order``.
    """
    value, place = _line(a, axis, "partition")
    return _partitioned("partition", records.PARTITION, value, kth, place, kind, order)


def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    """The positions, as int64, from which ``partition`` takes the elements. Raises as ``partition``."""
    value, place = _line(_at_least_a_line(a, axis, "argpartition"), axis, "argpartition")
    return _partitioned("argpartition", records.ARGPARTITION, value, kth, place, kind, order)


def _partitioned(name: str, record: Any, value: Operand, kth: Any, axis: int, kind: Any, order: Any) -> Any:
    refuse(name, order=order)
    if kind != "introselect":
        raise ArgumentError(f"numpy.{name}: select kind must be 'introselect'; got {kind!r}")
    return apply(record, value, kth=_places(name, kth, shape_of(value)[axis]), axis=axis)


def _places(name: str, kth: Any, size: int) -> tuple[int, ...]:
    found = static_array(kth, name, "kth")
    if found.dtype == bool:
        raise ArgumentError(f"numpy.{name}: Booleans unacceptable as partition index; got {kth!r}")
    if found.dtype.kind not in "iu":
        raise DTypeError(f"numpy.{name}: Partition index must be integer; got {found.dtype}")
    if found.ndim > 1:
        raise ArgumentError(f"numpy.{name}: kth: object too deep for desired array; got rank {found.ndim}")
    places = tuple(int(place) for place in found.ravel())
    outside = [place for place in places if not -size <= place < size]
    if outside and size:
        raise ArgumentError(f"numpy.{name}: kth(={outside[0]}) out of bounds ({size})")
    return tuple(sorted({place % size for place in places})) if size else ()


def lexsort(keys: Any, axis: Any = -1) -> Any:
    """The positions, as int64, that put lines in the order of several keys: by the last one first.

    ``keys`` is a sequence of arrays of one shape, or an array of them. Raises AxisError, ArgumentError.
    """
    if isinstance(keys, TracedValue | np.ndarray):
        rows: Any = as_value(keys, "lexsort")
        keys = [rows[k] for k in range(shape_of(rows)[0])] if shape_of(rows) else ()
    values = [as_value(key, "lexsort", "keys") for key in keys]
    if not values:
        raise DTypeError("numpy.lexsort: need sequence of keys with len > 0 in lexsort")
    shapes = {shape_of(value) for value in values}
    if len(shapes) > 1:
        raise ArgumentError(f"numpy.lexsort: all keys need to be the same shape; got {shapes}")
    shape = shapes.pop()
    if not shape and axis in (0, -1):
        return as_scalar(np.zeros((), np.int64))
    with numpy_errors("lexsort", ArgumentError):
        place = normalize_axis_index(operator.index(axis), len(shape))
    return apply(records.LEXSORT, *values, axis=place)


def isin(
    element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *, kind: Any = None
) -> Any:
    """Which elements occur among ``test_elements``, or with ``invert`` do not. Any element types.

    Raises ArgumentError for an unknown ``kind``: how it is found out.

    >>> isin(np.array([1, 2, 3]), [3, 1])
    array([ True, False,  True])
    """
    values = as_value(element, "isin", "element"), as_value(test_elements, "isin", "test_elements")
    if kind not in (None, "sort", "table"):
        raise ArgumentError(f"numpy.isin: kind: None, 'sort' or 'table' is required; got {kind!r}")
    return apply(records.ISIN, *values, assume_unique=bool(assume_unique), invert=bool(invert), kind=kind)


def sort_complex(a: Any) -> Any:
    """``sort`` along the last axis, as complex numbers: integers of up to 16 bits give complex64."""
    result = sort(a)
    if dtype_class(dtype_of(result)) == "C":
        return result
    short = dtype_class(dtype_of(result)) == "I" and dtype_of(result).itemsize <= 2
    return cast(result, COMPLEX64 if short else COMPLEX128)


METHODS: dict[str, Any] = {"argsort": argsort, "argpartition": argpartition}
