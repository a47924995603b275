"""Sums of complex numbers become sums of their parts, which are reassociated and cut into blocks as floats are.

    reduce add z  ->  complex (reduce add (real z)) (reduce add (imag z))

Both are taken in one sweep over the numbers.
"""

from __future__ import annotations

from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Reducer
from xjit.ops.define.core import registry
from xjit.ops.whole_arrays.partial_reduce import derived, identity_of
from xjit.ops.whole_arrays.reduce import REDUCERS, reduction_graph
from xjit.passes.simplify import rewrite
from xjit.types import dtype_class


def sum_parts(graph: Graph) -> Graph:
    """The graph with sums of parts in place of sums of complex numbers; the same object when there are none."""
    return rewrite(graph, _by_parts)


def _by_parts(node: Node) -> Node:
    if node.op is not registry["reduce"] or node.param("reducer") is not REDUCERS["add"]:
        return node
    if dtype_class(node.inputs[0].aval.dtype) != "C":
        return node
    sums = tuple(_sum_of(node, part) for part in ("real", "imag"))
    return derived(registry["complex"], sums, node)


def _sum_of(node: Node, part: str) -> Node:
    reducer: Reducer = node.param("reducer")
    operand = derived(registry[part], node.inputs[:1], node)
    dtype = operand.aval.dtype
    start = identity_of(reducer, dtype, node)
    graph = reduction_graph(reducer, dtype)
    return derived(node.op, (operand, start), node, dims=node.param("dims"), reducer=reducer, computation=graph, n=1)
