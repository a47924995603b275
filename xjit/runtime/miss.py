"""The answer of an entry to arguments that it was not made for."""

from __future__ import annotations

import enum
from typing import Final


class Miss(enum.Enum):
    """The type of :data:`MISS`, a single-member enumeration so that ``is MISS`` narrows types."""

    MISS = "arguments do not match the program"


MISS: Final = Miss.MISS
"""Returned by an entry, instead of a result, when the arguments are not the ones it was made for."""
