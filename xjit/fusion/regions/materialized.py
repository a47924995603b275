"""From materialised nodes to statements: what is inlined, over which domain, and where it is stored."""

from __future__ import annotations

from collections.abc import Container, Iterable

from xjit.fusion.buffers.layout import Layouts, coefficients
from xjit.fusion.regions.reads import gap_reason, is_inlined
from xjit.fusion.regions.tiny import is_tiny_reduction
from xjit.fusion.statements import Domain, IndexedValue, Output, Reduce, Scan, Statement, Store, Update
from xjit.ir.context import CONSTANT, PARAMETER, PROJECT
from xjit.ir.index_map import identity, substituted
from xjit.ir.node import Node
from xjit.ir.opdef import Access, AxisMap, Kind, Lookup
from xjit.ir.scalar_expr import Arg
from xjit.ops.whole_arrays.shape import view_strides
from xjit.target import Target
from xjit.types import ArrayType, c_order


def owner(node: Node) -> Node:
    """The node whose step makes this value: the reduction of a projected element, else the node itself."""
    return node.inputs[0] if node.op is PROJECT else node


def is_given(node: Node) -> bool:
    """Return whether the value is there before the program starts."""
    return node.op in (PARAMETER, CONSTANT)


def view_chain(node: Node) -> tuple[Node, ...]:
    """The base of a view and the operations on the way from it to the node: of indices, and parts of complex numbers.
    What is put together of pieces has memory of its own, and so has what is read in another width.
    """
    chain = [node]
    while chain[-1].shows:
        chain.append(chain[-1].inputs[0])
    return tuple(reversed(chain))


def partial_values(nodes: Iterable[Node]) -> frozenset[Node]:
    """The values of which elements lie outside of the array that they show: readers leave these out by a condition,
    so that the values themselves are never stored. ``nodes`` come operands before users.
    """
    found: set[Node] = set()
    for node in nodes:
        if (
            node.access is not None
            and node.aval.size
            and (node.inputs[0] in found or _reaches_out(node, node.access))
        ):
            found.add(node)
    return frozenset(found)


def _reaches_out(node: Node, access: Access) -> bool:
    """Return whether an index operation has elements outside of its operand; those that data says are inside."""
    shape = node.aval.shape
    for map, size in zip(access.axes, node.inputs[0].aval.shape, strict=True):
        moves = [scale * (shape[axis] - 1) for axis, scale in map.terms]
        first, last = (map.offset + sum(extreme(0, move) for move in moves) for extreme in (min, max))
        if not map.found and (first < 0 or last >= size):
            return True
    return False


def statements_of(node: Node, layouts: Layouts) -> tuple[Statement, ...]:
    """The statements that fill the node's buffer."""
    if node.op.kind is Kind.REDUCE and not is_tiny_reduction(node):
        return (reduction_of(node),)
    if node.op.kind is Kind.SCAN:
        return (_scan(node, layouts),)
    if node.op.kind is Kind.UPDATE:
        return (_update(node, layouts),)
    if node.op.flat and not is_inlined(node):
        return (_flat(node, layouts),)
    if node.op.pieces is not None and not node.is_assembled:
        return _pieces(node, layouts)
    shape = node.aval.shape
    output = Output(node, layouts.strides(node))
    store = Store(_domain(node), (IndexedValue(node, identity(shape)),), output)
    return (_one_element(store),) if _is_unread(node) and node.aval.size else (store,)


def _is_unread(node: Node) -> bool:
    """Return whether nobody reads an element of the value before it is written, nor of what it is a copy of."""
    while _is_copy(node):
        node = node.inputs[0]
    return node.op.unread


def _one_element(store: Store) -> Store:
    """The store of the first element alone, as every buffer has a statement that makes it."""
    rank = len(store.dims)
    return store.part((0,) * rank, (1,) * rank)


def _domain(node: Node) -> Domain:
    """The positions of a value that exist."""
    return Domain(node.aval.shape, limits=tuple(sorted(node.limits.items(), key=_axis)))


def _axis(limit: tuple[int, Node]) -> int:
    return limit[0]


def reduction_of(node: Node) -> Reduce:
    """The statement of a reduction that is not written out."""
    count = node.param("n")
    dims = node.inputs[0].aval.shape
    operands = tuple(IndexedValue(source, identity(dims)) for source in node.inputs[:count])
    scalars = tuple(IndexedValue(source, ()) for source in node.inputs[count:] if not source.aval.rank)
    chunk = dict(node.params).get("chunk")
    return Reduce(_domain(node.inputs[0]), operands + scalars, node, tuple(sorted(node.param("dims"))), chunk)


