"""Values of the process that are made on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from xjit import jobs

Value = TypeVar("Value")


class Once(Generic[Value]):
    """Calls ``make`` the first time a value is asked for, once, whichever thread comes first.

    It is made by a job (:mod:`xjit.jobs`), so threads wait for each other, and neither forks nor signal handlers come
    in between. Later calls take no lock.

    >>> answer = Once(lambda: 42)
    >>> answer()
    42
    """

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make = make
        self._made: list[Value] = []

    def __call__(self) -> Value:
        """The value."""
        return self._made[0] if self._made else jobs.run(self._first)

    @property
    def made(self) -> bool:
        """Return whether the value exists already."""
        return bool(self._made)

    def _first(self) -> Value:
        """The value that another job has made meanwhile, or a new one."""
        if not self._made:
            self._made.append(self._make())
        return self._made[0]
