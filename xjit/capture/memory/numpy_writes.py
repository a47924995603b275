"""NumPy's functions and methods that write into an array, as new versions of its buffer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit import ops
from xjit.capture.memory.stored_numbers import held
from xjit.capture.memory.stores import combine_at, scattered, setitem, unlinked
from xjit.capture.memory.views import link
from xjit.capture.memory.writes import (
    DESTINATION,
    check_same_kind,
    check_writable,
    fitting,
    store,
    stored_value,
    write,
)
from xjit.capture.tracers.provenance import refuse
from xjit.errors import DTypeError, ShapeError
from xjit.ir.context import TracedValue
from xjit.numpy.arrays import shaping
from xjit.numpy.reducing import scans, sorting
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import cast, weak_type
from xjit.numpy.rules.values import as_value, whole_number
from xjit.numpy.selecting import gathering
from xjit.types import BOOL

Write = Callable[..., Any]


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """``numpy.copyto``: the elements of one array into another, where a condition holds."""
    check_writable(dst, DESTINATION)
    value = as_value(src, "copyto", "src")
    of_python = isinstance(src, bool | int | float | complex) or weak_type(src) is not None
    if of_python or not np.can_cast(value.dtype, dst.dtype, casting):
        if not of_python:
            message = (
                f"Cannot cast array data from {value.dtype!r} to {dst.dtype!r} according to the rule {casting!r}"
            )
            raise DTypeError(message)
        value = stored_value(src, dst.dtype)
    found = fitting(value if value.dtype == dst.dtype else cast(value, dst.dtype), dst.shape)
    if where is True:
        store(dst, found)
    else:
        write(dst, chosen(as_value(where, "copyto", "where"), found, dst))


def chosen(mask: Any, value: Any, target: Any) -> Any:
    """The value where a condition holds, elsewhere what a target holds."""
    every = broadcast_to_shape(cast(mask, BOOL), target.shape)
    return ops.select(every, broadcast_to_shape(value, target.shape), unlinked(target))


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """``numpy.put``: values, again from the first when there are no more, at positions of the flat array."""
    check_writable(a)
    index = shaping.ravel(as_value(ind, "put", "ind"))
    values = shaping.ravel(stored_value(v, a.dtype))
    count, own = math.prod(index.shape), math.prod(values.shape)
    if not count or not own:
        return
    places = gathering.positions(index, a.size, 0, "numpy.put", mode)
    updates = cycled(values, np.arange(count) % own, own)
    store_flat(a, places, updates)


def cycled(values: Any, turns: Any, own: int) -> Any:
    """A value for every turn, of so many in a row."""
    if own == 1:
        return broadcast_to_shape(ops.reshape(values, ()), turns.shape)
    return ops.look_up(values, (turns,), (0,), 0)


def store_flat(target: Any, places: Any, updates: Any) -> None:
    """Stores values at positions of the flat array."""
    flat = link(shaping.reshape(unlinked(target), -1), ())
    made = scattered(flat, (0,), [places], updates.shape, updates, lambda old, new: new)
    write(target, ops.reshape(made, target.shape))


def place(arr: Any, mask: Any, vals: Any) -> None:
    """``numpy.place``: the first values where a mask holds, again from the first when there are no more."""
    check_writable(arr)
    truth = shaping.ravel(cast(as_value(mask, "place", "mask"), BOOL))
    values = shaping.ravel(stored_value(vals, arr.dtype))
    own = math.prod(values.shape)
    if math.prod(truth.shape) != arr.size:
        raise ShapeError("numpy.place: mask and data must be the same size")
    if not own:
        raise ValueError("Cannot insert from an empty array!")
    if own > 1:
        turns = ops.sub(scans.cumsum(truth), broadcast_to_shape(np.asarray(1), truth.shape))
        turns = ops.remainder(ops.max(turns, np.int64(0)), broadcast_to_shape(np.asarray(own), truth.shape))
        values = ops.look_up(values, (turns,), (0,), 0)
    else:
        values = broadcast_to_shape(ops.reshape(values, ()), truth.shape)
    write(arr, chosen(ops.reshape(truth, arr.shape), ops.reshape(values, arr.shape), arr))


def putmask(a: Any, mask: Any, values: Any) -> None:
    """``numpy.putmask``: where a mask holds the value of the same position, again from the first after the last."""
    check_writable(a)
    truth = cast(as_value(mask, "putmask", "mask"), BOOL)
    if math.prod(truth.shape) != a.size:
        raise ShapeError("putmask: mask and data must be the same size")
    of_array = isinstance(values, TracedValue) and values.weak is None and not values.scalar
    if (of_array or isinstance(values, np.ndarray)) and not np.can_cast(values.dtype, a.dtype):
        # Numbers and lists are stored whatever they are.
        text = f"Cannot cast array data from {values.dtype!r} to {a.dtype!r} according to the rule 'safe'"
        raise DTypeError(text, fix=f"convert the values first: values.astype({a.dtype.name!r})")
    flat = shaping.ravel(stored_value(values, a.dtype))
    own = math.prod(flat.shape)
    if not own:
        return
    repeated = ops.reshape(cycled(flat, np.arange(a.size) % own, own), a.shape)
    write(a, chosen(ops.reshape(truth, a.shape), repeated, a))


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """``numpy.put_along_axis``: a value for every index, at the index's own place along the other axes."""
    if axis is None:
        put(arr, indices, values)
        return
    rank = arr.ndim
    axis = whole_number(axis) % rank
    index = as_value(indices, "put_along_axis", "indices")
    if len(index.shape) != rank:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    places: list[Any] = []
    for k, size in enumerate(arr.shape):
        shape = [1] * rank
        shape[k] = size
        places.append(index if k == axis else np.arange(size).reshape(shape))
    setitem(arr, tuple(places), values)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """``numpy.fill_diagonal``: a number, or values in turn, along the main diagonal."""
    check_writable(a)
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    step = a.shape[1] + 1 if a.ndim == 2 else 1 + int(np.cumprod(a.shape[:-1]).sum())
    end = a.shape[1] * a.shape[1] if a.ndim == 2 and not wrap else a.size
    places = np.arange(a.size)[:end:step]
    values = shaping.ravel(stored_value(val, a.dtype))
    store_flat(a, places, cycled(values, np.arange(len(places)) % math.prod(values.shape), math.prod(values.shape)))


