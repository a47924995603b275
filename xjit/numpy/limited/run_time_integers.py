"""Integers of the run as sums: what is known of them, so that equal lengths are recognised, and bounds need no code.

``i + 3 - i`` is 3, whatever ``i`` is; with ``i`` below ``n``, ``min(i, n)`` is ``i``.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from xjit import ops
from xjit.dataclass import dataclass, field, replace
from xjit.errors import DTypeError
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.linear_sums import linear_sum
from xjit.ir.node import Node
from xjit.ir.spans import span_of
from xjit.ops.elements.elementwise import add, mul, neg, sub
from xjit.ops.elements.elementwise import max as larger
from xjit.ops.elements.elementwise import min as smaller
from xjit.ops.whole_arrays.runtime_check import require
from xjit.types import INT64

WIDEST = (-(2**63), 2**63 - 1)
"""The integers that 64 bits hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Integer:
    """A constant and multiples of nodes, with the least and the largest number that it may be."""

    constant: int
    terms: Mapping[Node, int] = field(default_factory=dict)
    low: int = WIDEST[0]
    high: int = WIDEST[1]

    @property
    def known(self) -> int | None:
        """The number, if it is the same in all runs."""
        return None if self.terms else self.constant

    def __add__(self, other: Integer | int) -> Integer:
        other = integer(other)
        terms = dict(self.terms)
        for node, times in other.terms.items():
            terms[node] = terms.get(node, 0) + times
        found = {node: times for node, times in terms.items() if times}
        total = self.constant + other.constant
        low, high = (self.low + other.low, self.high + other.high) if found else (total, total)
        return Integer(total, found, low, high)

    def __neg__(self) -> Integer:
        return Integer(-self.constant, {node: -times for node, times in self.terms.items()}, -self.high, -self.low)

    def __sub__(self, other: Integer | int) -> Integer:
        return self + -integer(other)

    def equals(self, other: Integer) -> bool:
        """Return whether both are known to be one number in every run."""
        return (self - other).known == 0

    def at_most(self, other: Integer | int) -> bool:
        """Return whether the integer is known not to be larger than another one."""
        return (self - other).high <= 0

    def within(self, low: int, high: int) -> Integer:
        """The same integer, of which more is known."""
        return replace(self, low=builtins.max(self.low, low), high=builtins.min(self.high, high))

    def here(self) -> Integer:
        """The integer in the trace that is under way, which may be inside of that it comes from."""
        trace = current()
        if trace is None or not self.terms:
            return self
        terms = {trace.adopt(node): times for node, times in self.terms.items()}
        return replace(self, terms=terms)

    @property
    def operand(self) -> Any:
        """The integer as an operand: a Python int if it is known, else a value of the trace that is under way."""
        if self.known is not None:
            return self.constant
        trace, total = current(), None
        assert trace is not None
        for node, times in self.here().terms.items():
            value = trace.wrap(node, trace)
            if total is None:
                total = value if times == 1 else neg(value) if times == -1 else mul(value, _number(times))
            elif abs(times) == 1:
                total = add(total, value) if times == 1 else sub(total, value)
            else:
                total = add(total, mul(value, _number(times)))
        return total if not self.constant else add(total, _number(self.constant))


def integer(value: Any) -> Integer:
    """An integer of Python's, of NumPy's, or a traced one of rank 0."""
    if isinstance(value, Integer):
        return value
    if not isinstance(value, TracedValue):
        return Integer(int(value), {}, int(value), int(value))
    trace = current()
    assert trace is not None
    wide = value if value.dtype == INT64 else ops.convert_element_type(value, INT64)
    low, high = _span(value)
    found = linear_sum(trace.adopt(wide.node))
    if not found.terms:
        return integer(found.constant)
    return Integer(found.constant, found.terms, low, high)


def _span(value: TracedValue) -> tuple[int, int]:
    """Between which numbers a traced integer lies."""
    low, high = span_of(value.node, current())
    if value.weak is not None:
        bounds: tuple[int, int] = getattr(value, "bounds", WIDEST)
        low, high = builtins.max(low, bounds[0]), builtins.min(high, bounds[1])
    return builtins.max(low, WIDEST[0]), builtins.min(high, WIDEST[1])


def _number(value: int) -> Any:
    return np.asarray(value, INT64)


def _opaque(value: Any, low: int, high: int) -> Integer:
    """An integer of which no more is known than that it lies in between."""
    trace = current()
    assert trace is not None
    return Integer(0, {trace.adopt(value.node): 1}, low, high)


