"""New views of memory that names show already: loops and branches leave them as the objects that they are.

    for i in range(n): y = y[:]        behind it y is a view of the array that it was, which is the caller's own
                                       where n is 0

For any code that follows both are one value. They differ as results: a number beside the view says where the array
itself is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xjit import tree
from xjit.capture.memory.buffer import replayed
from xjit.capture.memory.origins import code_of
from xjit.capture.python_control.leaves import is_array, same
from xjit.capture.python_control.loop_turns import Carried, Turn
from xjit.capture.rewriting.runtime_protocol import UNBOUND
from xjit.capture.tracers.traced_array import TracedArray
from xjit.dataclass import replace
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ops.define.core import constant
from xjit.ops.elements.select import select


def is_other_view(one: Any, other: Any) -> bool:
    """Return whether two arrays are two objects that show the same elements of one memory."""
    return one is not other and is_array(one) and is_array(other) and same(one, other)


def either(holds: Callable[[], Any], one: Any, other: Any) -> Any:
    """The one of two views of the same elements, where a condition holds, or the other.

    The condition is asked for where that matters only: True where it always holds. Of an array of the function's own
    nobody can say which of the two it is, nor of what an arm or a turn has chosen itself.
    """
    view = _view_of(one)
    if not any(_is_outside(value) or hasattr(value, "code") for value in (one, other)):
        return view
    chosen = holds()
    codes = [_code(value) for value in ((one,) if chosen is True else (one, other))]
    if None in codes or (view.buffer.path is None and chosen is not True):
        view.code = None
    elif any(isinstance(code, TracedValue) or code for code in codes):
        view.code = select(chosen, *map(_number, codes)) if len(codes) > 1 else codes[0]
    return view


def _code(value: Any) -> Any:
    """The number of the array from outside that one of two views is, None where only an arm or a turn can say."""
    trace, code = current(), code_of(value) if hasattr(value, "code") or not value.is_view else 0
    return None if isinstance(code, TracedValue) and trace and not trace.reaches(code.node) else code


def _number(code: Any) -> Any:
    return code if isinstance(code, TracedValue) else constant(np.asarray(code, np.int64))


def seen_around(array: Any) -> Any:
    """An array that one arm or turn leaves as code around it sees it; None of memory which that code does not have.

    Nobody reads what the other arm would have instead.
    """
    if not is_array(array) or not array.is_linked or not array.buffer.is_of(current()):
        return None
    if _is_outside(array):
        return array
    is_fixed = all(len(step.inputs) == 1 for step in array.steps)
    return _view_of(array) if is_fixed and array.is_view and not hasattr(array, "code") else None


def _view_of(array: Any) -> TracedArray:
    """A new view of all that an array shows."""
    trace = current()
    assert trace is not None
    version = trace.adopt(array.buffer.version(trace))
    view = TracedArray(replayed(array.steps, version, trace), trace, is_view=True)
    view.frozen = array.frozen
    view.lie_in(array.buffer, array.steps)
    return view


def _is_outside(value: Any) -> bool:
    """Return whether a value was there in front of the arms or turns."""
    trace = current()
    while trace is not None and trace is not value.owner:
        trace = trace.parent
    return trace is not None


class ViewsBehind:
    """Values behind a loop, of which a turn makes views of what names show before it."""

    def __init__(self, turn: Turn, taken: Callable[[], Any]) -> None:
        self.turn, self.taken = turn, taken
        self.made: dict[int, Any] = {}

    def values(self, before: Sequence[Any]) -> tuple[Any, ...]:
        """The values of variables that have these without a turn."""
        return tuple(map(self._value, before, self.turn.after))

    def carried(self, carried: Sequence[Carried | None]) -> tuple[Carried | None, ...]:
        """The variables that turns change, with these views for leaves that stay."""
        return tuple(one and self._carried(one, after) for one, after in zip(carried, self.turn.after, strict=True))

    def _value(self, before: Any, after: Any) -> Any:
        if before is after or before is UNBOUND or after is UNBOUND:
            return before
        (ones, structure), (others, found) = tree.flatten(before), tree.flatten(after)
        if structure != found or not any(map(self._is_made, ones, others)):
            return before
        return tree.unflatten(structure, list(map(self._leaf, ones, others)))

    def _carried(self, one: Carried, after: Any) -> Carried:
        leaves = () if after is UNBOUND else tree.flatten(after)[0]
        if len(leaves) != len(one.leaves) or not any(map(self._is_made, one.leaves, leaves)):
            return one
        return replace(one, leaves=tuple(map(self._leaf, one.leaves, leaves)))

    def _is_made(self, before: Any, after: Any) -> bool:
        return is_other_view(before, after) and after.owner is self.turn.trace

    def _leaf(self, before: Any, after: Any) -> Any:
        if not self._is_made(before, after):
            return before
        if id(after) not in self.made:
            self.made[id(after)] = either(self.taken, after, before)
        return self.made[id(after)]
