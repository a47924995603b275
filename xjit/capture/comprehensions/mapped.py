"""``map`` and ``filter`` over what has turns: their elements are those of a comprehension.

np.array(list(map(norm, points)))       np.array([norm(point) for point in points])
list(filter(is_far, points))            [point for point in points if is_far(point)]
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from xjit.capture.python_control.loop_sequences import OneWay, Turns, has_turns, known_of, turns_of, zipped
from xjit.dataclass import replace
from xjit.ir.current import current


class Mapped(OneWay):
    """The results of a function of the elements of one iterable, or of several ones side by side."""

    def __init__(self, function: Callable[..., Any], values: tuple[Any, ...]) -> None:
        super().__init__(values)
        self.function = function
        self.begun: Any = None

    def known(self) -> Any:
        """The iterator of Python's, which is one and the same from its first element on."""
        return builtins.map(self.function, *map(known_of, self.values)) if self.begun is None else self.begun

    def __next__(self) -> Any:
        if current() is not self.home or self.used:
            super().__next__()
        self.begun = self.known()
        return next(self.begun)

    def turns(self) -> Turns | None:
        """The turns, which call the function."""
        function = self.function
        if self.begun is not None:
            return None
        if len(self.values) == 1:
            one = turns_of(self.values[0])
            return None if one is None else replace(one, element=lambda k: function(one.element(k)))
        pairs = turns_of(zipped(*self.values))
        return None if pairs is None else replace(pairs, element=lambda k: function(*pairs.element(k)))


class Selected(OneWay):
    """The elements of an iterable for which a function holds."""

    def __init__(self, function: Callable[..., Any] | None, values: Any) -> None:
        super().__init__(values)
        self.condition = _same if function is None else function
        self.function = function

    def known(self) -> Any:
        """The iterator of Python's."""
        return builtins.filter(self.function, known_of(self.values))

    def turns(self) -> None:
        """None: no turn has an element for sure."""


def _same(value: Any) -> Any:
    return value


def selected(function: Callable[..., Any] | None, iterable: Any) -> Any:
    """``filter(function, iterable)``, as what comprehensions go through where that can be."""
    return Selected(function, iterable) if has_turns(iterable) else builtins.filter(function, iterable)


def mapped(function: Callable[..., Any], iterables: tuple[Any, ...]) -> Any:
    """``map(function, *iterables)``, as what loops of the graph go through where that can be."""
    if iterables and all(has_turns(one) or type(one) is range for one in iterables):
        return Mapped(function, iterables)
    return builtins.map(function, *iterables)
