"""Pins: values of the run that a trace takes for granted, as Python needs them; its program tests them.

names[np.argmax(x)]      trace     argmax(x) is pinned to 3, so it is names[3]
                         program   tests argmax(x) == 3; where it is another number, another program does the call

The traces of one function are the leaves of a tree: each inner node is a program for the value that decides, with a
branch for each value that calls have had.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from xjit.dataclass import dataclass, field
from xjit.errors import XjitError
from xjit.ir.source_location import Where


@dataclass(frozen=True, slots=True)
class PinPlace:
    """Place of a value in a trace: the user's line, what needs the value, of which operation, and how often that was
    so before.
    """

    where: Where
    purpose: str
    number: int


@dataclass(frozen=True, slots=True)
class Pin:
    """A value that a trace takes for granted; ``why`` is the refusal of the trace without it."""

    place: PinPlace
    value: Any = field(compare=False)
    why: XjitError = field(compare=False)
    bits: bytes = b""

    @classmethod
    def of(cls, place: PinPlace, value: Any, why: XjitError) -> Pin:
        """Return the pin, which is equal to others by the bits of the value: NaN is itself, zeros have signs."""
        return cls(place, value, why, bits_of(value))

    @property
    def words(self) -> str:
        """The reason for it, for the user: what needs the value, and what that costs."""
        return f"{self.why.message}; each of its values has a program of its own"


def bits_of(value: Any) -> bytes:
    """The bits of a number, or of an array of one.

    >>> bits_of(np.float32(1))
    b'\x00\x00\x80?'
    """
    return np.asarray(value).tobytes()


Pins: TypeAlias = tuple[Pin, ...]
