"""Chosen constants: text, or members of an enumeration, of which only the run tells which one a variable is.

state = "idle"                        0: the number of "idle" in the table of the trace
for v in x:
    if state == "idle" and v > 1:     number == 0 and v > 1
        state = "up"                  turns carry the number
return state                          the result of the call is the entry of the table
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from xjit.capture.constants.constant_table import ConstantTable, class_of_constant
from xjit.capture.splits.deferred import DeferredObject
from xjit.capture.tracers.provenance import ask_to_rewrite, enclosing_capture, refuse
from xjit.ir.context import TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ops.define.core import constant
from xjit.ops.elements.compare import eq, ne


class ChosenConstant(DeferredObject):
    """A constant of a table, of which only the run tells the number.

    Comparisons with constants are ones of numbers. Whatever else is done with it is a step in Python, unless the
    trace takes the number for granted.
    """

    __slots__ = ("_number", "_table")

    def __init__(self, number: Any, kind: type) -> None:
        trace, capture = current(), enclosing_capture()
        assert trace is not None and capture is not None
        super().__init__(None, trace, "a text" if kind is str else f"a member of {kind.__qualname__}", kind)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_table", capture.recorder.constants)

    def parts(self) -> tuple[list[Any], tuple[type]]:
        """Return the number, and the class of the constant."""
        assert self.kind is not None
        return [self._number], (self.kind,)

    @classmethod
    def of_parts(cls, parts: Sequence[Any], form: tuple[type]) -> ChosenConstant:
        """Return the constant of a number."""
        return cls(parts[0], *form)

    @property
    def entry(self) -> tuple[Any, ConstantTable]:
        """The number, and the table that it is one of."""
        return self._number, self._table

    @property
    def node(self) -> Node:
        """The node of the constant itself, which a step in Python reads from the table."""
        from xjit.capture.splits.python_steps import step

        found: DeferredObject = step(self._table.value, (self._number,), {}, label=self.label, kind=self.kind)
        return found.node

    @property
    def is_true(self) -> Any:
        """The truth of the constant, which is a value of the graph where only the run tells it."""
        return self._compared(ne, "") if self.kind is str else True

    def is_one_with(self, other: Any) -> Any:
        """Return whether the constant is an object; texts that are equal are taken for one."""
        if type(other) is ChosenConstant or class_of_constant(other) is self.kind:
            return self._compared(eq, other)
        if issubclass(type(other), DeferredObject):
            self._refuse("is compared with another object by `is`")
        return False

    def _binary(self, ufunc: Any, left: Any, right: Any) -> Any:
        other = right if left is self else left
        if ufunc is np.equal or ufunc is np.not_equal:
            if class_of_constant(other) is self.kind or type(other) is ChosenConstant:
                return self._compared(eq if ufunc is np.equal else ne, other)
            if not issubclass(type(other), DeferredObject):
                return ufunc is np.not_equal
        return super()._binary(ufunc, left, right)

    def _compared(self, operation: Any, other: Any) -> Any:
        """The truth of a comparison, as a bool of Python's."""
        if type(other) is ChosenConstant and other.kind is not self.kind:
            return operation is ne
        number = other._number if type(other) is ChosenConstant else self._table.number(other)
        pair = _known(self._number), _known(number)
        if not any(isinstance(one, TracedValue) for one in pair):
            return bool(pair[0] == pair[1]) is (operation is eq)
        found = operation(*(one if isinstance(one, TracedValue) else constant(one) for one in pair))
        trace = current()
        assert trace is not None
        same: Any = trace.wrap(trace.adopt(found.node), trace)
        same.weak, same.scalar = bool, True
        return same

    def __hash__(self) -> int:
        capture = enclosing_capture()
        if capture is not None and isinstance(_known(self._number), TracedValue):
            ask_to_rewrite()
            capture.recorder.rewriting.want_dicts(of_text=True)
        return hash(self.taken_for_granted("is used as a key"))

    def taken_for_granted(self, what: str) -> Any:
        """The constant, where the trace takes its number for granted; CaptureError otherwise."""
        number = _known(self._number)
        if isinstance(number, TracedValue):
            pins = getattr(current(), "pins", None)
            text, fix = self._words(what)
            if pins is None:
                refuse(text, number, fix=fix)
            number = pins.needed(number, "a constant", text, fix)
        return self._table.value(number)

    def _refuse(self, what: str) -> NoReturn:
        text, fix = self._words(what)
        refuse(text, fix=fix)

    def _words(self, what: str) -> tuple[str, str]:
        return f"{self.label} {what}, and only the run tells which one it is", "use numbers instead"


def _known(number: Any) -> Any:
    """The number, as one of Python's where the trace takes it for granted."""
    pins = getattr(current(), "pins", None) if isinstance(number, TracedValue) else None
    found = None if pins is None else pins.known(number)
    return number if found is None else found
