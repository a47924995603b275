"""The turns of a loop, and what the user's code makes of the state in one of them, traced."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xjit import tree
from xjit.capture.control.inner_traces import inner_trace, undecided
from xjit.capture.memory.buffer import Buffer
from xjit.capture.memory.carried_layout import layout_of_buffer, shown_version, stored_version
from xjit.capture.python_control.checkpoint import effects_taken_back
from xjit.capture.python_control.leaves import (
    Kind,
    flattened,
    is_array,
    is_array_like,
    kind_of,
    lifted,
    optional,
    same,
    unflattened,
)
from xjit.capture.python_control.refining import refine
from xjit.capture.python_control.truth import truth
from xjit.capture.python_numbers.exact_integers import expect_exact_in
from xjit.capture.recording.container_names import Copied, check_turn, within
from xjit.capture.recording.object_state import ObjectStates
from xjit.capture.recording.object_variables import Variables, check_known
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.tracers.demands import demand_unread
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.dataclass import dataclass
from xjit.ir.context import TracedValue
from xjit.ir.current import tracing
from xjit.numpy.limited.arrays import LimitedArray
from xjit.ops.control.computations import plain as plain_type
from xjit.ops.effects.python_call import is_taken_back


@dataclass(frozen=True, slots=True)
class Twin:
    """A leaf that is one object with another one, in front of a loop and at the end of each turn."""

    number: int


@dataclass(frozen=True, slots=True)
class Carried:
    """A variable that turns change: the structure of its value, and the kinds of its leaves.

    A leaf that stays as it is stands for itself.
    """

    structure: tree.Tree
    leaves: tuple[Any, ...]

    @property
    def kinds(self) -> list[Kind]:
        """The kinds of the leaves that a graph carries."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Kind)]

    @property
    def is_doubtful(self) -> bool:
        """Return whether all leaves are numbers in doubt."""
        return all(isinstance(leaf, Kind) and leaf.doubtful for leaf in self.leaves)

    @property
    def types(self) -> tuple[Any, ...]:
        """The structure, and the type of each leaf."""
        return self.structure, *(
            leaf.type if isinstance(leaf, Kind) else ("static", id(leaf)) for leaf in self.leaves
        )

    def is_as(self, other: Carried) -> bool:
        """Return whether turns carry the same; the user's objects are not asked if they are equal."""
        return self.structure == other.structure and all(map(_is_same_leaf, self.leaves, other.leaves))


def _is_same_leaf(one: Any, other: Any) -> bool:
    if isinstance(one, Kind | Twin) and isinstance(other, Kind | Twin):
        return one == other
    return same(one, other)


def carried_of(name: str, value: Any) -> Carried:
    """The variable with the types that its value has."""
    for whole in tree.flatten(value, in_parts=False)[0]:
        if hasattr(type(whole), "check_one_name"):
            whole.check_one_name()
    leaves, labels, (structure,) = flattened([value], [name])
    for leaf, label in zip(leaves, labels, strict=True):
        if isinstance(leaf, LimitedArray) or getattr(type(leaf), "chooses", False):
            refuse(f"{label} is an array whose size only the run knows, and turns of a loop change it")
    kinds = [
        kind_of(leaf, label) if is_array_like(leaf) else leaf for leaf, label in zip(leaves, labels, strict=True)
    ]
    return Carried(structure, tuple(kinds))


def is_same_value(one: Any, other: Any) -> bool:
    """Return whether a variable has one value, for any code that follows."""
    if one is other:
        return True
    if type(one) is not tuple and isinstance(one, list | dict):
        return False
    (ones, structure), (others, found) = tree.flatten(one), tree.flatten(other)
    return structure == found and all(map(same, ones, others))


def values_of(carried: Sequence[Carried | None], start: Sequence[Any], trace: CaptureTrace) -> list[Any]:
    """The values of all variables at the beginning of a turn: new parameters of the trace for what is carried."""
    found = [value if one is None else _parameters(one, trace) for one, value in zip(carried, start, strict=True)]
    _note_first(start, found)
    return with_twins(carried, found)


def _note_first(start: Sequence[Any], found: Sequence[Any]) -> None:
    """Notes that variables are arrays of unknown length that loops begin with: nobody writes to these meanwhile."""
    for before, own in zip(start, found, strict=True):
        leaves = (tree.flatten(one, in_parts=False)[0] for one in (before, own))
        for pair in zip(*leaves, strict=False):
            first, one = (leaf.packed() if getattr(type(leaf), "chooses", False) else leaf for leaf in pair)
            if one is not first and all(hasattr(type(leaf), "shown_by") for leaf in (first, one)):
                first.shown_by(one)
                one.shown_by(first)