def _scan(node: Node, layouts: Layouts) -> Scan | Store:
    """A scan along the axis; over a single element, a copy."""
    shape, axis = node.aval.shape, node.param("axis")
    values, output = (IndexedValue(node.inputs[0], identity(shape)),), Output(node, layouts.strides(node))
    if shape[axis] == 1:
        return Store(Domain(shape), values, output)
    return Scan(_domain(node), values, output, axis)


def _update(node: Node, layouts: Layouts) -> Store | Update:
    """The updates of a node where data says; a single window, which only replaces, is stored there."""
    assert node.place is not None
    count = len(node.updated)
    shape = node.inputs[count].aval.shape
    values = tuple(IndexedValue(source, identity(shape)) for source in node.inputs[count : 2 * count])
    place = substituted(node.place, identity(shape), node.inputs)
    graph = node.kwargs.get("computation")
    if graph is not None:
        captured = node.inputs[len(node.inputs) - len(graph.captures) :]
        return Update(Domain(shape), (*values, *(IndexedValue(one, ()) for one in captured)), node, place)
    strides = layouts.strides(node)
    moves, start = coefficients(place, strides, len(shape))
    found = tuple(
        Lookup(one.source, one.axes, one.times * stride)
        for map, stride in zip(place, strides, strict=True)
        for one in map.found
    )
    return Store(_domain(node.inputs[count]), values, Output(node, moves, start, found))


def _flat(node: Node, layouts: Layouts) -> Store:
    """Row-major order refilled into other dimensions, or other widths, whose buffer is then row-major as well."""
    source = node.inputs[0]
    shape = source.aval.shape
    values = (IndexedValue(source, identity(shape)),)
    if source.aval.dtype.itemsize == node.aval.dtype.itemsize and node.aval.size:
        strides = view_strides(node.aval.shape, layouts.strides(node), shape)
        assert strides is not None, "a reshape has a memory order only if it could be a view"
        return Store(Domain(shape), values, Output(node, strides))
    packed = ArrayType(source.aval.dtype, shape, c_order(len(shape))).strides
    strides = tuple(stride // source.aval.dtype.itemsize for stride in packed)
    return Store(Domain(shape), values, Output(node, strides))


def _pieces(node: Node, layouts: Layouts) -> tuple[Store, ...]:
    """Pieces that lie over each other, or not in blocks: one after the other."""
    statements = []
    strides = layouts.strides(node)
    for piece in node.pieces:
        source = node.inputs[piece.operand]
        index = tuple(
            AxisMap(None, 1, first) if size == 1 else AxisMap(axis, 1, first)
            for axis, (first, size) in enumerate(zip(piece.source, piece.count, strict=True))
        )
        along = strides if piece.axes is None else tuple(strides[axis] for axis in piece.axes)
        steps = tuple(step * stride for step, stride in zip(piece.step, along, strict=True))
        start = sum(first * stride for first, stride in zip(piece.start, along, strict=True))
        indexed = IndexedValue(source, index if source.aval.rank else ())
        statements.append(Store(Domain(piece.count), (indexed,), Output(node, steps, start)))
    return tuple(statements)


def is_made_in_loops(node: Node, target: Target) -> bool:
    """Return whether no step on whole arrays makes the node: it is given, or computed in loops."""
    return is_given(node) or is_made_in_place(node, target) or has_statements(node, target)


def is_made_in_place(node: Node, target: Target) -> bool:
    """Return whether one element of the node can be computed in place, on this target."""
    return is_inlined(node) and (node.op.kind is not Kind.ELEMENTWISE or gap_reason(node, target) is None)


def has_statements(node: Node, target: Target) -> bool:
    """Return whether the node becomes loops (rather than a library call, a NumPy reference, or part of a tuple)."""
    if node.op.kind in (Kind.REDUCE, Kind.SCAN, Kind.UPDATE) or node.op.flat or node.op.pieces is not None:
        return gap_reason(node, target) is None
    return is_made_in_place(node, target)


def is_alias(node: Node, outputs: Container[Node], stored: Container[Node], layouts: Layouts, target: Target) -> bool:
    """Return whether the operand's buffer is the node's as well: a reshape of it, or a copy of what nobody is
    given.
    """
    if not (node.op.flat or _is_copy(node)):
        return False
    source = node.inputs[0]
    if node.op.flat:
        there = source in stored or (is_given(source) and not is_inlined(source))
        return there and layouts.is_row_major(source)
    base = source
    while base.op.flat:
        base = base.inputs[0]
    hidden = source in stored and source not in outputs and has_statements(source, target) and not is_given(base)
    return hidden and layouts.strides(source) == layouts.strides(node)


def _is_copy(node: Node) -> bool:
    """Return whether every element is the operand's at the same place, as it is."""
    return isinstance(node.element, Arg) and len(node.inputs) == 1
