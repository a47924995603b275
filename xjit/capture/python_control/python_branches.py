"""Branches that only the run decides: both arms are traced, what they leave behind is chosen.

if x > 0: y = x          select(x > 0, x, -x)         small arms: both are computed
else:     y = -x         conditional(x > 0, ...)      larger ones, and those that may raise: one of them runs
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.constants.choices import all_choices, as_choices
from xjit.capture.control.inner_traces import computed, inner_trace, is_of_users, undecided
from xjit.capture.control.pinned_values import deciding, is_better_pinned
from xjit.capture.memory.buffer import Buffer
from xjit.capture.memory.carried_layout import is_stored_as_shown, memory_of_version, shown_version
from xjit.capture.python_control.checkpoint import Checkpoint, remembered
from xjit.capture.python_control.inlining import inlined, is_guarded, is_small
from xjit.capture.python_control.leaves import (
    Kind,
    common_room,
    in_parts,
    is_array,
    is_array_like,
    is_chosen_alone,
    kind_of,
    lifted,
    padded,
    refuse_kinds,
    room_for,
    same,
)
from xjit.capture.python_control.loop_turns import versions_of, written_buffers
from xjit.capture.python_control.refining import refine
from xjit.capture.python_control.truth import as_bool, both_hold, either_holds, negated
from xjit.capture.python_control.views_of_memory import either, is_other_view, seen_around
from xjit.capture.python_numbers.exact_integers import expect_exact_as
from xjit.capture.recording.container_entries import Entries
from xjit.capture.recording.container_names import note_copies, within
from xjit.capture.recording.object_state import Attribute, ObjectStates
from xjit.capture.rewriting.runtime_protocol import UNBOUND, VALUE, Site, State, Thunk
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.demands import demand, demand_unread, demanded, expect, hold
from xjit.capture.tracers.limited_calls import may_be_one
from xjit.capture.tracers.optional_value import presence, structure_of
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.dataclass import dataclass, replace
from xjit.ir.context import TracedValue
from xjit.ir.current import current, tracing
from xjit.ir.node import Node
from xjit.numpy.limited.arrays import LimitedArray
from xjit.ops.control.computations import Computation
from xjit.ops.control.conditional import branches
from xjit.ops.define.core import aval_of, constant, lift
from xjit.ops.elements.elementwise import logical_not
from xjit.ops.elements.select import select
from xjit.ops.whole_arrays.shape import broadcast

_SIDES = ("one", "other")
"""The fields of choices that are of the first arm, and of the second."""
EXPRESSION = Site("if", 0, (), (), ())
"""The site of an expression, whose text assigns nothing."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm of a branch: its trace, what it leaves behind, and the attributes of objects that it assigns."""

    trace: CaptureTrace
    after: Any
    assigned: Mapping[tuple[int, str], tuple[Attribute | Entries, Any]]


def decided(pred: Any, then: Thunk, otherwise: Thunk, state: State) -> None:
    """Runs both blocks in traces of their own; the variables then have the values of the one that is chosen."""
    with remembered(state.get()) as start, deciding(pred) as known:
        if known is None:
            _decided(pred, then, otherwise, state, start)
        else:
            (then if known else otherwise)()


def _decided(pred: Any, then: Thunk, otherwise: Thunk, state: State, start: tuple[Any, ...]) -> None:
    mark = Checkpoint((then, otherwise))

    def run(block: Thunk) -> tuple[Any, ...]:
        state.set(start)
        block()
        pairs = zip(state.names, state.get(), strict=True)
        return tuple(value if name in state.carried else UNBOUND for name, value in pairs)

    try:
        arms = _arms(pred, lambda: run(then), lambda: run(otherwise), mark)
    finally:
        state.set(start)
    if isinstance(arms, Raised):
        (otherwise if arms.holds else then)()
        return
    places = [number for number, name in enumerate(state.names) if name in state.carried]
    pairs = [(arms[0].after[number], arms[1].after[number]) for number in places]
    names = [state.names[number] for number in places]
    found = _with_attributes(pred, arms, pairs, names, mark, state.site)
    values: list[Any] = [UNBOUND] * len(start)
    for number, value in zip(places, found, strict=True):
        values[number] = value
    state.set(values)


