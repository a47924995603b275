"""Comprehensions whose elements are traced one by one: few ones, with conditions that are known."""

from __future__ import annotations

import sys
from typing import Any

from xjit.capture.comprehensions.filtered import MAKERS, Generator, Trial, appended, place_of_code
from xjit.capture.comprehensions.generator_calls import Emitting
from xjit.capture.python_control.loop_sequences import known_of, turns_of
from xjit.capture.python_control.truth import is_open
from xjit.capture.python_control.unrolling import Unrolling
from xjit.capture.rewriting.runtime_protocol import Collection
from xjit.capture.splits.python_steps import step
from xjit.capture.tracers.provenance import enclosing_capture
from xjit.dataclass import replace

OPEN = object()
"""Stands for elements of which only the run tells if they are there."""
LONG = object()
"""Stands for elements that are too many to be traced one by one."""


def to_be_plain() -> bool:
    """Return whether the list of a comprehension is to be one of Python's, although a loop could make it."""
    trace = enclosing_capture()
    return trace is not None and trace.recorder is not None and trace.recorder.rewriting.is_plain(place_of_code())


def is_of_run(value: Any) -> bool:
    """Return whether only the run tells how many items there are."""
    if isinstance(value, Emitting):
        return True
    turns = turns_of(value)
    return turns is not None and turns.length is None and not turns.has_known_numbers


def python_way(kind: Collection, parts: Generator, most: int | None = None) -> Any:
    """The elements where all conditions are known, in a list; ``OPEN`` where one of them is not.

    ``LONG`` where they take more operations than ``most``, and could be elements of arrays that a loop fills.
    What an iterator has given out it gives out once: then the result is the collection by way of a list of the run.
    """
    if is_of_run(parts.items):
        return OPEN
    trial = Trial(parts)
    found: list[Any] = []
    turns = parts.turns
    items = iter(known_of(parts.items) if turns is None else map(turns.element, range(turns.first, turns.end)))
    length, limit = (None, sys.maxsize) if turns is None else (turns.length, sys.maxsize if most is None else most)
    with Unrolling(length, most=limit) as unrolling:
        for item in items:
            if not unrolling.goes_on():
                trial.take_back()
                return LONG
            unrolling.turn()
            values = parts.values(item)
            holds = parts.holds(values)
            if not is_open(holds):
                if holds:
                    found.append(parts.element(*values))
            elif items is parts.items:
                return _goes_on(kind, parts, found, values, holds)
            else:
                trial.take_back()
                return OPEN
    return found


def _goes_on(kind: Collection, parts: Generator, found: list[Any], values: tuple[Any, ...], holds: Any) -> Any:
    """The collection of what was found, of an item of which the run tells if it counts, and of those behind it."""
    one = replace(parts, items=(values,), unpack=tuple, conditions=(lambda *_: holds,))
    made = appended("list", one, found)
    rest = appended("list", parts)
    made.extend(rest)
    return made if kind == "list" else step(MAKERS[kind], (made,), {})
