"""Lays out what a loop reads across: an operand that many turns walk along a slow axis gets a copy, made once.

    while_loop i x a {... a[:, i] ...}  ->  while_loop i x (pack a) {... a[:, i] ...}     the columns of a lie in one

The copy is made in front of the outermost loop. Only the memory of the operand changes: inside of the loop it keeps
its type, so that all that is computed, and the order of every sum, stays as it is. Loops that go through blocks of
rows need no copy: what they read across stays in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from xjit.dataclass import dataclass, field
from xjit.ir.context import CONSTANT
from xjit.ir.inner_graphs import inner_graphs
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Access, Kind
from xjit.ir.rebuilding import reading, with_new
from xjit.machine import Machine
from xjit.ops.define.memory_order import PACK
from xjit.ops.whole_arrays.partial_reduce import derived
from xjit.types import ArrayType, TupleType

_READERS = frozenset({Kind.ELEMENTWISE, Kind.REDUCE, Kind.UPDATE})
"""The kinds of operations whose results are the same wherever the elements of a window lie; libraries look there."""


@dataclass(frozen=True, slots=True)
class TouchedWindow:
    """A window that turns read: the axes along which it extends, and the elements that all turns read together."""

    axes: frozenset[int]
    visits: float


class UnknownWindowsError(Exception):
    """An operand is read otherwise than by windows, or nobody knows how often."""


def lay_for_loops(graph: Graph, machine: Machine) -> Graph:
    """The graph with copies of operands that loops read across; the same object when there are none."""
    new: dict[Node, Node] = {}
    search = WindowSearch()
    for node in graph.nodes:
        inputs = tuple(new[source] for source in node.inputs)
        if node.op.control == "loop" and "blocked" not in node.kwargs:
            inputs = _laid(node, inputs, search, machine)
        new[node] = reading(node, new, inputs)
    return with_new(graph, new)


def _laid(loop: Node, inputs: tuple[Node, ...], search: WindowSearch, machine: Machine) -> tuple[Node, ...]:
    """The operands of a loop, with copies of those that it closes over and reads across."""
    count, copies = loop.param("n"), dict[Node, Node]()
    places: dict[Node, list[int]] = {}
    for number, source in enumerate(inputs):
        places.setdefault(source, []).append(number)
    for source, numbers in places.items():
        if source.op is CONSTANT or isinstance(source.type, TupleType):
            continue
        order = better_order(source.aval, search.walks_of(loop, numbers, 1.0), machine.visits_of_copies, machine)
        if order is not None:
            copies[source] = derived(PACK, (source,), loop, order=order)
    return (*inputs[:count], *(copies.get(source, source) for source in inputs[count:]))


def better_order(
    aval: ArrayType, found: Iterator[TouchedWindow], least: float, machine: Machine
) -> tuple[int, ...] | None:
    """The order of the axes in which an array lies along what turns touch of it, if so many visits are saved."""
    if not aval.is_static or aval.rank < 2 or len(aval.order) < aval.rank or not aval.size:
        return None
    try:
        walks = list(found)
    except UnknownWindowsError:
        return None
    across = [one for one in walks if aval.order[-1] not in one.axes and _is_far(aval, one, machine)]
    if not across:
        return None
    widest = max(across, key=lambda one: one.visits).axes
    order = (*(axis for axis in aval.order if axis not in widest), *(axis for axis in aval.order if axis in widest))
    saved = sum(one.visits for one in across if order[-1] in one.axes)
    lost = sum(one.visits for one in walks if aval.order[-1] in one.axes and order[-1] not in one.axes)
    return order if saved - lost >= least * aval.size else None


def _is_far(aval: ArrayType, walk: TouchedWindow, machine: Machine) -> bool:
    """Return whether each step along a window comes to another line of memory."""
    return bool(walk.axes) and min(aval.strides[axis] for axis in walk.axes) >= machine.line_bytes


@dataclass(eq=False)
class WindowSearch:
    """The windows that turns read of operands. The readers in a graph are found once."""

    known: dict[int, dict[Node, list[Node]]] = field(default_factory=dict)

    def walks_of(self, node: Node, numbers: list[int], times: float) -> Iterator[TouchedWindow]:
        """Yield what the turns of a loop, or a branch, read of operands of it. Raises UnknownWindowsError."""
        if node.op.control == "loop":
            if min(numbers) < node.param("n"):  # it starts from a copy, in an order of its own
                raise UnknownWindowsError
            times *= node.kwargs.get("most") or math.inf
        if times == math.inf or node.sequence >= 0:
            raise UnknownWindowsError
        for inner in inner_graphs(node):
            pairs = zip(inner.graph.parameters, inner.operands, strict=True)
            for parameter in (one for one, number in pairs if number in numbers):
                yield from self._walks_in(inner.graph, parameter, times)

    def _walks_in(self, graph: Graph, operand: Node, times: float) -> Iterator[TouchedWindow]:
        if operand in graph.outputs:
            raise UnknownWindowsError
        readers = self.readers(graph)
        for node in readers.get(operand, ()):
            if node.op.control:
                numbers = [number for number, one in enumerate(node.inputs) if one is operand]
                yield from self.walks_of(node, numbers, times)
            elif is_window(node, operand) and is_read_by_loops(node, readers):
                yield TouchedWindow(long_axes(node.access, node.aval), times * node.aval.size)
            else:
                raise UnknownWindowsError

    def readers(self, graph: Graph) -> dict[Node, list[Node]]:
        """For each value of a graph the nodes that read it."""
        if id(graph) not in self.known:  # the operation keeps its graphs alive
            readers = self.known[id(graph)] = dict[Node, list[Node]]()
            for node in graph.nodes:
                for source in dict.fromkeys(node.inputs):
                    readers.setdefault(source, []).append(node)
        return self.known[id(graph)]


def is_window(node: Node, operand: Node) -> bool:
    """Return whether a node reads elements of an operand at affine places, and positions from elsewhere."""
    plain = node.op.kind is Kind.INDEXING and node.access is not None and node.aval.is_static
    return plain and node.inputs[0] is operand and operand not in node.inputs[1:]


def long_axes(access: Access | None, window: ArrayType) -> frozenset[int]:
    """The axes of an array along which a window of it has more than one element."""
    assert access is not None
    maps = enumerate(access.axes)
    return frozenset(axis for axis, map in maps if any(window.shape[one] > 1 for one, _ in map.terms))


def is_read_by_loops(window: Node, readers: Mapping[Node, list[Node]]) -> bool:
    """Return whether kernels alone read a window, whose elements they would find anywhere."""
    stack = [window]
    while stack:
        top = stack.pop()
        for node in readers.get(top, ()):
            if node.op.kind is Kind.INDEXING and node.inputs[0] is top:
                stack.append(node)
            elif node.op.kind not in _READERS:
                return False
    return True
