"""``np.bincount``: the length of the result is ``minlength``, or more where numbers of the run are larger."""

from __future__ import annotations

from typing import Any

import numpy as np

from xjit import ops
from xjit.errors import ArgumentError, DTypeError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.spans import span_of
from xjit.numpy.limited.arrays import LimitedArray, at_bounds, limited, made, number_of, sizes_of, value_of
from xjit.numpy.limited.joined_arrays import array_of
from xjit.numpy.limited.rooms import bounded, can_repeat, expect_room
from xjit.numpy.limited.run_time_integers import Integer, integer, is_same, largest
from xjit.numpy.reducing import histograms
from xjit.numpy.rules.static import only_run_tells, static_integer
from xjit.numpy.rules.values import fresh, numpy_errors, shape_of
from xjit.ops.define.core import lift
from xjit.ops.dynamic.counting import count_numbers
from xjit.ops.dynamic.limited_windows import bound_of, number
from xjit.ops.elements.elementwise import max as larger
from xjit.ops.elements.elementwise import min as smaller
from xjit.ops.whole_arrays.reduce import reduce
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import INT64

_FEW, _MANY = 2**12, 2**22
"""Numbers that there is room for at least, and for as many as a length of the run may say."""
_NEGATIVE = "numpy.bincount: 'list' argument must have no negative elements"
_TOO_LARGE = "numpy.bincount: x: elements below minlength={} are required, as results have that length here"
_EMPTY = "numpy.bincount: x: elements are required beside weights: NumPy counts in integers where there are none"
_OTHER_LENGTH = "numpy.bincount: The weights and list don't have the same length."


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    """Count the occurrences of each number as int64, or add the weights there, as float64.

    Raises DTypeError and ArgumentError for the operands and, when the program runs if only that tells, for negative
    numbers and other numbers of weights.

    >>> bincount(np.array([0, 2, 2]), minlength=3)
    array([1, 0, 2])
    """
    one, weights = array_of(x, "bincount"), None if _has_none(array_of(x, "bincount")) else weights
    weighted = None if weights is None else array_of(weights, "bincount")
    if not isinstance(minlength, TracedValue) or not only_run_tells(minlength):
        minlength = static_integer(minlength, "bincount", "minlength")
    are_known = not isinstance(one, LimitedArray) and not isinstance(weighted, LimitedArray)
    if are_known and isinstance(minlength, int) and minlength and not _has_shown_larger():
        return _below(x, weights, minlength)
    _check(one, weighted, minlength)
    return _counted(one, weighted, integer(minlength))


def _has_none(x: Any) -> bool:
    """Return whether an array is known to have no elements: NumPy counts these, and looks at no weights."""
    return any(size.known == 0 for size in sizes_of(x))


def _has_shown_larger() -> bool:
    """Return whether a call before had larger numbers than was taken for granted."""
    trace = current()
    return trace is not None and trace.lengths is not None and trace.lengths.times > 1 and can_repeat()


def _below(x: Any, weights: Any, minlength: int) -> Any:
    """The counts of numbers below ``minlength``; if others occur NumPy does the call, or an error says so."""
    counts, fits = histograms.counts_below(x, weights, minlength)
    return _expecting(counts, fits, _TOO_LARGE.format(minlength), grows=True)


def _expecting(value: Any, holds: Any, text: str, *, grows: bool) -> Any:
    """The value; unless a truth value holds NumPy does the call, or an error says so where it cannot."""
    if can_repeat():
        expect_room(holds, grows=grows)
        return value
    return require(value, holds, "value", text)


def _check(x: Any, weights: Any, minlength: Any) -> None:
    """Raises what NumPy raises of the types, the shapes and a known length."""
    operands = [one for one in (x, weights) if one is not None]
    few = [np.zeros((1,) * len(sizes_of(one)), one.dtype) for one in operands]
    if isinstance(minlength, TracedValue) and (minlength.dtype.kind not in "iu" or shape_of(minlength)):
        raise DTypeError("numpy.bincount: minlength: an integer is required")
    with numpy_errors("bincount", ArgumentError):
        np.bincount(few[0], few[1] if few[1:] else None, minlength if isinstance(minlength, int) else 0)


def _counted(x: Any, weights: Any, minlength: Integer) -> Any:
    """The counts, whose number is that of the largest element and one, or more."""
    (size,), trace = sizes_of(x), current()
    assert trace is not None
    low, high = span_of(lift(trace, value_of(x)), trace)
    wide = ops.convert_element_type(value_of(x), INT64)
    least, most = (reduce(wide, np.int64(init), fold, [0]) for init, fold in ((0, smaller), (-1, larger)))
    trace.spans[most.node] = (-1, max(high, -1))
    held = number_of(size)
    if low < 0:
        held = require(held, ops.ge(least, number(0)), "value", _NEGATIVE)
    if weights is not None:
        held = _as_many(held, size, sizes_of(weights)[0])
        if size.low <= 0:
            held = _expecting(held, ops.gt(number_of(size), number(0)), _EMPTY, grows=False)
    if minlength.low < 0:
        wanted = number_of(minlength)
        tested = require(
            wanted, ops.ge(wanted, number(0)), "value", "numpy.bincount: 'minlength' must not be negative"
        )
        minlength = integer(tested).within(0, minlength.high)
    length = largest(integer(most) + 1, minlength)
    own = _length(length, minlength, shape_of(value_of(x))[0])
    bound = own.known if own.known is not None else bound_of(own.high)
    inner = None if weights is None else at_bounds(weights)
    found = fresh(count_numbers(at_bounds(x), inner, held, number_of(length), bound))
    return made(limited(found, (own,)), (own,))


def _as_many(held: Any, size: Integer, other: Integer) -> Any:
    """A value, where there are as many weights as numbers."""
    if size.equals(other):
        return held
    if size.known is not None and other.known is not None:
        raise ArgumentError(_OTHER_LENGTH)
    return require(held, is_same(size, other), "value", _OTHER_LENGTH)


def _length(length: Integer, minlength: Integer, elements: int) -> Integer:
    """The length as one of an array: a known ``minlength``, as long as no call has shown that elements are larger."""
    trace, least = current(), minlength.known
    if least is None or not least or (trace is not None and trace.lengths is not None and trace.lengths.times > 1):
        return bounded(length, max(2 * elements, _FEW, min(2 * minlength.high, _MANY)), "numpy.bincount")
    if length.high > least:
        expect_room(ops.le(number_of(length), number(least)))
    return integer(least)
