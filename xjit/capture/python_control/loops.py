"""Loops of Python's that become loops of the graph: a turn is traced once, the state is found by trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.control.inner_traces import computed, inner_trace
from xjit.capture.control.loops import COUNTER
from xjit.capture.control.state import NUMBERS
from xjit.capture.python_control.growth import Growth
from xjit.capture.python_control.leaves import Kind, is_array_like, kind_of, lifted
from xjit.capture.python_control.sequences import Turns
from xjit.capture.python_control.turns import (
    Carried,
    Turn,
    carried_of,
    is_same_value,
    leaves_of,
    traced_turn,
    values_of,
)
from xjit.capture.python_control.truth import truth
from xjit.capture.rewriting.runtime_protocol import UNBOUND, State
from xjit.capture.tracers.provenance import refuse
from xjit.dataclass import dataclass, replace
from xjit.ir.context import TracedValue
from xjit.ir.current import current, tracing
from xjit.ops.control.computations import Computation
from xjit.ops.control.while_loop import loop
from xjit.ops.elements.compare import lt
from xjit.ops.elements.convert import convert_element_type
from xjit.ops.elements.elementwise import add, and_
from xjit.ops.whole_arrays.shape import broadcast
from xjit.ops.define.core import constant

_MOST_TRIALS = 12
_MOST_PEELED = 2


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the user's: the variables, the condition for another turn, the body, and what is gone through.

    ``certain`` says that the first turn happens.
    """

    state: State
    test: Callable[[], Any] | None
    body: Callable[[Any], None]
    turns: Turns | None
    certain: bool

    @property
    def needed(self) -> frozenset[str]:
        """The variables whose values a further turn, or what follows, may read."""
        return frozenset(self.state.carried)

    def start(self) -> tuple[Any, ...]:
        """The values of the variables in front of the loop; those that nobody needs are not bound."""
        pairs = zip(self.state.names, self.state.get(), strict=True)
        return tuple(value if name in self.needed else UNBOUND for name, value in pairs)


def captured(loop: Loop) -> None:
    """Traces the loop as a loop; the variables then have the values behind it."""
    for _ in range(_MOST_PEELED + 1):
        start = loop.start()
        carried = _carried(loop, start)
        first = _first(loop, carried, start)
        if first is not None:
            _finish(loop, carried, start, first)
            return
        if not loop.certain:
            _refuse_types(loop, carried, start)
        loop.state.set(start)
        loop = _peeled(loop)
    refuse("the types of the variables of a loop do not settle in its first turns")


def _counter(loop: Loop) -> Kind | None:
    return None if loop.turns is None else Kind(replace(COUNTER, weak=int), loop.turns.bounds)


def _turn(loop: Loop, carried: Sequence[Carried | None], start: Sequence[Any]) -> Turn:
    return traced_turn(loop.state, carried, start, _counter(loop), loop.body)


def _carried(loop: Loop, start: Sequence[Any]) -> list[Carried | None]:
    """What turns change, and its types: from what one turn changes to what no further one adds to."""
    length = None if loop.turns is None else loop.turns.length
    names = loop.state.names
    growths = [Growth(name, value, length) for name, value in zip(names, start, strict=True)]
    for _ in range(_MOST_TRIALS):
        carried = [one.carried for one in growths]
        turn = _turn(loop, carried, start)
        changed = [
            name in loop.needed and one.goes_on(after)
            for name, one, after in zip(names, growths, turn.after, strict=True)
        ]
        if not any(changed):
            return carried
    refuse("what the variables of a loop are does not settle in a few turns")


def _first(loop: Loop, carried: Sequence[Carried | None], start: Sequence[Any]) -> list[Any] | None:
    """The values that the carried leaves start from; None where the first turn is not as the others.

    A number of Python's may start as one of NumPy's if the first turn makes the same of both.
    """
    fitted = [value if one is None else _fitted(value, one, loop) for one, value in zip(carried, start, strict=True)]
    if any(one is not None and value is None for one, value in zip(carried, fitted, strict=True)):
        return None
    plain = [is_same_value(a, b) or a is UNBOUND for a, b in zip(start, fitted, strict=True)]
    if not all(plain) and not _is_as_others(loop, carried, start, fitted):
        return None
    return leaves_of(carried, fitted)


def _fitted(value: Any, one: Carried, loop: Loop) -> Any:
    """A value as one of the types that turns leave behind; None where that is something else."""
    if value is UNBOUND:
        return tree.unflatten(one.structure, [_zeros(leaf) for leaf in one.leaves])
    leaves, structure = tree.flatten(value)
    if structure != one.structure:
        return None
    found = [_fitted_leaf(leaf, kind) for leaf, kind in zip(leaves, one.leaves, strict=True)]
    if any(leaf is None for leaf in found):
        return None
    return value if all(a is b for a, b in zip(found, leaves, strict=True)) else tree.unflatten(structure, found)


def _zeros(kind: Any) -> Any:
    if not isinstance(kind, Kind):
        return kind
    zero = constant(np.zeros((), kind.place.aval.dtype))
    return broadcast(zero, kind.place.aval.shape) if kind.place.aval.rank else zero


