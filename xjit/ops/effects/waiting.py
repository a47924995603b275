"""Waits of threads: with the interpreter's lock released, ended by signals, and by the end of those waited for."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType

PAUSE = 0.05
"""Seconds between two looks at what else may end a wait."""

CHANGED = threading.Condition()
"""Held to look at or change what threads hand over to each other; notified of every change."""

_waiting: set[int] = set()
_STARTS = frozenset({"start"})
_JOINS = frozenset({"join", "_wait_for_tstate_lock", "_shutdown"})
_IDLE = {("threading", "wait"), ("concurrent.futures.thread", "_worker")}


def wait_until(is_there: Callable[[], bool], is_hopeless: Callable[[], bool] = lambda: False) -> bool:
    """Return whether a condition has come true; False once it is twice found hopeless.

    The caller holds CHANGED, and holds it again afterwards.
    """
    own, misses = threading.get_ident(), 0
    _waiting.add(own)
    try:
        while not is_there():
            CHANGED.wait(PAUSE)
            misses = misses + 1 if is_hopeless() else 0
            if misses == 2:
                return is_there()
        return True
    finally:
        _waiting.discard(own)


def nobody_else_runs() -> bool:
    """Return whether every other thread has ended, or waits without a limit for the end or a sign of others."""
    frames = sys._current_frames()
    others = {thread.ident for thread in threading.enumerate()} - _waiting
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
