"""Pure rewrites of a graph that keep every bit: constants folded, index operations that do nothing removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xjit.dataclass import dataclass, field, replace
from xjit.ir.context import CONSTANT, PARAMETER, is_by_reference
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Access, AxisMap, Kind, OpDef
from xjit.ir.rebuilding import reading, with_new
from xjit.ir.scalar_expr import Literal
from xjit.passes.proved_conversions import with_proved_range
from xjit.types import ArrayType, TupleType, array_type


def simplify(graph: Graph) -> Graph:
    """The simplified graph; the same object when there is nothing to do."""
    return rewrite(graph, simpler)


def rewrite(graph: Graph, rule: Callable[[Node], Node]) -> Graph:
    """Rebuilds a graph bottom-up; ``rule(node)`` gives a node's replacement, the node itself to keep it.

    Nodes that have become equal become one. Nodes of one trace are never equal, so that the same graph comes back
    when the rule replaces none; it is asked again of those before the first that it does.
    """
    return graph if all(rule(node) is node for node in graph.nodes) else rebuilt(graph, rule)


def rebuilt(graph: Graph, rule: Callable[[Node], Node]) -> Graph:
    """The same, of which equal nodes become one in any case."""
    new: dict[Node, Node] = {}
    sharing = _Sharing()
    for node in graph.nodes:
        new[node] = sharing.share(rule(reading(node, new)))
    return with_new(graph, new)


@dataclass(eq=False)
class _Sharing:
    """Makes one node of equal ones; effects and parameters stay apart."""

    first: dict[object, Node] = field(default_factory=dict)
    settled: set[Node] = field(default_factory=set)

    def share(self, node: Node) -> Node:
        """The first node that computes the same."""
        if node in self.settled or node.sequence >= 0 or node.op is PARAMETER:
            return node
        inputs = tuple(self.share(source) for source in node.inputs)
        if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            node = replace(node, inputs=inputs)
        found = self.first.setdefault((inputs, node.computes), node)
        self.settled.add(found)
        return found


def simpler(node: Node) -> Node:
    """Return what stands for an operation: itself where nothing else computes the same."""
    if node.op.kind is Kind.INDEXING and _is_identity(node):
        return node.inputs[0]
    if _changes_nothing(node):
        return node.inputs[0]
    if node.op.kind in (Kind.ELEMENTWISE, Kind.INDEXING) and _is_foldable(node):
        return _folded(node)
    if node.op.shorter is not None:
        return _shorter(node, node.op.shorter)
    return with_proved_range(node)


def _shorter(node: Node, shorter: Callable[[Any], tuple[OpDef, Any] | None]) -> Node:
    """The operation that computes the same with the number that the last operand is everywhere.

    Before: remainder x, 8        After: and_ x, 7
    """
    *others, operand = node.inputs
    repeated = operand.op.kind is Kind.INDEXING and len(operand.inputs) == 1 and not operand.op.limits
    number = operand.inputs[0] if repeated else operand
    if number.op is not CONSTANT or is_by_reference(number) or number.aval.rank:
        return node
    found = shorter(number.param("value").array()[()])
    if found is None:
        return node
    value = _constant(found[1], number)
    return replace(node, op=found[0], inputs=(*others, replace(operand, inputs=(value,)) if repeated else value))


def _is_identity(node: Node) -> bool:
    """Return whether the operation reads every element at its own place, from a value of the very same type."""
    if len(node.inputs) != 1 or node.op.limits or node.type != node.inputs[0].type:
        return False
    return node.access == Access(tuple(AxisMap(axis) for axis in range(node.aval.rank)))


def _changes_nothing(node: Node) -> bool:
    """Return whether the operation is an update of no elements."""
    updated = len(node.updated) if node.op.kind is Kind.UPDATE else 0
    return updated == 1 and not node.inputs[1].aval.size and node.type == node.inputs[0].type


def _is_foldable(node: Node) -> bool:
    """Return whether all inputs are constants and the result is a scalar: larger constants cost more than they
    save.
    """
    scalar = not isinstance(node.type, TupleType) and node.aval.is_static and node.aval.size == 1
    known = all(source.op is CONSTANT and not is_by_reference(source) for source in node.inputs)
    return scalar and bool(node.inputs) and known


def _folded(node: Node) -> Node:
    with np.errstate(all="ignore"):
        value = node.op.reference(*(source.param("value").array() for source in node.inputs), **node.kwargs)
    return _constant(np.asarray(value, dtype=node.aval.dtype), node)


def _constant(value: Any, node: Node) -> Node:
    """A constant in place of a node."""
    literal = Literal.of(value)
    type: ArrayType = array_type(literal.dtype, literal.dims)
    return Node(CONSTANT, (), (("value", literal), ("type", type)), type, node.where)
