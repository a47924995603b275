"""Branches that only the run decides: both arms are traced, what they leave behind is chosen.

if x > 0: y = x          select(x > 0, x, -x)         small arms: both are computed
else:     y = -x         conditional(x > 0, ...)      larger ones, and those that may raise: one of them runs
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.control.inner_traces import computed, inner_trace
from xjit.capture.python_control.checkpoint import Checkpoint
from xjit.capture.python_control.inlining import inlined, is_small
from xjit.capture.python_control.leaves import Kind, is_array_like, kind_of, lifted, refuse_kinds, same
from xjit.capture.python_control.truth import as_bool, both_hold, either_holds, negated
from xjit.capture.rewriting.runtime_protocol import UNBOUND, VALUE, State, Thunk
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.dataclass import dataclass
from xjit.ir.context import TracedValue
from xjit.ir.current import current, tracing
from xjit.ops.control.conditional import branches
from xjit.ops.define.core import aval_of, constant
from xjit.ops.elements.select import select
from xjit.ops.whole_arrays.shape import broadcast


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm of a branch: its trace, and the values that it leaves behind."""

    trace: CaptureTrace
    after: tuple[Any, ...]


def decided(pred: Any, then: Thunk, otherwise: Thunk, state: State) -> None:
    """Runs both blocks in traces of their own; the variables then have the values of the one that is chosen."""
    start, mark = state.get(), Checkpoint((then, otherwise))
    try:
        arms = [_arm(block, label, start, state) for block, label in ((then, "then"), (otherwise, "otherwise"))]
    finally:
        state.set(start)
    mark.check_objects()
    places = [number for number, name in enumerate(state.names) if name in state.carried]
    pairs = [(arms[0].after[number], arms[1].after[number]) for number in places]
    found = _chosen(pred, [arm.trace for arm in arms], pairs, [state.names[number] for number in places])
    values: list[Any] = [UNBOUND] * len(start)
    for number, value in zip(places, found, strict=True):
        values[number] = value
    state.set(values)


def _arm(block: Thunk, label: str, start: tuple[Any, ...], state: State) -> Arm:
    trace = inner_trace(label)
    state.set(start)
    with tracing(trace):
        block()
        return Arm(trace, state.get())