# ---- methods


def fill(target: Any, value: Any) -> None:
    """``x.fill(value)``."""
    if math.prod(np.shape(value) if not hasattr(value, "node") else value.shape) != 1:
        raise ValueError("only a single value may fill an array")
    check_writable(target, DESTINATION)
    store(target, ops.reshape(stored_value(held(value, target.dtype), target.dtype), ()))


def sort(target: Any, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    """``x.sort()``: along an axis, in place."""
    if order is not None:
        refuse("sort(order=) needs an array with fields", target)
    write(target, sorting.sort(unlinked(target), axis, kind, stable=stable))


def partition(target: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
    """``x.partition(kth)``: in place."""
    write(target, sorting.partition(unlinked(target), kth, axis, kind))


def accumulate_at(ufunc: np.ufunc, target: Any, indices: Any, values: Any = None) -> None:
    """``ufunc.at``: in the order of the positions, each as often as it is named."""
    from xjit.numpy import ufuncs

    check_writable(target)
    if ufunc.nout != 1 or (ufunc.nin == 1) != (values is None):
        refuse(f"numpy.{ufunc.__name__}.at with such arguments is not supported", target)
    if ufunc.nin == 1:
        _compute_at(ufunc, target, indices)
        return
    sample = ufunc(np.ones((), target.dtype), np.ones((), as_value(values, "at").dtype))
    check_same_kind(sample.dtype, target.dtype, f"{ufunc.__name__}.at")
    if sample.dtype != target.dtype:
        refuse(f"numpy.{ufunc.__name__}.at computes in {sample.dtype} here", target, fix="convert the values first")
    found = as_value(values, "at", "values")
    updates = found if found.dtype == target.dtype else cast(found, target.dtype)
    combine_at(target, indices, updates, lambda old, new: ufuncs.call(ufunc, old, new))


def _compute_at(ufunc: np.ufunc, target: Any, indices: Any) -> None:
    """``ufunc.at`` for a function of one element, which is applied as often as a position is named."""
    from xjit.numpy import ufuncs

    sample = ufunc(np.ones((), target.dtype))
    check_same_kind(sample.dtype, target.dtype, f"{ufunc.__name__}.at")
    if sample.dtype != target.dtype:
        refuse(f"numpy.{ufunc.__name__}.at computes in {sample.dtype} here", target, fix="convert the array first")
    combine_at(target, indices, np.zeros((), target.dtype), lambda old, _: ufuncs.call(ufunc, old))


FUNCTIONS: dict[Any, Write] = {
    np.copyto: copyto,
    np.put: put,
    np.place: place,
    np.putmask: putmask,
    np.put_along_axis: put_along_axis,
    np.fill_diagonal: fill_diagonal,
}
"""Functions that write into their first argument."""

METHODS: dict[str, Write] = {"fill": fill, "put": put, "sort": sort, "partition": partition}
"""Methods that write into their array."""
