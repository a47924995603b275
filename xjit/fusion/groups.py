"""Merges statements into groups: one loop nest each, rows staying in cache between the passes over them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from xjit.dataclass import dataclass, field
from xjit.fusion.checks import check_of, evaluates_condition
from xjit.fusion.layout import Layouts
from xjit.fusion.materialized import owner, view_chain
from xjit.fusion.nested import with_nested
from xjit.fusion.plan import FusionGroup, KernelStep, Step
from xjit.fusion.reads import ProducerSlice, producer_slice
from xjit.fusion.refusals import PARTS, Refusal
from xjit.fusion.siblings import Siblings
from xjit.fusion.skew import skewed
from xjit.fusion.statements import Check, IndexedValue, Reduce, Scan, Statement, Store
from xjit.fusion.tiny import unrolled
from xjit.ir.index import Index, axes_of, relabel
from xjit.ir.node import Node
from xjit.machine import Machine


@dataclass(eq=False)
class Group:
    """A group under construction, or a step on whole arrays, which nothing joins; they are numbered as they come."""

    number: int
    machine: Machine
    dims: tuple[int, ...] = ()
    rank: int = 0
    reduced: tuple[int, ...] = ()
    chunk: tuple[int, int] | None = None
    whole: Step | None = None
    statements: list[Statement] = field(default_factory=list)
    axes: list[dict[int, int]] = field(default_factory=list)
    reads: dict[Node, None] = field(default_factory=dict)
    before: set[Group] = field(default_factory=set)
    conditions: dict[Node, Index] = field(default_factory=dict)
    levels: dict[Node, int] = field(default_factory=dict)
    scans: dict[Node, frozenset[Node]] = field(default_factory=dict)
    late: set[Node] = field(default_factory=set)
    reasons: list[str] = field(default_factory=list)
    operations: int = 0
    fast: bool = True

    @property
    def has_reduction(self) -> bool:
        """Whether some statement folds over axes."""
        return any(isinstance(statement, Reduce) for statement in self.statements)

    @property
    def is_elementwise(self) -> bool:
        """Whether every statement computes its elements one by one, in any order."""
        return all(isinstance(statement, Store | Check) for statement in self.statements)

    @property
    def columns(self) -> bool:
        """Whether it folds over slow axes of memory: many results at once, those along the last kept axis."""
        return self.has_reduction and not self.fast

    @property
    def reductions(self) -> frozenset[Node]:
        """The nodes that the group reduces to."""
        return frozenset(statement.target for statement in self.statements if isinstance(statement, Reduce))

    def level(self, reads: Iterable[IndexedValue]) -> int:
        """The number of the pass that has what is read: results of reductions are there after their own."""
        made = (owner(indexed.node) for indexed in reads)
        return max((self.levels[node] + (node in self.reductions) for node in made if node in self.levels), default=1)

    def scans_in(self, reads: Iterable[IndexedValue]) -> frozenset[Node]:
        """The scans that are read, also through what stores values made of them."""
        made = (owner(indexed.node) for indexed in reads)
        return frozenset().union(*(self.scans.get(node, ()) for node in made if node not in self.reductions))

    def late_scans(self, reads: Iterable[IndexedValue], level: int) -> frozenset[Node]:
        """Those of them that an earlier pass than this one makes."""
        return frozenset(node for node in self.scans_in(reads) if self.levels[node] < level)

    def has_room_for(self, scans: frozenset[Node]) -> bool:
        """Whether rows of these scans, and of those that wait already, are kept for later passes."""
        size = math.prod(self.dims[axis] for axis in self.reduced)
        return (
            self.fast
            and size * sum(node.aval.dtype.itemsize for node in self.late | scans) <= self.machine.scanned_row_bytes
        )

    def kept_extents(self) -> tuple[tuple[int, int], ...]:
        """(axis, extent) of the kept axes of more than one element."""
        kept = ((axis, self.dims[axis]) for axis in range(self.rank) if axis not in self.reduced)
        return tuple((axis, extent) for axis, extent in kept if extent != 1)

    def evaluations(self, index: Index) -> int:
        """How often a value read at this index is computed."""
        return evaluations(self.dims, self.reduced, index, self.rank, self.machine, columns=self.columns)

    def freeze(self) -> Step:
        """The finished step."""
        if self.whole is not None:
            return self.whole
        return KernelStep((self.fused(),))

    def fused(self) -> FusionGroup:
        """The finished group."""
        statements, axes, reasons = tuple(self.statements), tuple(self.axes), tuple(self.reasons)
        return FusionGroup(self.dims, self.reduced, statements, axes, self.chunk, reasons, self.rank)


@dataclass(eq=False)
class Grouping:
    """Puts statements into groups, producers first. ``leaves`` are the materialised nodes, ``shown`` views of such
    that steps on whole arrays read.
    """

    leaves: frozenset[Node]
    layouts: Layouts
    machine: Machine
    shown: frozenset[Node] = frozenset()
    nested: frozenset[Node] = frozenset()
    groups: list[Group] = field(default_factory=list)
    home: dict[Node, list[Group]] = field(default_factory=dict)
    checks: dict[Node, list[Group]] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    slices: dict[Statement, ProducerSlice] = field(default_factory=dict)
    siblings: Siblings = field(init=False)

    def __post_init__(self) -> None:
        self.siblings = Siblings(self.machine)

    def slice_of(self, statement: Statement) -> ProducerSlice:
        """What the statement inlines, down to the materialised nodes."""
        found = self.slices.get(statement)
        if found is None:
            found = self.slices[statement] = producer_slice(statement, self.leaves)
        return found

    def add_checks(self, nodes: Iterable[Node]) -> None:
        """Checks the conditions of nodes, each once: where every element of the node is needed, else by itself."""
        for node in nodes:
            if node not in self.checks:
                self.checks[node] = self._checked_inside(node) or self._checked_apart(node)

    def _checked_inside(self, node: Node) -> list[Group]:
        for group in self.groups:
            if node not in group.conditions or group.rank != len(group.dims):
                continue
            statement = check_of(node, group.dims, group.conditions[node])
            found = self.slice_of(statement)
            before = self._before(statement, found)
            axes = self._placement(group, statement, found.reads, before, len(found.visits))
            if axes is not None:
                return [self._join(group, statement, axes, found, before - {group})]
        return []

    def _checked_apart(self, node: Node) -> list[Group]:
        statement = check_of(node)
        return [] if 0 in statement.dims else [self.add(part) for part in self.parts(statement)]

    def add_whole(self, node: Node, step: Step, conditions: Iterable[Node] = ()) -> None:
        """A step that is no kernel: it runs after what its operands need, and after their conditions are checked."""
        self.add_checks(conditions)
        before = {group for source in self.read_whole(node) for group in self.home.get(owner(source), ())}
        before.update(*(self.checks[one] for one in conditions))
        group = Group(len(self.groups), self.machine, whole=step, before=before)
        self.groups.append(group)
        self.home.setdefault(node, []).append(group)

    def read_whole(self, node: Node) -> tuple[Node, ...]:
        """The arrays in memory that a step on whole arrays reads, as they are or through views."""
        return tuple(view_chain(source)[0] if source in self.shown else source for source in node.inputs)

    def parts(self, statement: Statement) -> tuple[Statement, ...]:
        """The statement itself, or one for each position along its short axes where that lets them share more."""
        statement = with_nested(statement, self.leaves, self.nested)
        found = self.slice_of(statement)
        across = isinstance(statement, Reduce) and not self._reads_along_fast_axes(statement, found.reads)
        return unrolled(statement, found.visits, across=across)

    def add(self, statement: Statement) -> Group:
        """Finds the group that the statement joins, or opens one."""
        found = self.slice_of(statement)
        reads, before = found.reads, self._before(statement, found)
        for group in self._candidates(statement, reads, before):
            here = statement
            if group.fast and group in before:
                here = skewed(statement, found, group.statements, group.dims, self.machine)
            seen = found if here is statement else self.slice_of(here)
            axes = self._placement(group, here, seen.reads, before, len(seen.visits))
            if axes is not None:
                return self._join(group, here, axes, seen, before - {group})
        group = Group(len(self.groups), self.machine, statement.dims, statement.rank)
        self.groups.append(group)
        return self._join(group, statement, {a: a for a in range(len(statement.dims))}, found, before)

    def _before(self, statement: Statement, found: ProducerSlice) -> set[Group]:
        """The groups that make what the statement reads."""
        before = {group for indexed in found.reads for group in self.home.get(owner(indexed.node), ())}
        for group in self.home.get(statement.target, ()):  # what covers a result and its other parts overlap
            parts = (other for other in group.statements if other.target is statement.target)
            if statement.domain.is_whole or any(other.domain.is_whole for other in parts):
                before.add(group)
        return before

    def _candidates(
        self, statement: Statement, reads: tuple[IndexedValue, ...], before: set[Group]
    ) -> Iterable[Group]:
        """The groups that may take the statement in: those that make what it reads, then its siblings, the last
        first.
        """
        read = dict.fromkeys(indexed.node for indexed in reads)
        if isinstance(statement, Check):
            siblings = {group for group in self.groups if not group.reads.keys().isdisjoint(read)}
        else:
            siblings = set(self.siblings.of(statement, read))
        return (*_kernels(before), *_kernels(siblings - before))

    def _join(
        self, group: Group, statement: Statement, axes: dict[int, int], found: ProducerSlice, before: set[Group]
    ) -> Group:
        if isinstance(statement, Reduce | Scan) and group.is_elementwise:
            group.reduced, group.chunk = statement.reduced, statement.chunk
            group.fast = self._reduces_fast_axes(statement, found.reads)
        level = group.levels[statement.target] = group.level(found.reads)
        group.late |= group.late_scans(found.reads, level)
        group.scans[statement.target] = (
            frozenset({statement.target}) if isinstance(statement, Scan) else group.scans_in(found.reads)
        )
        group.statements.append(statement)
        group.axes.append(axes)
        group.reads.update(dict.fromkeys(indexed.node for indexed in found.reads))
        self.siblings.add(group, statement, (indexed.node for indexed in found.reads))
        for indexed in found.visits:
            placed = (
                IndexedValue(indexed.node, relabel(indexed.index, axes))
                if indexed.node.op.failure is not None
                else indexed
            )
            if evaluates_condition(placed, group.dims):
                group.conditions[indexed.node] = placed.index
        group.before |= before
        group.operations += len(found.visits)
        self.home.setdefault(statement.target, []).append(group)
        return group

    def _placement(
        self, group: Group, statement: Statement, reads: tuple[IndexedValue, ...], before: set[Group], operations: int
    ) -> dict[int, int] | None:
        """The axes of the statement in the group's domain, or None with the reason noted."""
        axes = _match_domain(group, statement)
        if any(other.target is statement.target and other.domain.is_whole for other in group.statements):
            return self._refuse(group, statement, PARTS)
        if axes is None:
            return self._refuse(group, statement, "the loops run over other extents or other reduced axes")
        if not _adds_alike(group, statement):
            return self._refuse(group, statement, "the two sums take their elements in other orders")
        full = not isinstance(statement, Reduce) and statement.dims[: statement.rank] == group.dims[: group.rank]
        chunked = statement.chunk is not None or group.chunk is not None  # its loops can be shared either way
        chained = any(owner(indexed.node) in group.reductions for indexed in reads)
        aside = group.fast or chunked or (isinstance(statement, Check) and not chained)
        if group.has_reduction and (full or isinstance(statement, Scan)) and not aside:
            return self._refuse(group, statement, "the reduced axes are not the fastest in memory")
        opens = isinstance(statement, Reduce) and not (group.has_reduction or chunked)
        if opens and not self._reduces_fast_axes(statement, reads):
            return self._refuse(group, statement, "the reduced axes are not the fastest in memory")
        most = self.machine.kernel_operations
        if group.operations + operations > most:
            return self._refuse(group, statement, f"a kernel holds at most {most} operations")
        for indexed in reads if statement.domain.skew is None else ():
            makers = [n for n, other in enumerate(group.statements) if other.target is owner(indexed.node)]
            if makers and not any(_reads_in_place(indexed, group.statements[n], group, n, axes) for n in makers):
                return self._refuse(group, statement, "a value is read at another position than it is made at")
        late = group.late_scans(reads, group.level(reads) + statement.is_search)
        if late and (statement.is_search or statement.domain.skew is not None or not group.has_room_for(late)):
            return self._refuse(group, statement, "a running value is read in a later pass than that which makes it")
        if any(reaches(other, group) for other in before if other is not group):
            return self._refuse(group, statement, "another kernel has to run between the two")
        group.reasons.append(f"{_name(statement)} joins: same loops, values read where they are made")
        return axes

    def _refuse(self, group: Group, statement: Statement, reason: str) -> dict[int, int] | None:
        first = group.statements[0] if group.statements else statement
        self.refusals.append(Refusal(statement, first, reason))
        return None

    def _reduces_fast_axes(self, statement: Statement, reads: tuple[IndexedValue, ...]) -> bool:
        """Whether a reduction runs along rows: sums that round as their order says, others as they read."""
        order = statement.sums
        return (order is not None and order.along_rows) or self._reads_along_fast_axes(statement, reads)

    def _reads_along_fast_axes(self, statement: Statement, reads: tuple[IndexedValue, ...]) -> bool:
        """Whether one of the largest operands is read along a reduced axis by the innermost loop.

        What a nested reduction reads has a say only where nothing as large is read outside of it.
        """
        fastest: dict[tuple[int, bool], set[int]] = {}
        for indexed in reads:
            moves = self.layouts.directions(indexed.node, indexed.index, len(statement.dims))
            steps = [(abs(move), axis) for axis, move in enumerate(moves) if move and statement.dims[axis] > 1]
            if steps:
                own = all(axis < statement.rank for axis in axes_of(indexed.index))
                fastest.setdefault((len(steps), own), set()).add(min(steps)[1])
        inner = {*statement.reduced, *range(statement.rank, len(statement.dims))}
        return not fastest or bool(fastest[max(fastest)] & inner)


