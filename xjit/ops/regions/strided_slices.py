"""Strided windows as basic indices pick them, read and written: along each axis a start, a step and a count.

Starts are known, or integers of rank 0 that data says. Known ones belong to the operation, so that loops over such a
window have affine places. Nothing is moved: that a window lies within its operand is up to the caller.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xjit.errors import ShapeError
from xjit.ir.context import TracedValue
from xjit.ir.opdef import Access, AxisMap, Kind, Lookup, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, as_operand, aval_of, register, static_int, static_ints
from xjit.ops.define.references import Array
from xjit.ops.define.rules import got
from xjit.ops.whole_arrays.starts import exact
from xjit.showing import Along, Indexed, Showing
from xjit.types import ArrayType, array_type, c_order

Types = tuple[ArrayType, ...]


def _access(params: Params, rank: int, first_start: int) -> Access:
    """The places of a window whose run-time starts are the operands from this one on."""
    found = {axis: (Lookup(first_start + number, ()),) for number, axis in enumerate(params["axes"])}
    pairs = enumerate(zip(params["strides"], params["starts"], strict=True))
    return Access(tuple(AxisMap(axis, stride, start, found.get(axis, ())) for axis, (stride, start) in pairs))


def _slices(
    sizes: Sequence[int], found: Mapping[int, Array], starts: Sequence[int], strides: Sequence[int]
) -> tuple[builtins.slice, ...]:
    """The window as an index of NumPy; none of it where it has no elements."""
    first = [start + int(found.get(axis, 0)) for axis, start in enumerate(starts)]
    return tuple(
        builtins.slice(start, start + (size - 1) * stride + 1, stride) if size else builtins.slice(0, 0)
        for start, size, stride in zip(first, sizes, strides, strict=True)
    )


# ---- slice_from


def _infer_slice(types: Types, params: Params) -> ArrayType:
    return array_type(types[0].dtype, params["sizes"])


def _slice(
    operand: Array,
    *found: Array,
    axes: tuple[int, ...],
    starts: tuple[int, ...],
    strides: tuple[int, ...],
    sizes: tuple[int, ...],
) -> Array:
    return np.array(operand[_slices(sizes, dict(zip(axes, found, strict=True)), starts, strides)])


def _access_slice(types: Types, params: Params, out: ArrayType) -> Access:
    return _access(params, out.rank, 1)


def _shown_slice(types: Types, params: Params, out: ArrayType) -> Showing:
    numbers = {axis: number for number, axis in enumerate(params["axes"], 1)}
    rows = enumerate(zip(params["starts"], params["strides"], params["sizes"], strict=True))
    return Indexed(tuple(Along(start, step, size, numbers.get(axis, -1)) for axis, (start, step, size) in rows))


SLICE_FROM = register(
    OpDef(
        name="slice_from",
        kind=Kind.INDEXING,
        infer=_infer_slice,
        reference=_slice,
        access=_access_slice,
        shown=_shown_slice,
        doc="A strided window of the operand, which along some dimensions begins where data says.",
    )
)


def slice_from(
    operand: Any, starts: Sequence[Any], sizes: Sequence[int], strides: Sequence[int] | None = None
) -> Any:
    """The elements ``starts[d] + k * strides[d]`` along each dimension d, for k below ``sizes[d]``. Any element type.

    Starts are Python integers, or integer arrays of rank 0: then the caller has seen to it that the window lies
    within the operand. Raises ArgumentError for wrong lengths and strides below 1, ShapeError for a window with known
    starts that does not fit, DTypeError for starts that are no integers.

    >>> slice_from(np.float32([0, 1, 2, 3, 4]), (np.int64(1),), (2,), (2,))
    array([1., 3.], dtype=float32)
    """
    name = "slice_from"
    array = as_operand(operand, name, "operand")
    wanted = static_ints(sizes, name, "sizes")
    axes, first, found, steps = _checked(name, aval_of(array), starts, strides, wanted)
    return apply(SLICE_FROM, array, *found, axes=axes, starts=first, strides=steps, sizes=wanted)


# ---- update_slice


def _infer_update(types: Types, params: Params) -> ArrayType:
    operand = types[0]
    order = operand.order if len(operand.order) == operand.rank else c_order(operand.rank)
    return ArrayType(operand.dtype, operand.dims, order)


def _update(
    operand: Array,
    update: Array,
    *found: Array,
    axes: tuple[int, ...],
    starts: tuple[int, ...],
    strides: tuple[int, ...],
    n: int,
) -> Array:
    result = np.array(operand)
    result[_slices(update.shape, dict(zip(axes, found, strict=True)), starts, strides)] = update
    return result


def _access_update(types: Types, params: Params, out: ArrayType) -> Access:
    return _access(params, out.rank, 2)


UPDATE_SLICE = register(
    OpDef(
        name="update_slice",
        kind=Kind.UPDATE,
        infer=_infer_update,
        reference=_update,
        access=_access_update,
        doc="The operand with a strided window replaced, which along some dimensions begins where data says.",
    )
)


def update_slice(operand: Any, update: Any, starts: Sequence[Any], strides: Sequence[int] | None = None) -> Any:
    """The operand with the elements ``starts[d] + k * strides[d]`` along each dimension d replaced by ``update``.

    Starts are Python integers, or integer arrays of rank 0: then the caller has seen to it that the window lies
    within the operand. Any element type; the result has the memory order of the operand. Raises DTypeError,
    ArgumentError for wrong lengths and strides below 1, ShapeError for another rank of the update and for a window
    with known starts that does not fit.

    >>> update_slice(np.float32([0, 1, 2, 3, 4]), np.float32([8, 9]), (1,), (2,))
    array([0., 8., 2., 9., 4.], dtype=float32)
    """
    name = "update_slice"
    array = as_operand(operand, name, "operand")
    window = as_operand(update, name, "update", aval_of(array).dtype)
    type, part = aval_of(array), aval_of(window)
    rules.check_same_dtype(name, ("operand", "update"), (type, part))
    rules.check_rank(name, "update", part, type.rank)
    axes, first, found, steps = _checked(name, type, starts, strides, part.shape)
    return apply(UPDATE_SLICE, array, window, *found, axes=axes, starts=first, strides=steps, n=1)


def _checked(
    name: str, type: ArrayType, starts: Sequence[Any], strides: Sequence[int] | None, sizes: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], list[Operand], tuple[int, ...]]:
    """The dimensions with run-time starts, the known starts, the others, and the strides."""
    steps = (1,) * type.rank if strides is None else static_ints(strides, name, "strides")
    for argument, values in (("starts", starts), ("strides", steps), ("sizes", sizes)):
        rules.check_length(name, argument, values, type.rank)
    rules.check_at_least(name, "strides", steps, 1)
    rules.check_at_least(name, "sizes", sizes, 0)
    axes = tuple(axis for axis, one in enumerate(starts) if isinstance(one, TracedValue | np.ndarray | np.generic))
    found = [_start(name, axis, starts[axis]) for axis in axes]
    first = tuple(0 if k in axes else static_int(start, name, f"starts[{k}]") for k, start in enumerate(starts))
    _check_window(name, type, first, sizes, steps)
    return axes, first, found, steps


def _start(name: str, axis: int, value: Any) -> Any:
    start, argument = as_operand(value, name, f"starts[{axis}]"), f"starts[{axis}]"
    rules.check_class(name, argument, aval_of(start), "I")
    rules.check_rank(name, argument, aval_of(start), 0)
    return exact(start)


def _check_window(
    name: str, type: ArrayType, first: tuple[int, ...], sizes: tuple[int, ...], steps: tuple[int, ...]
) -> None:
    """ShapeError for a window that lies nowhere within the operand, or not where it is known to begin."""
    for size, start, count, step in zip(type.shape, first, sizes, steps, strict=True):
        if count and not 0 <= start <= size - 1 - (count - 1) * step:
            raise ShapeError(
                f"ops.{name}: starts: a window within the operand is required; "
                f"got {first} with sizes {sizes} and strides {steps} of {got((type,))}"
            )
