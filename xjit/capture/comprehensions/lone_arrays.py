"""Arrays that nothing holds but the call which gets them, and those that a list shows beside their names.

out.append(x.copy())      alone: the list is all that has it
out.append(x)             shown by the list: nobody writes to x as long as there is the list
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

from xjit.capture.memory.buffer import BufferView
from xjit.capture.python_control.leaves import is_array
from xjit.capture.tracers.traced_window import TracedWindow
from xjit.ir.current import current
from xjit.numpy.limited.arrays import LimitedArray, root_of


class _Holder:
    """Counts references as seen in a method that gets a value, and hands it on to a function."""

    def append(self, value: Any) -> int:
        """The references to a value that the caller has no name for."""
        return _references(value, bool(value))


def _references(value: Any, other: bool) -> int:
    return sys.getrefcount(value)


_ALONE = _Holder().append(object())


def is_alone(value: Any, remembered: bool = False) -> bool:
    """Return whether a method that hands on its first argument got an array that nothing else holds or shows.

    So is a list, which may be ``remembered`` as one that the function makes.
    """
    if sys.getrefcount(value) > _ALONE + remembered:
        return False
    if type(value) is list:
        return True
    if getattr(type(value), "chooses", False):
        return bool(value.is_base)
    if isinstance(value, LimitedArray):
        return value.part is None
    if not is_array(value) or not isinstance(value, BufferView):
        return False
    buffer = value.buffer
    return buffer.path is None and len(buffer.views) == 1 and not buffer.is_shown and not buffer.kin


def note_entry(holder: Any, value: Any) -> bool:
    """Notes that an array with names is an entry of a list; return False where a write to it might go unseen."""
    if getattr(type(value), "chooses", False):
        return bool(value.is_base) and note_entry(holder, value.packed())
    value = root_of(value)
    if isinstance(value, TracedWindow):
        return _note_window(holder, value)
    if not is_array(value) or not isinstance(value, BufferView):
        return False
    value.buffer.blind.append(weakref.ref(holder))
    return True


def _note_window(holder: Any, window: TracedWindow) -> bool:
    parts = window.parts()
    if parts is None or window.owner is not current():
        return False
    (value, *_), _ = parts
    value.buffer.shared = True  # turns hand it on by that value
    window.shown_by(holder)
    return True
