"""Computes ahead of a loop, as one product, what its turns compute as products of windows that move.

    while i < n:                                     p = dot_general x y
      r = dot_general x[:, i] y[:, i:]     ->        while i < n:
                                                       r = p[i, i:]

A turn reads a whole matrix for a few rows of products, which takes as long as memory does.  The library reads it a
few times for all of them.  What it computes beyond those that are asked for is lost, so that the turns have to ask
for a good part; and the whole takes no more memory than what it is made of and what the loop carries.

What turns change may be an operand, too, where each changes its own row and multiplies what it finds there::

    while i < n:                                     p = dot_general x y
      x[i] = dot_general x[i] y            ->        while i < n:
                                                       x[i] = p[i]
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from xjit import numerics
from xjit.dataclass import dataclass, field, replace
from xjit.ir.context import PARAMETER
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.ops.define.memory_order import PACK
from xjit.ops.dynamic.limited_windows import LIMITED_WINDOW, Range, ranges_of, split_ranges, whole
from xjit.ops.whole_arrays.linalg import DOT_GENERAL, DotDimensionNumbers
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.shape import RESHAPE, TRANSPOSE
from xjit.passes.loop_parts import LoopParts, needed_by, parts_of, substituted, with_control
from xjit.passes.state.loop_state import hoisted
from xjit.passes.turns.counted_turns import CountedTurns, turns_of
from xjit.passes.turns.own_rows import changes_own_row, is_at
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
    begun = _Begun(loop, turns)
    found = {one: part for one in products if (part := _part_of_whole(one, begun)) is not None}
    if found:
        body = replace(loop.body, graph=substituted(loop.body.graph, found))
        body = hoisted(body.with_more(*begun.captured))
        new[node] = replace(loop, body=body).whole()
        for projection in read.values():
            new[projection] = replace(projection, inputs=(new[node],))


# ---- the operands of a product


@dataclass(frozen=True, slots=True, eq=False)
class _Begun:
    """A loop with what its turns find of arrays as they are in front of it.

    The ``starts`` of carried arrays are parameters of the body.
    """

    loop: LoopParts
    turns: CountedTurns
    starts: dict[int, Node] = field(default_factory=dict)

    @property
    def captured(self) -> tuple[list[Node], list[Node]]:
        """The starts of carried arrays outside and inside of the loop."""
        return [self.loop.carried[number].start for number in self.starts], list(self.starts.values())

    def source(self, array: Node, ranges: Sequence[Range]) -> Node | None:
        """The array of which a turn reads these ranges as they are in front of the loop; None of others."""
        if self._is_still(array):
            return array
        for number, one in self.loop.carried.items():
            if one.before is array and any(self._is_own(number, axis, at) for axis, at in enumerate(ranges)):
                type = one.start.aval
                return self.starts.setdefault(number, Node(PARAMETER, (), (("type", type),), type, one.start.where))
        return None

    def _is_still(self, array: Node) -> bool:
        """Return whether an array is read, at known places, of what a loop does not change."""
        while array.op.kind is Kind.INDEXING and array.access is not None and len(array.inputs) == 1:
            (array,) = array.inputs
        return array in self.loop.body.parameters

    def _is_own(self, number: int, axis: int, one: Range) -> bool:
        """Return whether a range along an axis of a carried array is the row that a turn alone changes."""
        return is_at(one, self.turns.counter) and changes_own_row(self.loop, number, self.turns.counter, axis)

    def is_fixed(self, one: Range) -> bool:
        """Return whether a range is the same in all turns, and of a length that is known."""
        start = needed_by([one.start]) if isinstance(one.start, Node) else ()
        return not one.is_limited and all(x.op is not PARAMETER or x in self.loop.body.parameters for x in start)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """An operand of a product: ranges of what does not change in a loop, of which ``axes`` are those of the operand.

    The operand is summed over axis ``summed`` of the source, whose other axes, ``free``, are in order.
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
    def size(self) -> int:
        """The positions that the operand has at most along the free axes."""
        return math.prod(one.bound for one in self.parts)

    @property
    def is_kept(self) -> bool:
        """Return whether the free axes are axes of the operand: a single position need not be one."""
        return set(self.free) <= set(self.axes)