def with_twins(carried: Sequence[Carried | None], values: Sequence[Any]) -> list[Any]:
    """The values of variables, where leaves that are one object are that."""
    if not any(isinstance(leaf, Twin) for one in carried if one is not None for leaf in one.leaves):
        return list(values)
    objects = carried_values(carried, values)
    kinds = [leaf for one in carried if one is not None for leaf in one.leaves]
    pairs = zip(objects, kinds, strict=True)
    own = iter([objects[kind.number] if isinstance(kind, Twin) else leaf for leaf, kind in pairs])
    found: list[Any] = []
    for one, value in zip(carried, values, strict=True):
        leaves = [] if one is None else list(itertools.islice(own, len(one.leaves)))
        found.append(value if one is None or value is UNBOUND else tree.unflatten(one.structure, leaves))
    return found


def _parameters(one: Carried, trace: CaptureTrace) -> Any:
    leaves: list[Any] = []
    for leaf in one.leaves:
        if not isinstance(leaf, Kind):
            leaves.append(leaf)
            continue
        nodes = [trace.parameter(type) for type in leaf.types]
        trace.labels[nodes[0]] = leaf.place.label
        leaves.append(leaf.seen(iter(nodes), trace))
        if leaf.bounds is not None:
            trace.spans[nodes[0]] = leaf.bounds
    return unflattened(leaves, [one.structure])[0]


def leaves_of(carried: Sequence[Carried | None], values: Sequence[Any]) -> list[Any]:
    """The carried leaves of the values of variables, as packed arrays or traced values."""
    found: list[Any] = []
    for one, value in zip(carried, values, strict=True):
        if one is not None:
            own, _ = tree.flatten(value)
            for leaf, kind in zip(own, one.leaves, strict=True):
                found += lifted(leaf, kind) if isinstance(kind, Kind) else ()
    return found


def values_in(carried: Sequence[Carried | None], values: Sequence[Any]) -> list[Any]:
    """The carried leaves without their doubts."""
    found: list[Any] = []
    for one, value in zip(carried, values, strict=True):
        if one is not None:
            pairs = zip(tree.flatten(value)[0], one.leaves, strict=True)
            found += [lifted(leaf, kind)[0] for leaf, kind in pairs if isinstance(kind, Kind)]
    return found


@dataclass(frozen=True, slots=True)
class Turn:
    """A traced turn: its trace, the counter, and the values of the variables at its end.

    ``begin`` is the memory of each carried leaf at its beginning, None for what is no array.
    """

    trace: CaptureTrace
    counter: Any
    begin: tuple[Buffer | None, ...]
    after: tuple[Any, ...]


def traced_turn(
    state: Variables,
    carried: Sequence[Carried | None],
    start: Sequence[Any],
    buffers: Sequence[Buffer],
    counter: Kind | None,
    body: Callable[[Any], None],
    test: Callable[[], Any] | None,
    containers: Sequence[Any],
) -> Turn:
    """The state behind a turn, by a trial of the user's code; a turn takes place where the test holds.

    The ``containers`` were there in front of the loop: their entries may be variables.
    """
    trace = inner_trace("body")
    trace.hands_on = True
    known: dict[Any, Any] = trace.recorder.loops
    trace.behind_effects = (state.place, "effects") in known
    trace.open_ended = counter is None
    with tracing(trace), undecided():
        number, values = parameters_of(trace, counter, carried, start, buffers)
        state.set(values)
        begin = tuple(_memory_of(leaf) for leaf in carried_values(carried, values))
        _note_unbound(state.names, carried, start, values, trace)
        own = [Copied.of(one) for one in within(_of_carried(carried, values))]
        del values  # so that nothing but the variables holds them
        objects = ObjectStates(trace.recorder, containers)
        if test is not None:
            with effects_taken_back():
                holds = truth(test(), traced=True).node
            refine(trace, holds, True)
        body(number)
        check_known(state, (one for one, _ in objects.assigned().values()))
        pairs = zip(carried, state.get(), strict=True)
        after = tuple(value if one is None else optional(value, one.structure, one.leaves) for one, value in pairs)
        expect_exact_in(carried, after)
        for one in own:
            one.check()
        check_turn(_of_carried(carried, after), containers)
        read = [value for name, value in zip(state.names, after, strict=True) if name in state.carried]
        demand_unread(trace, (read, [value for _, value in objects.assigned().values()]))
        if not all(map(is_taken_back, trace.effects)):
            known[state.place, "effects"] = True
        return Turn(trace, number, begin, after)


