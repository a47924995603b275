"""ReduceWindow: a left fold over the positions of every window.

Padding and the holes between dilated elements hold the init value, as the specification has it. A fold is written by
one of three means, which the computation and the window decide, so that results do not depend on anything else:

    small windows           one operation after the other on shifted arrays: ``max(max(x[:-2], x[1:-1]), x[2:])``
    long ones of a reducer  one axis after the other, by running results of blocks (:mod:`.long_windows`)
    any other               a reduction of all windows
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import numerics
from xjit.dataclass import replace
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ir.opdef import Kind, Reducer
from xjit.ops.define import rules
from xjit.ops.define.computation import replay
from xjit.ops.define.core import apply, aval_of, constant, wrap
from xjit.ops.define.evaluate import is_elementwise
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.whole_arrays.concatenate import pad
from xjit.ops.whole_arrays.reduce import Fold, fold_of, reduced, reducer_function, reducer_named
from xjit.ops.whole_arrays.shape import broadcast, slice
from xjit.ops.windows.long_windows import slid
from xjit.ops.windows.window_padding import Windows, dilated, static_windows
from xjit.ops.windows.window_view import WINDOW_VIEW, window_view

__all__ = ["reduce_window"]

NAME = "reduce_window"


def reduce_window(
    operands: Any,
    init_values: Any,
    computation: Callable[..., Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    base_dilations: Sequence[int] | None = None,
    window_dilations: Sequence[int] | None = None,
    padding: Any = "VALID",
) -> Any:
    """Folds ``computation(*accumulators, *elements)`` over the positions of every window, in row-major order.

    Every fold starts from ``init_values``, which padding and the holes of base dilation hold as well. ``padding`` is
    "SAME", "VALID" or (low, high) for each dimension, negative to remove positions. One operand, by itself or in a
    sequence, gives one array; several of equal dimensions give a tuple. Any element types; sums and products of
    narrow floats accumulate in F32. Raises DTypeError, ArgumentError for lengths and for values below 1, ShapeError.

    >>> from xjit.ops.elements.elementwise import add
    >>> reduce_window(np.float32([1, 5, 2, 4]), np.float32(0), add, (2,), (2,))
    array([6., 6.], dtype=float32)
    """
    fold = fold_of(NAME, operands, init_values, computation)
    types = [aval_of(array) for array in fold.arrays]
    lists = window_dimensions, window_strides, base_dilations, window_dilations
    windows = static_windows(NAME, types[0].shape, *lists, padding=padding)
    rules.check_same_dims(NAME, [f"operands[{k}]" for k in range(len(types))], types)
    for k, init in enumerate(fold.inits):
        rules.check_rank(NAME, f"init_values[{k}]", aval_of(init), 0)
    if fold.accumulates_wider:
        wide = fold_of(NAME, *fold.wide, fold.function)
        return convert_element_type(folded(wide, windows), fold.dtype)
    return folded(fold, windows)


def folded(fold: Fold, windows: Windows) -> Any:
    """The fold over all windows; one array, or a tuple of as many as there are operands."""
    counts = windows.counts(aval_of(fold.arrays[0]).shape)
    if 0 in counts:
        results = tuple(broadcast(init, counts) for init in fold.inits)
        return results if len(results) > 1 else results[0]
    if windows.pads:
        fold = fold.over(
            [pad(array, init, windows.config) for array, init in zip(fold.arrays, fold.inits, strict=True)]
        )
    if fold.reducer is not None and math.prod(windows.sizes) > numerics.WRITTEN_OUT_WINDOW:
        return _separate(fold, fold.reducer, windows)
    return _at_once(fold, windows, counts)


def _separate(fold: Fold, reducer: Reducer, windows: Windows) -> Any:
    """One axis after the other, for a reducer, whose elements may be taken in another order."""
    (array,), (init,) = fold.arrays, fold.inits
    identity = constant(np.asarray(reducer.identity(fold.dtype), fold.dtype))
    axes = [axis for axis, row in enumerate(zip(windows.sizes, windows.strides, strict=True)) if row != (1, 1)]
    for axis in axes:
        start, own = init if axis == axes[-1] else identity, windows.along(axis)
        size, stride = own.sizes[axis], own.strides[axis]
        if own.window_dilations[axis] == 1 and size > numerics.WRITTEN_OUT_WINDOW * stride:
            array = _every(slid(array, reducer, start, axis, size), axis, stride)
        else:
            counts = own.counts(aval_of(array).shape)
            array = _at_once(replace(fold, arrays=(array,), inits=(start,)), own, counts)
    return array


def _every(array: Any, axis: int, stride: int) -> Any:
    """The elements along an axis that are a stride apart."""
    dims = aval_of(array).shape
    if stride == 1:
        return array
    return slice(array, (0,) * len(dims), dims, tuple(stride if place == axis else 1 for place in range(len(dims))))


def _at_once(fold: Fold, windows: Windows, counts: tuple[int, ...]) -> Any:
    """All elements of a window in row-major order."""
    if math.prod(windows.sizes) <= numerics.WRITTEN_OUT_WINDOW and is_elementwise(fold.computation):
        return _written_out(fold, windows, counts)
    axes = [axis for axis, size in enumerate(windows.sizes) if size > 1 or windows.strides[axis] > 1]
    rows = (windows.sizes, windows.strides, windows.window_dilations)
    window, strides, dilations = ([row[axis] for axis in axes] for row in rows)
    rank = len(counts)
    views = [window_view(array, window, strides, dilations, axes) for array in fold.arrays]
    return reduced(fold.over(views), tuple(range(rank, rank + len(axes))))


def _written_out(fold: Fold, windows: Windows, counts: tuple[int, ...]) -> Any:
    """One application of the computation after the other, on the elements at each place of all windows."""
    values: tuple[Any, ...] = fold.inits
    for place in itertools.product(*map(range, windows.sizes)):
        start = [at * step for at, step in zip(place, windows.window_dilations, strict=True)]
        limit = [at + dilated(n, step) for at, n, step in zip(start, counts, windows.strides, strict=True)]
        elements = [slice(array, start, limit, windows.strides) for array in fold.arrays]
        values = replay(fold.computation, (*values, *elements), counts)
    return values if len(values) > 1 else values[0]


# ---- reductions of windows that are there already


def windows_reduced(operand: Any, reducer: str, dims: Sequence[int]) -> Any:
    """The reduction of all dimensions within windows, as reduce_window computes it; None for any other operand.

    The windows may have gone through operations on their elements. An extreme that is zero may be either zero.
    """
    trace = current()
    if trace is None or not isinstance(operand, TracedValue):
        return None
    node, after = operand.node, list[Node]()
    while node.op.kind is Kind.ELEMENTWISE and len(node.inputs) == 1:
        after.append(node)
        node = node.inputs[0]
    if node.op is not WINDOW_VIEW or not node.inputs[0].aval.size:
        return None
    windows = _windows_of(node)
    rank = len(windows.sizes)
    if tuple(dims) != tuple(range(rank, node.aval.rank)):
        return None
    array = wrap(trace, node.inputs[0])
    for one in reversed(after):
        array = apply(one.op, array, **one.kwargs)
    found = reducer_named(reducer)
    init = constant(np.asarray(found.identity(aval_of(array).dtype), aval_of(array).dtype))
    return folded(fold_of(NAME, array, init, reducer_function(found), either_zero=True), windows)


def _windows_of(node: Node) -> Windows:
    """The windows that a node shows."""
    rows = [[1] * node.inputs[0].aval.rank for _ in range(3)]
    for row, name in zip(rows, ("window", "strides", "dilations"), strict=True):
        for axis, value in zip(node.param("axes"), node.param(name), strict=True):
            row[axis] = value
    sizes, strides, dilations = map(tuple, rows)
    return Windows(sizes, strides, (1,) * len(sizes), dilations, ((0, 0),) * len(sizes))
