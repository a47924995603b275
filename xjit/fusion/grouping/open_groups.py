"""Fusion groups under construction: statements that have joined so far, and what a further one asks of them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from xjit.dataclass import dataclass, field
from xjit.fusion import cost
from xjit.fusion.grouping.group_dependence import Dependent
from xjit.fusion.plan import FusionGroup, KernelStep, Step
from xjit.fusion.regions.materialized import owner
from xjit.fusion.regions.reads import ProducerSlice
from xjit.fusion.statements import Check, IndexedValue, Reduce, Scan, Statement, Store, Update
from xjit.ir.index_map import Index, axes_of, relabel
from xjit.ir.node import Node
from xjit.machine import Machine


@dataclass(eq=False)
class OpenGroup(Dependent):
    """A group under construction, or a step on whole arrays, which nothing joins; they are numbered as they come.

    ``makers`` says which statements make a value, ``levels`` in which pass, and ``scans`` from which scans it comes.
    ``values`` are what its statements inline, but for those that are still ``waiting`` to be counted; ``stale`` are
    results that are made of what a later statement has changed.
    """

    number: int = 0
    dims: tuple[int, ...] = ()
    rank: int = 0
    reduced: tuple[int, ...] = ()
    chunk: tuple[int, int] | None = None
    whole: Step | None = None
    statements: list[Statement] = field(default_factory=list)
    axes: list[dict[int, int]] = field(default_factory=list)
    makers: dict[Node, list[int]] = field(default_factory=dict)
    reductions: frozenset[Node] = frozenset()
    conditions: dict[Node, Index] = field(default_factory=dict)
    levels: dict[Node, int] = field(default_factory=dict)
    scans: dict[Node, frozenset[Node]] = field(default_factory=dict)
    late: frozenset[Node] = frozenset()
    stale: frozenset[Node] = frozenset()
    orders: frozenset[object] = frozenset()
    values: set[IndexedValue] | None = None
    waiting: list[tuple[tuple[IndexedValue, ...], dict[int, int]]] = field(default_factory=list)
    limits: dict[int, tuple[Node, int]] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    fast: bool = True
    operations: int = 0
    is_elementwise: bool = True
    has_scan: bool = False
    changes: bool = False
    has_rows: bool = False

    @property
    def has_reduction(self) -> bool:
        """Return whether some statement folds over axes."""
        return bool(self.reductions)

    @property
    def columns(self) -> bool:
        """Return whether it folds over slow axes of memory: many results at once, those along the last kept axis."""
        return self.has_reduction and not self.fast

    def takes_in(self, statement: Statement, axes: dict[int, int], found: ProducerSlice) -> None:
        """Adds a statement whose axes are these of the group's."""
        level = self.levels[statement.target] = self.level(found.reads)
        is_scan = isinstance(statement, Scan)
        if is_scan or self.has_scan:
            self.late |= self.late_scans(found.reads, level)
            self.scans[statement.target] = frozenset({statement.target}) if is_scan else self.scans_in(found.reads)
        self.makers.setdefault(statement.target, []).append(len(self.statements))
        self.statements.append(statement)
        self.axes.append(axes)
        self.limits.update({axes[axis]: stop for axis, stop in statement.domain.stops.items()})
        self.orders |= orders_of(statement)
        self.operations += len(found.visits)
        self.waiting.append((found.visits, axes))
        if isinstance(statement, Reduce):
            self.reductions |= {statement.target}
        self.is_elementwise &= isinstance(statement, Store | Check)
        self.has_scan |= is_scan
        self.changes |= isinstance(statement, Update)
        self.has_rows |= len(axes) != len(self.dims)

    def operations_with(self, found: ProducerSlice, axes: dict[int, int], most: int) -> int:
        """The number of operations of the group with those of one more statement; exact beyond ``most``.

        What several statements of a group without passes read at one place is computed once.
        """
        operations = self.operations + len(found.visits)
        if operations <= most or not self.is_elementwise:
            return operations
        values = self.values = self.values or set()
        while self.waiting:
            more, places = self.waiting.pop()
            values.update(placed(more, places))
        return len(values) + len(set(placed(found.visits, axes)) - values)

    def level(self, reads: Iterable[IndexedValue]) -> int:
        """The number of the pass that has what is read: results of reductions are there after their own."""
        levels, reductions, level = self.levels, self.reductions, 0
        for indexed in reads if levels else ():
            node = owner(indexed.node)
            if node in levels:
                level = max(level, levels[node] + (node in reductions))
        return level or 1

    def scans_in(self, reads: Iterable[IndexedValue]) -> frozenset[Node]:
        """The scans that are read, also through what stores values made of them."""
        if not self.has_scan:
            return frozenset()
        made = (owner(indexed.node) for indexed in reads)
        return frozenset().union(*(self.scans.get(node, ()) for node in made if node not in self.reductions))

    def late_scans(self, reads: Iterable[IndexedValue], level: int) -> frozenset[Node]:
        """Those of them that an earlier pass than this one makes."""
        if not self.has_scan:
            return frozenset()
        return frozenset(node for node in self.scans_in(reads) if self.levels[node] < level)

    def has_room_for(self, scans: frozenset[Node], machine: Machine) -> bool:
        """Return whether rows of these scans, and of those that wait already, are kept for later passes."""
        size = math.prod(self.dims[axis] for axis in self.reduced)
        row = size * sum(node.aval.dtype.itemsize for node in self.late | scans)
        return self.fast and row <= machine.scanned_row_bytes

    def kept_extents(self) -> tuple[tuple[int, int], ...]:
        """(axis, extent) of the kept axes of more than one element."""
        kept = ((axis, self.dims[axis]) for axis in range(self.rank) if axis not in self.reduced)
        return tuple((axis, extent) for axis, extent in kept if extent != 1)

    def axes_for(self, statement: Statement) -> dict[int, int] | None:
        """For each axis of a statement that of the group; None where its loops are not the group's."""
        same = {axis: axis for axis in range(len(statement.dims))}
        if statement.domain.skew is not None:
            return same
        if self.changes or isinstance(statement, Update):
            return same if self._updates_like(statement) else None
        if isinstance(statement, Reduce | Scan):
            return same if self._folds_like(statement) else None
        rank = statement.rank
        if statement.dims[:rank] == self.dims[: self.rank] and statement.dims[rank:] in ((), self.dims[self.rank :]):
            return same
        if self.chunk is not None or not (self.has_reduction or isinstance(statement, Check)):
            return None
        kept = self.kept_extents()
        ends = statement.domain.stops  # an axis that may end before its only position needs a loop, too
        own = [(axis, extent) for axis, extent in enumerate(statement.dims) if extent != 1 or axis in ends]
        if statement.domain.nested or [extent for _, extent in own] != [extent for _, extent in kept]:
            return None
        return {axis: place for (axis, _), (place, _) in zip(own, kept, strict=True)}

    def _updates_like(self, statement: Statement) -> bool:
        """Return whether a statement changes elements at the very places of those that the group changes."""
        return isinstance(statement, Update) and all(
            isinstance(other, Update)
            and other.place == statement.place
            and other.dims == statement.dims
            and other.updated[0].aval.shape == statement.updated[0].aval.shape
            for other in self.statements
        )

    def _folds_like(self, statement: Reduce | Scan) -> bool:
        """Return whether a reduction or scan runs over the group's axes, along those that the group reduces."""
        if (statement.dims, statement.rank) != (self.dims, self.rank):
            return False
        if self.has_scan or isinstance(statement, Scan):
            return self.reduced in ((), statement.reduced) and self.chunk is statement.chunk is None
        if not self.has_reduction:
            return not self.has_rows
        return (statement.reduced, statement.chunk) == (self.reduced, self.chunk)

    def makes_at(self, indexed: IndexedValue, axes: dict[int, int]) -> bool:
        """Return whether a value is read where the group makes it, or not made by the group at all."""
        makers = self.makers.get(owner(indexed.node))
        if makers is None:
            return True
        if not axes_of(indexed.index) <= axes.keys():
            return False
        index = relabel(indexed.index, axes)
        return any(index == self.statements[number].made_at(self.axes[number]) for number in makers)

    def evaluations(self, index: Index, machine: Machine) -> int:
        """The number of times that a value read at this index is computed."""
        return cost.evaluations(self.dims, self.reduced, index, self.rank, machine, columns=self.columns)

    def freeze(self) -> Step:
        """The finished step."""
        if self.whole is not None:
            return self.whole
        return KernelStep((self.fused(),))

    def fused(self) -> FusionGroup:
        """The finished group."""
        statements, axes, reasons = tuple(self.statements), tuple(self.axes), tuple(self.reasons)
        return FusionGroup(self.dims, self.reduced, statements, axes, self.chunk, reasons, self.rank)


def placed(values: Iterable[IndexedValue], axes: dict[int, int]) -> Iterable[IndexedValue]:
    """The values in the axes of a group."""
    if all(axis == place for axis, place in axes.items()):
        return values
    return [IndexedValue(indexed.node, relabel(indexed.index, axes)) for indexed in values]


def orders_of(statement: Statement) -> frozenset[object]:
    """In which order a sum that rounds takes its elements; none for others."""
    order = statement.sums
    return frozenset() if order is None else frozenset({(order.axes, order.along_rows, order.run)})
