"""The names of arrays: those that turns of a loop exchange, and arrays that have one name alone."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import lcm
from typing import Any

from xjit.capture.memory.buffer import ONE_REFERENCE, Buffer
from xjit.capture.python_control.leaves import is_array, same
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.tracers.known_values import is_constant
from xjit.capture.tracers.provenance import refuse

_LONGEST_PERIOD = 4


def cycles_of(start: Sequence[Any], after: Sequence[Any]) -> list[tuple[int, ...]]:
    """The places of variables that exchange their arrays in a turn: each gets the array of the next one."""
    arrays = [place for place, value in enumerate(start) if is_array(value)]
    moved = {place: _place_of(after[place], start, arrays) for place in arrays}
    found: list[tuple[int, ...]] = []
    for place in arrays:
        cycle, at = [place], moved[place]
        while at is not None and at not in cycle:
            cycle.append(at)
            at = moved[at]
        if at == place and place == min(cycle) and len(cycle) > 1:
            found.append(tuple(cycle))
    if lcm(*map(len, found)) > _LONGEST_PERIOD:
        refuse("arrays change their names in turns of a loop, in too long a cycle")
    return found


def may_exchange(start: Sequence[Any]) -> bool:
    """Return whether there are two arrays that could."""
    arrays = [value for value in start if is_array(value)]
    return any(one.shape == other.shape for one, other in pairwise(arrays)) or len(arrays) > 2


def _place_of(value: Any, start: Sequence[Any], arrays: Sequence[int]) -> int | None:
    return next((place for place in arrays if value is not UNBOUND and same(value, start[place])), None)


def alone(values: Sequence[Any], held: Sequence[Any] = ()) -> Mapping[int, int]:
    """The identities of arrays that nothing but these variables holds, each with how many do, and that show no other.

    The values are those in the cells of the variables. So many as are ``held`` besides do not count.
    """
    found: dict[int, int] = {}
    for place in range(len(values)):
        names = sum(one is values[place] for one in values)
        _note_alone(values, place, 2 * names - 1 + sum(one is values[place] for one in held), names, found)
    return found


def _note_alone(values: Any, place: Any, others: int, names: int, found: dict[int, int]) -> None:
    if sys.getrefcount(values[place]) > ONE_REFERENCE + others:
        return
    value = values[place]
    if type(value) in (list, tuple):
        for inner in range(len(value)):
            _note_alone(value, inner, 0, 1, found)
    elif type(value) is dict:
        for key in value:
            _note_alone(value, key, 0, 1, found)
    elif is_array(value) and not _is_shown(value):
        found[id(value)] = names


def _is_shown(array: Any) -> bool:
    if is_constant(array):
        return bool(array.is_shown)
    buffer: Buffer = array.buffer
    return buffer.path is not None or len(buffer.views) > 1 or buffer.is_shown
