"""Objects of Python's that change as they are used: iterators, generators, counters, subclasses of lists and dicts.

it = itertools.count()
for v in x:
    if v > 0: n += next(it)     both arms are traced: an arm that moves the iterator on is seen, and refused

A trace runs code of arms and turns that the run may not, or more than once. Lists, dicts and attributes that it
changes are variables there. Of other objects nobody can take back what happened: a change of their state is refused.
"""

from __future__ import annotations

import array
import collections
import types
import warnings
from collections.abc import Iterable
from typing import Any

from xjit.capture.guarding.signature import is_plain
from xjit.capture.tracers.provenance import refuse
from xjit.tree import is_namedtuple

_NUMBERS = (bytearray, array.array)
_SEQUENCES = (list, set, collections.deque)
_NOTHING: frozenset[type] = frozenset({list, dict, tuple, frozenset, types.ModuleType, types.MethodType, type})
_NAMESPACES = (types.SimpleNamespace, types.FunctionType)


def may_change(one: Any) -> bool:
    """Return whether an object changes by what is done with it; lists, dicts and the user's objects are no such."""
    kind = type(one)
    if kind in _NOTHING or is_plain(one) or (kind.__module__ or "").startswith("xjit.") or is_namedtuple(one):
        return False
    if kind is types.FunctionType:
        return bool(vars(one))
    kinds = (dict, types.SimpleNamespace, *_NUMBERS, *_SEQUENCES)
    return isinstance(one, kinds) or hasattr(kind, "__next__") or hasattr(kind, "cache_info")


def state_of(one: Any) -> tuple[Any, ...]:
    """The state of such an object, to be compared; of one that does not show it a state that is like no other."""
    if isinstance(one, dict):
        return (*one.keys(), *one.values())
    if isinstance(one, _SEQUENCES):
        return tuple(one)
    if isinstance(one, types.GeneratorType):
        frame = one.gi_frame
        return () if frame is None else (frame.f_lasti, *frame.f_locals.values())
    if isinstance(one, _NUMBERS):
        return (bytes(one),)
    if isinstance(one, _NAMESPACES):
        return tuple(vars(one).values())
    if hasattr(type(one), "cache_info"):
        return tuple(one.cache_info())
    return _of_iterator(one)


def _of_iterator(one: Any) -> tuple[Any, ...]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = one.__reduce__()
    except Exception:
        return (object(),)
    return tuple(state_of(part) if hasattr(type(part), "__next__") else part for part in _flat(parts))


def _flat(parts: Iterable[Any]) -> Iterable[Any]:
    for part in parts:
        if type(part) in (tuple, list):
            yield from _flat(part)
        else:
            yield part


def is_as(state: tuple[Any, ...], before: tuple[Any, ...]) -> bool:
    """Return whether two states are of the same objects, and of equal numbers."""
    return len(state) == len(before) and all(map(_is_same, state, before))


def _is_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is tuple and type(other) is tuple:
        return is_as(one, other)
    return type(one) is type(other) and is_plain(one) and bool(one == other)


def refuse_change(one: Any) -> None:
    """CaptureError about an object that was changed where only the run decides if the code runs."""
    name = type(one).__name__
    subject = (
        "an iterator is moved on" if hasattr(type(one), "__next__") else f"an object of the class {name} is changed"
    )
    refuse(
        f"{subject} in a loop or a branch that only the run decides",
        fix="use an array, a list or a dict, or numbers that the loop carries",
    )
