"""Warnings that a process gives once, whoever has cause for them."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from xjit import jobs


class Notices:
    """Remembers what was said.

    >>> notices = Notices()
    >>> notices.is_new("the folder"), notices.is_new("the folder")
    (True, False)
    """

    def __init__(self) -> None:
        self._said: dict[str, object] = {}

    def is_new(self, subject: str) -> bool:
        """Return whether nobody has asked for this subject before; of several threads one is told so."""
        mark = object()
        return self._said.setdefault(subject, mark) is mark

    def warn(self, subject: str, text: str, category: type[Warning]) -> None:
        """Gives a warning, pointing at the user's line, unless one about the subject was given."""
        if self.is_new(subject):
            jobs.warn(text, category)

    def warn_each(self, notes: Iterable[tuple[str, str]], category: type[Warning]) -> None:
        """Gives warnings: the subject of each, and its text."""
        for subject, text in notes:
            self.warn(subject, text, category)


@functools.cache
def shared_notices() -> Notices:
    """The notices of this process."""
    return Notices()
