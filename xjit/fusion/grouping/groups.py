"""Merges statements into groups: one loop nest each, rows staying in cache between the passes over them."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from xjit.dataclass import dataclass, field
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.grouping.changes import Changes, waited_for
from xjit.fusion.grouping.legality import Joining, refusal
from xjit.fusion.grouping.open_groups import OpenGroup
from xjit.fusion.grouping.reasons import Refusal
from xjit.fusion.grouping.scan_skew import skewed
from xjit.fusion.grouping.siblings import Siblings
from xjit.fusion.plan import Step
from xjit.fusion.regions.checks import check_of, evaluates_condition
from xjit.fusion.regions.materialized import owner, view_chain
from xjit.fusion.regions.nested import with_nested
from xjit.fusion.regions.reads import ProducerSlice, Slices
from xjit.fusion.regions.tiny import unrolled
from xjit.fusion.statements import IndexedValue, Reduce, Scan, Statement
from xjit.ir.index_map import axes_of, relabel
from xjit.ir.node import Node
from xjit.machine import Machine


@dataclass(eq=False)
class Grouping:
    """Puts statements into groups, producers first. ``shown`` are views of materialised nodes that steps on whole
    arrays read. ``home`` says which groups make a value, ``walked`` which go through all of it.
    """

    slices: Slices
    layouts: Layouts
    machine: Machine
    shown: frozenset[Node] = frozenset()
    nested: frozenset[Node] = frozenset()
    groups: list[OpenGroup] = field(default_factory=list)
    home: dict[Node, list[OpenGroup]] = field(default_factory=dict)
    checks: dict[Node, list[OpenGroup]] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    walked: dict[Node, dict[OpenGroup, None]] = field(default_factory=dict)
    readers: dict[Node, dict[OpenGroup, None]] = field(default_factory=dict)
    siblings: Siblings = field(init=False)
    changes: Changes = field(init=False)

    def __post_init__(self) -> None:
        self.siblings = Siblings(self.machine)
        self.changes = Changes(self.slices, self.layouts)

    @property
    def leaves(self) -> AbstractSet[Node]:
        """The materialised nodes."""
        return self.slices.leaves

    def slice_of(self, statement: Statement) -> ProducerSlice:
        """The values that the statement inlines, down to the materialised nodes."""
        return self.slices.of(statement)

    def add_checks(self, nodes: Iterable[Node]) -> None:
        """Checks the conditions of nodes, each once: where every element of the node is needed, else by itself."""
        for node in nodes:
            if node not in self.checks:
                self.checks[node] = self._checked_inside(node) or self._checked_apart(node)

    def _checked_inside(self, node: Node) -> list[OpenGroup]:
        for group in sorted(self.walked.get(node, ()), key=_number):
            if group.rank != len(group.dims):
                continue
            statement = check_of(node, group.dims, group.conditions[node])
            found = self.slice_of(statement)
            before = self._before(statement, found)
            axes = self._placement(group, statement, found, before)
            if axes is not None:
                return [self._join(group, statement, axes, found, before)]
        return []

    def _checked_apart(self, node: Node) -> list[OpenGroup]:
        statement = check_of(node)
        return [] if 0 in statement.dims else [self.add(part) for part in self.parts(statement)]

    def add_whole(self, node: Node, step: Step, conditions: Iterable[Node] = (), after: Iterable[Node] = ()) -> None:
        """A step that is no kernel: it runs after what its operands need, and after their conditions are checked.
        Among these may be steps that fail themselves.

        It also runs after all that reads the values ``after``, and after the effect that comes before its own.
        """
        checked = [one for one in conditions if one.op.failure is not None]
        self.add_checks(checked)
        read = self.read_whole(node) if node.after is None else (*self.read_whole(node), node.after)
        before = {group for source in read for group in self.home.get(owner(source), ())}
        before.update(*(self.home.get(owner(one), ()) for one in conditions if one.op.failure is None))
        before.update(*(self.checks[one] for one in checked))
        readers = {one for value in after for one in self.readers.get(value, ())} - before
        group = OpenGroup(number=len(self.groups), whole=step)
        group.need(before | readers)
        if readers:
            self.changes.note(group, after, readers)
        self.groups.append(group)
        self.home.setdefault(node, []).append(group)
        for source in read:
            self.readers.setdefault(source, {})[group] = None

    def read_whole(self, node: Node) -> tuple[Node, ...]:
        """The arrays in memory that a step on whole arrays reads, as they are or through views."""
        return tuple(view_chain(source)[0] if source in self.shown else source for source in node.inputs)

    def parts(self, statement: Statement) -> tuple[Statement, ...]:
        """The statement itself, or one for each position along its short axes where that lets them share more."""
        statement = with_nested(statement, self.leaves, self.nested)
        found = self.slice_of(statement)
        across = isinstance(statement, Reduce) and not self._reads_along_fast_axes(statement, found.reads)
        # Sums that go row by row keep their short axes: these are vectors of accumulators.
        across = across and (statement.sums is None or statement.sums.along_rows)
        return unrolled(statement, found.visits, across=across)

    def add(self, statement: Statement) -> OpenGroup:
        """Finds the group that the statement joins, or opens one."""
        found = self.slice_of(statement)
        before = self._before(statement, found)
        for group in self._candidates(statement, found.reads, before):
            here = statement
            if group.has_scan and group.fast and group in before:
                here = skewed(statement, found, group.statements, group.dims, self.machine)
            seen = found if here is statement else self.slice_of(here)
            spared = self.changes.spared(group, here, before)
            axes = self._placement(group, here, seen, waited_for(group, before, spared) if spared else before)
            if axes is not None:
                self.changes.let_go(group, spared)
                return self._join(group, here, axes, seen, before)
        group = OpenGroup(number=len(self.groups), dims=statement.dims, rank=statement.rank)
        self.groups.append(group)
        return self._join(group, statement, {a: a for a in range(len(statement.dims))}, found, before)

    def _before(self, statement: Statement, found: ProducerSlice) -> set[OpenGroup]:
        """The groups that make what the statement reads, or changes."""
        read = (*[indexed.node for indexed in found.reads], *statement.updated)
        before = {group for node in read for group in self.home.get(owner(node), ())}
        for group in self.home.get(statement.target, ()):  # what covers a result and its other parts overlap
            parts = (other for other in group.statements if other.target is statement.target)
            if statement.domain.is_whole or any(other.domain.is_whole for other in parts):
                before.add(group)
        return before

    def _candidates(
        self, statement: Statement, reads: tuple[IndexedValue, ...], before: set[OpenGroup]
    ) -> Iterable[OpenGroup]:
        """The groups that may take the statement in: those that make what it reads, then its siblings, the last
        first.
        """
        read = dict.fromkeys(indexed.node for indexed in reads)
        siblings = set(self.siblings.of(statement, read))
        return (*_kernels(before), *_kernels(siblings - before)[: self.machine.most_siblings])

    def _join(
        self,
        group: OpenGroup,
        statement: Statement,
        axes: dict[int, int],
        found: ProducerSlice,
        before: set[OpenGroup],
    ) -> OpenGroup:
        if isinstance(statement, Reduce | Scan) and group.is_elementwise:
            group.reduced, group.chunk = statement.reduced, statement.chunk
            group.fast = self._reduces_fast_axes(statement, found.reads)
        group.takes_in(statement, axes, found)
        group.need(before - {group})
        self.siblings.add(group, statement, (indexed.node for indexed in found.reads))
        for indexed in found.reads:
            self.readers.setdefault(indexed.node, {})[group] = None
        for indexed in found.visits:
            if indexed.node.op.failure is not None:
                self._note_condition(group, IndexedValue(indexed.node, relabel(indexed.index, axes)))
        self.home.setdefault(statement.target, []).append(group)
        return group

    def _note_condition(self, group: OpenGroup, indexed: IndexedValue) -> None:
        """Remembers where the condition of a value may be checked."""
        if evaluates_condition(indexed, group.dims):
            group.conditions[indexed.node] = indexed.index
            self.walked.setdefault(indexed.node, {})[group] = None

    def _placement(
        self, group: OpenGroup, statement: Statement, found: ProducerSlice, before: set[OpenGroup]
    ) -> dict[int, int] | None:
        """The axes of the statement in the group's domain, or None with the reason noted."""
        axes = group.axes_for(statement)
        fast = not isinstance(statement, Reduce) or self._reduces_fast_axes(statement, found.reads)
        reason = refusal(Joining(group, statement, found, before, axes, fast, self.machine))
        if reason:
            self.refusals.append(Refusal(statement, group.statements[0], reason))
            return None
        group.reasons.append(f"{_name(statement)} joins: same loops, values read where they are made")
        return axes

    def _reduces_fast_axes(self, statement: Statement, reads: tuple[IndexedValue, ...]) -> bool:
        """Return whether a reduction runs along rows: sums that round as their order says, others as they read."""
        order = statement.sums
        return (order is not None and order.along_rows) or self._reads_along_fast_axes(statement, reads)

    def _reads_along_fast_axes(self, statement: Statement, reads: tuple[IndexedValue, ...]) -> bool:
        """Return whether one of the largest operands is read along a reduced axis by the innermost loop.

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


def _kernels(groups: Iterable[OpenGroup]) -> list[OpenGroup]:
    """Those of some groups that are no steps on whole arrays, the last first."""
    return sorted((group for group in groups if group.whole is None), key=_number, reverse=True)


def _number(group: OpenGroup) -> int:
    return group.number


def _name(statement: Statement) -> str:
    where = statement.target.where
    return f"{statement.target.op.name} {list(statement.dims)} at {where}"
