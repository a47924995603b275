"""Searches long rows for their first extreme in chunks that threads can share.

    arg_reduce max x[N]  ->  c = the first chunk with the greatest maximum
                             c * size + arg_reduce max x[c * size : (c + 1) * size]

The last chunk reaches back into the one before, where there is nothing so extreme.
"""

from __future__ import annotations

import numpy as np

from xjit import numerics
from xjit.ir.context import CONSTANT
from xjit.ir.node import Node
from xjit.ir.scalar_expr import Literal
from xjit.ops.define.core import registry
from xjit.ops.whole_arrays.arg_extreme import ARG_REDUCE
from xjit.ops.whole_arrays.partial_reduce import derived, partial
from xjit.types import INT64, array_type


def searched_in_chunks(node: Node) -> Node | None:
    """The value of an ``arg_reduce`` node over a long row."""
    (operand,), (dim,) = node.inputs, node.param("dims")
    extent = operand.aval.shape[dim]
    if operand.aval.size != extent or extent < numerics.SEARCHED_ELEMENTS:
        return None
    row = derived(registry["reshape"], (operand,), node, sizes=(extent,))
    place = _place(derived(ARG_REDUCE, (row,), node, **node.kwargs | {"dims": (0,)}))
    return place if not node.aval.rank else derived(registry["reshape"], (place,), node, sizes=node.aval.shape)


def _place(node: Node) -> Node:
    """The same of a vector."""
    (row,) = node.inputs
    (extent,), elements = row.aval.shape, numerics.CHUNK_ELEMENTS
    extremes = partial(node.param("extreme"), row, node, 0, elements)
    chunk = derived(ARG_REDUCE, (extremes,), node, **node.kwargs)
    size, last = (_number(value, node) for value in (elements, extent - elements))
    start = derived(registry["mul"], (chunk, size), node)
    first = derived(registry["min"], (start, last), node)
    steps = derived(registry["iota"], (), node, dims=(elements,), dtype=INT64, axis=0)
    firsts = derived(registry["broadcast_in_dim"], (first,), node, dims=(elements,), mapping=())
    places = derived(registry["add"], (firsts, steps), node)
    found = derived(registry["look_up"], (row, places), node, axes=(0,), place=0, positions_first=False)
    return derived(registry["add"], (first, derived(ARG_REDUCE, (found,), node, **node.kwargs)), node)


def _number(value: int, like: Node) -> Node:
    type = array_type(INT64, ())
    params = (("value", Literal.of(np.int64(value))), ("by_reference", True), ("type", type))
    return Node(CONSTANT, (), params, type, like.where)
