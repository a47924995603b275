"""Python bools and integers that only the run will tell, such as ``np.array_equal(x, y)``: Python's arithmetic.

Python's integers have no largest one. The bounds of each are therefore known, and what 64 bits might not hold is
refused. What is computed from the counter of a loop whose end is not known wraps instead: bounds that only a loop of
years would reach are no reason to refuse it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit.capture.memory.buffer import BufferView
from xjit.capture.tracers.demands import demand
from xjit.capture.tracers.numpy_call import call_method, call_ufunc
from xjit.capture.tracers.operators import COMPARISONS, PYTHON
from xjit.capture.tracers.overflow import bounds_that_fit, checked, within
from xjit.capture.tracers.provenance import refuse
from xjit.capture.tracers.run_exponents import EXPONENTS, exponent_of_run
from xjit.dataclass import dataclass
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.spans import span_of
from xjit.types import FLOAT64, INT64

Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pace:
    """By how much the bounds of an integer have moved in a loop: in each turn, and in all of them."""

    turn: Bounds
    all: Bounds


_TRUTH: Bounds = (0, 1)
WIDEST: Bounds = (-(2**63), 2**63 - 1)
"""The integers that 64 bits hold."""
_EXACT_IN_FLOATS = 2**53
_LARGEST_EXPONENT = 1023
_DIVISIONS = frozenset({np.true_divide, np.floor_divide, np.remainder, np.divmod})
_BITWISE = frozenset({np.bitwise_and, np.bitwise_or, np.bitwise_xor})
# Monotonic in each operand between zeros, so that the bounds of the result are results of the bounds, or zero.
_BY_BOUNDS = frozenset({np.add, np.subtract, np.multiply, np.negative, np.positive, np.absolute, np.invert})
# By a number that is known, and of which Python has an integer.
_BY_KNOWN: dict[Any, Callable[[int], bool]] = {
    np.floor_divide: lambda number: number != 0,
    np.remainder: lambda number: number != 0,
    np.power: lambda number: 0 <= number < 64,
    np.left_shift: lambda number: 0 <= number < 64,
    np.right_shift: lambda number: 0 <= number < 64,
}


def is_integer(value: Any) -> bool:
    """Return whether the value stands for a Python bool or integer that is not known while tracing."""
    return isinstance(value, TracedValue) and value.weak in (bool, int) and not hasattr(value, "value")


def span(value: Any) -> Bounds | None:
    """Between which numbers an integer lies, of Python's or NumPy's; None if that is not known."""
    if not isinstance(value, TracedValue):
        return int(value), int(value)
    if value.weak is None:
        kind = np.iinfo(value.dtype)
        return (int(kind.min), int(kind.max)) if kind.bits < INT64.itemsize * 8 else None
    return _bounds(value) if is_integer(value) and not _wraps(value) else None


def limits_of(value: int, sizes: Sequence[int]) -> Bounds | None:
    """Bounds around an integer that may change: the next one of these sizes, or 32 bits; None for larger ones."""
    above = next((size for size in sizes if size >= value), 2**31)
    below = 0 if value >= 0 else -(2**31)
    return (below, above) if below <= value <= above else None


def as_float(value: Any) -> Any:
    """The float that Python makes of the number before it meets another float."""
    most = max(map(abs, _bounds(value)))
    if not _wraps(value) and not (most > _EXACT_IN_FLOATS and within(_wide(value), _EXACT_IN_FLOATS)):
        _exact_float(most)
    return _marked(call_method("astype", value, (FLOAT64,), {}), float)


def has_finite_power(base: Any, exponent: Any) -> bool:
    """Return whether a known float to the power of the integer is a float of Python's, without an error."""
    if isinstance(base, TracedValue) or not 0.0 < base < math.inf:
        return False
    scale = math.log2(base)
    return all(scale * end < _LARGEST_EXPONENT for end in _bounds(exponent))


def unary(ufunc: Any, value: Any) -> Any:
    """Apply Python's operator to the number."""
    return _integer(ufunc, (value,), _limits(ufunc, (value,)))


