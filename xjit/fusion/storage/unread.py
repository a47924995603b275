"""Stores that nobody sees: of what a loop starts from, the positions that turns write before they read them.

x = np.zeros(n)                 no store
for i in range(n): x[i] = ...   a loop in memory that holds anything at first
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xjit.fusion.statements import Statement, Store
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import AxisMap, Kind
from xjit.ops.define.memory_order import PACK
from xjit.passes.turns.written_first import Positions, written_first


def unread_positions(graph: Graph) -> dict[Node, Positions]:
    """The positions of values that nothing reads before loops write over them, by the versions of their memory."""
    loops = [node for node in graph.nodes if node.op.control == "loop"]
    if not loops:
        return {}
    readers: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        for source in node.inputs:
            readers.setdefault(source, []).append(node)
    found: dict[Node, Positions] = {}
    for loop in loops:
        begun = enumerate(loop.inputs[: loop.param("n")])
        starts = {place: one for place, one in begun if one.aval.rank and _is_made(one) and readers[one] == [loop]}
        for place, positions in written_first(loop, starts).items() if starts else ():
            found.update(_versions(starts[place], positions, graph, readers))
    return found


def _is_made(start: Node) -> bool:
    """Return whether a value may have memory of its own that an update or a copy made."""
    return start.op is PACK or start.op.kind is Kind.UPDATE


def _versions(
    start: Node, positions: Positions, graph: Graph, readers: Mapping[Node, Sequence[Node]]
) -> Iterator[tuple[Node, Positions]]:
    """Yield the versions of memory up to the one that a loop starts from, as far as nothing reads the positions."""
    node, following = start, None
    while node not in graph.outputs:
        others: list[Node] = [] if following is None else [one for one in readers[node] if one is not following]
        if not all(_reads_elsewhere(one, node, positions) for one in others):
            return
        yield node, positions
        if not _is_made(node):
            return
        if node.op is not PACK:
            positions = _with_window(node, positions)
        node, following = node.inputs[0], node


def _with_window(update: Node, positions: Positions) -> Positions:
    """The positions, and those of the window that an update replaces of the version before it."""
    axes, shape, window = update.place.axes if update.place else (), update.aval.shape, update.inputs[1]
    if not axes or update.param("n") != 1 or "computation" in update.kwargs or window.limits:
        return positions
    stretches = [_stretch(one, window.aval.shape) for one in axes]
    own = stretches[positions.axis]
    is_whole = [one == (0, size) for one, size in zip(stretches, shape, strict=True)]
    is_whole[positions.axis] = own is not None
    return positions.with_all(*own) if all(is_whole) and own is not None else positions


def _stretch(one: AxisMap, shape: Sequence[int]) -> tuple[int, int] | None:
    """The first position along an axis and the one behind the last, if all between them are meant; else None."""
    if one.found or one.also or one.scale != 1:
        return None
    return one.offset, one.offset + (1 if one.axis is None else shape[one.axis])


def _reads_elsewhere(reader: Node, node: Node, positions: Positions) -> bool:
    """Return whether a reader of a value sees none of the positions."""
    if reader.op.kind is not Kind.INDEXING or reader.access is None or reader.inputs.index(node):
        return False
    one = reader.access.axes[positions.axis]
    if one.found or one.also or one.scale < 1:
        return False
    count = 1 if one.axis is None else one.scale * (reader.aval.shape[one.axis] - 1) + 1
    return not positions.truths[one.offset : one.offset + count].any()


def read_parts(statements: Sequence[Statement], unread: Positions | None) -> Iterator[Statement]:
    """Yield what is left of the statements of a value without its unread positions."""
    for statement in statements:
        if unread is None or not isinstance(statement, Store):
            yield statement
        elif not unread.truths.all():
            yield from _parts(statement, unread) if statement.makes_target else (statement,)


def _parts(statement: Store, unread: Positions) -> Iterator[Store]:
    """Yield the stretches of a store along an axis that something reads."""
    axis, dims = unread.axis, statement.dims
    first = statement.domain.corner[axis]
    read = [at for at in range(dims[axis]) if not unread.truths[first + at]]
    if len(read) == dims[axis]:
        yield statement
    elif read:
        begin = tuple(read[0] if place == axis else 0 for place in range(len(dims)))
        yield statement.part(begin, (*dims[:axis], read[-1] + 1 - read[0], *dims[axis + 1 :]))