def _arms(pred: Any, then: Callable[[], Any], otherwise: Callable[[], Any], mark: Checkpoint) -> list[Arm] | Raised:
    """The traces of both arms; if one of them ends by an error, that, after it is demanded that it is not taken."""
    try:
        return [_arm(pred, holds, run, mark.objects) for holds, run in ((True, then), (False, otherwise))]
    except Raised as raised:
        mark.restore()
        demand(logical_not(pred) if raised.holds else pred)
        return raised


class Raised(Exception):
    """An error of the user's, or NumPy's, at whose end an arm is: the one where the condition holds, or the other."""

    def __init__(self, holds: bool) -> None:
        super().__init__()
        self.holds = holds


def _arm(pred: Any, holds: bool, run: Callable[[], Any], objects: ObjectStates) -> Arm:
    """The trace of one arm, where the condition holds or where it does not; Raised if it ends by an error."""
    trace = inner_trace("then" if holds else "otherwise")
    trace.hands_on = True
    refine(trace, pred.node, holds)
    with tracing(trace), undecided():
        try:
            after, assigned = run(), objects.assigned()
            if isinstance(trace.parent, CaptureTrace):
                trace.parent.overwritten |= trace.overwritten
            demand_unread(trace, (after, [value for _, value in assigned.values()]))
            return Arm(trace, after, assigned)
        except Exception as error:
            if not is_of_users(error):
                raise
        finally:
            objects.restore()
    raise Raised(holds)


