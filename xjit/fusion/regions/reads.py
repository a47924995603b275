"""Producer slices: what a value is made of, down to materialised values, with the index each is read at."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from xjit.dataclass import dataclass, field
from xjit.fusion.regions.assembled import indexed_piece
from xjit.fusion.regions.tiny import is_tiny_reduction, nested_values, reduced_values
from xjit.fusion.statements import IndexedValue, Statement
from xjit.ir.context import CONSTANT, is_by_reference
from xjit.ir.index_map import compose, has_lookups, lookups_of
from xjit.ir.node import Node
from xjit.ir.opdef import Kind
from xjit.target import Target
from xjit.types import dtype_class


@dataclass(frozen=True, slots=True)
class ProducerSlice:
    """The values that a statement inlines: ``visits`` are the values that it computes, operands before users;
    ``reads`` are those that it takes from memory.
    """

    visits: tuple[IndexedValue, ...]
    reads: tuple[IndexedValue, ...]


class TooManyVisitsError(Exception):
    """A slice has more values than it was to have."""


def producer_slice(statement: Statement, leaves: Container[Node], most: float = math.inf) -> ProducerSlice:
    """Everything that a statement inlines. The node that is being made is expanded although it is a leaf.

    Iterative: graphs are deeper than the stack. Stencils of stencils visit the same value at ever more places:
    TooManyVisitsError after so many values as are allowed.
    """
    nested, dims = dict(statement.domain.nested), statement.dims
    visits: list[IndexedValue] = []
    reads: dict[IndexedValue, None] = {}
    done = {statement.chunk_number}  # the loops know it
    for root in (*statement.values, *statement.positions):
        is_read = root.node in leaves and root.node is not statement.target
        stack = [(root, is_read or not (is_inlined(root.node) or root.node in nested), False)]
        while stack:
            indexed, is_leaf, expanded = stack.pop()
            if expanded:
                visits.append(indexed)
            elif indexed not in done:
                done.add(indexed)
                if len(done) > most:
                    raise TooManyVisitsError
                if is_leaf:
                    reads[indexed] = None
                else:
                    stack.append((indexed, False, True))
                needed = (
                    positions_of(indexed) if is_leaf else (*sources(indexed, dims, nested), *positions_of(indexed))
                )
                for source in reversed(needed):
                    if source not in done:
                        node = source.node
                        is_read = node in leaves or not (is_inlined(node) or node in nested)
                        stack.append((source, is_read, False))
    return ProducerSlice(tuple(visits), tuple(reads))


@dataclass(eq=False)
class Slices:
    """The producer slices of statements, each looked for once; ``leaves`` are the materialised nodes."""

    leaves: AbstractSet[Node]
    _known: dict[Statement, ProducerSlice] = field(default_factory=dict)

    def of(self, statement: Statement, most: float = math.inf) -> ProducerSlice:
        """Find the values that a statement inlines; raise TooManyVisitsError beyond so many values."""
        found = self._known.get(statement)
        if found is None:
            found = self._known[statement] = producer_slice(statement, self.leaves, most)
        return found

    def know(self, statement: Statement, found: ProducerSlice) -> None:
        """Notes what a statement inlines, where that need not be looked for."""
        self._known[statement] = found

    def down_to(self, statement: Statement, leaves: AbstractSet[Node]) -> ProducerSlice | None:
        """The values that a statement inlines down to these leaves, if they are known."""
        known = self._known.get(statement)
        if known is None or any(indexed.node not in leaves for indexed in known.reads):
            return None
        inlined = {indexed.node for indexed in known.visits} - {statement.target}
        return None if inlined & leaves else known

    def with_leaves(self, leaves: AbstractSet[Node]) -> Slices:
        """The slices that end at other leaves; those that met none of the difference stay as they are."""
        gone, fresh = self.leaves - leaves, leaves - self.leaves
        kept = {
            statement: found
            for statement, found in self._known.items()
            if not (_meets(found.reads, gone) or _meets(found.visits, fresh))
        }
        return Slices(leaves, kept)


def _meets(values: Iterable[IndexedValue], nodes: AbstractSet[Node]) -> bool:
    return bool(nodes) and any(indexed.node in nodes for indexed in values)


def sources(
    indexed: IndexedValue, dims: tuple[int, ...], nested: Mapping[Node, int] = MappingProxyType({})
) -> tuple[IndexedValue, ...]:
    """The values that a node that is inlined into a domain of these extents reads for one of its elements.

    ``nested`` says which domain axes a reduction runs over that is neither tiny nor made elsewhere. Nothing is read
    for an assembled value of which the domain takes several pieces: it has to be cut.
    """
    node = indexed.node
    if node.op.kind is Kind.ELEMENTWISE:
        return tuple([IndexedValue(source, indexed.index) for source in node.inputs])  # of the same dimensions
    if node.access is not None:
        return (IndexedValue(node.inputs[0], compose(node.access, indexed.index, node.inputs)),)
    if node.is_assembled:
        found = indexed_piece(indexed, dims)
        return () if found is None else (found,)
    if is_tiny_reduction(node):
        return reduced_values(indexed)
    if node in nested:
        return nested_values(indexed, nested[node])
    return ()


def below(
    indexed_values: Iterable[IndexedValue], operands: Callable[[IndexedValue], Iterable[IndexedValue]]
) -> Iterator[IndexedValue]:
    """These values and all that they are made of, each once and before its own ``operands``."""
    stack, seen = list(indexed_values), set[IndexedValue]()
    while stack:
        indexed = stack.pop()
        if indexed not in seen:
            seen.add(indexed)
            yield indexed
            stack.extend(operands(indexed))


def nodes_below(statement: Statement, leaves: Container[Node]) -> set[Node]:
    """The nodes that a statement may inline, each once however many places it is read at."""
    found: set[Node] = set()
    stack = [indexed.node for indexed in (*statement.values, *statement.positions)]
    while stack:
        node = stack.pop()
        if node not in found and (node is statement.target or node not in leaves):
            found.add(node)
            stack.extend(node.inputs)
    return found


def positions_of(indexed: IndexedValue) -> tuple[IndexedValue, ...]:
    """The integers that the index of a value looks up."""
    if not has_lookups(indexed.index):
        return ()
    return tuple(IndexedValue(lookup.source, lookup.axes) for lookup in lookups_of(indexed.index))


def is_inlined(node: Node) -> bool:
    """Return whether one element of the node can be computed in place, from elements of its inputs."""
    if node.op.kind is Kind.ELEMENTWISE:
        return node.op.element is not None
    if node.op is CONSTANT:
        return node.aval.size == 1 and not is_by_reference(node)
    return node.access is not None or is_tiny_reduction(node) or node.is_assembled


def gap_reason(node: Node, target: Target) -> str | None:
    """Why the node has no code on the target, or None if it has."""
    if node.op.kind is Kind.ELEMENTWISE and node.op.element is None:
        return f"{node.op.name} has no element rule"
    if not node.op.gaps:
        return None
    letters = tuple(dtype_class(source.aval.dtype) for source in node.inputs)
    dtypes = tuple(source.aval.dtype for source in node.inputs)
    gap = node.op.gap(target.name, dtypes, "".join(letters))
    return None if gap is None else gap.reason
