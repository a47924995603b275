"""Results of calls in Python whose types are known, as values of the trace."""

from __future__ import annotations

from typing import Any

from xjit import tree
from xjit.capture.tracers.traced_array import TracedArray
from xjit.ir.context import Trace
from xjit.ir.node import Node
from xjit.ops.effects.expected_results import NUMBERS, Part, Results


def traced_results(results: Results, node: Node, trace: Trace) -> Any:
    """The result of a node while tracing."""
    count = len(results.parts)
    nodes = (node,) if count == 1 else tuple(trace.project(node, place) for place in range(count))
    return tree.unflatten(results.form, [_seen(*one, trace) for one in zip(nodes, results.parts, strict=True)])


def _seen(node: Node, part: Part, trace: Trace) -> TracedArray:
    weak = part.number if part.number in NUMBERS else None
    return TracedArray(node, trace, weak=weak, scalar=part.number is not None)
