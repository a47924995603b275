"""Loops of Python's with what their turns assign besides variables: attributes, entries of lists, and conditions."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from xjit.capture.python_control.checkpoint import Checkpoint
from xjit.capture.python_control.python_loops import Loop, captured, peeled
from xjit.capture.python_control.truth import as_bool, is_open
from xjit.capture.python_control.unrolling import count_loop
from xjit.capture.recording.container_entries import Entries
from xjit.capture.recording.object_state import Attribute
from xjit.capture.recording.object_variables import AssignedAttributes, ObjectState
from xjit.capture.rewriting.runtime_protocol import UNBOUND, State, Thunk
from xjit.capture.tracers.provenance import CaptureTrace, refuse
from xjit.dataclass import dataclass, replace
from xjit.ir.current import current

_MOST_TRIALS = 12
"""Trials of a loop that find the attributes which its turns assign."""


@dataclass(frozen=True, slots=True)
class _Assigned:
    """The attributes and containers that turns of a loop assign, for another trace of it to begin with.

    A loop within a turn of another is traced several times, each time with a list that the turn has made anew; so
    containers are known by their places among all that the loop may change, and by the number of their entries.
    """

    attributes: tuple[tuple[weakref.ref[Any], str], ...]
    containers: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, attributes: Sequence[Attribute | Entries], containers: Sequence[Any]) -> _Assigned:
        """Return what is to be known of these."""
        places = {id(one): place for place, one in enumerate(containers)}
        entries = (one.container for one in attributes if isinstance(one, Entries) and id(one.container) in places)
        assigned = (one for one in attributes if isinstance(one, Attribute))
        return cls(
            tuple((weakref.ref(one.stand_in), one.name) for one in assigned),
            tuple((places[id(one)], len(one)) for one in entries),
        )

    def found_again(self, containers: Sequence[Any]) -> tuple[Attribute | Entries, ...]:
        """Return those that are there, and that have values."""
        there = ((one(), name) for one, name in self.attributes)
        attributes = (Attribute(one, name) for one, name in there if one is not None)
        same = (containers[place] for place, count in self.containers if _has(containers, place, count))
        return (*(one for one in attributes if one.get() is not UNBOUND), *map(Entries.of, same))


def _has(containers: Sequence[Any], place: int, count: int) -> bool:
    return place < len(containers) and len(containers[place]) == count


def captured_with_objects(loop: Loop, mark: Checkpoint) -> None:
    """Traces the loop as a loop; variables and attributes then have the values behind it.

    In front of it the variables have the values that the loop holds, and all else is as it was at the ``mark``.
    """
    known, place = _recorder().loops, (loop.state.place, "attributes")
    attributes = known[place].found_again(mark.containers) if place in known else ()
    loop = replace(loop, containers=mark.containers, gathered=mark.gathered)
    for _ in range(_MOST_TRIALS):
        try:
            captured(_with_attributes(loop, attributes) if attributes else loop)
            mark.check_objects(attributes)
            known[place] = _Assigned.of(attributes, mark.containers)
            count_loop()
            return
        except AssignedAttributes as more:
            attributes = (*attributes, *more.attributes)
        loop.state.set(loop.held)
        mark.restore()
    refuse("what a loop assigns to attributes does not settle in a few turns")


def asked_at_ends(loop: Loop, test: Thunk, body: Thunk) -> None:
    """Traces a loop whose condition demands something, which is seen in turns only, and in front of the loop.

    while found[-1] > x:            goes_on = found[-1] > x
        found.pop()                 while goes_on:
                                        found.pop()
                                        goes_on = found[-1] > x
    """
    holds = loop.test
    assert holds is not None
    asked = [_answer(test())]

    def turn(_: Any) -> None:
        body()
        asked[0] = _answer(holds())

    def goes_on() -> Any:
        return asked[0]

    captured_with_objects(
        replace(loop, test=goes_on, body=turn, certain=lambda: asked[0] is True), Checkpoint((turn, test))
    )


def _with_attributes(loop: Loop, attributes: tuple[Attribute | Entries, ...]) -> Loop:
    """The loop with these attributes as variables; the first turn goes ahead where that makes some of them."""
    unbound = [one.label for one in attributes if one.get() is UNBOUND]
    if unbound:
        if not loop.certain():
            refuse(f"only turns of a loop make {', '.join(unbound)}, and there may be none", fix="assign it before")
        loop.state.set(loop.held)
        loop = peeled(loop)
    assert isinstance(loop.state, State)
    return replace(loop, state=ObjectState(loop.state, attributes))


def _answer(value: Any) -> Any:
    """The truth of a condition as a bool of Python's."""
    return as_bool(value) if is_open(value) else bool(value)


def _recorder() -> Any:
    """The recorder of the trace that is under way."""
    trace = current()
    assert isinstance(trace, CaptureTrace)
    return trace.recorder
