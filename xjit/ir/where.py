"""Source positions: which line of the user's code a node came from."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from types import CodeType

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass(frozen=True, slots=True)
class Where:
    """A line of source and the function it stands in."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


NOWHERE = Where("<unknown>", 0, "<unknown>")


def is_own_code(code: CodeType) -> bool:
    """Whether code belongs to this package."""
    return code.co_filename.startswith(_PACKAGE)


def user_position() -> Where:
    """The innermost calling line that lies outside this package."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_own_code(code):
            return Where(code.co_filename, frame.f_lineno, code.co_name)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return NOWHERE


def stack_level() -> int:
    """The ``stacklevel`` with which the caller's warning points at the innermost line outside this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and is_own_code(frame.f_code):
        frame, level = frame.f_back, level + 1
    return level
