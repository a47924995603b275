"""Calling compiled functions without a frame of the interpreter: a method that tries entries in native code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from xjit.runtime.calls.entry import native_entries
from xjit.runtime.miss import MISS

_WORD = ctypes.sizeof(ctypes.c_void_p)


def native_dispatch(
    owner: type, entries: str, names: str, call: Callable[..., Any], after: Callable[[Any, BaseException], Any]
) -> Any:
    """A method ``__call__`` of ``owner`` that does what ``call`` does, faster where an entry answers.

    ``entries`` names the slot of the class for the tuple of entries. Each takes the arguments of a call, without
    ``self``, and answers :data:`~xjit.runtime.miss.MISS` if it is not for them. ``names`` names the slot for a tuple
    of names of parameters: arguments with the names of those that come next are taken like others. ``call`` is asked
    where all miss, and where arguments have other names. ``after(self, error)`` is asked when an entry raises: it
    returns None to have the exception raised, or a function of the arguments that does the call instead.

    There is one such method in a process, as the native code knows one ``call``; None where there is no native code,
    or where it does not do what is expected.
    """
    runtime = native_entries()
    offsets = _offset(owner, entries), _offset(owner, names)
    if runtime is None or offsets[0] is None or offsets[1] is None:
        return None
    method = runtime.make_dispatch(owner, (offsets[0], offsets[1]), call, after)
    return method if _works(owner, entries, names, method) else None


def _offset(owner: type, slot: str) -> int | None:
    """The offset of a slot in objects of the class, found by looking for its value; None if it is not found."""
    value = object()
    probe: Any = object.__new__(owner)
    setattr(probe, slot, value)
    words = range(0, owner.__basicsize__, _WORD)
    found = [place for place in words if ctypes.c_void_p.from_address(id(probe) + place).value == id(value)]
    return found[0] if len(found) == 1 else None


def _works(owner: type, entries: str, names: str, method: Any) -> bool:
    """Return whether the method asks one entry after another and hands out what the first answers that does."""
    probe: Any = object.__new__(owner)
    setattr(probe, entries, (lambda *arguments: MISS, lambda *arguments: [arguments]))
    setattr(probe, names, ("first", "second"))
    calls = (method(probe), method(probe, 1, "two"), method(probe, 1, second="two"), method(probe, first=1, second=2))
    return bool(calls == ([()], [(1, "two")], [(1, "two")], [(1, 2)]))