def binary(ufunc: Any, left: Any, right: Any) -> Any:
    """Apply Python's operator to two bools and integers, at least one of them not known."""
    left, right = _settled(left), _settled(right)
    kinds = {one.weak if isinstance(one, TracedValue) else type(one) for one in (left, right)}
    if ufunc is np.matmul:
        return NotImplemented
    if ufunc in _BITWISE and kinds == {bool}:
        return _marked(call_ufunc(ufunc, "__call__", (left, right), {}), bool)
    if ufunc in COMPARISONS:
        return _marked(call_ufunc(ufunc, "__call__", _operands((left, right)), {}), bool)
    if ufunc in _DIVISIONS:
        return _divided(ufunc, left, right)
    if ufunc in EXPONENTS and isinstance(right, TracedValue):
        ufunc, left, right = _by_run(ufunc, left, right)
        if ufunc is np.power and not isinstance(left, TracedValue) and left == -1:
            return binary(np.subtract, 1, binary(np.multiply, 2, right))
    return _integer(ufunc, (left, right), _limits(ufunc, (left, right)))


def _by_run(ufunc: Any, base: Any, exponent: Any) -> tuple[Any, Any, Any]:
    """A power or a shift by an integer that only the run tells, with an exponent within the bounds of results."""
    given = _bounds(exponent)
    _check_width(given, (exponent,))
    found, bounds = exponent_of_run(ufunc, base, _wide(exponent), given)
    if _may_be_pythons(found):
        found.bounds = bounds
    if ufunc is np.power and not isinstance(base, TracedValue) and base == 2:
        return np.left_shift, 1, _marked(found, int)
    return ufunc, base, _marked(found, int)


def _divided(ufunc: Any, left: Any, right: Any) -> Any:
    """The quotient, the remainder, or both. NumPy does the call where the divisor is zero."""
    if not isinstance(right, TracedValue) and right == 0:
        return PYTHON[ufunc](1, right)  # which raises
    if ufunc is np.divmod:
        return _divided(np.floor_divide, left, right), _divided(np.remainder, left, right)
    if isinstance(right, TracedValue):
        low, high = _bounds(right)
        if low <= 0 <= high:
            demand(call_ufunc(np.not_equal, "__call__", (right, 0), {}))
    if ufunc is not np.true_divide:
        return _integer(ufunc, (left, right), _limits(ufunc, (left, right)))
    operands = tuple(as_float(one) if isinstance(one, TracedValue) else _exact_float(one) for one in (left, right))
    return _marked(call_ufunc(ufunc, "__call__", operands, {}), float)


def _exact_float(number: int) -> float:
    if abs(number) > _EXACT_IN_FLOATS:
        refuse("a Python integer may be too large for a float to hold it exactly", fix="use a NumPy integer")
    return float(number)


def _settled(value: Any) -> Any:
    """Numbers among the arguments become constants: their bounds would be all integers."""
    scalar: Any = value
    return scalar.constant() if isinstance(value, TracedValue) and hasattr(value, "value") else value