def _match_domain(group: Group, statement: Statement) -> dict[int, int] | None:
    same = {axis: axis for axis in range(len(statement.dims))}
    if statement.domain.skew is not None:
        return same
    if isinstance(statement, Reduce | Scan):
        if (statement.dims, statement.rank) != (group.dims, group.rank):
            return None
        if any(isinstance(other, Scan) for other in (*group.statements, statement)):
            return (
                same if group.reduced in ((), statement.reduced) and group.chunk is statement.chunk is None else None
            )
        if not group.has_reduction:
            return same if not _has_rows(group) else None
        return same if (statement.reduced, statement.chunk) == (group.reduced, group.chunk) else None
    if statement.dims[: statement.rank] == group.dims[: group.rank] and statement.dims[statement.rank :] in (
        (),
        group.dims[group.rank :],
    ):
        return same
    if group.chunk is not None or not (group.has_reduction or isinstance(statement, Check)):
        return None
    kept = group.kept_extents()
    own = [(axis, extent) for axis, extent in enumerate(statement.dims) if extent != 1]
    if statement.domain.nested:
        return None
    if [extent for _, extent in own] != [extent for _, extent in kept]:
        return None
    return {axis: place for (axis, _), (place, _) in zip(own, kept, strict=True)}


def _kernels(groups: Iterable[Group]) -> list[Group]:
    """Those of some groups that are no steps on whole arrays, the last first."""
    return sorted((group for group in groups if group.whole is None), key=_number, reverse=True)


