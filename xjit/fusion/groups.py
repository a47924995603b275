"""Merges units into regions: one loop nest each, rows staying in cache between the passes over them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from xjit.dataclass import dataclass, field
from xjit.fusion import cost
from xjit.fusion.checks import check_of, evaluates_condition
from xjit.fusion.lagging import behind
from xjit.fusion.layout import Layouts
from xjit.fusion.nested import with_nested
from xjit.fusion.plan import KernelStep, Pull, Region, Step, Unit
from xjit.fusion.reads import Walk, walk
from xjit.fusion.refusals import PARTS, Refusal
from xjit.fusion.siblings import Siblings
from xjit.fusion.tiny import unrolled
from xjit.fusion.units import owner, view_chain
from xjit.ir.index import Index, axes_of, relabel
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap, Lookup


@dataclass(eq=False)
class Group:
    """A region under construction, or a step on whole arrays, which nothing joins; they are numbered as they come."""

    number: int
    dims: tuple[int, ...] = ()
    rank: int = 0
    reduced: tuple[int, ...] = ()
    chunk: tuple[int, int] | None = None
    whole: Step | None = None
    units: list[Unit] = field(default_factory=list)
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
        """Whether some unit folds over axes."""
        return any(unit.is_reduction for unit in self.units)

    @property
    def columns(self) -> bool:
        """Whether it folds over slow axes of memory: many results at once, those along the last kept axis."""
        return self.has_reduction and not self.fast

    @property
    def reductions(self) -> frozenset[Node]:
        """The nodes that the group reduces to."""
        return frozenset(unit.target for unit in self.units if unit.is_reduction)

    def level(self, reads: Iterable[Pull]) -> int:
        """The number of the pass that has what is read: results of reductions are there after their own."""
        made = (owner(pull.node) for pull in reads)
        return max((self.levels[node] + (node in self.reductions) for node in made if node in self.levels), default=1)

    def scans_in(self, reads: Iterable[Pull]) -> frozenset[Node]:
        """The scans that are read, also through what stores values made of them."""
        made = (owner(pull.node) for pull in reads)
        return frozenset().union(*(self.scans.get(node, ()) for node in made if node not in self.reductions))

    def late_scans(self, reads: Iterable[Pull], level: int) -> frozenset[Node]:
        """Those of them that an earlier pass than this one makes."""
        return frozenset(node for node in self.scans_in(reads) if self.levels[node] < level)

    def has_room_for(self, scans: frozenset[Node]) -> bool:
        """Whether rows of these scans, and of those that wait already, are kept for later passes."""
        size = math.prod(self.dims[axis] for axis in self.reduced)
        return self.fast and size * sum(node.aval.dtype.itemsize for node in self.late | scans) <= cost.SCANNED_ROW

    def kept_extents(self) -> tuple[tuple[int, int], ...]:
        """(axis, extent) of the kept axes of more than one element."""
        kept = ((axis, self.dims[axis]) for axis in range(self.rank) if axis not in self.reduced)
        return tuple((axis, extent) for axis, extent in kept if extent != 1)

    def evaluations(self, index: Index) -> int:
        """How often a value read at this index is computed."""
        return evaluations(self.dims, self.reduced, index, self.rank, columns=self.columns)

    def freeze(self) -> Step:
        """The finished step."""
        if self.whole is not None:
            return self.whole
        return KernelStep((self.region(),))

    def region(self) -> Region:
        """The finished region."""
        units, axes, reasons = tuple(self.units), tuple(self.axes), tuple(self.reasons)
        return Region(self.dims, self.reduced, units, axes, self.chunk, reasons, self.rank)


@dataclass(eq=False)
class Grouping:
    """Puts units into groups, producers first. ``leaves`` are the materialised nodes, ``shown`` views of such that
    steps on whole arrays read.
    """

    leaves: frozenset[Node]
    layouts: Layouts
    shown: frozenset[Node] = frozenset()
    nested: frozenset[Node] = frozenset()
    groups: list[Group] = field(default_factory=list)
    home: dict[Node, list[Group]] = field(default_factory=dict)
    checks: dict[Node, list[Group]] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    walks: dict[Unit, Walk] = field(default_factory=dict)
    siblings: Siblings = field(default_factory=Siblings)

    def walk(self, unit: Unit) -> Walk:
        """What the unit pulls in, down to the materialised nodes."""
        found = self.walks.get(unit)
        if found is None:
            found = self.walks[unit] = walk(unit, self.leaves)
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
            unit = check_of(node, group.dims, group.conditions[node])
            found = self.walk(unit)
            before = self._before(unit, found)
            axes = self._placement(group, unit, found.reads, before, len(found.visits))
            if axes is not None:
                return [self._join(group, unit, axes, found, before - {group})]
        return []

    def _checked_apart(self, node: Node) -> list[Group]:
        unit = check_of(node)
        return [] if 0 in unit.dims else [self.add(part) for part in self.parts(unit)]

    def add_whole(self, node: Node, step: Step, conditions: Iterable[Node] = ()) -> None:
        """A step that is no kernel: it runs after what its operands need, and after their conditions are checked."""
        self.add_checks(conditions)
        before = {group for source in self.read_whole(node) for group in self.home.get(owner(source), ())}
        before.update(*(self.checks[one] for one in conditions))
        group = Group(len(self.groups), whole=step, before=before)
        self.groups.append(group)
        self.home.setdefault(node, []).append(group)

    def read_whole(self, node: Node) -> tuple[Node, ...]:
        """The arrays in memory that a step on whole arrays reads, as they are or through views."""
        return tuple(view_chain(source)[0] if source in self.shown else source for source in node.inputs)

    def parts(self, unit: Unit) -> tuple[Unit, ...]:
        """The unit itself, or one for each position along its short axes where that lets them share more."""
        unit = with_nested(unit, self.leaves, self.nested)
        found = self.walk(unit)
        across = unit.is_reduction and not self._reads_along_fast_axes(unit, found.reads)
        return unrolled(unit, found.visits, across=across)

    def add(self, unit: Unit) -> Group:
        """Finds the group that the unit joins, or opens one."""
        found = self.walk(unit)
        reads, before = found.reads, self._before(unit, found)
        for group in self._candidates(unit, reads, before):
            here = behind(unit, found, group.units, group.dims) if group.fast and group in before else unit
            seen = found if here is unit else self.walk(here)
            axes = self._placement(group, here, seen.reads, before, len(seen.visits))
            if axes is not None:
                return self._join(group, here, axes, seen, before - {group})
        group = Group(len(self.groups), unit.dims, unit.rank)
        self.groups.append(group)
        return self._join(group, unit, {a: a for a in range(len(unit.dims))}, found, before)

    def _before(self, unit: Unit, found: Walk) -> set[Group]:
        """The groups that make what the unit reads."""
        before = {group for pull in found.reads for group in self.home.get(owner(pull.node), ())}
        for group in self.home.get(unit.target, ()):  # what covers a result and its other parts overlap
            parts = (other for other in group.units if other.target is unit.target)
            if unit.covers_target or any(other.covers_target for other in parts):
                before.add(group)
        return before

    def _candidates(self, unit: Unit, reads: tuple[Pull, ...], before: set[Group]) -> Iterable[Group]:
        """The groups that may take the unit in: those that make what it reads, then its siblings, the last first."""
        read = dict.fromkeys(pull.node for pull in reads)
        if unit.is_check:
            siblings = {group for group in self.groups if not group.reads.keys().isdisjoint(read)}
        else:
            siblings = set(self.siblings.of(unit, read))
        return (*_kernels(before), *_kernels(siblings - before))

    def _join(self, group: Group, unit: Unit, axes: dict[int, int], found: Walk, before: set[Group]) -> Group:
        if (unit.is_reduction or unit.is_scan) and all(other.is_plain or other.is_check for other in group.units):
            group.reduced, group.chunk = unit.reduced, unit.chunk
            group.fast = self._reduces_fast_axes(unit, found.reads)
        level = group.levels[unit.target] = group.level(found.reads)
        group.late |= group.late_scans(found.reads, level)
        group.scans[unit.target] = frozenset({unit.target}) if unit.is_scan else group.scans_in(found.reads)
        group.units.append(unit)
        group.axes.append(axes)
        group.reads.update(dict.fromkeys(pull.node for pull in found.reads))
        self.siblings.add(group, unit, (pull.node for pull in found.reads))
        for pull in found.visits:
            placed = Pull(pull.node, relabel(pull.index, axes)) if pull.node.op.failure is not None else pull
            if evaluates_condition(placed, group.dims):
                group.conditions[pull.node] = placed.index
        group.before |= before
        group.operations += len(found.visits)
        self.home.setdefault(unit.target, []).append(group)
        return group

    def _placement(
        self, group: Group, unit: Unit, reads: tuple[Pull, ...], before: set[Group], operations: int
    ) -> dict[int, int] | None:
        """The axes of the unit in the group's domain, or None with the reason noted."""
        axes = _match_domain(group, unit)
        if any(other.target is unit.target and other.covers_target for other in group.units):
            return self._refuse(group, unit, PARTS)
        if axes is None:
            return self._refuse(group, unit, "the loops run over other extents or other reduced axes")
        if not _adds_alike(group, unit):
            return self._refuse(group, unit, "the two sums take their elements in other orders")
        full = not unit.is_reduction and unit.dims[: unit.rank] == group.dims[: group.rank]
        chunked = unit.chunk is not None or group.chunk is not None  # its loops can be shared either way
        chained = any(owner(pull.node) in group.reductions for pull in reads)
        aside = group.fast or chunked or (unit.is_check and not chained)
        if group.has_reduction and (full or unit.is_scan) and not aside:
            return self._refuse(group, unit, "the reduced axes are not the fastest in memory")
        if not (group.has_reduction or chunked) and unit.is_reduction and not self._reduces_fast_axes(unit, reads):
            return self._refuse(group, unit, "the reduced axes are not the fastest in memory")
        if group.operations + operations > cost.KERNEL_OPERATIONS:
            return self._refuse(group, unit, f"a kernel holds at most {cost.KERNEL_OPERATIONS} operations")
        for pull in reads if unit.lag is None else ():
            makers = [n for n, other in enumerate(group.units) if other.target is owner(pull.node)]
            if makers and not any(_reads_in_place(pull, group.units[n], group, n, axes) for n in makers):
                return self._refuse(group, unit, "a value is read at another position than it is made at")
        late = group.late_scans(reads, group.level(reads) + unit.is_search)
        if late and (unit.is_search or unit.lag is not None or not group.has_room_for(late)):
            return self._refuse(group, unit, "a running value is read in a later pass than that which makes it")
        if any(reaches(other, group) for other in before if other is not group):
            return self._refuse(group, unit, "another kernel has to run between the two")
        group.reasons.append(f"{_name(unit)} joins: same loops, values read where they are made")
        return axes

    def _refuse(self, group: Group, unit: Unit, reason: str) -> dict[int, int] | None:
        first = group.units[0] if group.units else unit
        self.refusals.append(Refusal(unit, first, reason))
        return None

    def _reduces_fast_axes(self, unit: Unit, reads: tuple[Pull, ...]) -> bool:
        """Whether a reduction runs along rows: sums that round as their order says, others as they read."""
        order = unit.sums
        return (order is not None and order.along_rows) or self._reads_along_fast_axes(unit, reads)

    def _reads_along_fast_axes(self, unit: Unit, reads: tuple[Pull, ...]) -> bool:
        """Whether one of the largest operands is read along a reduced axis by the innermost loop.

        What a nested reduction reads has a say only where nothing as large is read outside of it.
        """
        fastest: dict[tuple[int, bool], set[int]] = {}
        for pull in reads:
            moves = self.layouts.directions(pull.node, pull.index, len(unit.dims))
            steps = [(abs(move), axis) for axis, move in enumerate(moves) if move and unit.dims[axis] > 1]
            if steps:
                own = all(axis < unit.rank for axis in axes_of(pull.index))
                fastest.setdefault((len(steps), own), set()).add(min(steps)[1])
        inner = {*unit.reduced, *range(unit.rank, len(unit.dims))}
        return not fastest or bool(fastest[max(fastest)] & inner)


