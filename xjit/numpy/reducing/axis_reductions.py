"""Reductions over axes, in the element types and with the errors of NumPy.

>>> sum(np.int8([100, 100]))
np.int64(200)
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from xjit import ops
from xjit.dataclass import dataclass
from xjit.errors import ArgumentError, DTypeError
from xjit.ir.context import TracedValue
from xjit.numpy.rules import compositions as c
from xjit.numpy.rules.broadcasting import broadcast_to_shape
from xjit.numpy.rules.promotion import assigned, cast, nonzero, requested, supported
from xjit.numpy.rules.signatures import like_max, like_sum
from xjit.numpy.rules.static import hollow
from xjit.numpy.rules.values import (
    as_scalar,
    as_value,
    given,
    looped,
    numpy_errors,
    operand,
    refuse,
    shape_of,
    whole_number,
    with_order,
)
from xjit.numpy.ufuncs import call
from xjit.ops.define.core import Operand, aval_of, dtype_of
from xjit.ops.whole_arrays.arg_extreme import arg_extreme, first_position
from xjit.ops.whole_arrays.reduce import REDUCERS, reduction
from xjit.ops.windows.reduce_window import windows_reduced
from xjit.types import BOOL, FLOAT32, NARROW_FLOATS, DType, c_order, dtype_class

Axes = tuple[int, ...]


def axes_of(axis: Any, rank: int, name: str) -> Axes:
    """The axes that an ``axis`` argument names; all of them for None.

    Raises AxisError for one outside the rank, ArgumentError for one that is named twice.
    """
    if axis is None:
        return tuple(range(rank))
    if rank == 0 and not isinstance(axis, bool) and axis in (0, -1):
        return ()
    with numpy_errors(name, ArgumentError):
        named = axis if isinstance(axis, tuple) else (axis,)
        return tuple(sorted(normalize_axis_tuple(tuple(map(whole_number, named)), rank)))


def kept(result: Any, value: Operand, axes: Axes) -> Any:
    """The result with axes of size one in the places of the reduced axes."""
    sizes = tuple(1 if axis in axes else size for axis, size in enumerate(shape_of(value)))
    return ops.reshape(result, sizes)


def keep(keepdims: Any) -> bool:
    """Return whether keepdims was asked for."""
    return given(keepdims) and bool(keepdims)


def any_zero(shape: tuple[int, ...], axes: Axes) -> bool:
    """Return whether there is nothing to reduce over."""
    return 0 in (shape[axis] for axis in axes)


def reduction_type(ufunc: np.ufunc, value: Operand, dtype: Any, name: str) -> DType:
    """The element type that NumPy accumulates in, which is that of the result."""
    signature = (requested(dtype, name), None, None)
    given_types = (None, dtype_of(value), None)
    try:
        found = ufunc.resolve_dtypes(given_types, signature=signature, reduction=True, casting="unsafe")
    except TypeError as error:
        raise DTypeError(f"numpy.{name}: {error}") from error
    return supported(found[2], name)


# ---- what each ufunc folds with


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold of a ufunc over axes.

    run      operand and axes -> the fold
    neutral  element type -> what changes no result, for elements that are left out
    truth    whether it is only asked which elements are true
    """

    run: Callable[[Operand, Axes], Any]
    neutral: Callable[[DType], Any]
    truth: bool = False


def _recognised(reducer: str) -> Callable[[Operand, Axes], Any]:
    def run(value: Operand, axes: Axes) -> Any:
        if not axes:
            return looped(value)
        found = windows_reduced(value, reducer, axes)
        return reduction(value, reducer, axes) if found is None else found

    return run


# Complex numbers are ordered by real, then by imaginary part: an exact fold, from the far end of that order.
_LEXICOGRAPHIC: dict[str, tuple[Any, complex]] = {
    "max": (c.maximum, complex(-np.inf, -np.inf)),
    "min": (c.minimum, complex(np.inf, np.inf)),
}


