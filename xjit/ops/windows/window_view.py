"""The windowed access: every window of an array, with its elements along further dimensions.

Reductions of windows, convolutions and sliding windows are all compositions of it: it is an index map whose positions
move along two axes, that of the windows and that within a window, so that nothing is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xjit.ir.index_map import affine
from xjit.ir.opdef import Access, Kind, OpDef, Params
from xjit.ops.define import rules
from xjit.ops.define.core import Operand, apply, as_operand, aval_of, register, static_ints
from xjit.ops.define.references import Array
from xjit.ops.windows.window_padding import dilated, window_count
from xjit.types import NARROW_FLOATS, ArrayType, order_of

Types = tuple[ArrayType, ...]


def _infer(types: Types, params: Params) -> ArrayType:
    name, (type,) = "window_view", types
    axes, window = params["axes"], params["window"]
    rules.check_axes(name, "axes", axes, type.rank)
    for argument in ("window", "strides", "dilations"):
        rules.check_length(name, argument, params[argument], len(axes))
        rules.check_at_least(name, argument, params[argument], 1)
    counts, steps, within = _placed(type.shape, type.strides, params)
    dims = (*counts, *window)
    if not params["outer"]:
        return ArrayType(type.dtype, dims, order_of(dims, (*steps, *within)))
    inner = [type.rank + place for place in order_of(window, within)]
    return ArrayType(type.dtype, dims, (*inner, *order_of(counts, steps)))


def _placed(
    shape: tuple[int, ...], strides: tuple[int, ...], params: Params
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The number of windows along each axis, and the distances between windows and between elements of one."""
    counts, steps = list(shape), list(strides)
    for axis, size, stride, dilation in zip(
        params["axes"], params["window"], params["strides"], params["dilations"], strict=True
    ):
        counts[axis] = window_count(shape[axis], dilated(size, dilation), stride)
        steps[axis] *= stride
    within = [strides[axis] * dilation for axis, dilation in zip(params["axes"], params["dilations"], strict=True)]
    return tuple(counts), tuple(steps), tuple(within)


def _reference(operand: Array, **params: Any) -> Array:
    counts, steps, within = _placed(operand.shape, operand.strides, params)
    dims = (*counts, *params["window"])
    bits = (
        operand.view(f"u{operand.itemsize}") if operand.dtype in NARROW_FLOATS else operand
    )  # NumPy has none of these
    found: Array = np.lib.stride_tricks.as_strided(bits, dims, (*steps, *within), writeable=False).view(operand.dtype)
    return found


def _access(types: Types, params: Params, out: ArrayType) -> Access:
    terms = [[(axis, 1)] for axis in range(types[0].rank)]
    rows = zip(params["axes"], params["strides"], params["dilations"], strict=True)
    for place, (axis, stride, dilation) in enumerate(rows, types[0].rank):
        terms[axis] = [(axis, stride), (place, dilation)]
    return Access(tuple([affine(several) for several in terms]))


WINDOW_VIEW = register(
    OpDef(
        name="window_view",
        kind=Kind.INDEXING,
        infer=_infer,
        reference=_reference,
        access=_access,
        doc="Every window of the operand, with its elements along further dimensions.",
    )
)


def window_view(
    operand: Any,
    window: Sequence[int],
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    *,
    outer: bool = True,
) -> Any:
    """Every window of the operand: element (o, k) is the operand's at ``o * strides + k * dilations``.

    The windows move along ``axes``, by default all, whose sizes become the numbers of windows; the elements of a
    window lie along further dimensions, one for each of ``axes``, behind all others. ``outer`` counts these as the
    slowest in memory, so that a reduction of windows makes whole rows of results at a time; else the order is that of
    the view that NumPy makes. Any element type. Raises ArgumentError for wrong lengths and for values below 1.

    >>> window_view(np.int32([1, 2, 3, 4]), (2,))
    array([[1, 2],
           [2, 3],
           [3, 4]], dtype=int32)
    """
    name = "window_view"
    array: Operand = as_operand(operand, name, "operand")
    sizes = static_ints(window, name, "window")
    places = tuple(range(aval_of(array).rank)) if axes is None else static_ints(axes, name, "axes")
    steps = (1,) * len(sizes) if strides is None else static_ints(strides, name, "strides")
    apart = (1,) * len(sizes) if dilations is None else static_ints(dilations, name, "dilations")
    return apply(WINDOW_VIEW, array, axes=places, window=sizes, strides=steps, dilations=apart, outer=outer)
