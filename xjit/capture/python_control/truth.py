"""Truth values of what the user's code asks about: known ones are Python's, the others are values of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.constants.chosen_constant import ChosenConstant
from xjit.capture.python_control.checkpoint import effects_taken_back
from xjit.capture.splits.conversions import converted
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.provenance import refuse
from xjit.capture.tracers.traced_array import TracedArray
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ops.define.core import aval_of, constant, registry
from xjit.ops.effects.python_call import repeats_node
from xjit.ops.elements.compare import ne
from xjit.ops.elements.elementwise import and_, logical_not, or_
from xjit.ops.whole_arrays.shape import reshape
from xjit.types import BOOL


def is_open(value: Any) -> bool:
    """Return whether only the run tells if a value is true."""
    if type(value) is ChosenConstant:
        return isinstance(value.is_true, TracedValue)
    if type(value) is DeferredObject:
        known = value.keyed or value.elements
        return known is None or isinstance(known.count, TracedValue)
    if not isinstance(value, TracedValue) or hasattr(type(value), "value") or hasattr(value, "known"):
        return False
    return aval_of(value).size == 1


def truth(value: Any, traced: bool = False) -> Any:
    """The truth of a value: a bool of Python's where it is known, else a truth value of the graph.

    With ``traced`` it always is one of the graph. Raises NumPy's ValueError for arrays of several elements.
    """
    if type(value) is ChosenConstant:
        value = value.is_true
    if type(value) is DeferredObject:
        known = value.keyed or value.elements
        value = converted(bool, value) if known is None else known.count
    if not is_open(value):
        known = bool(value)
        return constant(np.asarray(known)) if traced else known
    number = value if aval_of(value).rank == 0 else reshape(value, ())
    dtype = aval_of(number).dtype
    return number if dtype == BOOL else ne(number, constant(np.zeros((), dtype)))


def asked(test: Callable[[], Any]) -> Any:
    """The truth of the condition of a first turn, in front of a loop; CaptureError where somebody would notice."""
    with effects_taken_back() as effects:
        found = truth(test(), traced=True)
    if not all(map(repeats_node, effects)):
        refuse("it depends on a condition with effects if the variables of a loop are bound", fix="bind them before")
    trace = current()
    assert trace is not None
    trace.effects += effects
    return found


def holds_surely(test: Callable[[], Any]) -> bool:
    """Return whether a condition is known to hold, without any effect."""
    with effects_taken_back() as effects:
        known = truth(test()) is True
    return known and not effects


def as_bool(value: Any) -> Any:
    """The truth of an open value as a bool of Python's."""
    return _python_bool(truth(value))


def negated(value: Any) -> Any:
    """``not value`` of an open value, as a bool of Python's."""
    return _python_bool(logical_not(truth(value)))


def either_holds(one: Any, other: Any) -> Any:
    """``one or other`` of truth values; what always holds is known."""
    if _are_opposites(one.node, other.node):
        return True
    return _python_bool(or_(truth(one), truth(other)))


def both_hold(one: Any, other: Any) -> Any:
    """``one and other`` of truth values; what never holds is known."""
    if _are_opposites(one.node, other.node):
        return False
    return _python_bool(and_(truth(one), truth(other)))


def _are_opposites(one: Node, other: Node) -> bool:
    pairs = (one, other), (other, one)
    return any(a.op is registry["not_"] and a.inputs == (b,) for a, b in pairs)


def _python_bool(value: Any) -> Any:
    trace = current()
    assert trace is not None
    return TracedArray(trace.adopt(value.node), trace, weak=bool, scalar=True)
