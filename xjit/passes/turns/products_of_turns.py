"""Computes ahead of a loop, as one product, what its turns compute as products of windows that move.

    while i < n:                                     p = dot_general x y
      r = dot_general x[:, i] y[:, i:]     ->        while i < n:
                                                       r = p[i, i:]

A turn reads a whole matrix for a few rows of products, which takes as long as memory does.  The library reads it a
few times for all of them.  What it computes beyond those that are asked for is lost, so that the turns have to ask
for a good part; and the whole takes no more memory than what it is made of and what the loop carries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from xjit import numerics
from xjit.dataclass import dataclass, replace
from xjit.ir.node import Graph, Node
from xjit.ops.define.memory_order import PACK
from xjit.ops.dynamic.limited_windows import LIMITED_WINDOW, Range, ranges_of, split_ranges, whole
from xjit.ops.whole_arrays.linalg import DOT_GENERAL, DotDimensionNumbers
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.shape import RESHAPE, TRANSPOSE
from xjit.passes.loop_parts import LoopParts, parts_of, substituted, with_control
from xjit.passes.state.loop_state import hoisted
from xjit.passes.turns.counted_turns import CountedTurns, turns_of
from xjit.types import NARROW_FLOATS, dtype_class


def join_products_of_turns(graph: Graph) -> Graph:
    """The graph with such products in front of its loops; the same object when there are none."""
    return with_control(graph, "loop", _joined)


def _joined(node: Node, new: dict[Node, Node], read: dict[int, Node]) -> None:
    """Puts a loop that reads parts of whole products in place of a loop, and its results in place of the others."""
    loop = parts_of(new[node])
    products = [one for one in loop.body.graph.nodes if one.op is DOT_GENERAL]
    turns = turns_of(loop) if products else None
    if turns is None:
        return
    found = {one: part for one in products if (part := _part_of_whole(one, loop, turns)) is not None}
    if found:
        body = hoisted(replace(loop.body, graph=substituted(loop.body.graph, found)))
        new[node] = replace(loop, body=body).whole()
        for projection in read.values():
            new[projection] = replace(projection, inputs=(new[node],))


# ---- the operands of a product


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """An operand of a product: ranges of what does not change in a loop, of which ``axes`` are those of the operand.

    The operand is summed over axis ``summed`` of the source, which has another axis, ``free``, if it is a matrix.
    """

    source: Node
    ranges: tuple[Range, ...]
    axes: tuple[int, ...]
    summed: int

    @property
    def free(self) -> tuple[int, ...]:
        """The axes of the source that are not summed over."""
        return tuple(axis for axis in range(len(self.ranges)) if axis != self.summed)

    @property
    def parts(self) -> tuple[Range, ...]:
        """The ranges that the operand has of the free axes."""
        return tuple(self.ranges[axis] for axis in self.free)

    @property
    def is_kept(self) -> bool:
        """Return whether the free axes are axes of the operand: a single position need not be one."""
        return set(self.free) <= set(self.axes)


def _side(operand: Node, summed: Sequence[int], captured: Sequence[Node]) -> Side | None:
    """An operand that is summed over all of one axis of a vector or matrix from outside of the loop."""
    moved = []
    while operand.op in (TRANSPOSE, RESHAPE):
        moved.append(operand)
        (operand,) = operand.inputs
    source = operand.inputs[0] if operand.op is LIMITED_WINDOW else operand
    if source not in captured or source.limits or source.aval.rank not in (1, 2) or len(summed) != 1:
        return None
    sizes = source.aval.shape
    ranges = ranges_of(operand) if source is not operand else tuple(map(whole, sizes))
    axes: tuple[int, ...] | None = tuple(range(len(sizes)))
    for one in reversed(moved):
        axes = None if axes is None else _moved(axes, one)
    if axes is None:
        return None
    found = Side(source, ranges, axes, axes[summed[0]])
    return found if ranges[found.summed] == whole(sizes[found.summed]) else None


def _moved(axes: tuple[int, ...], node: Node) -> tuple[int, ...] | None:
    """The same of a transposed value, or of one without its axes of one position; None of another shape."""
    if node.op is TRANSPOSE:
        return tuple(axes[axis] for axis in node.param("permutation"))
    sizes = node.inputs[0].aval.shape
    longer = [number for number, size in enumerate(sizes) if size != 1]
    return tuple(axes[number] for number in longer) if node.aval.shape == tuple(sizes[k] for k in longer) else None


# ---- whole products


def _part_of_whole(node: Node, loop: LoopParts, turns: CountedTurns) -> Node | None:
    """A product as a window of a product that does not change in the loop; None where that does not pay."""
    sides = tuple(_sides(node, loop))
    if len(sides) != 2 or not _pays(sides, loop, turns):
        return None
    if not all(side.is_kept for side in sides):  # memory is read along the longer range
        sides = tuple(sorted(sides, key=lambda side: math.prod(one.bound for one in side.parts)))
    numbers = DotDimensionNumbers(*((side.summed,) for side in sides))
    product = derived(DOT_GENERAL, tuple(side.source for side in sides), node, numbers=numbers)
    places, params = split_ranges([one for side in sides for one in side.parts], 1)
    found = derived(LIMITED_WINDOW, (product, *places), node, **params)
    if found.aval.shape != node.aval.shape:
        found = derived(RESHAPE, (found,), node, sizes=node.aval.shape)
    if found.type != node.type:
        found = derived(PACK, (found,), node, order=node.aval.order)
    return found if found.type == node.type else None


def _sides(node: Node, loop: LoopParts) -> Iterator[Side]:
    """Yield the operands of a product that the library may form."""
    numbers: DotDimensionNumbers = node.param("numbers")
    dtype = node.aval.dtype
    if numbers.lhs_batch_dimensions or dtype in NARROW_FLOATS or dtype_class(dtype) not in "FC":
        return
    summed = numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions
    for operand, axes in zip(node.inputs, summed, strict=True):
        side = _side(operand, axes, loop.body.parameters)
        if side is not None:
            yield side


def _pays(sides: Sequence[Side], loop: LoopParts, turns: CountedTurns) -> bool:
    """Return whether the turns ask for enough of the whole product, and that is no memory beyond what there is."""
    sources = [side.source.aval for side in sides]
    parts = [one for side in sides for one in side.parts]
    size = math.prod(side.source.aval.shape[axis] for side in sides for axis in side.free)
    around = sum(one.nbytes for one in sources) + sum(one.before.aval.nbytes for one in loop.carried.values())
    asked = turns.mean([one.count for one in parts])
    if asked is None or size * sources[0].dtype.itemsize > around:
        return False
    summed = sources[0].shape[sides[0].summed]
    return asked * summed > numerics.FEW_PRODUCTS and size <= numerics.PRODUCTS_AHEAD * asked * len(turns.values)
