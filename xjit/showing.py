"""Steps from an array to a view of it, as data: what the run counts is named by number.

    x[i : i + n, 2]     Indexed((Along(0, 1, -1, at=3, of=4), 2)) of the results 3 and 4 of the program

The record of an operation writes them with the numbers of its operands in place of those of results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from xjit.dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class Along:
    """Positions of one axis: from ``start`` on and the number ``at``, in steps.

    There are ``count`` of them, or the number ``of``. Without both it is all of the axis.
    """

    start: int = 0
    step: int = 1
    count: int = -1
    at: int = -1
    of: int = -1

    @property
    def is_whole(self) -> bool:
        """Return whether this is all of the axis."""
        return self.count < 0 and self.of < 0


def positions(start: int, count: int, step: int) -> slice:
    """The slice of so many positions from a start on.

    >>> positions(4, 3, -2), positions(1, 0, 1)
    (slice(4, None, -2), slice(0, 0, None))
    """
    stop = start + count * step
    return slice(start, stop if stop >= 0 else None, step) if count > 0 else slice(0, 0)


@dataclass(frozen=True, slots=True)
class Indexed:
    """A basic index: positions of each axis, an integer that drops it, None for a new one."""

    entries: tuple[Along | int | None, ...]


@dataclass(frozen=True, slots=True)
class Turned:
    """The axes in another order."""

    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshaped:
    """Other dimensions of the same elements in row-major order."""

    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Flattened:
    """All elements in row-major order: a view where they lie so without gaps, else a copy."""


@dataclass(frozen=True, slots=True)
class PartsOf:
    """The real parts of complex numbers, or the imaginary ones."""

    real: bool


Showing: TypeAlias = "Indexed | Turned | Reshaped | Flattened | PartsOf"


@dataclass(frozen=True, slots=True)
class MovingView:
    """A result that is a view of which the run tells place or size.

    Equal numbers are one array. The ``steps`` lead from its base to it.
    """

    number: int
    steps: tuple[Indexed | Turned | Reshaped | Flattened | PartsOf, ...]


def numbers_of(step: Showing) -> Iterator[int]:
    """The numbers that a step names."""
    for one in step.entries if isinstance(step, Indexed) else ():
        if isinstance(one, Along):
            yield from (number for number in (one.at, one.of) if number >= 0)


def renumbered(step: Showing, places: Sequence[int]) -> Showing:
    """The step with the places of the operands behind the first in place of their numbers."""
    if not isinstance(step, Indexed):
        return step

    def moved(one: Along | int | None) -> Along | int | None:
        if not isinstance(one, Along):
            return one
        at, of = (places[number - 1] if number >= 0 else -1 for number in (one.at, one.of))
        return replace(one, at=at, of=of)

    return Indexed(tuple(map(moved, step.entries)))