def _match_domain(group: Group, unit: Unit) -> dict[int, int] | None:
    same = {axis: axis for axis in range(len(unit.dims))}
    if unit.lag is not None:
        return same
    if unit.is_reduction or unit.is_scan:
        if (unit.dims, unit.rank) != (group.dims, group.rank):
            return None
        if any(other.is_scan for other in group.units) or unit.is_scan:
            return same if group.reduced in ((), unit.reduced) and group.chunk is unit.chunk is None else None
        if not group.has_reduction:
            return same if not _has_rows(group) else None
        return same if (unit.reduced, unit.chunk) == (group.reduced, group.chunk) else None
    if unit.dims[: unit.rank] == group.dims[: group.rank] and unit.dims[unit.rank :] in (
        (),
        group.dims[group.rank :],
    ):
        return same
    if group.chunk is not None or not (group.has_reduction or unit.is_check):
        return None
    kept = group.kept_extents()
    own = [(axis, extent) for axis, extent in enumerate(unit.dims) if extent != 1]
    if unit.nested:
        return None
    if [extent for _, extent in own] != [extent for _, extent in kept]:
        return None
    return {axis: place for (axis, _), (place, _) in zip(own, kept, strict=True)}


def _kernels(groups: Iterable[Group]) -> list[Group]:
    """Those of some groups that are no steps on whole arrays, the last first."""
    return sorted((group for group in groups if group.whole is None), key=_number, reverse=True)


