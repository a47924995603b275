"""Cuts reductions to few results over many elements into chunks that threads can share.

    reduce add x[N]  ->  convert (reduce add (partial_reduce add x, chunk))

Chunks depend on the shape alone, never on the number of threads, so the bits of a result do not either.
"""

from __future__ import annotations

import math

from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ops.partial import chunked
from xjit.passes.simplify import rewrite

# A reduction to fewer results than this over more elements than that is cut.
FEW_RESULTS = 8
MANY_ELEMENTS = 32_768
CHUNK_ELEMENTS = 16_384


def split_reductions(graph: Graph) -> Graph:
    """The graph with large reductions to few results done in two steps."""
    return rewrite(graph, _split)


def _split(node: Node) -> Node:
    if node.op.kind is not Kind.REDUCE or node.param("reducer") is None or dict(node.params).get("chunk"):
        return node
    shape = node.inputs[0].aval.shape
    dims = node.param("dims")
    reduced = math.prod(shape[axis] for axis in dims)
    kept = math.prod(size for axis, size in enumerate(shape) if axis not in dims)
    if kept >= FEW_RESULTS or reduced < MANY_ELEMENTS:
        return node
    axis = max(dims, key=lambda one: shape[one])
    size = max(1, -(-CHUNK_ELEMENTS * shape[axis] // reduced))
    if size >= shape[axis]:
        return node
    return chunked(node, axis, size)