def chosen(pred: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """The value of one of two expressions; what calls in them assign is chosen, too."""
    with deciding(pred) as known:
        return _selected(pred, then, otherwise) if known is None else (then if known else otherwise)()


def _selected(pred: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    mark, state = Checkpoint((then, otherwise)), EXPRESSION.state(then, otherwise)
    start = state.get()

    def run(evaluate: Callable[[], Any]) -> tuple[Any, ...]:
        state.set(start)
        return evaluate(), *state.get()

    try:
        arms = _arms(pred, lambda: run(then), lambda: run(otherwise), mark)
    finally:
        state.set(start)
    if isinstance(arms, Raised):
        return (otherwise if arms.holds else then)()
    pairs = list(zip(arms[0].after, arms[1].after, strict=True))
    found, *assigned = _with_attributes(pred, arms, pairs, ["the value of an expression", *state.names], mark)
    state.set(assigned)
    return found


def _with_attributes(
    pred: Any,
    arms: Sequence[Arm],
    pairs: Sequence[tuple[Any, Any]],
    names: Sequence[str],
    mark: Checkpoint,
    site: Site = EXPRESSION,
) -> list[Any]:
    """One value for each pair; the attributes of objects that an arm has assigned get what is chosen, too."""
    attributes = {key: one for arm in arms for key, (one, _) in arm.assigned.items()}
    more: list[tuple[Any, Any]] = []
    for key, attribute in attributes.items():
        one, other = (arm.assigned[key][1] if key in arm.assigned else attribute.get() for arm in arms)
        if (one is UNBOUND) is not (other is UNBOUND):
            refuse(f"an object has {attribute.label} on one branch only", fix="assign it in front of the branch")
        more.append((one, other))
    labels = [attribute.label for attribute in attributes.values()]
    found = _chosen(pred, arms, [*pairs, *more], [*names, *labels], site)
    for attribute, value in zip(attributes.values(), found[len(pairs) :], strict=True):
        attribute.set(value)
    _note_copies([*pairs, *more], found, mark)
    return found[: len(pairs)]


def _note_copies(pairs: Sequence[tuple[Any, Any]], found: Sequence[Any], mark: Checkpoint) -> None:
    """Notes lists and dicts that are made of those of the arms."""
    rows = [(pair, value) for pair, value in zip(pairs, found, strict=True) if pair[0] is not pair[1]]
    for pair, value in rows:
        others = within(one for other, _ in rows if other is not pair for one in other)
        note_copies(_outer().recorder, pair, [value], (*mark.containers, *others))


def _chosen(
    pred: Any, arms: Sequence[Arm], pairs: Sequence[tuple[Any, Any]], names: Sequence[str], site: Site
) -> list[Any]:
    """One value for each pair; the buffers that an arm has written to go on as what is chosen."""
    plans = [_planned(name, *pair, pred, site) for name, pair in zip(names, pairs, strict=True)]
    views = {leaf.objects: leaf for plan in plans for leaf in plan.leaves if isinstance(leaf, _View)}
    wanted = {objects: view for objects, view in views.items() if isinstance(view, _Choice)}
    found = dict(zip(wanted, _choose(pred, arms, tuple(wanted.values())), strict=True))
    rest = (view for view in views.values() if not isinstance(view, _Choice))
    found |= {view.objects: either(lambda: pred, view.one, view.other) for view in rest}
    values = [plan.value(found) for plan in plans]
    for pair, value in zip(pairs, values, strict=True):
        may_be_one(value, pair if pair[0] is not pair[1] else ())
    return values


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """A leaf that is another view of the same elements in each of the arms."""

    one: Any
    other: Any

    @property
    def objects(self) -> tuple[int, int]:
        """The two objects, between which all choices are one."""
        return id(self.one), id(self.other)


@dataclass(frozen=True, slots=True, eq=False)
class _Choice(_View):
    """A leaf that differs between the arms."""

    kind: Kind


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """The value of a variable: its structure, and for each leaf a choice or the value that both arms leave."""

    structure: tree.Tree
    leaves: tuple[Any, ...]
    whole: Any = None

    def value(self, found: Mapping[tuple[int, int], Any]) -> Any:
        """Return the value, with what was chosen."""
        if self.structure is None:
            return self.whole
        leaves = [found[leaf.objects] if isinstance(leaf, _View) else leaf for leaf in self.leaves]
        return tree.unflatten(self.structure, leaves)


def _planned(name: str, one: Any, other: Any, pred: Any, site: Site) -> _Plan:
    if one is UNBOUND or other is UNBOUND:
        leaves, _ = tree.flatten(other if one is UNBOUND else one)
        if name in site.bound and one is not other and all(map(is_chosen_alone, leaves)):
            return _only(name, one, other)
        if name == VALUE and one is not other:  # which has a meaning only where it was assigned
            return _only(name, one, other)
        _note_unbound(name, one is not other)
        return _Plan(None, (), UNBOUND)
    if one is other:
        return _Plan(None, (), one)
    one, other = as_choices(one, other, not is_better_pinned())
    (ones, structure), (others, found) = tree.flatten(one), tree.flatten(other)
    if structure != found:
        rooms = room_for(one, found, _shapes(others)), room_for(other, structure, _shapes(ones))
        one, other = in_parts(one, found, rooms[0]), in_parts(other, structure, rooms[1])
        (ones, structure), (others, found) = tree.flatten(one), tree.flatten(other)
    if structure != found and (plan := _optional(name, one, other, pred, site)) is not None:
        return plan
    if structure != found:
        refuse_kinds(name, one, other, "behind a branch")
    if structure is None:
        return _Plan(None, (), None)
    common = itertools.chain([common_room(structure, ones[0], others[0])], itertools.repeat(None))
    return _Plan(structure, tuple(map(_leaf, ones, others, tree.labels(structure, name), common)))


def _optional(name: str, one: Any, other: Any, pred: Any, site: Site) -> _Plan | None:
    """The value of a variable that is None in one arm, or holds None there; None where that is no reason.

    A result that is None is one of which NumPy does the call, or the calls of the function that returns it.
    """
    if name in site.optional:
        parts = _perhaps(name, one, other)
        return None if parts is None else _Plan(*parts)
    if name != VALUE or (one is None) == (other is None):
        return None
    value = other if one is None else one
    parts = _in_one_arm(name, value, value is one)
    return _Plan(*parts) if parts and expect(pred if value is one else logical_not(pred)) else None


def _perhaps(name: str, one: Any, other: Any) -> tuple[tree.Tree, tuple[Any, ...]] | None:
    """The structure and the leaves of a value, parts of which may be None; None where the arms have two kinds."""
    if type(one) is tuple and type(other) is tuple and len(one) == len(other):
        items = [_perhaps(f"{name}[{place}]", *pair) for place, pair in enumerate(zip(one, other, strict=True))]
        found = [item for item in items if item is not None]
        if len(found) < len(items):
            return None
        return tree.Branch(tuple, None, tuple(own for own, _ in found)), tuple(one for _, own in found for one in own)
    (one_is, first), (other_is, second) = presence(one), presence(other)
    first, second = as_choices(first, second)
    if (first is None) != (second is None):
        value = second if first is None else first
        parts = _in_one_arm(name, all_choices(value), second is None)
    else:
        (ones, own), (others, another) = tree.flatten(first), tree.flatten(second)
        parts = (own, tuple(map(_leaf, ones, others, tree.labels(own, name)))) if own == another else None
    if parts is None or (one_is is other_is and isinstance(one_is, bool)):
        return parts
    structure, leaves = parts
    return structure_of(structure, len(leaves)), (_leaf(one_is, other_is, name), *leaves)


def _in_one_arm(name: str, value: Any, is_first: bool) -> tuple[tree.Tree, tuple[Any, ...]] | None:
    leaves, structure = tree.flatten(value)
    if not leaves or not all(map(is_array_like, leaves)):
        return None
    return structure, tuple(_alone(leaf, _with_zero(kind_of(leaf, name)), is_first) for leaf in leaves)


def _alone(leaf: Any, kind: Kind, is_first: bool) -> Any:
    """A leaf that one arm has, and for which the other one has nothing."""
    if (seen := seen_around(leaf)) is not None:
        return seen
    return _Choice(leaf, None, kind) if is_first else _Choice(None, leaf, kind)


def _with_zero(kind: Kind) -> Kind:
    """The kind of what is zero in the arm that has no value."""
    if kind.bounds is None:
        return kind
    low, high = kind.bounds
    return replace(kind, bounds=(min(low, 0), max(high, 0)))


def _shapes(leaves: Sequence[Any]) -> list[tuple[int, ...]]:
    """The shapes of leaves, also of numbers; none of objects, and of arrays whose sizes only the run knows."""
    return [() if isinstance(leaf, LimitedArray | DeferredObject) else getattr(leaf, "shape", ()) for leaf in leaves]


def _note_unbound(name: str, differs: bool) -> None:
    """Notes a variable that one arm leaves without a value: code that reads it cannot be traced."""
    trace = current()
    if differs and isinstance(trace, CaptureTrace):
        trace.recorder.unbound.append(name)


def _only(name: str, one: Any, other: Any) -> _Plan:
    """The value of the one arm that has one; what the other arm has instead nobody reads."""
    value = other if one is UNBOUND else one
    leaves, structure = tree.flatten(value)
    if structure is None or not any(map(is_array_like, leaves)):
        return _Plan(None, (), value)
    pairs = zip(leaves, tree.labels(structure, name), strict=True)
    choices = (
        _alone(leaf, kind_of(leaf, label), other is UNBOUND) if is_array_like(leaf) else leaf for leaf, label in pairs
    )
    return _Plan(structure, tuple(choices))


def _leaf(one: Any, other: Any, label: str, room: tuple[int, ...] | None = None) -> Any:
    if same(one, other):
        return _View(one, other) if is_other_view(one, other) else one
    if not is_array_like(one) or not is_array_like(other):
        refuse_kinds(label, one, other, "behind a branch")
    kind = kind_of(one, label).with_room(room).agreed(kind_of(other, label).with_room(room))
    if kind is None:
        refuse_kinds(label, one, other, "behind a branch")
    return _Choice(one, other, kind)


def _choose(pred: Any, arms: Sequence[Arm], wanted: Sequence[_Choice]) -> list[Any]:
    """The chosen leaves, as values of the current trace."""
    truths = [_of_truths(pred, choice) for choice in wanted]
    rest = [choice for choice, truth in zip(wanted, truths, strict=True) if truth is None]
    for arm, side in zip(arms, _SIDES, strict=True):
        with tracing(arm.trace):
            for choice in rest:
                expect_exact_as(getattr(choice, side), choice.kind)
    written = dict.fromkeys(one for arm in arms for one in written_buffers(arm.trace))
    demands = _demands(arms, written)
    does = demands or rest or written or any(arm.trace.effects for arm in arms)
    found = _computed(pred, arms, [*demands, *rest], list(written)) if does else []
    for value in found[: len(demands)]:
        hold(_outer(), value.node)
    made = iter(found[len(demands) :])
    return [next(made) if truth is None else truth for truth in truths]


def _demands(arms: Sequence[Arm], written: dict[Buffer, None]) -> list[_Choice]:
    """The choice of what is demanded, if an arm demands something; no longer one of the buffers that are written."""
    buffer = arms[0].trace.recorder and arms[0].trace.recorder.demands
    if buffer not in written:
        return []
    del written[buffer]
    one, other = (demanded(arm.trace) or constant(np.asarray(True)) for arm in arms)
    return [_Choice(one, other, kind_of(one, "the conditions of errors"))]


def _outer() -> CaptureTrace:
    """The trace around the arms."""
    outer = current()
    assert isinstance(outer, CaptureTrace)
    return outer


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


def _computed(pred: Any, arms: Sequence[Arm], rest: Sequence[_Choice], buffers: Sequence[Buffer]) -> list[Any]:
    outer, parts = _outer(), []
    for arm, side in zip(arms, _SIDES, strict=True):
        leaves = [value for one in rest for value in _lifted(getattr(one, side), one.kind, arm.trace)]
        parts.append(computed(arm.trace, [*leaves, *versions_of(arm.trace, buffers)]))
    memory = [memory_of_version(one, outer) for one in buffers]
    # What an arm reads of two buffers that begin alike is one value, whichever the other arm has written to.
    alone = len(set(memory)) == len(memory) and all(map(is_stored_as_shown, buffers, memory))
    if alone and all(is_small(part) and not is_guarded(part, outer) for part in parts):
        values = _both_computed(pred, parts, memory)
    else:
        values = list(branches(select(pred, np.int32(0), np.int32(1)), [((), part) for part in parts]))
    nodes = [lift(outer, value) for value in values]
    for buffer, node in zip(buffers, nodes[len(nodes) - len(buffers) :], strict=True):
        buffer.advance(outer, shown_version(buffer, node, outer))
    left = iter(nodes)
    found = [choice.kind.seen(left, outer) for choice in rest]
    _connect(rest, found)
    return found


def _connect(choices: Sequence[_Choice], values: Sequence[Any]) -> None:
    """Notes of which arrays what is chosen may be the memory, and which of it may be one."""
    pairs = [pair for pair in zip(choices, values, strict=True) if is_array(pair[1])]
    shared = [
        (value, other)
        for (one, value), (two, other) in itertools.combinations(pairs, 2)
        if _share(one.one, two.one) or _share(one.other, two.other)
    ]
    arrays = [[leaf for leaf in (choice.one, choice.other) if is_array(leaf)] for choice, _ in pairs]
    memory = [[leaf.buffer.family for leaf in leaves] for leaves in arrays]
    for (_, value), leaves, families in zip(pairs, arrays, memory, strict=True):
        value.frozen = bool(leaves) and all(leaf.frozen for leaf in leaves)
        value.buffer.may_be(itertools.chain(*families))
    for value, other in shared:
        value.buffer.may_be((other.buffer,))


def _share(one: Any, other: Any) -> bool:
    return is_array(one) and is_array(other) and bool(one.buffer.shares(other.buffer))


def _both_computed(pred: Any, parts: Sequence[Computation], memory: Sequence[Node]) -> list[Any]:
    """The results of two small arms: one writes into the memory that the other leaves, each where it is chosen."""
    ones = inlined(parts[0], pred, {before: before for before in memory})
    end = len(ones) - len(memory)
    after = {before: one.node for before, one in zip(memory, ones[end:], strict=True)}
    others = inlined(parts[1], logical_not(pred), after)
    pairs = zip(ones[:end], others[:end], strict=True)
    return [*(select(_like(pred, one), one, other) for one, other in pairs), *others[end:]]


def _lifted(leaf: Any, kind: Kind, trace: CaptureTrace) -> list[Any]:
    with tracing(trace):
        if leaf is not None:
            return lifted(padded(leaf, kind.place.aval.shape), kind)
        zeros = [(constant(np.zeros((), type.dtype)), type) for type in kind.types]
        return [broadcast(zero, type.shape) if type.rank else zero for zero, type in zeros]


def _like(pred: Any, value: Any) -> Any:
    shape = aval_of(value).shape
    return broadcast(pred, shape) if shape else pred
