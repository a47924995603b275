"""Small arms of branches as part of what surrounds them: both are computed, and what is chosen is kept.

    if x[i] > m: y[i] = x[i]          y' = update_slice y (select (x[i] > m) x[i] y[i]) at i

An element that an arm writes keeps its value where the other arm is chosen. Positions that only the condition keeps
inside of an array are 0 there; in loops that their condition alone ends such arms are no part of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from xjit.capture.python_control.arm_windows import Window, window_of
from xjit.capture.tracers.provenance import CaptureTrace
from xjit.ir.context import CONSTANT, Trace, TracedValue, is_by_reference
from xjit.ir.current import current
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ir.spans import span_of
from xjit.ops.control.computations import Computation
from xjit.ops.define.core import lift
from xjit.ops.elements.select import select
from xjit.ops.regions.strided_slices import slice_from
from xjit.ops.whole_arrays.shape import broadcast

_MOST_NODES = 40
_MOST_OF_ARRAYS = 4
_SMALL = 16


def is_small(part: Computation) -> bool:
    """Return whether computing all of it costs less than a branch, and cannot raise."""
    graph = part.graph
    inner = [node for node in graph.nodes if node.op.kind is not Kind.LEAF]
    if graph.effects or not all(map(_is_plain, inner)):
        return False
    kept = {node for node in graph.nodes if node.op.kind is Kind.UPDATE or _is_copy(node)} | set(graph.parameters)
    large = any(node.aval.size > _SMALL for node in (*inner, *graph.outputs) if node not in kept)
    return len(inner) <= (_MOST_OF_ARRAYS if large else _MOST_NODES)


def _is_plain(node: Node) -> bool:
    if node.op.failure is not None or node.op.raises:
        return False
    window = window_of(node)
    if window is not None:
        return not window.is_update or math.prod(window.sizes) <= _SMALL
    if node.op.kind is Kind.INDEXING:
        return len(node.inputs) == 1
    return node.op.kind is Kind.ELEMENTWISE


def is_guarded(part: Computation, trace: CaptureTrace) -> bool:
    """Return whether an arm is one that turns should skip where it is not chosen: turns that run one by one.

    It reads or writes at positions that only the condition keeps inside of an array, in a loop whose condition alone
    ends it.

    while stack: ...; if i >= n or seen[i]: continue       seen[i] is read in a branch, not at select(i < n, i, 0)
    """
    if not _is_open_ended(trace):
        return False
    given = dict(zip(part.graph.parameters, (value.node for value in part.captures), strict=True))
    for node in part.graph.nodes:
        window = window_of(node)
        for axis, number in enumerate(() if window is None else window.numbers):
            position = None if number is None else given.get(node.inputs[number])
            if window is None or position is None:
                continue
            if not window.holds(axis, node.inputs[0], span_of(position, trace)):
                return True
    return False


def _is_open_ended(trace: Trace | None) -> bool:
    """Return whether a trace is within a turn of a loop that its condition alone ends."""
    return isinstance(trace, CaptureTrace) and (trace.open_ended or _is_open_ended(trace.parent))


def _is_copy(node: Node) -> bool:
    """Return whether a node is the same array in the same order, as it stands in front of an update."""
    return node.op.kind is Kind.INDEXING and len(node.inputs) == 1 and node.type == node.inputs[0].type


def inlined(part: Computation, pred: Any, memory: Mapping[Node, Node]) -> list[Any]:
    """The results of an arm, computed in the current trace; they hold where ``pred`` does.

    ``memory`` are the versions of buffers in front of the branch, in the order of the last results, each with what
    the other arm has left there. What the arm writes is kept where ``pred`` holds, whatever it writes.
    """
    trace = current()
    assert trace is not None
    outer = [trace.adopt(value.node) for value in part.captures]
    given = dict(zip(part.graph.parameters, outer, strict=True))
    known: dict[Node, Node] = {node: memory.get(one, one) for node, one in given.items()}
    for node in part.graph.nodes:
        if node not in known:
            known[node] = _copied(node, [known[one] for one in node.inputs], pred, trace)
    results = [TracedValue(known[node], trace) for node in part.graph.outputs]
    first = len(results) - len(memory)
    for number, (before, left) in enumerate(memory.items(), first):
        if given.get(_begun_as(part.graph.outputs[number])) is not before:
            shape = left.aval.shape
            results[number] = select(
                broadcast(pred, shape) if shape else pred, results[number], TracedValue(left, trace)
            )
    return results


def _begun_as(node: Node) -> Node:
    """The value that updates of windows have made another one of, each of which keeps what is not to be changed."""
    while node.op.kind is Kind.UPDATE or _is_copy(node):
        node = node.inputs[0]
    return node


def _copied(node: Node, inputs: list[Node], pred: Any, trace: Trace) -> Node:
    """The node over other operands."""
    if node.op is CONSTANT:
        return trace.constant(node.param("value"), node.where, by_reference=is_by_reference(node))
    window = window_of(node)
    if window is not None:
        for axis, number in enumerate(window.numbers):
            if number is not None and not window.holds(axis, inputs[0], span_of(inputs[number], trace)):
                zero = np.asarray(-window.starts[axis], inputs[number].aval.dtype)
                inputs[number] = lift(trace, select(pred, TracedValue(inputs[number], trace), zero))
        if window.is_update:
            inputs[1] = _kept(window, inputs, pred, trace)
    return trace.add(node.op, tuple(inputs), node.kwargs, node.where)


def _kept(window: Window, inputs: list[Node], pred: Any, trace: Trace) -> Node:
    """The window that an update writes: what was there, unless the arm is chosen."""
    values = [TracedValue(one, trace) for one in inputs]
    numbers = zip(window.starts, window.numbers, strict=True)
    starts = [start if number is None else values[number] for start, number in numbers]
    before = slice_from(values[0], starts, window.sizes, window.steps)
    return lift(trace, select(broadcast(pred, window.sizes) if window.sizes else pred, values[1], before))
