"""Loops over the values of NumPy code: while_loop and fori_loop, with JAX's arguments and meaning.

Outside of a compiled function they are loops of Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from xjit import tree
from xjit.capture.control.inner_traces import computed, inner_trace, not_assigning, state_parameters
from xjit.capture.control.state import (
    Place,
    PromotionError,
    as_array,
    finished,
    fitted,
    places_of,
    refused,
)
from xjit.capture.tracers.demands import unless_failed
from xjit.capture.tracers.traced_array import TracedArray
from xjit.capture.tracers.traced_integers import WIDEST, span
from xjit.dataclass import replace
from xjit.errors import DTypeError, ShapeError
from xjit.ir.context import Trace
from xjit.ir.current import current, tracing
from xjit.ir.handlers import from_handler
from xjit.ops.control.computations import Computation
from xjit.ops.control.while_loop import loop
from xjit.ops.define.core import aval_of
from xjit.ops.elements.compare import lt
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import add
from xjit.types import BOOL, INT64, dtype_class, scalar_type

COUNTER = Place("i", scalar_type(INT64), scalar=True)
"""The place of the number of a turn."""

Results: TypeAlias = "tuple[list[Any], Any]"
"""The next values ahead of the user's state, and that state."""

_LONGEST = 2**53
"""More turns than any loop takes."""


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any) -> Any:
    """state = init_val; while cond_fun(state): state = body_fun(state); the last state.

    The state is an array, a number, or nested tuples, lists and dicts of these. Its structure, shapes and element
    types stay as they are: ArgumentError, ShapeError or DTypeError otherwise. Both functions are ordinary NumPy code;
    in a compiled function the loop is compiled as a loop.

    >>> while_loop(lambda s: s["n"] > 1, lambda s: {"n": s["n"] // 2, "steps": s["steps"] + 1}, {"n": 40, "steps": 0})
    {'n': np.int64(1), 'steps': np.int64(5)}
    """
    name = "while_loop"
    if current() is None:
        return _in_python(
            name, init_val, lambda state, turn: bool(cond_fun(state)), lambda state, turn: body_fun(state)
        )
    values, places, structure = places_of(init_val, name, "init_val")

    def body(state: list[TracedArray]) -> Results:
        return [], body_fun(tree.unflatten(structure, state))

    step, found = traced_body(name, "body_fun", places, structure, body)
    trace = inner_trace("condition")
    with tracing(trace), not_assigning(cond_fun):
        held = truth(cond_fun(tree.unflatten(structure, state_parameters(trace, found))), name, "cond_fun")
        held = unless_failed(held, trace)
    test = computed(trace, [held])
    return finished(loop(started(values, found), test, step), found, structure)


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """state = init_val; for i in range(lower, upper): state = body_fun(i, state); the last state.

    The state is as in :func:`while_loop`. Where the loop is compiled, ``i`` is an integer of Python's that is not
    known while tracing. Between known ends (numbers of the code, shapes, counters of loops around it between known
    ends, integers of fewer than 64 bits) its range is known too: a product of counters is Python's, and what might
    leave 64 bits is refused. Otherwise, as between numbers among the arguments, what is computed from ``i`` wraps at
    64 bits, as NumPy's integers do.

    >>> fori_loop(0, 4, lambda i, x: x * 2.0 + i, np.zeros(2))
    array([11., 11.])
    """
    name = "fori_loop"
    if current() is None:
        last = int(upper)
        return _in_python(
            name, init_val, lambda state, turn: turn < last, lambda state, turn: body_fun(turn, state), int(lower)
        )
    values, places, structure = places_of(init_val, name, "init_val")
    first, end = whole_number(lower, name, "lower"), whole_number(upper, name, "upper")
    index = replace(COUNTER, weak=int)

    def body(state: list[TracedArray]) -> Results:
        counter, *rest = state
        _note_bounds(counter, lower, upper)
        after = add(counter, np.int64(1))
        return [after], body_fun(counter, tree.unflatten(structure, rest))

    step, found = traced_body(name, "body_fun", [index, *places], structure, body)
    results = loop(started([first, *values], found), counted(found, end), step)
    return finished(results[1:], found[1:], structure)


def _note_bounds(counter: TracedArray, lower: Any, upper: Any) -> None:
    """Notes between which numbers a counter is; without both ends, what is computed from it wraps."""
    first, end = span(lower), span(upper)
    low, high = first or WIDEST
    last = min(WIDEST[1], high + _LONGEST) if end is None else end[1] - 1
    counter.bounds, counter.wraps = (low, max(low, last)), first is None or end is None
    counter.owner.spans[counter.node] = counter.bounds


def counted(places: Sequence[Place], end: Any) -> Computation:
    """The condition of a loop whose first carried value counts up to an end."""
    trace = inner_trace("condition")
    with tracing(trace):
        counter, *_ = state_parameters(trace, places)
        held = unless_failed(lt(counter, end), trace)
    return computed(trace, [held])


