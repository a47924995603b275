"""Results that show memory which is written: they stay views of what is stored, whatever became of the operations.

    x1 = update_slice x v       stored into x
    y  = slice x1               returned: v itself after simplification, in NumPy a view of x

A view that no longer begins at what is stored is made of it anew, by the operations that it was traced with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xjit.dataclass import replace
from xjit.ir.node import Graph, Node
from xjit.passes.stored_results import Written

Shown = Mapping[int, tuple[int, tuple[Node, ...]]]
"""For outputs that are views of what is stored: the output that is stored, and the operations from it to the view."""


def shown_memory(graph: Graph, views: Sequence[bool], written: Written) -> Shown:
    """The outputs of a traced graph that show what it stores."""
    stored = {graph.outputs[number]: number for number, _ in written}
    found: dict[int, tuple[int, tuple[Node, ...]]] = {}
    for number, view in enumerate(views):
        base, steps = _way(graph.outputs[number], stored)
        if view and base in stored and number not in stored.values() and all(len(one.inputs) == 1 for one in steps):
            found[number] = stored[base], steps
    return found


def show_memory(graph: Graph, shown: Shown) -> Graph:
    """The graph whose outputs show what is stored where they did when it was traced."""
    outputs = list(graph.outputs)
    for number, (stored, steps) in shown.items():
        memory = graph.outputs[stored]
        if _way(outputs[number], {memory: stored})[0] is memory:
            continue
        node = memory
        for step in steps:
            node = replace(step, inputs=(node,))
        outputs[number] = node
    return graph if tuple(outputs) == graph.outputs else replace(graph, outputs=tuple(outputs))


def _way(node: Node, stored: Mapping[Node, int]) -> tuple[Node, tuple[Node, ...]]:
    """The value that a view begins at, the nearest that is stored, and the operations from it to the view."""
    steps: list[Node] = []
    while node not in stored and node.shows:
        steps.append(node)
        (node, *_) = node.inputs
    return node, tuple(reversed(steps))
