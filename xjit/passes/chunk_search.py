"""Searches long rows for their first extreme in chunks that threads can share.

    arg_reduce max x[N]  ->  c = the first chunk with the greatest maximum
                             c * size + arg_reduce max x[c * size : (c + 1) * size]

The last chunk reaches back into the one before, where there is nothing so extreme.
"""

from __future__ import annotations

import numpy as np

from xjit.ir.context import CONSTANT
from xjit.ir.expr import Literal
from xjit.ir.node import Node
from xjit.ops._core import registry
from xjit.ops.arg_extreme import ARG_REDUCE
from xjit.ops.partial import derived, partial
from xjit.types import INT64, array_type

# Rows of this many elements and more are searched in chunks of fewer.
LONG_ROW = 65_536
CHUNK_ELEMENTS = 16_384


def searched_in_chunks(node: Node) -> Node | None:
    """The value of an ``arg_reduce`` node over a long row."""
    (operand,), (dim,) = node.inputs, node.param("dims")
    extent = operand.aval.shape[dim]
    if operand.aval.size != extent or extent < LONG_ROW:
        return None
    row = derived(registry["reshape"], (operand,), node, sizes=(extent,))
    place = _place(derived(ARG_REDUCE, (row,), node, **node.kwargs | {"dims": (0,)}))
    return place if not node.aval.rank else derived(registry["reshape"], (place,), node, sizes=node.aval.shape)


def _place(node: Node) -> Node:
    """The same of a vector."""
    (row,) = node.inputs
    (extent,) = row.aval.shape
    extremes = partial(node.param("extreme"), row, node, 0, CHUNK_ELEMENTS)
    chunk = derived(ARG_REDUCE, (extremes,), node, **node.kwargs)
    size, last = (_number(value, node) for value in (CHUNK_ELEMENTS, extent - CHUNK_ELEMENTS))
    start = derived(registry["mul"], (chunk, size), node)
    first = derived(registry["min"], (start, last), node)
    steps = derived(registry["iota"], (), node, dims=(CHUNK_ELEMENTS,), dtype=INT64, axis=0)
    firsts = derived(registry["broadcast_in_dim"], (first,), node, dims=(CHUNK_ELEMENTS,), mapping=())
    places = derived(registry["add"], (firsts, steps), node)
    found = derived(registry["look_up"], (row, places), node, axes=(0,), place=0, positions_first=False)
    return derived(registry["add"], (first, derived(ARG_REDUCE, (found,), node, **node.kwargs)), node)


def _number(value: int, like: Node) -> Node:
    type = array_type(INT64, ())
    params = (("value", Literal.of(np.int64(value))), ("by_reference", True), ("type", type))
    return Node(CONSTANT, (), params, type, like.where)
