"""Arrays of which only the run tells if they are arrays from outside, such as ``x`` behind a loop of no turns.

    def f(x, n):
        for i in range(n): x = x * 0.5
        return x                        the caller's own array where n is 0

A number beside the value says which of the arrays from outside it is.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from xjit.capture.memory.buffer import BufferView
from xjit.capture.tracers.known_values import is_constant
from xjit.capture.tracers.provenance import enclosing_capture
from xjit.ir.context import TracedValue

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
