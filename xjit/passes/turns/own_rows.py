"""Carried arrays of which each turn of a loop changes its own row alone: at its start a turn finds its row as it was
in front of the loop.

    for i in range(n):                     row i along the first axis; what a turn reads of others does not matter
      x[i] = x[i] @ w
      for j in range(m): x[i, j] += x[0, j]
"""

from __future__ import annotations

from collections.abc import Iterator

from xjit.ir.context import PROJECT
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap
from xjit.ops.dynamic.limited_windows import Range
from xjit.passes.loop_parts import LoopParts, parts_of


def changes_own_row(loop: LoopParts, number: int, counter: Node, axis: int) -> bool:
    """Return whether a turn changes only the row at the counter, along an axis, of a carried array."""
    return _changed(loop.after[number], loop.carried[number].before, [counter], axis)


def is_at(one: Range, counter: Node) -> bool:
    """Return whether a range is the position that a counter has."""
    return one.start is counter and one.bound == 1 and not one.is_limited


def _changed(node: Node, before: Node, counters: list[Node], axis: int) -> bool:
    """Return whether a value is another one with the row at one of these numbers, which are the same, changed."""
    while node is not before:
        if node.place is not None and node.param("n") == 1:
            if not any(_is_row(node, node.place.axes[axis], one) for one in counters):
                return False
            (node, *_) = node.inputs
        elif node.op is PROJECT and node.inputs[0].op.control == "loop":
            inner, number = parts_of(node.inputs[0]), node.param("index")
            seen = list(_seen(inner, counters))
            if not _changed(inner.after[number], inner.carried[number].before, seen, axis):
                return False
            node = inner.carried[number].start
        else:
            return False
    return True


def _is_row(node: Node, place: AxisMap, counter: Node) -> bool:
    """Return whether an update lies, along an axis, at the position that a counter has."""
    single = all(node.inputs[1].aval.shape[axis] == 1 for axis, _ in place.terms)
    found = [(node.inputs[one.source], one.axes, one.times) for one in place.found]
    return single and place.offset == 0 and found == [(counter, (), 1)]


def _seen(loop: LoopParts, numbers: list[Node]) -> Iterator[Node]:
    """Yield what the body of a loop sees of numbers."""
    pairs = zip(loop.body.operands, loop.body.parameters, strict=True)
    yield from (inside for outside, inside in pairs if outside in numbers)
