"""Which values get a buffer: decided once for each value, from the results to the inputs.

When a value's turn comes, all that reads it has been decided, so that it is known at how many places it would be
computed if it were not stored. It is stored where that costs more than a round trip through memory, where a kernel
would grow too long, and where no kernel can be cut at its borders; a reduction that only reductions read runs inside
of them. No decision is looked at twice, and nothing is followed further than it is inlined.
"""

from __future__ import annotations

from xjit.dataclass import dataclass, field
from xjit.fusion import cost
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.regions.assembled import indexed_piece
from xjit.fusion.regions.checks import check_of, evaluates_condition
from xjit.fusion.regions.materialized import (
    has_statements,
    is_alias,
    is_given,
    owner,
    partial_values,
    statements_of,
    view_chain,
)
from xjit.fusion.regions.nested import runs_inside
from xjit.fusion.regions.reads import is_inlined
from xjit.fusion.regions.tiny import is_tiny_reduction
from xjit.fusion.statements import IndexedValue, Reduce, Statement, Store, Update
from xjit.fusion.storage.demand import Demands, Places, Reader, evaluations, prospects, reader_of
from xjit.fusion.storage.lengths import Lengths, by_level
from xjit.ir.index_map import Index, identity
from xjit.ir.node import Graph, Node
from xjit.ir.opdef import Kind
from xjit.target import Target
from xjit.watch import UNWATCHED, Watch


@dataclass(frozen=True, slots=True)
class Storage:
    """The values that get a buffer, the reductions that run inside of others, and why more is stored than needed."""

    stored: frozenset[Node]
    nested: frozenset[Node]
    reasons: dict[Node, str]

    def with_more(self, reasons: dict[Node, str]) -> Storage:
        """The same with more values stored, for these reasons."""
        return Storage(self.stored | reasons.keys(), self.nested - reasons.keys(), {**self.reasons, **reasons})


def choose_storage(
    graph: Graph,
    required: set[Node],
    shown: frozenset[Node],
    results: frozenset[Node],
    layouts: Layouts,
    target: Target,
    watch: Watch = UNWATCHED,
) -> Storage:
    """The values that are stored besides those that are ``required``. Steps on whole arrays read views that are
    ``shown``; the caller gets the ``results``, or sees them through views.
    """
    watch.enter("planning: what is stored", len(graph.nodes))
    choice = _Choice(graph, set(required), shown, results, layouts, target)
    for position in watch.over(reversed(range(len(choice.nodes)))):
        choice.decide(position)
    reasons = {node: choice.reasons[node] for node in graph.nodes if node in choice.reasons}
    return Storage(frozenset(choice.stored), frozenset(choice.nested), reasons)


def stored_reason(node: Node, times: int) -> str:
    """Why a value is stored that would be computed so many times."""
    size = node.aval.size
    return f"{node.op.name} at {node.where} is stored: pulled in, its {size} elements would be computed {times} times"


def uncut_reason(node: Node) -> str:
    """Why an assembled value is stored."""
    return f"{node.op.name} at {node.where} is stored: no kernel can be cut at its borders"