def _extreme(reducer: str) -> Callable[[Operand, Axes], Any]:
    def run(value: Operand, axes: Axes) -> Any:
        letter = c.letter(value)
        if letter == "C" and axes:
            combine, start = _LEXICOGRAPHIC[reducer]
            return ops.reduce(value, np.asarray(start, dtype_of(value)), combine, axes)
        return _recognised({"max": "or", "min": "and"}[reducer] if letter == "P" else reducer)(value, axes)

    return run


def _known_extreme(reducer: str) -> Callable[[Operand, Axes], Any]:
    """The extreme of the numbers that are no NaN; NaN if there is no other."""

    def run(value: Operand, axes: Axes) -> Any:
        if c.letter(value) in "PI" or not axes:
            return _extreme(reducer)(value, axes)
        every = reduction(c.isnan(value), "and", axes)
        if c.letter(value) == "F":
            best = reduction(without_nan(value, reducer), reducer, axes)
            return ops.select(every, c.full_like(best, np.nan), best)
        combine, start = {"max": c.fmax, "min": c.fmin}[reducer], np.asarray(complex(np.nan, np.nan), dtype_of(value))
        best = ops.reduce(value, start, combine, axes)
        return ops.select(every, _first(value, axes), best)

    return run


def without_nan(value: Operand, reducer: str) -> Any:
    """Floats with the number that every other one beats in the places of NaN.

    Found by comparing with that number: loops that ask isnan before they look for an extreme do not vectorise.
    """
    worst = c.full_like(value, _last(reducer)(dtype_of(value)))
    compare = ops.ge if reducer == "max" else ops.le
    return ops.select(compare(value, worst), value, worst)


def _first(value: Operand, axes: Axes) -> Any:
    """The first element along the reduced axes."""
    shape = shape_of(value)
    ends = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    first = ops.slice(value, (0,) * len(shape), ends)
    return ops.reshape(first, _rest(value, axes))


def _last(reducer: str) -> Callable[[DType], Any]:
    """The number that is beaten by every other one."""

    def neutral(dtype: DType) -> Any:
        if dtype_class(dtype) == "C":
            return np.asarray(_LEXICOGRAPHIC[reducer][1], dtype)
        return REDUCERS[reducer].identity(dtype)

    return neutral


def _unknown_or(neutral: Callable[[DType], Any]) -> Callable[[DType], Any]:
    """NaN, in types that have it."""
    return lambda dtype: np.nan if dtype_class(dtype) in "FC" else neutral(dtype)


def _exact(combine: Callable[..., Any], start: int) -> Callable[[Operand, Axes], Any]:
    """A fold that goes from the start value through all elements."""

    def run(value: Operand, axes: Axes) -> Any:
        first = np.asarray(start, dtype_of(value))
        return ops.reduce(value, first, combine, axes) if axes else combine(c.full_like(value, start), value)

    return run


def _logarithm_of_sum(
    exponential: Callable[..., Any], logarithm: Callable[..., Any]
) -> Callable[[Operand, Axes], Any]:
    """The logarithm of the sum of exponentials of distances from the largest number, and that number added again."""

    def run(value: Operand, axes: Axes) -> Any:
        if not axes or any_zero(shape_of(value), axes):
            return reduction(value, "max", axes) if axes else looped(value)
        dtype = dtype_of(value)
        wide = cast(value, FLOAT32) if dtype in NARROW_FLOATS else value
        largest = kept(reduction(wide, "max", axes), value, axes)
        middle = ops.select(ops.is_finite(largest), largest, c.full_like(largest, 0))
        powers = exponential(ops.sub(wide, broadcast_to_shape(middle, shape_of(value))))
        total = ops.add(logarithm(reduction(powers, "add", axes)), ops.reshape(middle, _rest(value, axes)))
        return cast(total, dtype)

    return run


def _rest(value: Operand, axes: Axes) -> tuple[int, ...]:
    return tuple(size for axis, size in enumerate(shape_of(value)) if axis not in axes)


