"""Tables of constants: text and members of enumerations by the numbers that programs have in their place."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np


class ConstantTable:
    """The constants of one trace, of which the run may choose one; equal ones have one number."""

    __slots__ = ("_numbers", "_values")

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> np.int64:
        """Return the number of a constant, which is in the table from now on."""
        key = type(value), value
        if key not in self._numbers:
            self._numbers[key] = len(self._values)
            self._values.append(value)
        return np.int64(self._numbers[key])

    @property
    def values(self) -> tuple[Any, ...]:
        """The constants so far, in the order of their numbers."""
        return tuple(self._values)

    def value(self, number: Any) -> Any:
        """Return the constant of a number."""
        return self._values[number]


def class_of_constant(value: Any) -> type | None:
    """The class that constants have one of which the run may choose instead; None of other values.

    Members of an enumeration are equal where they are one object, unless they are numbers, or text.
    """
    kind = type(value)
    if kind is str:
        return kind
    return kind if issubclass(kind, enum.Enum) and kind.__eq__ is object.__eq__ else None