def _side(operand: Node, summed: Sequence[int], begun: _Begun) -> Side | None:
    """An operand that is summed over all of one axis of an array as it is in front of a loop."""
    moved = []
    while operand.op in (TRANSPOSE, RESHAPE):
        moved.append(operand)
        (operand,) = operand.inputs
    array = operand.inputs[0] if operand.op is LIMITED_WINDOW else operand
    if array.limits or not array.aval.rank or len(summed) != 1:
        return None
    sizes = array.aval.shape
    ranges = ranges_of(operand) if array is not operand else tuple(map(whole, sizes))
    axes: tuple[int, ...] | None = tuple(range(len(sizes)))
    for one in reversed(moved):
        axes = None if axes is None else _moved(axes, one)
    source = begun.source(array, ranges)
    if axes is None or source is None:
        return None
    found = _of_window(Side(source, ranges, axes, axes[summed[0]]), begun)
    kept = [axis for axis in axes if axis != found.summed]
    in_order = kept == sorted(kept) and found.ranges[found.summed] == whole(sizes[found.summed])
    return found if in_order else None


def _of_window(side: Side, begun: _Begun) -> Side:
    """The same of the window of its source that all turns read."""
    sizes = side.source.aval.shape
    fixed = [begun.is_fixed(one) and one != whole(size) for one, size in zip(side.ranges, sizes, strict=True)]
    fixed[side.summed] = False
    if not any(fixed):
        return side
    pairs = list(zip(side.ranges, fixed, sizes, strict=True))
    places, params = split_ranges([one if known else whole(size) for one, known, size in pairs], 1)
    window = derived(LIMITED_WINDOW, (side.source, *places), side.source, **params)
    return replace(side, source=window, ranges=tuple(whole(one.bound) if known else one for one, known, _ in pairs))


def _moved(axes: tuple[int, ...], node: Node) -> tuple[int, ...] | None:
    """The same of a transposed value, or of one without its axes of one position; None of another shape."""
    if node.op is TRANSPOSE:
        return tuple(axes[axis] for axis in node.param("permutation"))
    sizes = node.inputs[0].aval.shape
    longer = [number for number, size in enumerate(sizes) if size != 1]
    return tuple(axes[number] for number in longer) if node.aval.shape == tuple(sizes[k] for k in longer) else None


# ---- whole products


def _part_of_whole(node: Node, begun: _Begun) -> Node | None:
    """A product as a window of a product that does not change in the loop; None where that does not pay."""
    sides = tuple(_sides(node, begun))
    if len(sides) != 2 or not _pays(sides, begun):
        return None
    if not all(side.is_kept for side in sides) and min(side.size for side in sides) == 1:
        sides = tuple(sorted(sides, key=lambda side: side.size))  # memory is read along the longer range
    numbers = DotDimensionNumbers(*((side.summed,) for side in sides))
    product = derived(DOT_GENERAL, tuple(side.source for side in sides), node, numbers=numbers)
    places, params = split_ranges([one for side in sides for one in side.parts], 1)
    found = derived(LIMITED_WINDOW, (product, *places), node, **params)
    if found.aval.shape != node.aval.shape:
        found = derived(RESHAPE, (found,), node, sizes=node.aval.shape)
    if found.type != node.type:
        found = derived(PACK, (found,), node, order=node.aval.order)
    return found if found.type == node.type else None


def _sides(node: Node, begun: _Begun) -> Iterator[Side]:
    """Yield the operands of a product that the library may form."""
    numbers: DotDimensionNumbers = node.param("numbers")
    dtype = node.aval.dtype
    if numbers.lhs_batch_dimensions or dtype in NARROW_FLOATS or dtype_class(dtype) not in "FC":
        return
    summed = numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions
    for operand, axes in zip(node.inputs, summed, strict=True):
        side = _side(operand, axes, begun)
        if side is not None:
            yield side


def _pays(sides: Sequence[Side], begun: _Begun) -> bool:
    """Return whether the turns ask for enough of the whole product, and that is no memory beyond what there is."""
    loop, turns = begun.loop, begun.turns
    sources = [side.source.aval for side in sides]
    parts = [one for side in sides for one in side.parts]
    size = math.prod(side.source.aval.shape[axis] for side in sides for axis in side.free)
    around = sum(one.nbytes for one in sources) + sum(one.before.aval.nbytes for one in loop.carried.values())
    asked = turns.mean([one.count for one in parts])
    if asked is None or size * sources[0].dtype.itemsize > around:
        return False
    summed = sources[0].shape[sides[0].summed]
    return asked * summed > numerics.FEW_PRODUCTS and size <= numerics.PRODUCTS_AHEAD * asked * len(turns.values)
