"""Conversions of numbers that only the run tells to those of Python's, and Python's rounding of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from xjit.capture.python_control.truth import as_bool
from xjit.capture.tracers.demands import expect
from xjit.capture.tracers.provenance import refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.capture.tracers.traced_integers import WIDEST, Bounds
from xjit.ir.current import current
from xjit.ir.spans import span_of
from xjit.ops.define.core import lift
from xjit.ops.elements.compare import eq, gt, lt, ne
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import abs as absolute
from xjit.ops.elements.elementwise import add, and_, div, floor, mul, neg, or_, round_nearest_even, sub
from xjit.ops.elements.select import select
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import reshape
from xjit.types import COMPLEX128, FLOAT64, INT64, dtype_class

_EXACT = np.float64(2**53)
_HALVES = 2.0**27 + 1.0
_MOST_DIGITS = 22
"""Powers of ten up to this one are exact."""
_SMALL: Bounds = (-(2**53), 2**53)


def number_as(kind: Any, value: Any) -> Any:
    """The number of Python's that a type makes of one that only the run tells.

    Raises what NumPy raises for arrays with dimensions.
    """
    if kind is bool:
        return as_bool(value)
    if value.ndim:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of releases that take arrays of one element
            kind(np.ones(value.shape, value.dtype))
    single = value if not value.ndim else reshape(value, ())
    found = dtype_class(value.dtype)
    if kind is complex:
        return _python(convert_element_type(single, COMPLEX128), complex)
    if found == "C":
        return kind(value)  # which raises
    if kind is float:
        return _python(convert_element_type(single, FLOAT64), float)
    if found == "F":
        wide = convert_element_type(single, FLOAT64)
        text = "an integer of Python's that is not known while tracing leaves 53 bits"
        held = lt(absolute(wide), _EXACT)
        expect(held)  # so that the error is Python's, or its larger integer
        # The program goes on to its end where a check fails: the bounds hold there, too.
        single = select(held, require(wide, held, "value", text), np.float64(0.0))
        return _python(convert_element_type(single, INT64), int, _SMALL)
    trace = current()
    assert trace is not None
    if single.dtype == np.uint64:
        held, text = (
            lt(single, np.uint64(2**63)),
            "an integer of Python's that is not known while tracing leaves 64 bits",
        )
        expect(held)
        single = select(held, require(single, held, "value", text), np.uint64(0))
    low, high = span_of(lift(trace, single), trace)
    return _python(convert_element_type(single, INT64), int, (low, min(high, WIDEST[1])))


def python_number(value: Any) -> Any:
    """The number of Python's of the type that one of NumPy's converts to: a truth value, an integer, ..."""
    kind = {"P": bool, "I": int, "F": float, "C": complex}[dtype_class(value.dtype)]
    return number_as(kind, reshape(value, ()) if value.ndim else value)


def _python(value: Any, kind: type, bounds: Bounds | None = None) -> TracedArray:
    trace = current()
    assert trace is not None
    made = TracedArray(lift(trace, value), trace, weak=kind, scalar=True)
    if bounds is not None:
        made.bounds = bounds
    return made


def rounded(value: Any, digits: int | None) -> Any:
    """``round`` of a number of Python's, or of one of NumPy's to an integer."""
    if digits is None or value.weak in (bool, int):
        if digits is not None and digits < 0:
            refuse("an integer is rounded to tens, or more", value, fix="divide by them, and multiply")
        return number_as(int, round_nearest_even(value) if dtype_class(value.dtype) == "F" else value)
    if not 0 <= digits <= _MOST_DIGITS:
        refuse(f"a number is rounded to {digits} digits", value, fix=f"round to 0 to {_MOST_DIGITS} digits")
    return _python(_decimal(value, digits), float)


def _decimal(value: Any, digits: int) -> Any:
    """The float next to the decimal number next to a float; of two of these the one with the even last digit.

    The float times a power of ten is ``product + error`` exactly, so that ties are seen, and the quotient of the
    nearest integer is rounded once. Floats of which the product has no room for digits are their own decimal numbers.
    """
    scale = 10.0**digits
    product = mul(value, scale)
    below = floor(product)
    part, error = sub(product, below), _error_of_product(value, scale, product)
    odd = ne(mul(floor(mul(below, 0.5)), 2.0), below)
    tie = or_(gt(error, 0.0), and_(eq(error, 0.0), odd))
    up = or_(gt(part, 0.5), and_(eq(part, 0.5), tie))
    nearest = div(select(up, add(below, 1.0), below), scale)
    signed = select(lt(value, 0.0), neg(absolute(nearest)), nearest)
    return select(and_(lt(absolute(product), _EXACT), ne(value, 0.0)), signed, value)


def _error_of_product(a: Any, b: float, product: Any) -> Any:
    """The difference of the exact product from the rounded one, by halves of both (Dekker)."""
    spread = mul(a, _HALVES)
    high = sub(spread, sub(spread, a))
    low = sub(a, high)
    b_high = b * _HALVES - (b * _HALVES - b)
    b_low = b - b_high
    error = sub(mul(high, b_high), product)
    return add(add(add(error, mul(high, b_low)), mul(low, b_high)), mul(low, b_low))
