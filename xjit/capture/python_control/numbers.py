"""Python's functions of numbers, of numbers that only the run tells: conversions, and the larger or smaller one."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.python_control.python_branches import chosen
from xjit.capture.python_control.truth import as_bool, is_open, truth
from xjit.capture.tracers.traced_array import TracedArray
from xjit.capture.tracers.traced_integers import Bounds
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.spans import span_of
from xjit.ops.define.core import lift
from xjit.ops.elements.compare import lt
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import abs as absolute
from xjit.ops.whole_arrays.runtime_check import require
from xjit.ops.whole_arrays.shape import reshape
from xjit.types import FLOAT64, INT64, dtype_class

_EXACT = np.float64(2**53)
_SMALL: Bounds = (-(2**53), 2**53)


def number_as(kind: Any, value: Any) -> Any:
    """The number of Python's that a type makes of one that only the run tells."""
    if kind is bool:
        return as_bool(value)
    single = value if not value.ndim else reshape(value, ())
    found = dtype_class(value.dtype)
    if found == "C":
        return kind(value)  # which raises
    if kind is float:
        return _python(convert_element_type(single, FLOAT64), float)
    if found == "F":
        wide = convert_element_type(single, FLOAT64)
        text = "an integer of Python's that is not known while tracing leaves 53 bits"
        single = require(wide, lt(absolute(wide), _EXACT), "value", text)
        return _python(convert_element_type(single, INT64), int, _SMALL)
    trace = current()
    assert trace is not None
    return _python(convert_element_type(single, INT64), int, span_of(lift(trace, single), trace))


def _python(value: Any, kind: type, bounds: Bounds | None = None) -> TracedArray:
    trace = current()
    assert trace is not None
    made = TracedArray(lift(trace, value), trace, weak=kind, scalar=True)
    if bounds is not None:
        made.bounds = bounds
    return made


def _extreme(name: str, better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    plain = getattr(builtins, name)

    def extreme(*values: Any, **options: Any) -> Any:
        several = values[0] if len(values) == 1 and type(values[0]) in (list, tuple) else values
        if options or len(several) < 2 or not any(_is_asked(one) for one in several):
            return plain(*values, **options)
        best = several[0]
        for one in several[1:]:
            best = _better(better(one, best), one, best)
        return best

    extreme.__name__ = name
    return extreme


def _better(holds: Any, one: Any, best: Any) -> Any:
    if not is_open(holds):
        return one if holds else best
    return chosen(truth(holds), lambda: one, lambda: best)


def _is_asked(value: Any) -> bool:
    return isinstance(value, TracedValue) and is_open(value)


EXTREMES: dict[str, Any] = {
    "min": _extreme("min", lambda one, best: one < best),
    "max": _extreme("max", lambda one, best: one > best),
}
"""``min`` and ``max``: the first of the smallest or largest, of numbers that only the run compares, too."""
