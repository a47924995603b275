"""Arrays of which only the run tells if they are arrays from outside, such as ``x`` behind a loop of no turns.

    def f(x, n):
        for i in range(n): x = x * 0.5
        return x                        the caller's own array where n is 0

A number beside the value says which of the arrays from outside it is.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from xjit.capture.memory.buffer import BufferView
from xjit.capture.tracers.known_values import is_constant
from xjit.capture.tracers.provenance import enclosing_capture, has_ended
from xjit.ir.context import TracedValue
from xjit.numpy.limited.arrays import LimitedArray
from xjit.ops.define.core import aval_of
from xjit.ops.elements.compare import eq

Code = TracedValue | int | None
"""The number of the array from outside that a value is, 0 where it is none, None where nobody can say."""


class Origin(IntEnum):
    """The knowledge of the arrays from outside that a value may be."""

    OWN = 0
    NUMBERED = 1
    UNKNOWN = 2


def code_of(value: Any) -> Code:
    """The number of the array from outside that an array is."""
    trace = enclosing_capture()
    assert trace is not None
    path = trace.recorder.path_of(value)
    if path is not None:
        number: int = trace.recorder.number_of(path)
        return number
    if hasattr(value, "code"):
        found: Code = value.code
        return found
    if (
        not is_constant(value)
        and isinstance(value, BufferView)
        and any(one.path is not None for one in value.buffer.family)
    ):
        return None
    return 0


def origin_of(value: Any) -> Origin:
    """The knowledge of the arrays from outside that an array may be."""
    code = code_of(value)
    if code is None:
        return Origin.UNKNOWN
    return Origin.NUMBERED if isinstance(code, TracedValue) or code else Origin.OWN


def whole_of(value: Any) -> Any:
    """The value at its bounds that an array of the run's size has; any other value, and a part of one, as it is."""
    if isinstance(value, LimitedArray) and value.part is None:
        return value.whole
    return value


def may_be_another(value: Any) -> bool:
    """Return whether only the run tells which array a value is, as a loop or a branch has chosen it."""
    return isinstance(value, BufferView) and not value.scalar and (hasattr(value, "code") or bool(value.buffer.kin))


def same_array(one: Any, other: Any) -> bool | TracedValue | None:
    """``one is other``: a truth value of the run where numbers of arrays tell it, None where nothing does.

    for i in range(n): u = u * 0.5
    u is x                              number of u == number of x
    """
    if one is other:
        return True
    one, other = (value.packed() if getattr(type(value), "chooses", False) else value for value in (one, other))
    if isinstance(one, LimitedArray) and getattr(one, "may_show", bool)(other):
        return None
    one, other = whole_of(one), whole_of(other)
    if one is other or not (may_be_another(one) or may_be_another(other)):
        return one is other
    if not (isinstance(one, BufferView) and isinstance(other, BufferView)) or _kind(one) != _kind(other):
        return False
    if not is_constant(one) and not is_constant(other) and not one.buffer.shares(other.buffer):
        return False
    codes = [code_of(value) for value in (one, other)]
    known = [code for code in codes if isinstance(code, int)]
    if any(code is None or has_ended(code) for code in codes) or not any(known):
        return None
    if len(known) == 2:
        return known[0] == known[1]
    chosen = codes[0] if isinstance(codes[0], TracedValue) else codes[1]
    found: TracedValue = eq(chosen, np.int64(known[0]))
    return found


def _kind(value: Any) -> Any:
    return aval_of(value).dtype, aval_of(value).rank, value.scalar