def _of_carried(carried: Sequence[Carried | None], values: Sequence[Any]) -> Iterator[Any]:
    """The values of the variables that turns change."""
    return (value for one, value in zip(carried, values, strict=True) if one is not None)


def may_be_unbound(name: str, value: Any, trace: CaptureTrace) -> bool:
    """Return whether a variable of the user's may have no value in a trace: it stands for what earlier turns left."""
    if name.startswith("."):
        return False
    if value is UNBOUND:
        return True
    return any(_number_of(leaf) in trace.recorder.perhaps_unbound for leaf in tree.flatten(value)[0])


def _note_unbound(
    names: Sequence[str],
    carried: Sequence[Carried | None],
    start: Sequence[Any],
    values: Sequence[Any],
    trace: CaptureTrace,
) -> None:
    """Notes the values at the beginning of a turn of variables that the first turn finds without one."""
    outer = trace.parent
    assert isinstance(outer, CaptureTrace)
    for name, one, first, value in zip(names, carried, start, values, strict=True):
        if one is not None and may_be_unbound(name, first, outer):
            trace.recorder.perhaps_unbound.update(filter(None, map(_number_of, tree.flatten(value)[0])))


def _number_of(leaf: Any) -> Any:
    """The value of a graph that a leaf stands for."""
    if is_array(leaf):
        return leaf.last_node
    return leaf.node if isinstance(leaf, TracedValue) else None


def _memory_of(leaf: Any) -> Buffer | None:
    return leaf.buffer if is_array(leaf) else None


def carried_values(carried: Sequence[Carried | None], values: Sequence[Any]) -> list[Any]:
    """The leaves of the values of the variables that turns change; None for those of a variable that has no value, or
    one of another structure.
    """
    found: list[Any] = []
    for one, value in zip(carried, values, strict=True):
        if one is not None:
            leaves = [] if value is UNBOUND else tree.flatten(value)[0]
            found += leaves if len(leaves) == len(one.leaves) else [None] * len(one.leaves)
    return found


def memories(carried: Sequence[Carried | None], values: Sequence[Any]) -> list[Any]:
    """The same leaves, with the memory of arrays of the run's size themselves in place of their elements."""
    wholes: dict[int, Any] = {}
    taken = (value for one, value in zip(carried, values, strict=True) if one is not None and value is not UNBOUND)
    for one in (leaf for value in taken for leaf in tree.flatten(value, in_parts=False)[0]):
        parts = one.parts() if hasattr(type(one), "shown_by") else None
        if parts is not None:
            wholes[id(parts[0][0])] = one.whole
    return [wholes.get(id(leaf), leaf) for leaf in carried_values(carried, values)]


def parameters_of(
    trace: CaptureTrace,
    counter: Kind | None,
    carried: Sequence[Carried | None],
    start: Sequence[Any],
    buffers: Sequence[Buffer],
) -> tuple[Any, tuple[Any, ...]]:
    """The counter and the values of the variables at the beginning of a turn; buffers get versions of their own.

    The parameters of the trace are the counter, the leaves of what is carried, and the buffers.
    """
    number = None if counter is None else counter.seen(iter([trace.parameter(counter.place.aval)]), trace)
    if number is not None:
        trace.spans[number.node] = number.bounds
    values = tuple(values_of(carried, start, trace))
    for buffer in buffers:
        outer = buffer.version(trace.parent)
        parameter = trace.parameter(layout_of_buffer(buffer).carried(plain_type(outer.aval)))
        node = shown_version(buffer, parameter, trace)
        trace.labels[parameter] = trace.labels[node] = buffer.label or "an array"
        buffer.advance(trace, node)
    return number, values


def written_buffers(trace: CaptureTrace) -> list[Buffer]:
    """The buffers from outside of a trace that it has written to."""
    return [buffer for buffer in trace.versions if buffer.home is not trace]


def versions_of(trace: CaptureTrace, buffers: Sequence[Buffer]) -> list[Any]:
    """The contents of buffers at the end of a trace, as packed values."""
    with tracing(trace):
        return [stored_version(buffer, trace) for buffer in buffers]
