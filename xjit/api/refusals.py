"""Calls that run as NumPy because their function could not be compiled for them, or because it raised."""

from __future__ import annotations

import copy
import traceback
from typing import Any

from xjit.capture.guarding.foreign_values import described, foreign_value
from xjit.dataclass import dataclass
from xjit.errors import CaptureError, XjitError, is_lasting
from xjit.ir.source_location import NOWHERE, Where


@dataclass(eq=False)
class Refusal:
    """Why calls of one kind run as NumPy.

    A cause that may pass, such as want of memory, is looked at again after 1, 2, 4, 8, ... calls, so that what is
    tried in vain stays cheap.
    """

    error: XjitError
    lasting: bool
    wait: int = 1
    left: int = 1

    def holds(self) -> bool:
        """Return whether one more call runs as NumPy untried."""
        if self.lasting:
            return True
        self.left -= 1
        return self.left >= 0

    def after(self, earlier: Refusal | None) -> Refusal:
        """This one, with twice the patience of the one before."""
        if earlier is not None and not earlier.lasting:
            self.wait = self.left = 2 * earlier.wait
        return self


@dataclass(frozen=True, slots=True, eq=False)
class Mistake:
    """The error that calls of one kind raise under NumPy, and the compiler's own error where that says more.

    The next one runs under NumPy alone, untraced: while that raises the same, so would a trace.
    """

    error: XjitError | None
    kind: type[BaseException]
    text: str

    def is_repeated_by(self, error: BaseException) -> bool:
        """Return whether NumPy has raised the same again."""
        return type(error) is self.kind and str(error) == self.text


def mistake(error: BaseException, under_numpy: BaseException) -> Mistake:
    """The mistake in a call whose trace raises ``error``."""
    own: XjitError | None = None
    alike = isinstance(error, type(under_numpy)) and not isinstance(error, CaptureError)
    if isinstance(error, XjitError) and alike and _is_raised_there(error, under_numpy):
        _say_as(error, str(under_numpy))
        own = copy.copy(error)  # never raised itself: a traceback would keep the arrays of a call
    return Mistake(own, type(under_numpy), str(under_numpy))


def _say_as(error: XjitError, text: str) -> None:
    """Gives an error NumPy's own text, which other code may look for; what it says besides stays."""
    if text and "\n" not in text and not isinstance(error, KeyError):
        error.message, error.args = text, (text,)


def _is_raised_there(error: XjitError, under_numpy: BaseException) -> bool:
    """Return whether NumPy's error comes from the line that the compiler's names, not from one before it."""
    if error.where is None:
        return True
    frames = traceback.walk_tb(under_numpy.__traceback__)
    return any(line == error.where.line and frame.f_code.co_filename == error.where.file for frame, line in frames)


def refusal(error: XjitError) -> Refusal:
    """The refusal, without what would keep the whole trace alive."""
    lasting = is_lasting(error)
    return Refusal(_bare(error), lasting)


def _bare(error: XjitError) -> XjitError:
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error


def shared_memory(copied: bool = False) -> CaptureError:
    """The error about arrays that cannot be written to by a program: what it reads meanwhile might change, or is
    ``copied``.
    """
    if copied:
        return CaptureError(
            "xjit: the function writes to an array, and an argument is unaligned or in another byte order",
            fix="pass aligned arrays in the byte order of the processor",
        )
    return CaptureError(
        "xjit: an array that the function writes to shares memory with another one",
        fix="pass arrays that do not overlap",
    )


def unknown_kind(value: Any, label: str, definition: Where) -> CaptureError:
    """The error about an argument of a kind that has no signature, of a function that is defined there."""
    about = foreign_value(value)
    error = CaptureError(
        f"argument {label}: {about.kind}; {about.taken}",
        origin=(f"argument {label}: {described(value)}",),
        fix=about.instead(label),
    )
    error.where = None if definition is NOWHERE else definition
    return error


def restless() -> CaptureError:
    """The error about a function that never finds what it reads as its trace has found it."""
    reason = "xjit: what the function reads changes while it is traced, by itself or in another thread"
    return CaptureError(reason, fix="pass it as an argument")
