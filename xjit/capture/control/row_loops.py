"""Loops over the rows of arrays that collect results: scan, with JAX's arguments and meaning.

Outside of a compiled function they are loops of Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.control.inner_traces import computed
from xjit.capture.control.loops import COUNTER, Results, counted, may_go_on, numpy_state, started, traced_state
from xjit.capture.control.state import Place, PromotionError, as_array, finished, fitted, places_of, refused
from xjit.capture.tracers.traced_array import TracedArray
from xjit.errors import ArgumentError, ShapeError
from xjit.ir.context import Trace, TracedValue
from xjit.ir.current import current, tracing
from xjit.ops.control.computations import row_major
from xjit.ops.control.while_loop import loop
from xjit.ops.define.core import aval_of, constant
from xjit.ops.dynamic.carried_sizes import check_static
from xjit.ops.elements.elementwise import add, sub
from xjit.ops.whole_arrays.dynamic_slice import dynamic_slice, dynamic_update_slice
from xjit.ops.whole_arrays.shape import broadcast, reshape
from xjit.types import ArrayType, array_type

NAME = "scan"


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int = 1,
) -> tuple[Any, Any]:
    """For each row x of ``xs``: carry, y = f(carry, x); the last carry, and the y stacked along a new first axis.

    ``xs`` is an array, or a nested tuple, list or dict of arrays, of the same first extent; without it f is called
    ``length`` times with None. With ``reverse`` the last row comes first, and results lie at the places of their
    rows. The carry keeps its structure, shapes and element types. ``unroll`` is there for compatibility.

    >>> scan(lambda total, x: (total + x, total), 0.0, np.array([1.0, 2.0, 3.0]))
    (6.0, array([0., 1., 3.]))
    """
    rows, structure = tree.flatten(xs)
    arrays = [_rows(row, label) for row, label in zip(rows, tree.labels(structure, "xs"), strict=True)]
    check_static(f"xjit.{NAME}", arrays)
    count = _count(arrays, length)
    if current() is None:
        return _in_python(f, init, arrays, structure, count, reverse)
    return _traced(f, init, arrays, structure, count, reverse)


def _rows(row: Any, label: str) -> Any:
    array, _, _ = as_array(row, NAME, label)
    if not aval_of(array).rank:
        raise refused(ShapeError, f"xjit.{NAME}: {label}: an array with rows is required; got rank 0", (array,))
    return array


def _count(arrays: Sequence[Any], length: int | None) -> int:
    """The number of turns."""
    counts = {aval_of(array).shape[0] for array in arrays} | (set() if length is None else {int(length)})
    if len(counts) != 1:
        found = f"lengths {sorted(counts)}" if counts else "neither xs nor length"
        reason = f"xjit.{NAME}: xs: one number of rows is required; got {found}"
        raise refused(ArgumentError, reason, [one for one in arrays if isinstance(one, TracedValue)])
    return int(counts.pop())


def _pair(result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        reason = f"xjit.{NAME}: f: a pair of the carry and the row's result is required; got {type(result).__name__}"
        raise refused(ArgumentError, reason, ())
    return result


# ---- in Python


def _in_python(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    arrays: Sequence[Any],
    structure: tree.Tree,
    count: int,
    reverse: bool,
) -> tuple[Any, Any]:
    first, places, carried = places_of(init, NAME, "init")
    values = [np.array(value) for value in first]
    rows: list[Any] = []
    if not count:  # the body runs on zeros for the types of its results
        empty = [np.zeros(array.shape[1:], array.dtype)[()] for array in arrays]
        _, y = _pair(f(numpy_state(values, places, carried), tree.unflatten(structure, empty)))
        leaves, outline = tree.flatten(y)
        none = [np.zeros((0, *np.shape(leaf)), np.asarray(leaf).dtype) for leaf in leaves]
        return numpy_state(values, places, carried), tree.unflatten(outline, none)
    numbers = range(count)[:: -1 if reverse else 1]
    while len(rows) < count:
        x = tree.unflatten(structure, [array[numbers[len(rows)]] for array in arrays])
        state, y = _pair(f(numpy_state(values, places, carried), x))
        try:
            values = fitted(state, places, carried, NAME, "f")
            rows.append(y)
        except PromotionError as promotion:
            if may_go_on(places, promotion.places):
                values = fitted(state, promotion.places, carried, NAME, "f")
                rows.append(y)
            else:
                values = started(values, promotion.places)
            places = [*promotion.places]
    return numpy_state(values, places, carried), _stacked(rows[:: -1 if reverse else 1])


def _stacked(rows: Sequence[Any]) -> Any:
    leaves = [tree.flatten(row)[0] for row in rows]
    return tree.unflatten(tree.flatten(rows[0])[1], [np.stack(column) for column in zip(*leaves, strict=True)])


# ---- traced


def _traced(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    arrays: Sequence[Any],
    structure: tree.Tree,
    count: int,
    reverse: bool,
) -> tuple[Any, Any]:
    values, places, carried = places_of(init, NAME, "init")
    made: list[Any] = []

    def turn(state: list[TracedArray]) -> Results:
        counter, *rest = state
        after = add(counter, np.int64(1))
        place = sub(np.int64(count - 1), counter) if reverse else counter
        x = tree.unflatten(structure, [_row(array, place) for array in arrays])
        following, y = _pair(f(tree.unflatten(carried, rest), x))
        made[:] = [y, place]
        return [after], following

    trace, found, results = traced_state(NAME, "f", [COUNTER, *places], carried, turn)
    with tracing(trace):
        types, columns, outline = _collected(trace, made[0], made[1], count)
    step = computed(trace, [*results, *columns])
    test = counted([*found, *(Place("y", type) for type in types)], np.int64(count))
    last = loop([*started([np.int64(0), *values], found), *map(_zeros, types)], test, step)
    end = len(found)
    return finished(last[1:end], found[1:], carried), tree.unflatten(outline, list(last[end:]))


def _row(array: Any, place: Any) -> Any:
    """The row at a place, a scalar of arrays of rank 1."""
    sizes = aval_of(array).shape
    if not sizes[0]:  # the body never runs
        row: Any = constant(np.zeros(sizes[1:], aval_of(array).dtype))
        row.scalar = len(sizes) == 1
        return row
    starts = [place, *(np.int64(0) for _ in sizes[1:])]
    row = reshape(dynamic_slice(array, starts, (1, *sizes[1:])), sizes[1:])
    row.scalar = len(sizes) == 1
    return row


def _collected(trace: Trace, y: Any, place: Any, count: int) -> tuple[list[Any], list[Any], tree.Tree]:
    """Arrays of as many rows as there are turns, the same with the row of a turn written, and their structure."""
    leaves, structure = tree.flatten(y)
    buffers: list[Any] = []
    columns: list[Any] = []
    for leaf, label in zip(leaves, tree.labels(structure, "y"), strict=True):
        row, _, _ = as_array(leaf, NAME, label)
        type = array_type(aval_of(row).dtype, (count, *aval_of(row).shape))
        held = TracedArray(trace.parameter(type), trace)
        window = reshape(row_major(row), (1, *type.shape[1:]))
        starts = [place, *(np.int64(0) for _ in type.shape[1:])]
        columns.append(dynamic_update_slice(held, window, starts) if count else held)
        buffers.append(type)
    return buffers, columns, structure


def _zeros(type: ArrayType) -> Any:
    return row_major(broadcast(constant(np.zeros((), type.dtype)), type.shape))