def _operands(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The numbers as NumPy's integers of 64 bits."""
    for number in values:
        _check_width(_bounds(number), values)
    return tuple(_wide(one) if isinstance(one, TracedValue) else np.int64(one) for one in values)


def _wide(value: Any) -> Any:
    if value.dtype != INT64:
        return call_method("astype", value, (INT64,), {})
    trace = current()
    assert trace is not None
    same = trace.wrap(trace.adopt(value.node), trace)
    same.scalar = True
    return same


def _check_width(limits: Bounds | None, values: tuple[Any, ...]) -> None:
    if not _fits(limits):
        refuse("a Python integer that is not known while tracing may leave 64 bits", *values, fix="use np.where")


def _fits(limits: Bounds | None) -> bool:
    """Return whether 64 bits hold all integers between these limits."""
    return limits is not None and WIDEST[0] <= limits[0] and limits[1] <= WIDEST[1]


def _wraps(value: Any) -> bool:
    return isinstance(value, TracedValue) and getattr(value, "wraps", False)


def _integer(ufunc: Any, values: tuple[Any, ...], limits: Bounds | None) -> Any:
    wraps, fits = limits is not None and any(map(_wraps, values)), _fits(limits)
    if wraps and not fits:
        limits = WIDEST
    operands = _operands(values)
    result: Any = call_ufunc(ufunc, "__call__", operands, {})
    demanded = None
    if not wraps and limits is not None and not fits:
        hoped = _limits(ufunc, values, _demanded)
        if _fits(hoped) or checked(ufunc, operands, result):
            limits = WIDEST  # of the wrong result, too, with which the program goes on until it looks
            demanded = hoped if _fits(hoped) else bounds_that_fit(ufunc, operands)
    _check_width(limits, values)
    if _may_be_pythons(result):
        result.bounds, result.wraps = limits, wraps
        if demanded is not None:
            result.demanded = demanded
        if not wraps and limits is not None:
            result.owner.spans[result.node] = limits
    return _marked(result, int)


def _marked(result: Any, kind: type) -> Any:
    """Marks a number of Python's."""
    if _may_be_pythons(result):
        result.weak, result.scalar = kind, True
    return result


def _may_be_pythons(value: Any) -> bool:
    """Return whether a result can be a number of Python's: the values of computations have an element type alone."""
    return isinstance(value, BufferView)


def _bounds(value: Any) -> Bounds:
    if not isinstance(value, TracedValue):
        return int(value), int(value)
    found: Bounds = getattr(value, "bounds", _TRUTH)
    low, high = span_of(value.node, current())  # within a branch more may be known of a number
    return max(found[0], low), min(found[1], high)


def _demanded(value: Any) -> Bounds:
    """Between which numbers an integer lies if all that is demanded so far holds."""
    (low, high), (least, most) = _bounds(value), getattr(value, "demanded", WIDEST)
    return max(low, least), min(high, most)


def _limits(ufunc: Any, values: tuple[Any, ...], bounds: Callable[[Any], Bounds] = _bounds) -> Bounds | None:
    """Between which numbers the result lies; None if that is not known."""
    between = [bounds(value) for value in values]
    tops = [high for low, high in between if low >= 0]
    if ufunc is np.bitwise_and and tops:
        return 0, min(tops)
    if ufunc in _BITWISE:
        bits = max((end if end >= 0 else ~end).bit_length() for ends in between for end in ends)
        return (0 if all(low >= 0 for low, _ in between) else -(2**bits), 2**bits - 1)
    if ufunc is np.remainder and not isinstance(values[1], TracedValue) and values[1] != 0:
        return (min(0, values[1] + 1), max(0, values[1] - 1))
    if isinstance(values[-1], TracedValue) and ufunc in (np.floor_divide, np.remainder):
        most = max(map(abs, between[0])) if ufunc is np.floor_divide else max(1, *map(abs, between[1])) - 1
        return -most, most
    if ufunc in EXPONENTS and isinstance(values[1], TracedValue):
        return _limits_of_power(ufunc, *between)
    known = _BY_KNOWN.get(ufunc)
    if ufunc not in _BY_BOUNDS and (known is None or isinstance(values[1], TracedValue) or not known(values[1])):
        return None
    corners = [PYTHON[ufunc](*ends) for ends in itertools.product(*between)]
    if any(low <= 0 <= high for low, high in between[:1]):
        corners.append(PYTHON[ufunc](0, *(ends[0] for ends in between[1:])))
    return min(corners), max(corners)


def _limits_of_power(ufunc: Any, base: Bounds, exponent: Bounds) -> Bounds:
    """Between which numbers a power or a shift lies, by an exponent that is not negative."""
    low, high = exponent
    if ufunc is np.power and base[0] < 0:
        most = max(map(abs, base)) ** high
        return -most, most
    corners = [PYTHON[ufunc](*ends) for ends in itertools.product(base, (low, high))]
    return min(corners), max(corners)
