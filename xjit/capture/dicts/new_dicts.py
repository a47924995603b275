"""New dicts and sets of a function: Python's own, or ones of which only the run tells the keys."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from xjit.capture.dicts.growing_dict import GrowingDict
from xjit.capture.dicts.key_codes import can_be_key
from xjit.capture.dicts.keyed_elements import NUMBERS_INSTEAD, OF_RUN, PLAIN, EmptyElements, is_of_numbers, keyed_step
from xjit.capture.recording.container_entries import EMPTY, OF_TEXT, DictType, common_type
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.provenance import CaptureTrace, is_splitting, refuse
from xjit.errors import CaptureError

CLASSES = (dict, set, collections.Counter, collections.defaultdict)
_FACTORIES = (int, float, bool, complex)
_MOST_ENTRIES = 8
"""Entries that a dict has at first, which are inserted one by one."""
_MOST_ROOM = 2**14
_ROOM_IN_TURNS = 2**8
"""Keys that there is room for at first: each turn that makes a dict fills the room with zeros."""
_LEAST_ROOM = 2**6


def new_dict(made: Any, place: tuple[int, int], trace: CaptureTrace) -> Any:
    """The dict or set that the function makes in a place, or one of the run that begins as this one."""
    rewriting = trace.recorder.rewriting
    factory = getattr(made, "default_factory", None)
    if type(made) not in CLASSES or len(made) > _MOST_ENTRIES or (factory is not None and factory not in _FACTORIES):
        return made
    if not rewriting.is_dict_of_run(made, place):
        return made
    kind = rewriting.elements_of(place)
    if kind == PLAIN:
        return made
    found = None if kind is None else keyed_elements(made, place, kind, trace)
    if found is not None:
        return DeferredObject(None, trace, f"a {type(made).__name__}", type(made), found)
    if not is_splitting():
        return made
    return keyed_step(made, note=CaptureError(OF_RUN, fix=NUMBERS_INSTEAD))


def keyed_elements(made: Any, place: tuple[int, int], kind: Any, trace: CaptureTrace) -> Any:
    """The elements by their keys; None where nothing may be guessed."""
    rewriting = trace.recorder.rewriting
    of_text = kind == OF_TEXT
    if kind in (EMPTY, OF_TEXT):
        kind = _type_of(made, of_text)
    if kind == EMPTY:
        return EmptyElements(rewriting, place, made, trace, of_text)
    if not isinstance(kind, DictType) or not can_be_key(kind.key):
        return None
    if trace.parent is not None and rewriting.want_little(place):
        refuse("a turn of a loop makes a dict or a set of which only the run tells the keys")
    guess = _ROOM_IN_TURNS if rewriting.is_little(place) else _guess(trace)
    room = None if trace.lengths is None else trace.lengths.room(guess)
    if room is None:
        return None
    empty = type(made)() if getattr(made, "default_factory", None) is None else type(made)(made.default_factory)
    found = GrowingDict(rewriting, place, empty, trace, kind, 1 << (room - 1).bit_length())
    for key in made:
        found.insert(key, None if type(made) is set else made[key])
    return found


def _type_of(made: Any, of_text: bool) -> DictType | str | None:
    """The type of the entries that a dict has, which tell that of others."""
    if not made:
        return EMPTY
    key, value = common_type(made, of_text), None if type(made) is set else common_type(made.values())
    known = is_of_numbers(key) and (type(made) is set or is_of_numbers(value))
    return DictType(key, value) if known and key is not None and can_be_key(key) else None


def _guess(trace: CaptureTrace) -> int:
    """As many keys as the largest array among the arguments has elements, within bounds."""
    lengths = trace.lengths
    assert lengths is not None
    return int(np.clip(1 << max(0, lengths.largest - 1).bit_length(), _LEAST_ROOM, _MOST_ROOM))
