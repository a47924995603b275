"""Waits of threads: with the interpreter's lock released, ended by signals, and by the end of those waited for."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

PAUSE = 0.05
"""Seconds between two looks at what else may end a wait."""


class _Meeting:
    """The meeting point of threads that hand something over to each other, and those who wait there for a change.

    A forked child has none of the threads that might hold the lock, and begins anew.
    """

    def __init__(self) -> None:
        self.begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.begin)

    def begin(self) -> None:
        self.changed = threading.Condition()
        self.waiting: set[int] = set()


_meeting = _Meeting()
_STARTS = frozenset({"start"})
_JOINS = frozenset({"join", "_wait_for_tstate_lock", "_shutdown"})
_IDLE = {("threading", "wait"), ("concurrent.futures.thread", "_worker")}


def held() -> AbstractContextManager[Any]:
    """A context in which no other thread looks at or changes what threads hand over to each other."""
    return _meeting.changed


def tell() -> None:
    """Lets those that wait look at what has changed; called in the context of :func:`held`."""
    _meeting.changed.notify_all()


def wait_until(is_there: Callable[[], bool], is_hopeless: Callable[[], bool] = lambda: False) -> bool:
    """Return whether a condition has come true; False once it is twice found hopeless.

    Called in the context of :func:`held`, which other threads can enter meanwhile.
    """
    own, misses = threading.get_ident(), 0
    _meeting.waiting.add(own)
    try:
        while not is_there():
            _meeting.changed.wait(PAUSE)
            misses = misses + 1 if is_hopeless() else 0
            if misses == 2:
                return is_there()
        return True
    finally:
        _meeting.waiting.discard(own)


def nobody_else_runs() -> bool:
    """Return whether every other thread has ended, or waits without a limit for the end or a sign of others."""
    frames = sys._current_frames()
    others = {thread.ident for thread in threading.enumerate()} - _meeting.waiting
    return all(ident not in frames or _is_parked(frames[ident]) for ident in others if ident is not None)


def _is_parked(frame: FrameType) -> bool:
    """Return whether a thread waits in the module threading, or as an idle worker of a pool."""
    found, is_endless = False, True
    current: FrameType | None = frame
    while current is not None:
        module, name = str(current.f_globals.get("__name__")), current.f_code.co_name
        if (module, name) == ("concurrent.futures.thread", "_worker"):
            return True
        if module not in ("threading", "queue") and not module.startswith("concurrent."):
            break
        if name in _STARTS:
            return False
        if name in _JOINS:
            return True
        found = found or (module, name) in _IDLE
        is_endless = is_endless and current.f_locals.get("timeout") in (None, -1)
        current = current.f_back
    return found and is_endless
