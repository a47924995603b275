"""Searches in sorted lines: ``searchsorted``, ``digitize``.

Every element halves the line as often as it takes, all of them in step, so that the search is vector code without
branches that fuses with what it feeds. The part that is left always has a power of two of elements: the first
comparison goes on in the first such part or in the last one, which overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, DTypeError
from xjit.numpy.rules import compositions as c
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast, result_type
from xjit.numpy.rules.values import as_scalar, as_value, numpy_errors, shape_of, with_order
from xjit.ops.define.core import Operand, apply, constant, dtype_of
from xjit.ops.for_numpy import numpy_sorting as records
from xjit.types import BOOL, FLOAT64, INT64, DType, c_order, dtype_class

BYTE: DType = np.dtype(np.uint8)


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """Search the place of each element of ``v`` in the sorted line ``a``, as int64: before equal ones, or on the
    right.

    ``sorter`` are positions that sort ``a``. Raises ArgumentError for other ranks and sides.

    >>> searchsorted(np.array([1.0, 2.0]), 1.5)
    np.int64(1)
    """
    line, wanted = as_value(a, "searchsorted"), as_value(v, "searchsorted", "v")
    if len(shape_of(line)) != 1:
        raise ArgumentError(f"numpy.searchsorted: a: rank 1 is required; got {shape_of(line)}")
    if not isinstance(side, str):
        raise DTypeError(f"numpy.searchsorted: side: 'left' or 'right' is required; got {side!r}")
    if side not in ("left", "right"):
        raise ArgumentError(f"numpy.searchsorted: search side must be 'left' or 'right'; got {side!r}")
    if sorter is not None:
        order = _sorter(as_value(sorter, "searchsorted", "sorter"), line)
        return as_scalar(apply(records.SEARCHSORTED, line, wanted, order, side=side))
    return as_scalar(places(line, wanted, side))


def _sorter(sorter: Operand, line: Operand) -> Operand:
    if dtype_class(dtype_of(sorter)) != "I":
        raise DTypeError(f"numpy.searchsorted: sorter must only contain integers; got {dtype_of(sorter)}")
    if shape_of(sorter) != shape_of(line):
        raise ArgumentError("numpy.searchsorted: sorter.size must equal a.size")
    return sorter


def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    """The number of the bin that each element lies in, as int64; ``bins`` are their edges, up or down.

    Raises DTypeError for complex numbers, ArgumentError for edges of another rank; edges that are in no order raise
    ValueError, when the program runs if they are computed in it.

    >>> digitize(np.array([0.5, 2.5]), [1, 2])
    array([0, 2])
    """
    value, edges = as_value(x, "digitize", "x"), as_value(bins, "digitize", "bins")
    if "C" in (dtype_class(dtype_of(value)), dtype_class(dtype_of(edges))):
        raise DTypeError("numpy.digitize: x may not be complex")
    if len(shape_of(edges)) != 1:
        raise ArgumentError(f"numpy.digitize: bins: rank 1 is required; got {shape_of(edges)}")
    if not isinstance(edges, np.ndarray):
        return as_scalar(apply(records.DIGITIZE, value, edges, right=bool(right)))
    with numpy_errors("digitize", ArgumentError):
        np.digitize(0, edges)
    side = "left" if right else "right"
    if _rises(edges):
        return as_scalar(places(edges, value, side))
    found = places(edges[::-1], value, side)
    return as_scalar(ops.sub(_like(edges.size, found), found))


def _rises(edges: np.ndarray[Any, Any]) -> bool:
    """Which way NumPy takes edges to go: as float64, by the first one that is another than the one before it."""
    numbers = edges.astype(FLOAT64)
    others = numbers[numbers != numbers[:1]]
    return not others.size or not bool(others[0] < numbers[0])


def places(line: Operand, wanted: Operand, side: str) -> Any:
    """Count the elements of a sorted line that belong before each of the wanted ones; NaN counts as the largest."""
    dtype = result_type(line, wanted, name="searchsorted")
    (size,) = shape_of(line)
    if dtype_class(dtype) == "C" or not size:
        return apply(records.SEARCHSORTED, line, wanted, side=side)
    working = BYTE if dtype == BOOL else dtype
    line, wanted = cast(line, working), cast(wanted, working)

    def passes(place: Any) -> Any:
        """Return whether the element at a place belongs before the wanted one."""
        found = ops.look_up(line, (place,), (0,), 0)
        before = ops.lt(found, wanted) if side == "left" else ops.le(found, wanted)
        if dtype_class(working) != "F":
            return before
        unknown = c.isnan(wanted)
        return ops.logical_or(before, unknown if side == "right" else ops.logical_and(unknown, ops.eq(found, found)))

    half = 1 << (size.bit_length() - 1)
    zero = broadcast_to_shape(np.zeros((), INT64), shape_of(wanted))
    # The only number that is another for every length: kept out of the text, so that lengths share kernels.
    rest = broadcast_to_shape(constant(np.asarray(size - half, INT64), by_reference=True), shape_of(wanted))
    start = ops.select(passes(_like(half - 1, zero)), rest, zero)
    while half > 1:
        half //= 2
        start = ops.select(passes(ops.add(start, _like(half - 1, zero))), ops.add(start, _like(half, zero)), start)
    found = ops.select(passes(start), ops.add(start, _like(1, zero)), start)
    return with_order(found, c_order(len(shape_of(wanted))))


def _like(number: int, value: Any) -> Any:
    return broadcast_to_shape(np.asarray(number, INT64), shape_of(value))


METHODS: dict[str, Any] = {"searchsorted": searchsorted}
