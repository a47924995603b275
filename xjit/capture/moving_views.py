"""Results that are views of which only the run tells place or size: ``x[:k]``, ``rows[k]``, ``out[:k]``.

    rows, rows[k]      rows from the program and k as well, then the view of these rows at the end of the call

The program returns the numbers, and the array if it is the function's own. Operations say in their records how NumPy
shows their operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.capture.memory.buffer import Buffer, BufferView
from xjit.capture.tracers.known_values import is_constant
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.ir.context import TracedValue
from xjit.ir.node import Node
from xjit.numpy.limited.arrays import LimitedArray, root_of
from xjit.showing import Along, Indexed, PartsOf, Reshaped, Showing, renumbered


def moves(value: Any) -> bool:
    """Return whether a value is a view of which only the run tells place or size."""
    if isinstance(value, LimitedArray):
        return value.part is not None or way_of(value) is not None
    if not isinstance(value, BufferView) or is_constant(value) or not value.is_view or not value.is_linked:
        return False
    if hasattr(value, "code"):
        return False
    return any(len(step.inputs) > 1 for step in value.steps) or numbered_in(value.buffer) is not None


def numbered_in(buffer: Buffer) -> Any:
    """The array with this memory of which a number tells if it is one from outside; None where there is none."""
    wholes = (one for one in list(buffer.views.values()) if not one.steps)
    return next((one for one in wholes if isinstance(getattr(one, "code", None), TracedValue)), None)


def way_of(value: Any) -> tuple[Any, Showing] | None:
    """The array that an array of the run's size was made of, and how, where NumPy may have made a view."""
    found: tuple[Any, Showing] | None = getattr(value, "_way", None)
    return found


def way_to(view: Any, trace: CaptureTrace, place: Callable[[Node], int]) -> tuple[Any, tuple[Showing, ...] | None]:
    """The array whose memory a view shows, and the steps to it with numbers at a ``place``; None where they are
    unknown.
    """
    way, base = way_of(view), root_of(view)
    if way is not None:
        base, steps = way_to(way[0], trace, place)
        return base, None if steps is None else (*steps, way[1])
    first: tuple[Showing, ...] | None = None
    if isinstance(base, BufferView):
        end, first = base.buffer.version(trace), ()
    elif isinstance(base, LimitedArray):
        end = base.value.node
        base, first = way_to(base, trace, place) if way_of(base) is not None else (base, ())
    if first is None:
        return base, None
    node = view.value.node if isinstance(view, LimitedArray) else view.node
    steps = steps_to(node, end, place)
    return base, None if steps is None else (*first, *steps)


def steps_to(node: Node, end: Node, place: Callable[[Node], int]) -> tuple[Showing, ...] | None:
    """The steps from all of an array to a node, with numbers that are at a ``place``; None where they are unknown."""
    chain: list[Node] = []
    while node is not end:
        if not node.inputs:
            return None
        chain.append(node)
        node = node.inputs[0]
    steps: list[Showing] = []
    for one in reversed(chain):
        step = _step(one)
        if step is None or not _keeps_limits(one.inputs[0], step):
            return None
        steps.append(renumbered(step, [place(source) for source in one.inputs[1:]]))
    return tuple(steps)


def _step(node: Node) -> Showing | None:
    if node.shows_part:
        return PartsOf(node.op.part is np.real)
    if node.op.shown is None:
        return None
    return node.op.shown(tuple(one.aval for one in node.inputs), node.kwargs, node.aval)


def _keeps_limits(operand: Node, step: Showing) -> bool:
    """Return whether a step takes sizes that only the run knows as they are, and no bounds in place of them."""
    if isinstance(step, Reshaped):
        return not operand.limits
    if not isinstance(step, Indexed):
        return True
    own = [one for one in step.entries if one is not None]
    return all(isinstance(one := own[axis], Along) and (one.is_whole or one.of >= 0) for axis in operand.limits)