def _as_operand(value: Integer) -> Any:
    found = value.operand
    return _number(found) if isinstance(found, int) else found


def smallest(one: Integer, other: Integer | int) -> Integer:
    """The smaller one of two integers."""
    other = integer(other)
    if one.at_most(other):
        return one
    if other.at_most(one):
        return other
    found = smaller(_as_operand(one), _as_operand(other))
    return _opaque(found, builtins.min(one.low, other.low), builtins.min(one.high, other.high))


def largest(one: Integer, other: Integer | int) -> Integer:
    """The larger one of two integers."""
    other = integer(other)
    if one.at_most(other):
        return other
    if other.at_most(one):
        return one
    found = larger(_as_operand(one), _as_operand(other))
    return _opaque(found, builtins.max(one.low, other.low), builtins.max(one.high, other.high))


def chosen(condition: Any, one: Integer, other: Integer) -> Integer:
    """One of two integers, the first where a condition holds."""
    found = ops.select(condition, _as_operand(one), _as_operand(other))
    return _opaque(found, builtins.min(one.low, other.low), builtins.max(one.high, other.high))


def is_below(one: Integer, other: Integer | int) -> Any:
    """The condition that an integer is less than another one."""
    return ops.lt(_as_operand(one), _as_operand(integer(other)))


def is_same(one: Integer, other: Integer | int) -> Any:
    """The condition that two integers are equal."""
    return ops.eq(_as_operand(one), _as_operand(integer(other)))


def wrapped(position: Integer, size: Integer) -> Integer:
    """A position as Python counts it: a negative one from the end."""
    if position.low >= 0:
        return position
    ahead = position + size
    if position.high < 0:
        return ahead
    return chosen(is_below(position, 0), ahead, position)


def quotient(span: Integer, step: Integer | int) -> Integer:
    """The number of steps that a span takes, the last one not whole; none for a negative span."""
    step = integer(step)
    if step.known == 1:
        return largest(span, 0)
    rounded = largest(span, 0) + (step - 1)
    if rounded.known is not None and step.known is not None:
        return integer(rounded.constant // step.known)
    found = ops.div(_as_operand(rounded), _as_operand(step))
    return _opaque(found, 0, rounded.high // builtins.max(step.low, 1))


def resolved(entry: slice, step: Integer | int, size: Integer) -> tuple[Integer, Integer]:
    """The first position of a slice of an axis, and how many there are, as ``slice.indices`` says.

    The sign of the step is known.
    """
    step = integer(step)
    backward = step.high < 0
    least, most = (integer(-1), size - 1) if backward else (integer(0), size)

    def end(value: Any, default: Integer) -> Integer:
        return default if value is None else smallest(largest(wrapped(integer(value), size), least), most)

    start = end(entry.start, most if backward else least)
    stop = end(entry.stop, least if backward else most)
    count = quotient(start - stop if backward else stop - start, -step if backward else step)
    return start, smallest(count, size) if count.high > size.high else count


def steps_of(entry: slice, size: Integer) -> tuple[Integer, Integer, Integer]:
    """The first position of a slice of an axis, the step, which only the run knows, and how many there are.

    Raises ArgumentError for a step of zero, when the program runs.
    """
    step = integer(entry.step)
    if step.low <= 0 <= step.high:
        some = ops.ne(_as_operand(step), _number(0))
        step = _opaque(require(step.operand, some, "value", "slice step cannot be zero"), step.low, step.high)
    near = largest(smallest(step, largest(size, 1)), -largest(size, 1))  # no sum of it leaves 64 bits
    forward, backward = largest(near, 1), smallest(near, -1)
    if step.low > 0 or step.high < 0:
        start, count = resolved(entry, forward if step.low > 0 else backward, size)
        return start, near, count
    ways = [resolved(entry, one, size) for one in (forward, backward)]
    start, count = (chosen(is_below(integer(0), near), one, other) for one, other in zip(*ways, strict=True))
    return start, near, count


def check_slice(entry: slice) -> None:
    """DTypeError for a slice with floats in it, or with truth values of NumPy's."""
    if not all(one is None or _is_index(one) for one in (entry.start, entry.stop, entry.step)):
        raise DTypeError("slice indices must be integers or None or have an __index__ method")


def _is_index(one: Any) -> bool:
    """Return whether a number, known or of the run, is an integer to Python."""
    if isinstance(one, TracedValue):
        return one.dtype.kind in "iu" or one.weak is bool
    try:
        operator.index(one)
    except TypeError:
        return False
    return True
