"""Calls that run as NumPy because their function could not be compiled for them."""

from __future__ import annotations

from dataclasses import dataclass

from xjit.errors import XjitError, is_lasting


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
        """Whether one more call runs as NumPy untried."""
        if self.lasting:
            return True
        self.left -= 1
        return self.left >= 0

    def after(self, earlier: Refusal | None) -> Refusal:
        """This one, with twice the patience of the one before."""
        if earlier is not None and not earlier.lasting:
            self.wait = self.left = 2 * earlier.wait
        return self


def refusal(error: XjitError) -> Refusal:
    """The refusal, without what would keep the whole trace alive."""
    lasting = is_lasting(error)
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return Refusal(error, lasting)
