"""Writes values that are nothing but one number around a window as padding, and those that are all window as that.

    update_slice (broadcast c) u, at s  ->  pad u with c, s before it and the rest behind it
    update_slice x u, all of x          ->  u

So the elements of the window are written once, what is read of the window is computed where it is read, and an array
of which nothing else is read is never made.
"""

from __future__ import annotations

from xjit.ir.node import Graph, Node
from xjit.ops.define.memory_order import PACK
from xjit.ops.regions.strided_slices import UPDATE_SLICE
from xjit.ops.whole_arrays.concatenate import PAD
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.shape import BROADCAST_IN_DIM
from xjit.passes.simplify import rewrite


def pad_fresh_windows(graph: Graph) -> Graph:
    """The graph with such updates as padding; the same object when there are none."""
    return rewrite(graph, _padded) if any(node.op is UPDATE_SLICE for node in graph.nodes) else graph


def _padded(node: Node) -> Node:
    if node.op is not UPDATE_SLICE or node.param("axes") or not node.inputs[1].aval.size:
        return node
    sizes, window = node.aval.shape, node.inputs[1].aval.shape
    if sizes == window:
        return _in_order(node.inputs[1], node)
    value = _everywhere(node.inputs[0])
    if value is None:
        return node
    config = tuple(
        (start, size - start - (count - 1) * stride - 1, stride - 1)
        for size, count, start, stride in zip(sizes, window, node.param("starts"), node.param("strides"), strict=True)
    )
    return _in_order(derived(PAD, (node.inputs[1], value), node, config=config), node)


def _in_order(value: Node, node: Node) -> Node:
    """The value in the memory order that a node has."""
    return value if value.type == node.type else derived(PACK, (value,), node, order=node.aval.order)


def _everywhere(node: Node) -> Node | None:
    """The number that all elements of a value are, if it is made of one."""
    while node.op is PACK:
        (node,) = node.inputs
    source = node.inputs[0] if node.op is BROADCAST_IN_DIM else None
    return source if source is not None and not source.aval.rank else None
