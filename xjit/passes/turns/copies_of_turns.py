"""Loops whose turns copy their rows from one array to another become one copy, which has vectors and threads.

    for i in range(n):                     x = store_window x y[:n] (0, 0)
      x[i] = y[i]                   ->

The place of a turn is its counter along one axis of both arrays, all other places stay the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from xjit.dataclass import replace
from xjit.ir.node import Graph, Node
from xjit.ops.define.memory_order import PACK
from xjit.ops.dynamic.limited_windows import LIMITED_WINDOW, STORE_WINDOW, Range, ranges_of, split_ranges, whole
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.ops.whole_arrays.shape import RESHAPE, TRANSPOSE
from xjit.passes.loop_parts import LoopParts, parts_of, with_control
from xjit.passes.turns.batched_values import constant
from xjit.passes.turns.counted_turns import CountedTurns, turns_of
from xjit.passes.turns.own_rows import is_at


def copy_rows_at_once(graph: Graph) -> Graph:
    """The graph with one copy in place of such loops; the same object when there are none."""
    return with_control(graph, "loop", _copied)


def _copied(node: Node, new: dict[Node, Node], read: dict[int, Node]) -> None:
    """Puts the results of copies in place of those of a loop."""
    loop = parts_of(new[node])
    if loop.body.graph.effects or loop.condition.graph.effects:
        return
    if all(loop.after[number].op is not STORE_WINDOW for number in read):
        return
    turns = turns_of(loop)
    if turns is None or turns.values.step != 1:
        return
    found = {number: _last(loop, turns, number) for number in read}
    done = {number: one for number, one in found.items() if one is not None}
    if len(done) == len(found):
        new.update({read[number]: one for number, one in done.items()})


def _last(loop: LoopParts, turns: CountedTurns, number: int) -> Node | None:
    """The value after the last turn; None of what is no copy of rows."""
    one = loop.carried[number]
    if number == turns.number:
        return constant(turns.values[-1] + 1, one.before.aval.dtype, loop.node)
    found = _stored(loop, turns, number)
    if found is None or found.type == one.before.type:
        return found
    return derived(PACK, (found,), loop.node, order=one.before.aval.order)


def _stored(loop: LoopParts, turns: CountedTurns, number: int) -> Node | None:
    """A carried array with the rows that all turns store."""
    node, one = loop.after[number], loop.carried[number]
    if node.op is not STORE_WINDOW or node.param("n") != 1 or node.inputs[0] is not one.before:
        return None
    outer = dict(zip(loop.body.parameters, loop.body.operands, strict=True))
    row = _of_all(ranges_of(node), turns, outer)
    source = node.inputs[1]
    while source.op is RESHAPE or (source.op is LIMITED_WINDOW and _is_all(source)):
        (source, *_) = source.inputs
    if row is None or source.op is not LIMITED_WINDOW or source.inputs[0] not in outer:
        return None
    read = _of_all(ranges_of(source), turns, outer)
    if read is None:
        return None
    places, params = split_ranges(read[1], 1)
    update = derived(LIMITED_WINDOW, (outer[source.inputs[0]], *places), source, **params)
    laid = _laid(update, read[0], tuple(at.bound for at in row[1]), row[0])
    if laid is None:
        return None
    places, params = split_ranges(row[1], 2)
    return derived(STORE_WINDOW, (one.start, laid, *places), node, n=1, **params)


def _of_all(ranges: Sequence[Range], turns: CountedTurns, outer: dict[Node, Node]) -> tuple[int, list[Range]] | None:
    """The axis that turns go along, and the ranges of all turns outside of the loop; None of other places."""
    axes = [axis for axis, one in enumerate(ranges) if is_at(one, turns.counter)]
    count = len(turns.values)
    found = []
    for axis, one in enumerate(ranges):
        if axis in axes:
            found.append(Range(turns.values[0], 1, count, count))
        elif one.is_limited or not (isinstance(one.start, int) or one.start in outer):
            return None
        else:
            found.append(one if isinstance(one.start, int) else replace(one, start=outer[one.start]))
    return (axes[0], found) if len(axes) == 1 else None


def _laid(node: Node, axis: int, sizes: tuple[int, ...], place: int) -> Node | None:
    """The rows along an axis as rows along another one of these dimensions; None of rows of other shapes."""
    shape = node.aval.shape
    rest = [other for other, size in enumerate(shape) if other != axis and size != 1]
    if [shape[other] for other in rest] != [size for other, size in enumerate(sizes) if other != place and size != 1]:
        return None
    ahead = sum(size != 1 for size in sizes[:place])
    longer = (*rest[:ahead], axis, *rest[ahead:])
    order = (*(other for other in range(len(shape)) if other not in longer), *longer)
    moved = node if order == tuple(range(len(shape))) else derived(TRANSPOSE, (node,), node, permutation=order)
    return moved if moved.aval.shape == sizes else derived(RESHAPE, (moved,), node, sizes=sizes)


def _is_all(node: Node) -> bool:
    """Return whether a window is all of its operand."""
    return list(ranges_of(node)) == [whole(size) for size in node.inputs[0].aval.shape]