def _number(group: Group) -> int:
    return group.number


def _adds_alike(group: Group, statement: Statement) -> bool:
    """Whether all sums that round would take their elements in one order."""
    orders = {one.sums for one in (*group.statements, statement)} - {None}
    return len({order and (order.axes, order.along_rows, order.run) for order in orders}) <= 1


def _has_rows(group: Group) -> bool:
    return any(len(axes) != len(group.dims) for axes in group.axes)


def _reads_in_place(indexed: IndexedValue, other: Statement, group: Group, number: int, axes: dict[int, int]) -> bool:
    if not axes_of(indexed.index) <= axes.keys():
        return False
    return relabel(indexed.index, axes) == other.made_at(group.axes[number])


def reaches(start: Group, goal: Group) -> bool:
    """Whether ``start`` needs ``goal``, directly or through others."""
    stack, seen = [start], {start}
    while stack:
        group = stack.pop()
        if goal in group.before:
            return True
        fresh = group.before - seen
        seen |= fresh
        stack.extend(fresh)
    return False


def _name(statement: Statement) -> str:
    where = statement.target.where
    return f"{statement.target.op.name} {list(statement.dims)} at {where}"


def evaluations(
    group_dims: tuple[int, ...],
    reduced: tuple[int, ...],
    index: Index,
    rank: int,
    machine: Machine,
    *,
    columns: bool = False,
) -> int:
    """How often a value read at this index is computed: once per step of the innermost loop it depends on.

    The axes from ``rank`` on belong to nested reductions. In ``columns`` the last kept axis is cut into blocks, and
    the reduced ones run between the loop over blocks and that over the columns of each.
    """
    kept = [axis for axis in range(rank) if axis not in reduced and not (columns and group_dims[axis] == 1)]
    column: list[int] = kept[-1:] if columns else []
    order = [*kept[: len(kept) - len(column)], *reduced, *column, *range(rank, len(group_dims))]
    used = [order.index(axis) for axis in axes_of(index)]
    if not used:
        return 1
    times: int = math.prod(group_dims[axis] for axis in order[: max(used) + 1])
    if not column or column[0] in order[: max(used) + 1]:
        return times
    return times * math.ceil(group_dims[column[0]] / machine.column_block)
