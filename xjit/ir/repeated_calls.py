"""Nodes whose condition an error of the user's own depends on."""

from __future__ import annotations

from xjit.ir.boundary import comes_first
from xjit.ir.node import Node


def is_demand(node: Node) -> bool:
    """Return whether NumPy has to do the call from the beginning where the condition of a node does not hold."""
    return node.op.failure is not None and comes_first(node.op.failure(node.kwargs))
