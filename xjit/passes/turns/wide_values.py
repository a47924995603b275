"""Arrays of all turns of a loop at once, of which each turn keeps one element: a reduction of what it makes of arrays
that are the same in all turns.

    for i in range(n):                              ring = (r >= low[:, None]) & (r < high[:, None])
      ring = (r >= low[i]) & (r < high[i])     ->   out = reduce add (select ring x 0) over the axis of r
      out[i] = sum(x[ring])

The array with an axis of turns is never stored: what it is made of is cheap, and read by reductions alone. These take
each turn's elements in the order, and in the chunks, that the loop would have them in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xjit import numerics
from xjit.dataclass import dataclass
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.ir.scalar_expr import QUICK, primitives
from xjit.numerics import SumOrder, sum_order
from xjit.ops.define.core import registry
from xjit.ops.define.memory_order import PACK
from xjit.ops.whole_arrays.partial_reduce import combined, derived, partial
from xjit.ops.whole_arrays.reduce import REDUCE
from xjit.passes.split_reduce import chunk_of
from xjit.types import dtype_class


@dataclass(frozen=True, slots=True, eq=False)
class Wide:
    """An array in every turn: the axis of turns comes first, then its own ones."""

    node: Node


def spread_number(numbers: Node, node: Node) -> Wide | None:
    """The array that repeats one number a turn; None of other nodes, and where it has too many elements."""
    (turns,) = numbers.aval.shape
    sizes = turns, *node.aval.shape
    if node.op is not registry["broadcast_in_dim"] or math.prod(sizes) > numerics.ELEMENTS_OF_TURNS:
        return None
    return Wide(derived(node.op, (numbers,), node, dims=sizes, mapping=(0,)))


def in_each_turn(array: Node, turns: int) -> Wide:
    """An array that is the same in all turns."""
    sizes = turns, *array.aval.shape
    mapping = tuple(range(1, len(sizes)))
    return Wide(derived(registry["broadcast_in_dim"], (array,), array, dims=sizes, mapping=mapping))


def elementwise(node: Node, inputs: Sequence[Wide]) -> Wide | None:
    """An elementwise operation on arrays, if it is cheap enough to be done again wherever it is read.

    Copies of arrays that are never stored are these arrays.
    """
    if node.op is PACK:
        return inputs[0]
    if node.op.kind is not Kind.ELEMENTWISE or node.element is None:
        return None
    if any(one.name not in QUICK or dtype_class(one.dtype) == "C" for one in primitives(node.element)):
        return None
    return Wide(derived(node.op, tuple(one.node for one in inputs), node, **node.kwargs))


def reduced(node: Node, operand: Wide, start: Node) -> Node | None:
    """One number a turn: the reduction of all elements, in the order of that of one turn; None of others."""
    own = node.inputs[0].aval
    if node.op is not REDUCE or node.param("dims") != tuple(range(own.rank)) or node.param("n") != 1:
        return None
    dims, reducer = tuple(range(1, own.rank + 1)), node.param("reducer")
    if (
        reducer is None
        or reducer.factors
        or _later(sum_order(own, node.param("dims"))) != sum_order(operand.node.aval, dims)
    ):
        return None
    whole = derived(REDUCE, (operand.node, start), node, **{**node.kwargs, "dims": dims})
    chunk = chunk_of(node)
    if chunk is None:
        return whole
    # The results of a turn's chunks lie side by side, so that they are added as those of one turn are.
    return combined(whole, partial(reducer, operand.node, whole, chunk[0] + 1, chunk[1], beside=True))


def _later(order: SumOrder) -> SumOrder:
    """The order behind one more axis."""
    return SumOrder(tuple(axis + 1 for axis in order.axes), order.along_rows, order.run, order.short)
