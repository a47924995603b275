"""Arrays that variables of a loop share with others: what is carried by value must not be written by another name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import lcm
from typing import Any

from xjit import tree
from xjit.capture.python_control.leaves import Kind, same
from xjit.capture.python_control.loop_turns import Carried, Turn
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.tracers.provenance import refuse
from xjit.capture.tracers.traced_array import TracedArray

_LONGEST_PERIOD = 4


def period_of(start: Sequence[Any], after: Sequence[Any]) -> int:
    """After how many turns variables that exchange their arrays have their own again; 1 where none do."""
    arrays = [place for place, value in enumerate(start) if is_array(value)]
    moved = {place: _place_of(after[place], start, arrays) for place in arrays}
    found = 1
    for place in arrays:
        length, at = 1, moved[place]
        while at is not None and at != place and length <= len(arrays):
            length, at = length + 1, moved[at]
        found = lcm(found, length) if at == place else found
    if found > _LONGEST_PERIOD:
        refuse("arrays change their names in turns of a loop, in too long a cycle")
    return found


def may_exchange(start: Sequence[Any]) -> bool:
    """Return whether there are two arrays that could."""
    arrays = [value for value in start if is_array(value)]
    return any(one.shape == other.shape for one, other in pairwise(arrays)) or len(arrays) > 2


def is_array(value: Any) -> bool:
    """Return whether a value is an array that can be written to."""
    return isinstance(value, TracedArray) and not value.scalar and value.weak is None


def _place_of(value: Any, start: Sequence[Any], arrays: Sequence[int]) -> int | None:
    return next((place for place in arrays if value is not UNBOUND and same(value, start[place])), None)


def is_shared(leaf: Any) -> bool:
    """Return whether other names than this one may show an array's elements."""
    return is_array(leaf) and leaf.is_linked and (leaf.buffer.label is not None or len(leaf.buffer.views) > 1)


def writes_shared(turn: Turn, carried: Sequence[Carried | None], start: Sequence[Any]) -> bool:
    """Return whether a turn writes into an array that it starts with, which has another name in front of the loop."""
    for begin, first, one in zip(turn.begin, start, carried, strict=True):
        if one is None or first is UNBOUND:
            continue
        for leaf, outer in zip(tree.flatten(begin)[0], tree.flatten(first)[0], strict=False):
            if is_array(leaf) and leaf.is_linked and leaf.buffer in turn.trace.versions and is_shared(outer):
                return True
    return False


def pinned(
    turn: Turn, carried: Sequence[Carried | None], start: Sequence[Any], behind: Sequence[Any], certain: bool
) -> None:
    """Sees to it that nobody writes to arrays behind the loop that may, or may not, be one with others.

    CaptureError where the loop itself writes to them.
    """
    for one, first, after, last in zip(carried, start, turn.after, behind, strict=True):
        if one is None:
            continue
        firsts = tree.flatten(first)[0] if first is not UNBOUND else [None] * len(one.leaves)
        rows = zip(one.leaves, firsts, tree.flatten(after)[0], tree.flatten(last)[0], strict=False)
        for kind, begin, end, value in rows:
            if not isinstance(kind, Kind) or not is_array(value):
                continue
            if is_array(end) and end.is_linked and end.buffer.home is not turn.trace:
                if end.buffer in turn.trace.versions:
                    refuse(f"{kind.place.label} shows another array in each turn of a loop, which writes to it", end)
                end.buffer.pinned = value.buffer.pinned = True
            if is_shared(begin) and not certain:
                begin.buffer.pinned = value.buffer.pinned = True
