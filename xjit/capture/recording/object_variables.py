"""Attributes of objects and entries of lists that the turns of a loop assign: its variables, found by trials.

while walker.x < end:                the loop carries  end, walker.x
    walker.x += step
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from xjit.capture.recording.container_entries import Entries
from xjit.capture.recording.object_state import Attribute
from xjit.capture.rewriting.runtime_protocol import State
from xjit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ObjectState:
    """The variables that a loop assigns, and behind them attributes of objects and entries of containers."""

    plain: State
    attributes: tuple[Attribute | Entries, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, and what the attributes are called."""
        return (*self.plain.names, *(one.label for one in self.attributes))

    @property
    def carried(self) -> tuple[str, ...]:
        """The names of which a value may be read at the next turn or behind the loop: those of all attributes."""
        return (*self.plain.carried, *(one.label for one in self.attributes))

    @property
    def optional(self) -> tuple[str, ...]:
        """The names of variables that may be None."""
        return self.plain.optional

    @property
    def bound(self) -> tuple[str, ...]:
        """The names that no read finds without a value."""
        return self.plain.bound

    @property
    def place(self) -> Any:
        """The mark that tells the loop from others, and from itself with other attributes.

        The objects may be others: a list that each turn of a loop around makes anew.
        """
        return (self.plain.place, *(one.label for one in self.attributes))

    def get(self) -> tuple[Any, ...]:
        """The values, UNBOUND for what has none."""
        return (*self.plain.get(), *(one.get() for one in self.attributes))

    def set(self, values: Sequence[Any]) -> None:
        """Sets all of them."""
        count = len(self.plain.names)
        self.plain.set(values[:count])
        for attribute, value in zip(self.attributes, values[count:], strict=True):
            attribute.set(value)


Variables: TypeAlias = State | ObjectState


class AssignedAttributes(BaseException):
    """A turn has assigned attributes that its loop does not know as variables; no code of the user's catches it."""

    def __init__(self, attributes: Sequence[Attribute | Entries]) -> None:
        super().__init__()
        self.attributes = tuple(attributes)


def check_known(state: Variables, attributes: Iterable[Attribute | Entries]) -> None:
    """AssignedAttributes where some are no variables of a loop."""
    known = {one.key for one in state.attributes} if isinstance(state, ObjectState) else set()
    unknown = [one for one in attributes if one.key not in known]
    if unknown:
        raise AssignedAttributes(unknown)