def chosen(pred: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """The value of one of two expressions."""
    mark = Checkpoint((then, otherwise))
    traces: list[CaptureTrace] = []
    values: list[Any] = []
    for expression, label in ((then, "then"), (otherwise, "otherwise")):
        trace = inner_trace(label)
        traces.append(trace)
        with tracing(trace):
            values.append(expression())
    mark.check_objects()
    return _chosen(pred, traces, [(values[0], values[1])], ["the value of an expression"])[0]


def _chosen(
    pred: Any, traces: Sequence[CaptureTrace], pairs: Sequence[tuple[Any, Any]], names: Sequence[str]
) -> list[Any]:
    """One value for each pair."""
    plans = [_planned(name, *pair) for name, pair in zip(names, pairs, strict=True)]
    wanted = [leaf for plan in plans for leaf in plan.leaves if isinstance(leaf, _Choice)]
    found = iter(_choose(pred, traces, wanted))
    return [plan.value(found) for plan in plans]


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """A leaf that differs between the arms."""

    kind: Kind
    one: Any
    other: Any


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """The value of a variable: its structure, and for each leaf a choice or the value that both arms leave."""

    structure: tree.Tree
    leaves: tuple[Any, ...]
    whole: Any = None

    def value(self, found: Any) -> Any:
        """Return the value, with what was chosen."""
        if self.structure is None:
            return self.whole
        leaves = [next(found) if isinstance(leaf, _Choice) else leaf for leaf in self.leaves]
        return tree.unflatten(self.structure, leaves)


def _planned(name: str, one: Any, other: Any) -> _Plan:
    if one is UNBOUND or other is UNBOUND:
        is_hidden = name == VALUE and one is not other  # which has a meaning only where it was assigned
        return _only(name, one, other) if is_hidden else _Plan(None, (), UNBOUND)
    (ones, structure), (others, found) = tree.flatten(one), tree.flatten(other)
    if structure != found:
        refuse_kinds(name, one, other, "behind a branch")
    if structure is None:
        return _Plan(None, (), None)
    labels = tree.labels(structure, name)
    return _Plan(structure, tuple(map(_leaf, ones, others, labels)))


def _only(name: str, one: Any, other: Any) -> _Plan:
    """The value of the one arm that has one; what the other arm has instead nobody reads."""
    value = other if one is UNBOUND else one
    leaves, structure = tree.flatten(value)
    labels = list(tree.labels(structure, name))
    if structure is None or not all(map(is_array_like, leaves)):
        return _Plan(None, (), value)
    choices = []
    for leaf, label in zip(leaves, labels, strict=True):
        kind = kind_of(leaf, label)
        choices.append(_Choice(kind, *((leaf, None) if other is UNBOUND else (None, leaf))))
    return _Plan(structure, tuple(choices))


def _leaf(one: Any, other: Any, label: str) -> Any:
    if same(one, other):
        return one
    if not is_array_like(one) or not is_array_like(other):
        refuse_kinds(label, one, other, "behind a branch")
    kind, found = kind_of(one, label), kind_of(other, label)
    if kind.type != found.type:
        refuse_kinds(label, one, other, "behind a branch")
    return _Choice(kind.joined(found), one, other)


def _choose(pred: Any, traces: Sequence[CaptureTrace], wanted: Sequence[_Choice]) -> list[Any]:
    """The chosen leaves, as values of the current trace."""
    then, otherwise = traces
    truths = [_of_truths(pred, choice) for choice in wanted]
    rest = [choice for choice, truth in zip(wanted, truths, strict=True) if truth is None]
    if rest:
        made = iter(_computed(pred, then, otherwise, rest))
    return [next(made) if truth is None else truth for truth in truths]


def _of_truths(pred: Any, choice: _Choice) -> Any:
    """The choice between truth values of which one is known, if the other is known or from outside of the arms."""
    if choice.kind.place.weak is not bool:
        return None
    one, other = choice.one, choice.other
    if type(one) is bool and type(other) is bool:
        return as_bool(pred) if one else negated(pred)
    if type(one) is bool and _is_outside(other):
        return either_holds(pred, other) if one else both_hold(negated(pred), other)
    if type(other) is bool and _is_outside(one):
        return either_holds(negated(pred), one) if other else both_hold(pred, one)
    return None


def _is_outside(value: Any) -> bool:
    """Return whether a value was there in front of the branch."""
    trace = current()
    return isinstance(value, TracedValue) and trace is not None and value.owner is trace


def _computed(pred: Any, then: CaptureTrace, otherwise: CaptureTrace, rest: Sequence[_Choice]) -> list[Any]:
    ones = [_lifted(choice.one, choice.kind, then) for choice in rest]
    others = [_lifted(choice.other, choice.kind, otherwise) for choice in rest]
    parts = [computed(then, ones), computed(otherwise, others)]
    if all(map(is_small, parts)):
        pairs = zip(inlined(parts[0]), inlined(parts[1]), strict=True)
        values: Any = [select(_like(pred, one), one, other) for one, other in pairs]
    else:
        values = branches(select(pred, np.int32(0), np.int32(1)), [((), part) for part in parts])
    return [choice.kind.seen(value.node, value.owner) for choice, value in zip(rest, values, strict=True)]


def _lifted(leaf: Any, kind: Kind, trace: CaptureTrace) -> Any:
    with tracing(trace):
        if leaf is None:
            zero = constant(np.zeros((), kind.place.aval.dtype))
            return broadcast(zero, kind.place.aval.shape) if kind.place.aval.rank else zero
        return lifted(leaf, kind)


def _like(pred: Any, value: Any) -> Any:
    shape = aval_of(value).shape
    return broadcast(pred, shape) if shape else pred
