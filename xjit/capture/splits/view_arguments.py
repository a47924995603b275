"""Views as arguments of steps in Python, which get the memory that the views show: what they return may show it, too.

np.split(x[::-1], places)     operands    (x, places)
                              expression  call split(call getitem(p0, (slice(9, None, -1), ...)), p1)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from xjit.capture.memory.buffer import BufferView
from xjit.capture.moving_views import way_to
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.ir.node import Node
from xjit.ir.python_terms import Term
from xjit.numpy.limited.arrays import LimitedArray
from xjit.ops.effects.step_functions import call_method
from xjit.showing import Along, Flattened, Indexed, PartsOf, Reshaped, Showing, Turned, positions

Constant = Callable[[Any], Term]
Way = tuple[BufferView, tuple[Showing, ...], list[Node]]


def way_of_argument(value: Any, trace: CaptureTrace) -> Way | None:
    """The array that a view shows, the steps to the view and the numbers that these name.

    It is None where a copy is as good, as nobody else sees the memory, and of an array from outside that has been
    written to.
    """
    if not isinstance(value, LimitedArray) and (not value.is_linked or not value.steps):
        return None
    numbers: list[Node] = []

    def place(number: Node) -> int:
        numbers.append(number)
        return len(numbers) - 1

    base, steps = way_to(value, trace, place)
    if steps is None or not isinstance(base, BufferView) or not all(map(trace.reaches, numbers)):
        return None
    version = base.buffer.version(trace)
    if version is not base.buffer.first if base.buffer.path is not None else not base.buffer.is_seen:
        return None
    return base, steps, list(map(trace.adopt, numbers))


def shown_term(base: Term, steps: tuple[Showing, ...], numbers: list[Term], constant: Constant) -> Term:
    """The term of a view of an array."""
    for step in steps:
        base = _after(step, base, numbers, constant)
    return base


def _after(step: Showing, array: Term, numbers: list[Term], constant: Constant) -> Term:
    match step:
        case Indexed(entries):
            index = Term("tuple", terms=(*(_entry(one, numbers, constant) for one in entries), constant(...)))
            return Term("call", terms=(constant(operator.getitem), array, index))
        case Turned(order):
            return _called(array, constant, "transpose", order)
        case Reshaped(sizes):
            return _called(array, constant, "reshape", sizes)
        case Flattened():
            return _called(array, constant, "ravel")
        case PartsOf(real):
            return Term("call", terms=(constant(getattr), array, constant("real" if real else "imag")))


def _called(array: Term, constant: Constant, name: str, *values: Any) -> Term:
    return Term("call", terms=(constant(call_method), array, constant(name), *map(constant, values)))


def _entry(one: Along | int | None, numbers: list[Term], constant: Constant) -> Term:
    if not isinstance(one, Along):
        return constant(one)
    if one.is_whole:
        return Term("call", terms=(constant(slice), constant(None)))
    start = constant(one.start)
    if one.at >= 0:
        start = Term("call", terms=(constant(operator.add), start, numbers[one.at]))
    count = numbers[one.of] if one.of >= 0 else constant(one.count)
    return Term("call", terms=(constant(positions), start, count, constant(one.step)))
