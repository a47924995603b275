"""Values of the process that are made on first use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Once(Generic[Value]):
    """Calls ``make`` the first time a value is asked for, once, whichever thread comes first.

    Later calls take no lock.  In a forked child the lock is a new one: the thread that held it may not exist there.

    >>> answer = Once(lambda: 42)
    >>> answer()
    42
    """

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make = make
        self._made: list[Value] = []
        self._renew_lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew_lock)

    def __call__(self) -> Value:
        """The value."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]

    @property
    def made(self) -> bool:
        """Whether the value exists already."""
        return bool(self._made)

    def _renew_lock(self) -> None:
        self._lock = threading.Lock()
