"""Lists that are entries of a growing list: what is assigned to their elements the growing list gets.

rows.append([a, b])      lines of a and of b
rows[-1][1] = c          line of b[count - 1] = c
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from xjit.capture.comprehensions.entry_lines import Line
from xjit.capture.recording.container_entries import entry_type
from xjit.ir.current import current


class EntryList(list[Any]):
    """The list that stands in a place of a growing list, as it is now."""

    __slots__ = ("__weakref__", "lines", "number", "place", "taken_from", "trace")

    def __init__(self, taken_from: Any, pairs: list[tuple[Line, Any]], place: Any) -> None:
        super().__init__(value for _, value in pairs)
        self.taken_from, self.place, self.trace, self.number = taken_from, place, current(), taken_from.changes
        self.lines = [line for line, _ in pairs]
        taken_from.lent[id(self)] = self

    def __setitem__(self, index: Any, value: Any) -> None:
        """Assigns an element, which stays a number of its type."""
        others = any(one is not self for one in list(self.taken_from.lent.values()))
        is_old = self.trace is not current() or self.number != self.taken_from.changes
        if type(index) is not int or others or is_old or not -len(self) <= index < len(self):
            self._give_up()
        if entry_type(value) != self.lines[index].kind:
            self._give_up()
        self.lines[index].put(self.place, value)
        super().__setitem__(index, value)

    def _give_up(self, *_: Any, **__: Any) -> NoReturn:
        give_up: Callable[[], NoReturn] = self.taken_from.give_up
        give_up()

    append = extend = insert = pop = remove = clear = sort = reverse = __delitem__ = __iadd__ = __imul__ = _give_up
