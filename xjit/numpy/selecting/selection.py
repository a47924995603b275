"""Choosing between values: where, select, clip, round."""

from __future__ import annotations

import functools
import operator
from typing import Any

import ml_dtypes
import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, DTypeError
from xjit.ir.context import TracedValue
from xjit.numpy.rules import compositions as c
from xjit.numpy.rules.bounds import in_bounds
from xjit.numpy.rules.broadcasting import broadcast
from xjit.numpy.rules.promotion import (
    as_array,
    cast,
    loop_types,
    nonzero,
    requested,
    result_type,
    spec_of,
    typed,
    weak_type,
    wrapped,
)
from xjit.numpy.rules.values import (
    as_scalar,
    as_value,
    copied,
    fresh,
    given,
    loop_order,
    operand,
    order_letter,
    refuse,
    shape_of,
    with_order,
)
from xjit.numpy.rules.view_strides import column_or_row_major
from xjit.numpy.ufuncs import call, finish, in_order
from xjit.ops.define.core import dtype_of
from xjit.types import BOOL, FLOAT32, FLOAT64, INT64, DType, c_order, dtype_class


def where(condition: Any, x: Any = np._NoValue, y: Any = np._NoValue, /) -> Any:
    """x where the condition is true, y elsewhere, in their common element type.

    Rank 0 stays an array, as in NumPy. The form with one argument is ``nonzero``.
    """
    if not given(x) or not given(y):
        from xjit.numpy.limited.finding import nonzero as positions

        return positions(condition)
    parts = operand(x, "where", "x"), operand(y, "where", "y")
    dtype = result_type(*parts, name="where")
    convert = wrapped if _where_wraps() else typed
    chosen = as_value(condition, "where", "condition")
    mask, on_true, on_false = broadcast("where", nonzero(chosen), *(convert(part, dtype) for part in parts))
    return with_order(ops.select(mask, on_true, on_false), loop_order(chosen, *parts))


