"""Cuts reductions to few results over many elements into chunks that threads can share.

    reduce add x[N]  ->  convert (reduce add (partial_reduce add x, chunk))

Chunks depend on the shape alone, never on the number of threads, so the bits of a result do not either.
"""

from __future__ import annotations

import math

from xjit import numerics
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind, Reducer
from xjit.ops.whole_arrays.arg_extreme import ARG_REDUCE
from xjit.ops.whole_arrays.partial_reduce import chunked
from xjit.passes.simplify import rewrite
from xjit.passes.two_level_arg_reduce import searched_in_chunks
from xjit.passes.two_level_reduce import in_chunks
from xjit.types import ArrayType


def split_reductions(graph: Graph) -> Graph:
    """The graph with large reductions to few results done in two steps."""
    return rewrite(graph, _split)


def _split(node: Node) -> Node:
    if node.op is ARG_REDUCE and not node.inputs[0].limits:
        return searched_in_chunks(node) or node
    chunk = chunk_of(node)
    return node if chunk is None else in_chunks(node, *chunk) or chunked(node, *chunk)


def chunk_of(node: Node) -> tuple[int, int] | None:
    """The axis that a reduction is cut along, and the positions of a chunk; None of others."""
    if node.op.kind is not Kind.REDUCE or dict(node.params).get("chunk"):
        return None
    reducer: Reducer | None = node.kwargs.get("reducer")
    if reducer is None or reducer.factors or node.inputs[0].limits:
        return None
    aval = node.inputs[0].aval
    dims = node.param("dims")
    elements = _chunk_elements(aval, dims)
    reduced = math.prod(aval.shape[axis] for axis in dims)
    if elements is None or not reduced:
        return None
    # The slowest axis, so that a chunk is one piece of memory; another one where that is short.
    long = [axis for axis in aval.order if axis in dims and aval.shape[axis] >= numerics.CUT_EXTENT]
    axis = long[0] if long else max(dims, key=lambda one: aval.shape[one])
    size = max(1, -(-elements * aval.shape[axis] // reduced))
    return None if size >= aval.shape[axis] else (axis, size)


def _chunk_elements(aval: ArrayType, dims: tuple[int, ...]) -> int | None:
    """Return the number of elements that go into one result of a chunk, or None when the reduction stays whole."""
    reduced = math.prod(aval.shape[axis] for axis in dims)
    kept = math.prod(size for axis, size in enumerate(aval.shape) if axis not in dims)
    long = [axis for axis in aval.order if aval.shape[axis] > (1 if axis in dims else numerics.TINY)]
    if long and long[-1] not in dims:
        few = kept < numerics.FEW_COLUMNS and aval.size >= numerics.MANY_COLUMN_ELEMENTS
        elements = max(numerics.CHUNK_COLUMN_ELEMENTS, aval.size // numerics.MOST_COLUMN_CHUNKS)
        return max(numerics.CHUNK_ROWS, elements // kept) if few else None
    return numerics.CHUNK_ELEMENTS if kept < numerics.FEW_RESULTS and reduced >= numerics.MANY_ELEMENTS else None
