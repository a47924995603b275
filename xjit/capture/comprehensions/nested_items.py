"""Items of comprehensions with several loops: the values of all names, by loops within loops.

[x[i] * x[j] for i in r for j in r if i < j]     for i in r:
                                                     for j in r:
                                                         if i < j: take((i, j))
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from xjit.capture.comprehensions.filtered import Generator, Trial, entry_of
from xjit.capture.comprehensions.generator_calls import Emitting
from xjit.capture.comprehensions.one_by_one import OPEN, is_of_run
from xjit.capture.python_control.loop_sequences import known_of
from xjit.capture.python_control.truth import is_open
from xjit.capture.python_control.unrolling import Unrolling
from xjit.capture.rewriting.runtime_protocol import LoopParts, Thunk
from xjit.dataclass import dataclass
from xjit.errors import CaptureError


class OpenItems(CaptureError):
    """An item of which only the run tells if it is there, or one too many, where Python goes through the items."""

    def __init__(self, reason: str, *, is_long: bool = False) -> None:
        super().__init__(reason)
        self.is_long = is_long


@dataclass(frozen=True, slots=True, eq=False)
class NestedItems(Emitting):
    """The values of the names of several loops, ``items`` is what the first one goes through."""

    runtime: Any
    items: Any
    loops: tuple[LoopParts, ...]

    @classmethod
    def of(cls, runtime: Any, items: Any, loops: tuple[LoopParts, ...]) -> NestedItems:
        """The items, where what the first loop goes through may be gone through twice."""
        return cls(runtime, list(items) if isinstance(items, Iterator) and not is_of_run(items) else items, loops)

    def each(self, emit: Callable[[Any], None], going: Thunk | None = None) -> None:
        """Do something with the values, in loops of the graph where they are many."""
        self._through(0, self.items, (), emit, going)

    def _through(
        self, depth: int, items: Any, before: tuple[Any, ...], take: Callable[[Any], None], going: Thunk | None
    ) -> None:
        level = self._level(depth, items, before)

        def go_on(*values: Any) -> None:
            known = (*before, *values)
            inner = self._items(depth + 1, known)
            if depth + 1 == len(self.loops):
                take(known)
            else:
                self._through(depth + 1, inner, known, take, going)

        level.each(items, lambda item: level.chosen(item, go_on), going)

    def _level(self, depth: int, items: Any, before: tuple[Any, ...]) -> Generator:
        """A loop, as a comprehension of its own, of which what blocks may change is that of all loops."""
        _, unpack, conditions = self.loops[depth]
        held = tuple(functools.partial(one, *before) for one in conditions)
        return Generator(self.runtime, items, unpack, held, functools.partial(_nothing, *self.loops), depth=depth)

    def _items(self, depth: int, known: tuple[Any, ...]) -> Any:
        """Items of a loop, by the values of the names of the loops around it."""
        inner = self.loops[depth][0] if depth < len(self.loops) else None
        return None if inner is None else inner(*known)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield the values one by one; OpenItems where only the run tells of some if they are there."""
        return self._one_by_one(0, self.items, ())

    def _one_by_one(self, depth: int, items: Any, before: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        level = self._level(depth, items, before)
        turns = level.turns
        if is_of_run(items) or (turns is not None and turns.length is None):
            raise OpenItems("only the run tells the items of a comprehension")
        found = known_of(items) if turns is None else map(turns.element, range(turns.first, turns.end))
        for item in found:
            values = level.values(item)
            holds = level.holds(values)
            if is_open(holds):
                raise OpenItems("only the run tells the conditions of a comprehension")
            known = (*before, *values)
            if holds and depth + 1 == len(self.loops):
                yield known
            elif holds:
                yield from self._one_by_one(depth + 1, self._items(depth + 1, known), known)


def nested_way(parts: Generator, most: int) -> Any:
    """The elements, found one by one; ``OPEN`` where only the run tells which there are.

    So it is where they take more operations than ``most``, and can be elements of a list that grows.
    """
    for limit in (most, sys.maxsize):
        trial = Trial(parts)
        try:
            return _elements(parts, limit)
        except OpenItems as obstacle:
            trial.take_back()
            if not obstacle.is_long or entry_of(parts) is not None:
                return OPEN
    return OPEN


def _elements(parts: Generator, most: int) -> list[Any]:
    found: list[Any] = []
    with Unrolling(None, most=most) as unrolling:
        for values in parts.items:
            if most != sys.maxsize and not unrolling.goes_on():
                raise OpenItems("the items of a comprehension are many", is_long=True)
            unrolling.turn()
            found.append(parts.element(*values))
    return found


def _nothing(*_: Any) -> None:
    """Nothing; what it is bound to is looked through for functions."""
