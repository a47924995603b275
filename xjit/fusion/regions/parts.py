"""Cuts statements at the borders of the assembled values that they read, so that every part reads one piece of
each.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from xjit import numerics
from xjit.dataclass import dataclass
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.regions.assembled import cuts_of, indexed_piece
from xjit.fusion.regions.checks import check_of
from xjit.fusion.regions.equal_parts import EqualParts
from xjit.fusion.regions.materialized import has_statements, is_alias, is_given, statements_of
from xjit.fusion.regions.reads import Slices, TooManyVisitsError, is_inlined, nodes_below
from xjit.fusion.statements import Reduce, Statement, Store
from xjit.fusion.storage.choice import Storage, uncut_reason
from xjit.ir.node import Graph, Node
from xjit.machine import Machine
from xjit.target import Target
from xjit.watch import UNWATCHED, Watch


@dataclass(frozen=True, slots=True)
class Parts:
    """The statements that make each stored value, and the values that lie in the buffer of another one."""

    stored: frozenset[Node]
    statements: Mapping[Node, tuple[Statement, ...]]
    aliases: frozenset[Node]
    reasons: Mapping[Node, str]
    slices: Slices


def cut_at_borders(
    graph: Graph,
    storage: Storage,
    layouts: Layouts,
    target: Target,
    watch: Watch = UNWATCHED,
    saved: frozenset[Node] = frozenset(),
) -> Parts:
    """The statements of all stored values in parts; what cannot be cut reads values that are stored for it.

    These come before it in the graph, and are therefore looked at after it. Copies that are ``saved`` are made.
    """
    watch.enter("planning: parts", len(graph.nodes))
    stored, reasons = set(storage.stored), dict(storage.reasons)
    given = frozenset(node for node in graph.nodes if is_given(node) and not is_inlined(node))
    outputs, assembled = frozenset(graph.outputs), any(node.is_assembled for node in graph.nodes)
    slices = Slices(storage.stored | given)
    equal = EqualParts(functools.partial(parts_of, machine=target.machine))

    def cut(statement: Statement) -> tuple[Statement, ...]:
        nonlocal slices
        if not assembled:
            return (statement,)
        while not isinstance(found := equal.of(statement, slices), tuple):
            stored.update(found)
            reasons.update((node, uncut_reason(node)) for node in found)
            slices = slices.with_leaves(slices.leaves | found)
        return found

    made: dict[Node, tuple[Statement, ...]] = {}
    for node in watch.over(reversed(graph.nodes)):
        if node.op.failure is not None:
            cut(check_of(node))
        if node in stored and has_statements(node, target):
            whole = [one for one in statements_of(node, layouts) if 0 not in one.dims or isinstance(one, Reduce)]
            made[node] = tuple(itertools.chain.from_iterable(map(cut, whole)))
    changed = frozenset(copy for node in graph.nodes for copy in node.updated)
    aliases = frozenset(
        node for node in made.keys() - changed - saved if is_alias(node, outputs, stored, layouts, target)
    )
    reasons = {node: reasons[node] for node in graph.nodes if node in reasons}
    return Parts(frozenset(stored), made, aliases, reasons, slices)


def parts_of(statement: Statement, slices: Slices, machine: Machine) -> tuple[Statement, ...] | frozenset[Node]:
    """The statement itself where it crosses no border, else its parts, or the values that have to be stored first.

    Only what makes every element by itself can be cut, and only at borders whose places are known; else the
    assembled values are to be stored.
    """
    waiting, done = [(statement, frozenset[int]())], list[Statement]()
    inlined: frozenset[Node] = frozenset()
    below = nodes_below(statement, slices.leaves)
    to_store = frozenset(node for node in below if node.is_assembled and node is not statement.target)
    most = max(machine.kernel_operations, machine.most_places * len(below)) if to_store else math.inf
    operations = 0
    while waiting:
        part, later = waiting.pop()
        try:
            visits = slices.of(part, most).visits
        except TooManyVisitsError:
            return to_store
        crossing = [
            indexed for indexed in visits if indexed.node.is_assembled and indexed_piece(indexed, part.dims) is None
        ]
        inlined |= {indexed.node for indexed in crossing if indexed.node is not statement.target}
        found = list(itertools.chain.from_iterable(cuts_of(indexed, part.dims) for indexed in crossing))
        if crossing and not (found and isinstance(part, Store)):
            return inlined
        if found and isinstance(part, Store):
            cuts, rest = _first_axis(found)
            cuts = cuts if rest | later else _with_pixels(part, cuts, machine)
            waiting += [(piece, rest) for piece in _cut(part, cuts)]
        else:
            done.append(part)
            operations += len(visits)
        are_many = len(waiting) + len(done) > machine.most_parts
        if inlined and (are_many or operations > machine.kernel_operations):
            return inlined
    return tuple(done)


def _first_axis(found: Iterable[tuple[int, int, int]]) -> tuple[set[tuple[int, int]], frozenset[int]]:
    """The cuts along one axis, and which others are to be cut.

    Cuts that go through no piece come first: of a pad by slabs as many parts as there are slabs, of which cuts along
    all axes at once would make exponentially many.
    """
    through = Counter[int]()
    for axis, _, pieces in found:
        through[axis] += pieces
    first = min(sorted(through), key=lambda axis: through[axis])
    return {(axis, position) for axis, position, _ in found if axis == first}, frozenset(through) - {first}


def _with_pixels(statement: Store, cuts: set[tuple[int, int]], machine: Machine) -> set[tuple[int, int]]:
    """The cuts, or all positions along a short axis that is the fastest in memory and the only one that is cut.

    What makes the elements of a pixel then shares a loop over pixels, as vectors with shuffles.
    """
    axis = next(axis for axis, _ in cuts)
    size, item = statement.dims[axis], statement.target.aval.dtype.itemsize
    fills_no_vector = size <= numerics.TINY and size * item < machine.vector_bytes
    are_few = math.prod(statement.dims) <= numerics.TINY * size
    if statement.output.strides[axis] != 1 or not fills_no_vector or are_few:
        return cuts
    return {(axis, position) for position in range(1, size)}


def _cut(statement: Statement, cuts: Iterable[tuple[int, int]]) -> Iterator[Statement]:
    """The parts between (axis, position) pairs, the last one first."""
    edges = [[0, size] for size in statement.dims]
    for axis, position in cuts:
        edges[axis].append(position)
    spans = [list(itertools.pairwise(sorted(row, reverse=True))) for row in edges]
    for block in itertools.product(*spans):
        yield statement.part(tuple(first for _, first in block), tuple(stop - first for stop, first in block))