FOLDS: dict[np.ufunc, Fold] = {
    np.add: Fold(_recognised("add"), REDUCERS["add"].identity),
    np.multiply: Fold(_recognised("mul"), REDUCERS["mul"].identity),
    np.maximum: Fold(_extreme("max"), _last("max")),
    np.minimum: Fold(_extreme("min"), _last("min")),
    np.fmax: Fold(_known_extreme("max"), _unknown_or(_last("max"))),
    np.fmin: Fold(_known_extreme("min"), _unknown_or(_last("min"))),
    np.logical_and: Fold(_recognised("and"), REDUCERS["and"].identity, truth=True),
    np.logical_or: Fold(_recognised("or"), REDUCERS["or"].identity, truth=True),
    np.logical_xor: Fold(_recognised("xor"), REDUCERS["xor"].identity, truth=True),
    np.bitwise_and: Fold(_recognised("and"), REDUCERS["and"].identity),
    np.bitwise_or: Fold(_recognised("or"), REDUCERS["or"].identity),
    np.bitwise_xor: Fold(_recognised("xor"), REDUCERS["xor"].identity),
    np.hypot: Fold(_exact(ops.hypot, 0), REDUCERS["add"].identity),
    np.logaddexp: Fold(_logarithm_of_sum(ops.exp, ops.log), _last("max")),
    np.logaddexp2: Fold(_logarithm_of_sum(ops.exp2, ops.log2), _last("max")),
}
"""Adding a row is all that ``ufunc.reduce`` needs."""


# ---- one reduction


def fold(
    name: str,
    ufunc: np.ufunc,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = np._NoValue,
    where: Any = np._NoValue,
) -> Any:
    """A ufunc folded over axes; a result of rank 0 is a NumPy scalar.

    Raises AxisError, DTypeError, ShapeError for a mask that does not fit, and ArgumentError where nothing is left to
    fold and the ufunc has no value for that.
    """
    row, value = FOLDS[ufunc], as_value(a, name)
    axes = axes_of(axis, len(shape_of(value)), name)
    value = truths(value, dtype, name) if row.truth else cast(value, reduction_type(ufunc, value, dtype, name))
    mask = mask_of(where, value, name)
    empty, absent = any_zero(shape_of(value), axes), initial is None or not given(initial)
    if absent and (initial is None or ufunc.identity is None) and (empty or mask is not None):
        raise ArgumentError(
            f"numpy.{name}: {_nothing(ufunc, mask)}", fix="pass initial=, the result where nothing is left"
        )
    if empty and ufunc.identity is None:
        start = assigned(operand(initial, name, "initial"), dtype_of(value), name)
        result = broadcast_to_shape(start, _rest(value, axes))
        return as_scalar(kept(result, value, axes) if keep(keepdims) else result)
    result = row.run(selected(value, mask, row.neutral(dtype_of(value))), axes)
    result = as_scalar(kept(result, value, axes) if keep(keepdims) else result)
    if absent:
        return result
    return call(ufunc, assigned(operand(initial, name, "initial"), dtype_of(result), name), result)


def truths(value: Operand, dtype: Any, name: str) -> Operand:
    """Which elements are true; DTypeError if another element type than bool is asked for."""
    if dtype is not None and requested(dtype, name) != BOOL:
        raise DTypeError(f"numpy.{name}: dtype: bool is required; got {dtype!r}")
    return nonzero(value)


def _nothing(ufunc: np.ufunc, mask: Any) -> str:
    if mask is None:
        return f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
    reason = f"reduction operation '{ufunc.__name__}' does not have an identity"
    return f"{reason}, so to use a where mask one has to specify 'initial'"


def mask_of(where: Any, value: Operand, name: str) -> Any:
    """The ``where`` argument in the operand's shape, None if it leaves nothing out.

    Raises DTypeError for arrays of another type than bool, ShapeError for shapes that do not fit.
    """
    if where is True or where is None or not given(where):
        return None
    is_array = isinstance(where, np.ndarray) or (isinstance(where, TracedValue) and not where.scalar)
    found = as_value(where, name, "where")
    if is_array and dtype_of(found) != BOOL:
        raise DTypeError(
            f"numpy.{name}: where: Cannot cast array data from {dtype_of(found)!r} to {BOOL!r} according to the rule "
            "'safe'"
        )
    with numpy_errors(name):
        np.broadcast_to(hollow(found), shape_of(value))
    return broadcast_to_shape(nonzero(found), shape_of(value))