@functools.cache
def _where_wraps() -> bool:
    """Return whether the installed NumPy wraps Python integers out of range here; since 2.5 it raises
    OverflowError.
    """
    try:
        np.where(True, np.int8(0), 128)
    except OverflowError:
        return False
    return True


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The first of the choices whose condition is true, the default where none is."""
    if len(condlist) != len(choicelist) or not condlist:
        raise ArgumentError("numpy.select: as many choices as conditions, at least one, are required")
    choices = [operand(choice, "select", "choice") for choice in (*choicelist, default)]
    dtype = result_type(*choices, name="select")
    masks = [as_value(condition, "select", "condition") for condition in condlist]
    if any(dtype_of(mask) != BOOL for mask in masks):
        raise DTypeError("numpy.select: conditions of type bool are required")
    for choice in choices[:-1]:
        found = dtype_of(as_value(choice, "select", "choice"))  # numbers too have the type of their arrays here
        if not np.can_cast(found, dtype, "same_kind"):
            raise DTypeError(
                f"numpy.select: Cannot cast array data from {found!r} to {dtype!r} according to the rule 'same_kind'"
            )
    values = broadcast("select", *masks, *(wrapped(choice, dtype) for choice in choices))
    result = values[-1]
    for mask, choice in reversed(list(zip(values[: len(masks)], values[len(masks) : -1], strict=True))):
        result = ops.select(mask, choice, result)
    return with_order(fresh(result), c_order(len(shape_of(result))))


def clip(
    a: Any,
    a_min: Any = np._NoValue,
    a_max: Any = np._NoValue,
    out: Any = None,
    *,
    min: Any = np._NoValue,
    max: Any = np._NoValue,
    **options: Any,
) -> Any:
    """Between two bounds, either of which may be None; the upper bound wins where they cross.

    Python integers beyond the range of an integer type do not bound.
    """
    target, casting = requested(options.pop("dtype", None), "clip"), options.pop("casting", "same_kind")
    refuse("clip", out=out, **options)
    value = operand(a, "clip")
    low, high = _bounds((a_min, a_max), (min, max))
    if target is not None:
        return _clipped_in(target, casting, value, low, high)
    if not isinstance(value, bool | int | float | complex) and dtype_class(dtype_of(value)) == "I":
        info = np.iinfo(dtype_of(value))
        low = None if type(low) is int and low <= info.min else _moved(low, ops.max, info.min, dtype_of(value))
        high = None if type(high) is int and high >= info.max else _moved(high, ops.min, info.max, dtype_of(value))
    if low is None and high is None:
        return call(np.positive, value)
    if low is None:
        return call(np.minimum, value, high)
    if high is None:
        return call(np.maximum, value, low)
    operands = (value, operand(low, "clip", "min"), operand(high, "clip", "max"))
    operands = tuple(map(_widened, operands))
    found = result_type(*operands, name="clip")
    values = broadcast("clip", *(typed(one, found) for one in operands))
    return finish(in_order(c.clip, operands, *values), operands)


def _moved(bound: Any, towards: Any, end: int, dtype: DType) -> Any:
    """A bound in the type of the elements if it is a Python integer of the run: the end of the type, if beyond it."""
    if not isinstance(bound, TracedValue) or weak_type(bound) is not int or dtype == INT64:
        return bound
    number = as_array(bound)
    return cast(in_bounds(towards(number, np.int64(end)) if end <= np.iinfo(INT64).max else number, dtype), dtype)


def _widened(value: Any) -> Any:
    """NumPy has loops of two bounds for its own types only: it clips bfloat16 in float32, and answers so."""
    extended = not isinstance(value, bool | int | float | complex) and dtype_of(value).name in ml_dtypes.__all__
    return cast(value, FLOAT32) if extended else value


def _clipped_in(dtype: DType, casting: str, value: Any, low: Any, high: Any) -> Any:
    """The clipping in an element type that was asked for, to which all operands have to cast."""
    if low is None and high is None:
        return call(np.positive, value, dtype=dtype, casting=casting)
    bound = [operand(one, "clip", name) for name, one in (("min", low), ("max", high)) if one is not None]
    for one in (value, *bound):
        loop_types(np.maximum, (spec_of(one), dtype), dtype, casting)
    operands = (value, *bound)
    combine = c.clip if len(bound) == 2 else c.maximum if high is None else c.minimum
    return finish(in_order(combine, operands, *broadcast("clip", *(typed(one, dtype) for one in operands))), operands)


def _bounds(old: tuple[Any, Any], new: tuple[Any, Any]) -> tuple[Any, Any]:
    """The bounds by position, which come together, or by keyword; None for those that were not given."""
    if not any(map(given, old)):
        return new[0] if given(new[0]) else None, new[1] if given(new[1]) else None
    missing = next((name for name, value in zip(("a_min", "a_max"), old, strict=True) if not given(value)), None)
    if missing is not None:
        raise TypeError(f"clip() missing 1 required positional argument: {missing!r}")
    if any(map(given, new)):
        raise ArgumentError("numpy.clip: `min` and `max` are forbidden when `a_min` and `a_max` are provided")
    return old


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """To a number of decimals, ties to even; integers stay as they are.

    Raises DTypeError for decimals of truth values, and TypeError for decimals that are no integer.
    """
    refuse("round", out=out)
    value, decimals = as_value(a, "round"), operator.index(decimals)
    letter = dtype_class(dtype_of(value))
    if letter == "C":
        parts = (round(ops.real(value), decimals), round(ops.imag(value), decimals))
        return as_scalar(with_order(ops.complex(*parts), order_letter(value, "K", "round")))
    if letter == "I" and decimals >= 0:
        return as_scalar(copied(value))
    if letter == "P" and decimals != 0:
        raise DTypeError(f"numpy.round: decimals: truth values have none; got {decimals}")
    if decimals == 0:
        return call(np.rint, value)
    wide = cast(value, FLOAT64) if letter == "I" else value
    power = float(10 ** abs(decimals))
    first, second = (np.multiply, np.divide) if decimals > 0 else (np.divide, np.multiply)
    rounded = call(second, call(np.rint, call(first, wide, power)), power)
    return as_scalar(with_order(cast(rounded, dtype_of(value)), column_or_row_major(value)))