def traced_body(
    name: str,
    argument: str,
    places: Sequence[Place],
    structure: tree.Tree,
    body: Callable[[list[TracedArray]], Results],
) -> tuple[Computation, tuple[Place, ...]]:
    """The computation of a body, and the places of the state that it starts from in the end.

    Places that the user's state does not have come first.
    """
    trace, found, results = traced_state(name, argument, places, structure, body)
    return computed(trace, results), found


def traced_state(
    name: str,
    argument: str,
    places: Sequence[Place],
    structure: tree.Tree,
    body: Callable[[list[TracedArray]], Results],
) -> tuple[Trace, tuple[Place, ...], list[Any]]:
    """The trace of a body, the places of the state that it starts from in the end, and the next state."""
    for _ in range(len(places) + 2):
        if any(place.is_open for place in places):
            places = _tried(name, argument, places, structure, body)
        trace = inner_trace("body")
        try:
            return trace, tuple(places), _turn(trace, name, argument, places, structure, body)
        except PromotionError as promotion:
            places = promotion.places
    raise AssertionError("types are promoted only upwards")


def _turn(
    trace: Trace,
    name: str,
    argument: str,
    places: Sequence[Place],
    structure: tree.Tree,
    body: Callable[[list[TracedArray]], Results],
) -> list[Any]:
    """The next values of a state; raises PromotionError where it has to start as other types."""
    with tracing(trace), not_assigning(body):
        ahead, state = body(state_parameters(trace, places))
        own = len(ahead)
        try:
            return [*ahead, *fitted(state, places[own:], structure, name, argument)]
        except PromotionError as promotion:
            raise PromotionError([*places[:own], *promotion.places]) from None


def _tried(
    name: str,
    argument: str,
    places: Sequence[Place],
    structure: tree.Tree,
    body: Callable[[list[TracedArray]], Results],
) -> Sequence[Place]:
    """The places after a trial in which integers of Python's give way; what it refuses is not the user's fault."""
    trace = inner_trace("body")
    trace.refusals = []
    try:
        _turn(trace, name, argument, places, structure, body)
    except PromotionError as promotion:
        places = promotion.places
    except Exception as error:
        if from_handler(error):
            raise
    return [place.with_type(place.aval.dtype) if place.is_open else place for place in places]


def started(values: Sequence[Any], places: Sequence[Place]) -> list[Any]:
    """The first values of a state, of the types of their places."""
    pairs = zip(values, places, strict=True)
    return [v if aval_of(v).dtype == p.aval.dtype else convert_element_type(v, p.aval.dtype) for v, p in pairs]


def truth(value: Any, name: str, argument: str) -> Any:
    """A truth value of rank 0; DTypeError or ShapeError otherwise."""
    found, _, _ = as_array(value, name, argument)
    type = aval_of(found)
    if type.dtype != BOOL:
        reason = f"xjit.{name}: {argument}: a truth value is required; got {type}"
        raise refused(DTypeError, reason, (found,), "compare, as in x > 0")
    if type.rank:
        reason = f"xjit.{name}: {argument}: a single truth value is required; got {type}"
        raise refused(ShapeError, reason, (found,), "use np.any or np.all")
    return found


def whole_number(value: Any, name: str, argument: str) -> Any:
    """An integer of 64 bits; DTypeError or ShapeError otherwise."""
    found, _, _ = as_array(value, name, argument)
    type = aval_of(found)
    if dtype_class(type.dtype) != "I":
        raise refused(DTypeError, f"xjit.{name}: {argument}: an integer is required; got {type}", (found,))
    if type.rank:
        raise refused(ShapeError, f"xjit.{name}: {argument}: a single integer is required; got {type}", (found,))
    return found if type.dtype == INT64 else convert_element_type(found, INT64)


def _in_python(
    name: str, init: Any, goes_on: Callable[[Any, int], bool], body: Callable[[Any, int], Any], turn: int = 0
) -> Any:
    """The loop with NumPy, a turn at a time; the state keeps its structure, shapes and types."""
    first, places, structure = places_of(init, name, "init_val")
    values = [np.array(value) for value in first]  # which the body may write over
    while goes_on(state := numpy_state(values, places, structure), turn):
        made = body(state, turn)
        try:
            values = fitted(made, places, structure, name, "body_fun")
        except PromotionError as promotion:
            if may_go_on(places, promotion.places):
                values = fitted(made, promotion.places, structure, name, "body_fun")
            else:
                values, turn = started(values, promotion.places), turn - 1
            places = [*promotion.places]
        turn += 1
    return state


def may_go_on(places: Sequence[Place], promoted: Sequence[Place]) -> bool:
    """Return whether a turn that has led to other places would have come to the same with them."""
    return all(a.aval == b.aval for a, b in zip(places, promoted, strict=True))


def numpy_state(values: Sequence[Any], places: Sequence[Place], structure: tree.Tree) -> Any:
    """A state of arrays and numbers as NumPy code has them."""
    return tree.unflatten(structure, [_number(v, p) if p.scalar else v for v, p in zip(values, places, strict=True)])


def _number(value: Any, place: Place) -> Any:
    return place.weak(value) if place.weak is not None else np.asarray(value)[()]