def selected(value: Operand, mask: Any, neutral: Any) -> Operand:
    """The operand with a neutral number where the mask is false, in the memory order of both."""
    chosen: Operand = value if mask is None else ops.select(mask, value, c.full_like(value, neutral))
    return chosen


@like_sum
def sum(*arguments: Any) -> Any:
    """The sum of elements; integers narrower than 64 bits are summed in 64.

    Raises AxisError, DTypeError, ShapeError for a mask that does not fit, and CaptureError for ``out``.
    """
    return fold("sum", np.add, *arguments)


@like_sum
def prod(*arguments: Any) -> Any:
    """The product of elements, in the element types of ``sum``."""
    return fold("prod", np.multiply, *arguments)


@like_max
def max(*arguments: Any) -> Any:
    """The largest element; NaN if there is one.

    Raises ArgumentError over no elements, unless there is an initial value.
    """
    return fold("max", np.maximum, *arguments)


@like_max
def min(*arguments: Any) -> Any:
    """The smallest element; NaN if there is one. Raises as ``max``."""
    return fold("min", np.minimum, *arguments)


def any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = np._NoValue, *, where: Any = np._NoValue) -> Any:
    """Return whether an element is true; of no elements, no."""
    refuse("any", out=out)
    return fold("any", np.logical_or, a, axis, None, keepdims, where=where)


def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = np._NoValue, *, where: Any = np._NoValue) -> Any:
    """Return whether all elements are true; of no elements, yes."""
    refuse("all", out=out)
    return fold("all", np.logical_and, a, axis, None, keepdims, where=where)


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = np._NoValue) -> Any:
    """The position of the first largest element, along an axis or in row-major order; NaN counts as the largest.

    Complex numbers are ordered by real, then by imaginary part. Raises ArgumentError for no elements.
    """
    refuse("argmax", out=out)
    return _position("argmax", "max", a, axis, keepdims)


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = np._NoValue) -> Any:
    """The position of the first smallest element; as ``argmax``."""
    refuse("argmin", out=out)
    return _position("argmin", "min", a, axis, keepdims)


def _position(name: str, which: str, a: Any, axis: Any, keepdims: Any) -> Any:
    value = as_value(a, name)
    shape = shape_of(value)
    if axis is not None:
        with numpy_errors(name):
            place = normalize_axis_index(whole_number(axis), builtins.max(len(shape), 1))
    if axis is None or not shape:
        value, place = ops.reshape(value, (aval_of(value).size,)), 0
    if shape_of(value)[place] == 0:
        raise ArgumentError(f"numpy.{name}: attempt to get {name} of an empty sequence")
    complex_numbers = dtype_class(dtype_of(value)) == "C"
    result = _complex_position(value, place, which) if complex_numbers else arg_extreme(value, place, which)
    if keep(keepdims):
        axes = tuple(range(len(shape))) if axis is None else (place,)[: len(shape)]
        sizes = tuple(1 if k in axes else n for k, n in enumerate(shape))
        result = ops.reshape(result, sizes)
    return as_scalar(with_order(result, c_order(len(shape_of(result)))))


def _complex_position(value: Operand, axis: int, which: str) -> Any:
    """The first place of the extreme itself; as with floats, the first NaN is one."""
    best = broadcast_to_shape(kept(FOLDS[_EXTREMES[which]].run(value, (axis,)), value, (axis,)), shape_of(value))
    hit = c.either(ops.eq(value, best), c.both(c.isnan(value), c.isnan(best)))
    return first_position(hit, axis)


_EXTREMES: dict[str, np.ufunc] = {"max": np.maximum, "min": np.minimum}
