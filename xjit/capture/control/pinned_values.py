"""Pinned values of one trace: what Python needs of the run is taken for granted, and tested by the program.

k = int(np.argmax(x))              the trace goes on with the value that the call has
return functions[k](x)             the program tests argmax(x) == k

Only values at the top of the function are pinned: where a loop or a branch of the run needs one, it has a value for
each turn. Behind effects that happen once nothing is pinned, as another program could not begin anew.
"""

from __future__ import annotations

import collections
import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from xjit.capture.guarding.pins import Pin, PinPlace, Pins
from xjit.capture.tracers.demands import can_demand
from xjit.capture.tracers.provenance import CaptureTrace, noted, position
from xjit.errors import CaptureError
from xjit.ir.context import CONSTANT, TracedValue
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ops.define.core import constant, lift
from xjit.ops.effects.barrier import optimization_barrier
from xjit.ops.effects.python_call import repeats_node
from xjit.ops.elements.compare import eq, eq_total_order
from xjit.ops.whole_arrays.shape import reshape
from xjit.types import in_classes

_UNKNOWN = object()


class Stopped(BaseException):
    """A trace has come to the value that is asked for.

    Code of the user's that runs all the same, as that of a ``finally`` does, is stopped at its next operation.
    """

    def __init__(self, value: TracedValue) -> None:
        super().__init__()
        self.value = value


class PinnedValues:
    """The pins of one trace; with ``until`` the trace ends at that place, and its program computes the value."""

    def __init__(self, trace: CaptureTrace, pins: Pins, until: PinPlace | None) -> None:
        self._trace = trace
        self._pins: Mapping[PinPlace, Pin] = {pin.place: pin for pin in pins}
        self._until = until
        self._counts = collections.Counter[tuple[Any, str]]()
        self._known: dict[Node, Any] = {}
        self._tested: list[tuple[Node, Any]] = []

    def mark(self) -> int:
        """Return how many values are pinned by now, for `take_back`."""
        return len(self._tested)

    def take_back(self, mark: int) -> None:
        """Forget values pinned since, of which the trace has taken back the tests."""
        del self._tested[mark:]
        self._known = dict(self._tested)

    def needed(self, value: TracedValue, purpose: str, message: str, fix: str) -> Any:
        """The value that Python needs, if it is pinned; CaptureError with the place otherwise."""
        found, place = self.value(purpose, value)
        if found is not _UNKNOWN:
            return found
        error = CaptureError(message, fix=fix)
        error.pin = place
        raise noted(error, value)

    def known(self, operand: TracedValue) -> Any:
        """The value of a number that is pinned, or follows from pinned ones; None of others."""
        found = self._computed(operand.node) if current() is self._trace else _UNKNOWN
        return None if found is _UNKNOWN else found

    def value(self, purpose: str, operand: TracedValue) -> tuple[Any, PinPlace | None]:
        """Return the pinned value of a number, and the place where it is needed if it can be pinned there."""
        if current() is not self._trace:
            return _UNKNOWN, None
        found = self._computed(operand.node)
        if found is not _UNKNOWN:
            return found, None
        place = self._place(purpose, operand)
        return self._pinned(place, operand), place

    def _computed(self, node: Node) -> Any:
        """The value of a number that follows from pinned ones: of comparisons and whole numbers, which are exact."""
        if node not in self._known:
            exact = node.op.kind is Kind.ELEMENTWISE and not node.aval.rank and node.aval.dtype.kind in "iub"
            self._known[node] = _UNKNOWN
            if exact and self._pins:
                inputs = [_constant(one) if one.op is CONSTANT else self._computed(one) for one in node.inputs]
                if not any(one is _UNKNOWN for one in inputs):
                    with np.errstate(all="ignore"):
                        found = node.op.reference(*map(np.asarray, inputs), **node.kwargs)
                    self._known[node] = np.asarray(found)[()]
        return self._known[node]

    def may_pin(self) -> bool:
        """Return whether a value that is needed now may be pinned."""
        trace = self._trace
        if current() is not trace or not trace.splitting or not can_demand(trace):
            return False
        return all(map(repeats_node, trace.effects))

    def _place(self, purpose: str, operand: TracedValue) -> PinPlace | None:
        """Return the place where a value is needed now; None where nothing can be pinned.

        The operation is part of it: of ``not x[0] > 1`` Python needs the comparison, a rewritten function all of it.
        """
        if operand.dtype.kind == "c" or not self.may_pin():
            return None
        where, needed = position(), f"{purpose}: {operand.node.op.name}"
        number = self._counts[where, needed]
        self._counts[where, needed] += 1
        return PinPlace(where, needed, number)

    def _pinned(self, place: PinPlace | None, operand: TracedValue) -> Any:
        """Return the value that is pinned at a place, which the program tests."""
        if place is not None and place == self._until:
            self._trace.stopped = Stopped(operand)
            raise self._trace.stopped
        pin = None if place is None else self._pins.get(place)
        if pin is None:
            return _UNKNOWN
        number = operand if operand.ndim == 0 else reshape(operand, ())
        value: Any = optimization_barrier(constant(np.asarray(pin.value, number.dtype)))
        same = eq_total_order(number, value) if in_classes(number.dtype, "F") else eq(number, value)
        node = lift(self._trace, same)
        self._trace.expected.append(node)
        self._trace.pinned.add(node)
        self._known[operand.node] = pin.value
        self._tested.append((operand.node, pin.value))
        return pin.value


def _constant(node: Node) -> Any:
    return node.param("value").array()


def is_better_pinned() -> bool:
    """Return whether values of Python's that a branch decides had better be those of a pinned condition.

    Turns that are traced one by one would need a condition each.
    """
    trace = current()
    if not isinstance(trace, CaptureTrace) or trace.pins is None or not trace.pins.may_pin():
        return False
    return not trace.recorder.unrolled and not trace.recorder.rewriting.is_in_loop(sys._getframe(1))


class deciding:
    """A branch or a loop of the run: ``with deciding(pred) as known`` is the pinned value, None without one.

    What refuses the code is refused at a place, at which the value can be pinned. Values above ``most`` are not used.
    """

    __slots__ = ("_most", "_place", "_purpose", "_value")

    def __init__(self, value: Any, purpose: str = "a condition", most: float = math.inf) -> None:
        self._value, self._purpose, self._most = value, purpose, most
        self._place: PinPlace | None = None

    def __enter__(self) -> Any:
        trace = current()
        pins = trace.pins if isinstance(trace, CaptureTrace) else None
        if pins is None or not isinstance(self._value, TracedValue):
            return None
        found, self._place = pins.value(self._purpose, self._value)
        if found is _UNKNOWN:
            return None
        self._place = None
        return found if found <= self._most else None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, CaptureError) and error.pin is None:
            error.pin = self._place
