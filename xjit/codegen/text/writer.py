"""Source text by lines, indented by `with`, so that blocks cannot be mis-nested."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class Writer:
    """Collects lines of Python.

    >>> writer = Writer()
    >>> with writer.block("for i in range(3):"):
    ...     writer.line("work(i)", comment="demo.py:3")
    >>> print(writer.text(), end="")
    for i in range(3):
        work(i)  # demo.py:3
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str, comment: str = "") -> None:
        """One line at the current depth."""
        note = f"  # {comment}" if comment else ""
        self._lines.append("    " * self._depth + text + note)

    @contextlib.contextmanager
    def block(self, head: str, comment: str = "") -> Iterator[None]:
        """A statement whose body is what is written inside the `with`."""
        self.line(head, comment)
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self.line("pass")
        self._depth -= 1

    def text(self) -> str:
        """Everything written so far."""
        return "".join(line + "\n" for line in self._lines)
