"""Writes updates whose window is nearly all that is made as values put together.

    update_slice (broadcast c) u, at s  ->  pad u with c, s before it and the rest behind it
    update_slice x u, all of x          ->  u

So the elements of the window are written once, what is read of the window is computed where it is read, and an array
of which nothing else is read is never made. A turn of a loop puts its border around what it makes of neighbours::

    while_loop x {update_slice x (f x[:-2] x[2:]), at 1}
        ->  while_loop x {concatenate x[:1] (f x[:-2] x[2:]) x[-1:]}

In place no element could be replaced while others are made of it, so that one of both would be copied in each turn.
Put together, the turn fills other memory at once; the loop exchanges the two.
"""

from __future__ import annotations

from xjit.dataclass import replace
from xjit.ir.inner_graphs import GRAPHS
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.machine import Machine, processor
from xjit.ops.define.memory_order import PACK
from xjit.ops.regions.strided_slices import SLICE_FROM, UPDATE_SLICE
from xjit.ops.whole_arrays.concatenate import CONCATENATE, PAD
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.shape import BROADCAST_IN_DIM
from xjit.passes.loop_parts import substituted
from xjit.passes.simplify import rewrite
from xjit.types import c_order

_USUAL = processor()


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
    node = _copied(node)
    source = node.inputs[0] if node.op is BROADCAST_IN_DIM else None
    return source if source is not None and not source.aval.rank else None


# ---- turns of loops


def border_windows_of_turns(graph: Graph, machine: Machine = _USUAL) -> Graph:
    """The graph whose loops put borders around what turns make of neighbours; the same object when there are none."""
    return rewrite(graph, lambda node: _with_borders(node, machine))


def _with_borders(node: Node, machine: Machine) -> Node:
    if node.op.control != "loop":
        return node
    condition, body = node.param(GRAPHS)
    pairs = zip(body.parameters, body.outputs, strict=False)  # what else is a parameter is closed over
    first = ((before, _first_update(before, after)) for before, after in pairs)
    new = {after: _bordered(after) for before, after in first if _replaces_neighbours(before, after, machine)}
    if not new:
        return node
    return replace(node, params=tuple({**node.kwargs, GRAPHS: (condition, substituted(body, new))}.items()))


def _first_update(before: Node, after: Node) -> Node:
    """The first of the updates that make a value of the one that was there before the turn."""
    while after.op.kind is Kind.UPDATE and after.inputs[0] is not before:
        after = after.inputs[0]
    return after


def _replaces_neighbours(before: Node, after: Node, machine: Machine) -> bool:
    """Return whether a turn replaces nearly all of a value by what it makes of elements at other places of it."""
    if after.op is not UPDATE_SLICE or after.inputs[0] is not before or after.type != before.type:
        return False
    if after.param("axes") or set(after.param("strides")) != {1} or not after.aval.is_static:
        return False
    if after.aval.order != c_order(after.aval.rank):
        return False
    window = after.inputs[1].aval.size
    return window >= machine.window_share * (after.aval.size - window) and _reads_elsewhere(after)


def _reads_elsewhere(update: Node) -> bool:
    """Return whether elements of a window are made of elements of its operand that lie at other places."""
    (operand, made), seen = update.inputs, set[Node]()
    stack = [made]
    while stack:
        node = stack.pop()
        if node in seen or node.op.kind not in (Kind.ELEMENTWISE, Kind.INDEXING):
            continue
        seen.add(node)
        elsewhere = node.op.kind is Kind.INDEXING and node.access != update.place
        if elsewhere and any(_copied(source) is operand for source in node.inputs):
            return True
        stack += node.inputs
    return False


def _copied(node: Node) -> Node:
    """The value that another one is a copy of, or itself."""
    while node.op is PACK:
        (node,) = node.inputs
    return node


def _bordered(update: Node) -> Node:
    """The result of an update, put together of its window and of what lies around it."""
    operand, value = update.inputs
    sizes, starts = update.aval.shape, update.param("starts")
    first, last = list(starts), [start + size for start, size in zip(starts, value.aval.shape, strict=True)]
    for axis in reversed(range(len(sizes))):
        parts = [value]
        for place, low, high in ((0, 0, first[axis]), (len(parts) + 1, last[axis], sizes[axis])):
            if low < high:
                begin, end = [*first[:axis], low, *first[axis + 1 :]], [*last[:axis], high, *last[axis + 1 :]]
                parts.insert(place, _part(operand, begin, end, update))
        value = parts[0] if len(parts) == 1 else derived(CONCATENATE, tuple(parts), update, axis=axis)
        first[axis], last[axis] = 0, sizes[axis]
    return _in_order(value, update)


def _part(operand: Node, begin: list[int], end: list[int], update: Node) -> Node:
    """The elements of a value between two corners."""
    sizes = tuple(last - first for first, last in zip(begin, end, strict=True))
    steps = (1,) * len(begin)
    return derived(SLICE_FROM, (operand,), update, axes=(), starts=tuple(begin), strides=steps, sizes=sizes)