def _fitted_leaf(leaf: Any, kind: Any) -> Any:
    if not isinstance(kind, Kind):
        return leaf
    if not is_array_like(leaf):
        return None
    own = kind_of(leaf, kind.place.label)
    if own.type == kind.type:
        return leaf
    if own.place.weak is None or (kind.place.weak is not None and not _widens(own.place.weak, kind.place.weak)):
        return None
    number = convert_element_type(lifted(leaf, kind), kind.place.aval.dtype)
    shaped = broadcast(number, kind.place.aval.shape) if kind.place.aval.rank else number
    trace = current()
    assert trace is not None
    return kind.seen(trace.adopt(_node(shaped)), trace)


def _widens(one: type, other: type) -> bool:
    order = list(NUMBERS)
    return order.index(one) <= order.index(other)


def _node(value: Any) -> Any:
    if isinstance(value, TracedValue):
        return value.node
    traced: Any = constant(np.asarray(value))
    return traced.node


def _is_as_others(
    loop: Loop, carried: Sequence[Carried | None], start: Sequence[Any], fitted: Sequence[Any]
) -> bool:
    """Return whether the first turn makes the same of the values that it starts from and of the fitted ones."""
    trace = inner_trace("body")
    with tracing(trace):
        counter = _counter(loop)
        number = None if counter is None else counter.seen(trace.parameter(counter.place.aval), trace)
        results: list[list[Any]] = []
        for values in (start, fitted):
            loop.state.set(tuple(values))
            loop.body(number)
            after = loop.state.get()
            if any(one is not None and _types(one, v) != one.types for one, v in zip(carried, after, strict=True)):
                return False
            results.append([_node(leaf) for leaf in leaves_of(carried, after)])
    return all(a is b for a, b in zip(*results, strict=True))


def _types(one: Carried, value: Any) -> Any:
    return carried_of("", value).types if value is not UNBOUND else None


def _refuse_types(loop: Loop, carried: Sequence[Carried | None], start: Sequence[Any]) -> None:
    pairs = zip(loop.state.names, carried, start, strict=True)
    names = [name for name, one, value in pairs if one is not None and not is_same_value(_fitted(value, one, loop), value)]
    refuse(
        f"the type of {', '.join(names)} behind a loop depends on how many turns it takes",
        fix="start with a value of the type that the loop makes",
    )


def _peeled(loop: Loop) -> Loop:
    """The loop without its first turn, which is traced in front of it."""
    if loop.turns is None:
        loop.body(None)
        known = truth(loop.test()) if loop.test is not None else True
        return replace(loop, certain=known is True)
    loop.body(loop.turns.first)
    rest = loop.turns.rest()
    return replace(loop, turns=rest, certain=rest.is_certain)


def _finish(loop_: Loop, carried: Sequence[Carried | None], start: Sequence[Any], first: list[Any]) -> None:
    turn = _turn(loop_, carried, start)
    ahead: list[Any] = []
    if loop_.turns is not None:
        with tracing(turn.trace):
            ahead.append(add(turn.counter, np.int64(1)))
        first = [loop_.turns.first_number(), *first]
    with tracing(turn.trace):
        results = [*ahead, *leaves_of(carried, turn.after)]
    step = computed(turn.trace, results)
    test = _test(loop_, carried, start)
    if not results:
        refuse("a loop changes nothing")
    last = list(loop(first, test, step))
    values = _values_behind(carried, start, last[len(ahead) :])
    pairs = zip(loop_.state.names, values, strict=True)
    loop_.state.set(tuple(value if name in loop_.needed else UNBOUND for name, value in pairs))


def _test(loop: Loop, carried: Sequence[Carried | None], start: Sequence[Any]) -> Computation:
    trace = inner_trace("condition")
    with tracing(trace):
        counter = _counter(loop)
        number = None if counter is None else counter.seen(trace.parameter(counter.place.aval), trace)
        values = tuple(values_of(carried, start, trace))
        loop.state.set(values)
        held = [] if loop.turns is None else [lt(number, loop.turns.end_number())]
        if loop.test is not None:
            held.append(truth(loop.test(), traced=True))
        if any(not is_same_value(a, b) for a, b in zip(values, loop.state.get(), strict=True)):
            refuse("the condition of a loop assigns a variable")
        both = held[0] if len(held) == 1 else and_(*held)
    return computed(trace, [both])


def _values_behind(carried: Sequence[Carried | None], start: Sequence[Any], last: Sequence[Any]) -> list[Any]:
    values: list[Any] = []
    rest = iter(last)
    for one, value in zip(carried, start, strict=True):
        if one is None:
            values.append(value)
            continue
        leaves = [_seen(kind, next(rest)) if isinstance(kind, Kind) else kind for kind in one.leaves]
        values.append(tree.unflatten(one.structure, leaves))
    return values


def _seen(kind: Kind, value: Any) -> Any:
    return kind.seen(value.node, value.owner) if isinstance(value, TracedValue) else value
