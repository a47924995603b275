"""Recognises carried integers of a loop that are only added to."""

from __future__ import annotations

from collections.abc import Collection

from xjit.ir.context import PROJECT
from xjit.ir.node import Graph, Node
from xjit.ops.define.core import registry
from xjit.passes.loop_parts import LoopParts, parts_of
from xjit.types import dtype_class


def dependent(graph: Graph, sources: Collection[Node]) -> set[Node]:
    """The nodes that depend on some of the sources, these included. What a loop only adds to is in nothing else."""
    found = set(sources)
    for node in graph.nodes:
        if any(source in found for source in node.inputs) and not _is_of_others(node, found):
            found.add(node)
    return found


def _is_of_others(node: Node, found: Collection[Node]) -> bool:
    """Return whether a result of a loop does not depend on what the loop does: on sums that are other results."""
    if node.op is not PROJECT or node.inputs[0].op.control != "loop":
        return False
    loop, number = parts_of(node.inputs[0]), node.param("index")
    sums = {place for place, one in loop.carried.items() if one.start in found and is_sum(loop, place)}
    rest = {place for place, one in enumerate(loop.node.inputs) if one in found}
    return rest <= sums and number not in sums


def is_sum(loop: LoopParts, number: int) -> bool:
    """Return whether a carried integer is only added to: each turn adds a number in which it does not occur, and
    nothing else reads it. Integers wrap, so that they may be added up in any order.
    """
    one, after = loop.carried[number], loop.after
    if one.before.aval.rank or dtype_class(one.before.aval.dtype) != "I":
        return False
    if dependent(loop.condition.graph, {one.tested}) & set(loop.condition.graph.outputs):
        return False
    found = dependent(loop.body.graph, {one.before})
    if any(other in found for place, other in after.items() if place != number):
        return False
    return after[number] is not one.before and _adds(after[number], one.before, found)


def _adds(node: Node, before: Node, found: Collection[Node]) -> bool:
    """Return whether a value is another one with something added that does not depend on it."""
    if node is before:
        return True
    if node not in found:
        return False
    inputs = [source in found for source in node.inputs]
    if node.op is registry["add"]:
        which = [k for k, one in enumerate(inputs) if one]
        return len(which) == 1 and _adds(node.inputs[which[0]], before, found)
    if node.op is registry["sub"]:
        return not inputs[1] and _adds(node.inputs[0], before, found)
    if node.op is registry["select"]:
        return not inputs[0] and all(_adds(source, before, found) for source in node.inputs[1:])
    if node.op is PROJECT and node.inputs[0].op.control == "loop":
        loop, number = parts_of(node.inputs[0]), node.param("index")
        return is_sum(loop, number) and _adds(loop.carried[number].start, before, found)
    return False
