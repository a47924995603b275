"""SelectAndScatter: one element of every window is chosen, and what belongs to the window is combined into it.

No kernel scatters. Every window notes the number of the element that it chooses, and every element then folds over
the windows that it lies in, in their order, those that have chosen it: both are folds over windows, the second over
the windows' results, a stride apart.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import numerics
from xjit.errors import ShapeError
from xjit.ops.define import rules
from xjit.ops.define.computation import replay, traced_scalars
from xjit.ops.define.core import Shape, as_operand, aval_of, constant
from xjit.ops.define.evaluate import is_elementwise
from xjit.ops.elements import compare, elementwise
from xjit.ops.elements import select as selecting
from xjit.ops.whole_arrays.concatenate import pad
from xjit.ops.whole_arrays.reduce import Fold, fold_of, reduced
from xjit.ops.whole_arrays.shape import broadcast, iota, reshape, slice
from xjit.ops.windows.window_padding import Windows, dilated, static_windows
from xjit.ops.windows.window_view import window_view
from xjit.types import BOOL, INT8, INT32, DType, scalar_type

__all__ = ["select_and_scatter"]

NAME = "select_and_scatter"


def select_and_scatter(
    operand: Any,
    select: Callable[..., Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None,
    padding: Any,
    source: Any,
    init_value: Any,
    scatter: Callable[..., Any],
) -> Any:
    """``scatter(result, source)`` at the element that each window chooses, over a result full of ``init_value``.

    A window keeps its choice as long as ``select(chosen, next)`` holds, over its elements in row-major order, padding
    left out. Windows that choose the same element come in row-major order of ``source``, which has an element for
    each. Element types: integer, float, complex. Raises DTypeError, ArgumentError for lengths and for values below 1,
    ShapeError for another number of windows.

    >>> select_and_scatter(
    ...     np.int32([1, 5, 2, 4]), compare.ge, (2,), (2,), "VALID", np.int32([7, 8]), np.int32(0), elementwise.add
    ... )
    array([0, 7, 0, 8], dtype=int32)
    """
    array = as_operand(operand, NAME, "operand")
    type = aval_of(array)
    values, init = (
        as_operand(one, NAME, argument, type.dtype)
        for argument, one in (("source", source), ("init_value", init_value))
    )
    rules.check_class(NAME, "operand", type, "IFC")
    rules.check_same_dtype(NAME, ("operand", "source", "init_value"), [type, aval_of(values), aval_of(init)])
    two = (scalar_type(type.dtype),) * 2
    traced_scalars(NAME, select, two, [BOOL])
    traced_scalars(NAME, scatter, two, [type.dtype])
    windows = static_windows(NAME, type.shape, window_dimensions, window_strides, padding=padding)
    counts = windows.counts(type.shape)
    if aval_of(values).dims != counts:
        rule = f"an element for each of {'x'.join(map(str, counts))} windows is required"
        raise ShapeError(f"ops.{NAME}: source: {rule}; got {rules.got((aval_of(values), type))}")
    rules.check_rank(NAME, "init_value", aval_of(init), 0)
    if 0 in counts or not type.size:
        return broadcast(init, type.shape)
    chosen = _chosen(array, select, windows)
    return _combined(chosen, values, init, scatter, windows, type.shape)


def _chosen(array: Any, select: Callable[..., Any], windows: Windows) -> Any:
    """The number of the element that each window chooses, -1 where it has none."""
    dims = aval_of(array).shape
    dtype = INT8 if math.prod(windows.sizes) <= np.iinfo(np.int8).max else INT32
    nothing = constant(np.zeros((), aval_of(array).dtype))
    inside = broadcast(constant(np.array(True)), dims)
    elements, is_inside = (
        window_view(pad(one, fill, windows.config), windows.sizes, windows.strides)
        for one, fill in ((array, nothing), (inside, constant(np.array(False))))
    )
    outside = _filled(-1, dtype, aval_of(elements).shape)
    numbers = selecting.select(is_inside, _numbers(windows, aval_of(elements).shape, dtype), outside)

    def choose(best: Any, number: Any, value: Any, own: Any) -> tuple[Any, Any]:
        none = np.array(0, dtype)
        is_known = elementwise.and_(compare.ge(number, none), select(best, value))
        keeps = elementwise.or_(compare.lt(own, none), is_known)
        return selecting.select(keeps, best, value), selecting.select(keeps, number, own)

    fold = fold_of(NAME, (elements, numbers), (nothing, constant(np.array(-1, dtype))), choose)
    return _folded(fold, windows.sizes)[1]


def _combined(
    chosen: Any, values: Any, init: Any, scatter: Callable[..., Any], windows: Windows, dims: tuple[int, ...]
) -> Any:
    """Every element with the values of the windows that have chosen it."""
    dtype, config = aval_of(chosen).dtype, []
    rows = zip(dims, windows.sizes, windows.strides, windows.padding, windows.counts(dims), strict=True)
    for n, k, stride, (low, _), count in rows:
        before = k - 1 - low
        config.append((before, n + k - 1 - before - dilated(count, stride), stride - 1))
    choices, found = (
        window_view(pad(one, fill, config), windows.sizes)
        for one, fill in ((chosen, constant(np.array(-1, dtype))), (values, init))
    )
    numbers = _numbers(windows, aval_of(choices).shape, dtype)
    last = _filled(math.prod(windows.sizes) - 1, dtype, aval_of(choices).shape)
    is_own = compare.eq(choices, elementwise.sub(last, numbers))  # the first window has the element as its last one

    def combine(result: Any, known: Any, value: Any, is_chosen: Any) -> tuple[Any, Any]:
        return selecting.select(is_chosen, scatter(result, value), result), known

    fold = fold_of(NAME, (found, is_own), (init, constant(np.array(False))), combine)
    return _folded(fold, windows.sizes)[0]


def _numbers(windows: Windows, dims: tuple[int, ...], dtype: DType) -> Any:
    """The number of each element within its window, in row-major order, over windows and their elements."""
    rank = len(windows.sizes)
    total = _filled(0, dtype, dims)
    for axis, size in enumerate(windows.sizes):
        steps = _filled(math.prod(windows.sizes[axis + 1 :]), dtype, dims)
        if size > 1:
            total = elementwise.add(total, elementwise.mul(iota(Shape(dims, dtype), rank + axis), steps))
    return total


def _filled(value: int, dtype: DType, dims: tuple[int, ...]) -> Any:
    return broadcast(constant(np.array(value, dtype)), dims)


def _folded(fold: Fold, window: tuple[int, ...]) -> tuple[Any, ...]:
    """The fold over the last dimensions, those of windows: small ones one operation after the other."""
    rank = len(window)
    dims = aval_of(fold.arrays[0]).shape[:rank]
    if math.prod(window) > numerics.WRITTEN_OUT_WINDOW or not is_elementwise(fold.computation):
        found: tuple[Any, ...] = reduced(fold, tuple(range(rank, 2 * rank)))
        return found
    state = fold.inits
    for place in itertools.product(*map(range, window)):
        start, limit = (0,) * rank + place, dims + tuple(at + 1 for at in place)
        elements = [reshape(slice(array, start, limit), dims) for array in fold.arrays]
        state = replay(fold.computation, (*state, *elements), dims)
    return state