def _number(group: Group) -> int:
    return group.number


def _adds_alike(group: Group, unit: Unit) -> bool:
    """Whether all sums that round would take their elements in one order."""
    orders = {one.sums for one in (*group.units, unit)} - {None}
    return len({order and (order.axes, order.along_rows, order.run) for order in orders}) <= 1


def _has_rows(group: Group) -> bool:
    return any(len(axes) != len(group.dims) for axes in group.axes)


def _reads_in_place(pull: Pull, other: Unit, group: Group, number: int, axes: dict[int, int]) -> bool:
    if not axes_of(pull.index) <= axes.keys():
        return False
    return relabel(pull.index, axes) == made_at(other, group.axes[number])


def made_at(unit: Unit, axes: dict[int, int]) -> Index | None:
    """The index, in the region's axes, at which the unit's value is made; None when it is stored elsewhere."""
    places = unit.kept if unit.is_reduction else range(unit.rank)
    if not unit.makes_target:
        return None
    fixed, origin = dict(unit.fixed), unit.origin or (0,) * len(unit.dims)
    index = tuple(
        AxisMap(None, 1, fixed.get(axis, 0) + origin[axis])
        if unit.dims[axis] == 1
        else AxisMap(axes[axis], 1, origin[axis])
        for axis in places
    )
    number = unit.chunk_number
    if number is None:
        return index
    return (*index, AxisMap(None, 1, 0, (Lookup(number.node, relabel(number.index, axes)),)))


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


def _name(unit: Unit) -> str:
    where = unit.target.where
    return f"{unit.target.op.name} {list(unit.dims)} at {where}"


def evaluations(
    region_dims: tuple[int, ...], reduced: tuple[int, ...], index: Index, rank: int, *, columns: bool = False
) -> int:
    """How often a value read at this index is computed: once per step of the innermost loop it depends on.

    The axes from ``rank`` on belong to nested reductions. In ``columns`` the last kept axis is cut into blocks, and
    the reduced ones run between the loop over blocks and that over the columns of each.
    """
    kept = [axis for axis in range(rank) if axis not in reduced and not (columns and region_dims[axis] == 1)]
    column: list[int] = kept[-1:] if columns else []
    order = [*kept[: len(kept) - len(column)], *reduced, *column, *range(rank, len(region_dims))]
    used = [order.index(axis) for axis in axes_of(index)]
    if not used:
        return 1
    times: int = math.prod(region_dims[axis] for axis in order[: max(used) + 1])
    if not column or column[0] in order[: max(used) + 1]:
        return times
    return times * math.ceil(region_dims[column[0]] / cost.COLUMN_BLOCK)