@dataclass(eq=False)
class _Choice:
    """``levels`` says of values how many kernels run at least between their makers and the results, as far as steps
    on whole arrays read them.
    """

    graph: Graph
    stored: set[Node]
    shown: frozenset[Node]
    results: frozenset[Node]
    layouts: Layouts
    target: Target
    nested: set[Node] = field(default_factory=set)
    reasons: dict[Node, str] = field(default_factory=dict)
    levels: dict[Node, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.machine = self.target.machine
        self.given = frozenset(node for node in self.graph.nodes if is_given(node))
        self.leaves = frozenset(self.stored) | {node for node in self.given if not is_inlined(node)}
        self.demands = Demands(self.given)
        self.table = cost.CostTable(self.leaves, self.machine)
        self.nodes = by_level(self.graph.nodes)
        self.lengths = Lengths(self.nodes, self.leaves | self.given, self.machine)
        self.outputs = frozenset(self.graph.outputs)
        self.partial = partial_values(self.graph.nodes)

    def decide(self, position: int) -> None:
        """Stores the value at a position or has it inlined, and notes what is read for that."""
        node = self.nodes[position]
        places = self.demands.places.pop(node, {})
        if node.op.failure is not None and node not in self.stored:
            self._check(node, places)
        if node in self.given:
            return
        if node in self.stored and self._may_nest(node) and runs_inside(node, places, self.machine):
            self._nest(node, places)
        elif node not in self.stored and node not in self.partial and places:
            reason = self._reason(node, places, position)
            if reason:
                self.stored.add(node)
                self.reasons[node] = reason
        if node in self.stored:
            self._store(node, places)
        else:
            tiny = is_tiny_reduction(node)
            for (reader, index), box in places.items():
                if tiny:
                    reader.unroll(index)
                self.demands.expand(reader, IndexedValue(node, index), box)

    def _may_nest(self, node: Node) -> bool:
        """Return whether a value is a reduction that neither the caller nor a step on whole arrays reads."""
        return node.op.kind is Kind.REDUCE and node not in self.levels and node not in self.results

    def _reason(self, node: Node, places: Places, position: int) -> str:
        """Why a value is stored; empty if it is inlined."""
        nests = prospects(places)
        if node.op.kind is not Kind.INDEXING and self.lengths.ends(position, nests):
            most = self.machine.kernel_operations
            return f"{node.op.name} at {node.where} is stored: a kernel holds at most {most} operations"
        times, size = evaluations(places), max(node.aval.size, 1)
        if times > size and cost.is_worth_storing(self._cost_at(node, places), times, size, self.machine):
            return stored_reason(node, times)
        if self._is_worth_sharing(node, places, times):
            return f"{node.op.name} at {node.where} is stored: updates in their order would compute it one by one"
        if node.is_assembled and not _can_be_cut(node, places):
            return uncut_reason(node)
        self.lengths.watch(position, prospects(places))
        return ""

    def _cost_at(self, node: Node, places: Places) -> float:
        """The cost of a value where it is read: at positions that are looked up, also of each load but the one that a
        stored value takes. Such loads find nothing near the last one.
        """
        total = self.table.total(node)
        if not any(reader.jumps(index) for reader, index in places):
            return total
        return total + self.machine.load_cost * max(self.table.loads(node) - 1, 0)

    def _is_worth_sharing(self, node: Node, places: Places, times: int) -> bool:
        """Return whether updates compute so much of a value that threads and vectors had better make it before."""
        if not any(isinstance(reader.statement, Update) for reader, _ in places):
            return False
        total = self.table.total(node)
        return total >= self.machine.function_cost and total * times >= self.machine.parallel_work

    def _nest(self, node: Node, places: Places) -> None:
        """Lets a reduction run inside of its readers, unless that computes its results too often."""
        times = evaluations(places)
        if cost.is_worth_storing(self.table.total(node), times, max(node.aval.size, 1), self.machine):
            return
        self.stored.discard(node)
        self.nested.add(node)
        shape = node.inputs[0].aval.shape
        extents = tuple(shape[axis] for axis in sorted(node.param("dims")))
        for reader in dict.fromkeys(reader for reader, _ in places):
            reader.nested[node] = len(reader.dims)
            reader.dims += extents

    def _check(self, node: Node, places: Places) -> None:
        """The condition of a value is checked where all of it is read, else by itself."""
        if any(evaluates_condition(IndexedValue(node, index), reader.dims) for reader, index in places):
            return
        level = max((reader.level for reader, _ in places), default=0)
        self._begin(check_of(node), level)

    def _store(self, node: Node, places: Places) -> None:
        """Notes what is read to fill the buffer of a value."""
        if owner(node) is not node:
            self._read_whole(owner(node), self._level(node, places, None))
        elif not has_statements(node, self.target):
            level = self._level(node, places, None)
            for source in node.inputs:
                base = view_chain(source)[0] if source in self.shown else source
                self._read_whole(base, level + 1)
        elif is_alias(node, self.outputs, self.stored, self.layouts, self.target):
            self._read_whole(node.inputs[0], self._level(node, places, None))
        else:
            for statement in statements_of(node, self.layouts):
                if 0 not in statement.dims or isinstance(statement, Reduce):
                    self._begin(statement, self._level(node, places, statement))

    def _read_whole(self, node: Node, level: int) -> None:
        self.levels[node] = max(level, self.levels.get(node, 0))

    def _begin(self, statement: Statement, level: int) -> None:
        self.demands.begin(reader_of(statement, level, self.machine))

    def _level(self, node: Node, places: Places, statement: Statement | None) -> int:
        """The number of kernels that run between the maker of a value and the results."""
        level = self.levels.get(node, 0)
        for reader, index in places:
            in_place = statement is not None and _is_in_place(statement, reader, index)
            level = max(level, reader.level + (not in_place))
        return level


def _is_in_place(statement: Statement, reader: Reader, index: Index) -> bool:
    """Return whether a reader may run in the loops of a statement, as it reads what has been made at that very
    step.
    """
    if reader.dims[: statement.rank] == statement.dims:
        return index == statement.made_at({axis: axis for axis in range(statement.rank)})
    kept = [statement.dims[axis] for axis in statement.places]
    return [size for size in reader.dims if size != 1] == [size for size in kept if size != 1] and index == identity(
        reader.dims
    )


def _can_be_cut(node: Node, places: Places) -> bool:
    """Return whether the readers of an assembled value can be cut into parts that read one piece each."""
    for reader, index in places:
        is_cut = isinstance(reader.statement, Store) and not any(map.found or map.also for map in index)
        if not is_cut and indexed_piece(IndexedValue(node, index), reader.dims) is None:
            return False
    return True
