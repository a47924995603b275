"""Overlapped tiling: stencils one behind the other run a tile at a time; what is between them stays in scratch.

A kernel that is read by a later one at constant distances along the slowest axes, and by nothing else, becomes a
stage of the later one. Of two stencils of one row to each side, a tile of 30 rows takes 32 rows of the first:

    for tile in tiles of the result:
        rows 30 * tile to 30 * tile + 32 of the first stencil, into scratch
        rows 30 * tile to 30 * tile + 30 of the second, out of it

Neighbouring tiles compute the rows between them twice, which the cost model weighs against a round trip through
memory. Tiles are blocks of whole rows, or of pieces of rows where that leaves less to compute twice.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from xjit.dataclass import dataclass
from xjit.fusion import cost
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.grouping.pulled_in import pulled_in
from xjit.fusion.plan import FusionGroup, KernelStep, Step, Tiling
from xjit.fusion.regions.materialized import owner
from xjit.fusion.regions.reads import Slices
from xjit.fusion.statements import IndexedValue, Output, Scan, Statement, Store
from xjit.ir.index_map import axes_of, relabel
from xjit.ir.node import Node
from xjit.machine import Machine

Halo: TypeAlias = "tuple[tuple[int, int], ...]"
"""The distances before the first and behind the last position of a tile, along each tiled axis."""


@dataclass(frozen=True, slots=True, eq=False)
class Tiled:
    """The steps, the values that still need a buffer, what was decided, in words, and what statements inline."""

    steps: tuple[Step, ...]
    stored: frozenset[Node]
    reasons: tuple[str, ...]
    slices: Slices


def in_tiles(
    steps: Sequence[Step],
    stored: frozenset[Node],
    elsewhere: frozenset[Node],
    slices: Slices,
    layouts: Layouts,
    machine: Machine,
    changed: frozenset[Node] = frozenset(),
) -> Tiled:
    """Steps in which kernels are stages of the kernels that read them.

    ``stored`` are the values with a buffer, ``elsewhere`` those that something else than kernels reads, ``leaves``
    those at which inlining stops. What reads values that are ``changed`` later stays where it is.
    """
    if sum(isinstance(step, KernelStep) for step in steps) < 2:
        return Tiled(tuple(steps), stored, (), slices)
    chains = _Chains(steps, elsewhere, layouts, slices, machine, changed)
    found: dict[int, KernelStep] = {}
    gone: set[int] = set()
    for number in reversed(range(len(steps))):
        if number not in gone:
            members, step = chains.ending_in(number)
            if step is not None:
                found[number] = step
                gone |= members - {number}
    windows, again = list[Node](), list[Node]()
    for number, step in found.items():
        assert step.tiling is not None
        alone = pulled_in(step, slices, machine)
        (windows if alone is None else again).extend(step.tiling.values)
        found[number] = alone or step
    kept = tuple(found.get(number, step) for number, step in enumerate(steps) if number not in gone)
    reasons = (
        *(f"{node.op.name} at {node.where} stays in scratch, a tile at a time" for node in windows),
        *(f"{node.op.name} at {node.where} is computed at each place that reads it" for node in again),
    )
    return Tiled(kept, stored - {*windows, *again}, reasons, slices.with_leaves(slices.leaves - {*again}))


@dataclass(frozen=True, slots=True, eq=False)
class _Makers:
    """Kernels that make values together, those that read these, and if nothing speaks against tiles of them."""

    kernels: frozenset[int]
    readers: frozenset[int]
    may_be_stages: bool


class _Chains:
    """Looks for kernels that can be stages of others."""

    def __init__(
        self,
        steps: Sequence[Step],
        elsewhere: frozenset[Node],
        layouts: Layouts,
        slices: Slices,
        machine: Machine,
        changed: frozenset[Node],
    ) -> None:
        self._steps = steps
        self._table = cost.CostTable(slices.leaves, machine)
        self._elsewhere = elsewhere
        self._slices = slices
        self._layouts = layouts
        self._early: set[int] = set()
        self._together_with: dict[int, _Makers] = {}
        self._makers: dict[Node, set[int]] = {}
        self._readers: dict[Node, set[int]] = {}
        for number, step in enumerate(steps):
            if isinstance(step, KernelStep):
                for statement in step.statements:
                    self._makers.setdefault(statement.target, set()).add(number)
                    for indexed in self._slices.of(statement).reads:
                        self._readers.setdefault(owner(indexed.node), set()).add(number)
                        if indexed.node in changed:
                            self._early.add(number)
        self._sources: dict[int, set[int]] = {}
        for node, readers in self._readers.items():
            for number in readers:
                self._sources.setdefault(number, set()).update(self._makers.get(node, ()))

    def ending_in(self, last: int) -> tuple[set[int], KernelStep | None]:
        """The kernels that become stages of a kernel, with itself, and all of them as one kernel."""
        members, best = {last}, None
        refused: set[int] = set()
        if not _may_be_tiled(self._steps[last], last=True):
            return members, best
        while True:
            fresh = next(self._producers(members, refused), None)
            if fresh is None:
                return members, best
            step = self._together(members | fresh)
            if step is None:
                refused |= fresh
            else:
                members, best = members | fresh, step

    def _producers(self, members: set[int], refused: set[int]) -> Iterator[set[int]]:
        """Sets of kernels that make values which only the members read, nearest first."""
        near = set().union(*(self._sources.get(member, ()) for member in members)) - members - refused
        for number in sorted(near, reverse=True):
            found = self._makers_together(number)
            if found.may_be_stages and found.kernels.isdisjoint(members | refused) and found.readers <= members:
                yield set(found.kernels)

    def _makers_together(self, number: int) -> _Makers:
        """A kernel and those that make other parts of the same values; looked for once for all of these."""
        if number not in self._together_with:
            kernels, targets, fresh = set[int](), set[Node](), {number}
            while fresh:
                kernels |= fresh
                new = {statement.target for one in fresh for statement in _statements(self._steps[one])} - targets
                targets |= new
                fresh = set().union(*(self._makers[node] for node in new)) - kernels
            found = self._as_makers(frozenset(kernels), targets)
            self._together_with |= dict.fromkeys(kernels, found)
        return self._together_with[number]

    def _as_makers(self, kernels: frozenset[int], targets: set[Node]) -> _Makers:
        readers = frozenset().union(*(self._readers.get(node, ()) for node in targets)) - kernels
        tiled = all(_may_be_tiled(self._steps[one]) for one in kernels)
        seen = not kernels.isdisjoint(self._early) or not targets.isdisjoint(self._elsewhere)
        return _Makers(kernels, readers, tiled and bool(readers) and not seen)

    def _together(self, members: set[int]) -> KernelStep | None:
        """One kernel of all members, or None where they cannot be tiled or it does not pay."""
        last = max(members)
        made = {statement.target for number in members for statement in _statements(self._steps[number])}
        made -= {statement.target for statement in _statements(self._steps[last])}
        if sum(node.aval.nbytes for node in made) < self._table.machine.tiled_bytes:
            return None
        whole = [group for number in sorted(members) for group in _groups(self._steps[number])]
        groups = tuple(part for group in whole for part in _of_one_origin(group))
        operations = sum(len(self._slices.of(statement).visits) for group in groups for statement in group.statements)
        if operations > self._table.machine.kernel_operations:
            return None
        results = {statement.target for statement in _statements(self._steps[last]) if isinstance(statement, Store)}
        inner = {statement.target for group in groups for statement in group.statements} - results
        if not all(self._scans_memory(statement, made) for group in groups for statement in group.statements):
            return None
        if not all(
            self._is_regular(statement)
            for group in groups
            for statement in group.statements
            if statement.target in inner
        ):
            return None
        slowest = self._slowest_axes(_statements(self._steps[last])[0].target)
        chains = [self._chain(groups, results, axes) for axes in (slowest[:1], slowest)]
        found = [tiling for chain in chains if chain is not None for tiling in chain.tilings()]
        _, best = min(found, key=operator.itemgetter(0), default=(0.0, None))
        return None if best is None else KernelStep(groups, best)

    def _slowest_axes(self, node: Node) -> tuple[int, ...]:
        """The two axes along which neighbours lie furthest apart in memory."""
        strides = self._layouts.strides(node)
        return tuple(sorted(range(len(strides)), key=lambda axis: -strides[axis])[:2])

    def _scans_memory(self, statement: Statement, made: set[Node]) -> bool:
        """Return whether the statement is no scan, or one of what no kernel in the tiles makes."""
        if not isinstance(statement, Scan):
            return True
        return all(owner(indexed.node) not in made for indexed in self._slices.of(statement).reads)

    def _is_regular(self, statement: Statement) -> bool:
        """Return whether the statement stores its elements where the value as a whole has them."""
        strides = self._layouts.strides(statement.target)
        if not isinstance(statement, Store | Scan) or statement.output.strides != strides:
            return False
        same = statement.values[0].node.aval.dtype == statement.target.aval.dtype
        return same and statement.output == Output(statement.target, strides).moved(statement.domain.corner)

    def _chain(self, groups: tuple[FusionGroup, ...], results: set[Node], axes: tuple[int, ...]) -> _Chain | None:
        """The groups with how far each has to run, or None where that is not the same everywhere.

        From the last group back, every read of what the kernel makes widens the halo of its makers, all of which
        run before: a window holds all that is read of it. Refused is a read of what runs in the same group or a
        later one, as two parts of one loop nest may have read each other where they now lie in different tiles, and
        one of a result, which other tiles write.
        """
        if any({*axes} & {*group.reduced} for group in groups):
            return None
        origins = [_origin(group, axes) for group in groups]
        if not axes or None in origins:
            return None
        extents = _extents(groups, results, axes)
        if len(extents) != 1:
            return None
        none: Halo = ((0, 0),) * len(axes)
        inner: dict[Node, Halo] = {}
        halos: list[Halo] = []
        made = {statement.target for group in groups for statement in group.statements} - results
        settled = set(results)  # how far they run is settled: nothing more can be asked of them
        for group, origin in zip(reversed(groups), reversed(origins), strict=True):
            own = [
                none if statement.target in results else inner.get(statement.target) for statement in group.statements
            ]
            halo = _hull(one for one in own if one is not None)
            assert origin is not None
            if halo is None:
                return None
            halos.insert(0, halo)
            settled.update(statement.target for statement in group.statements)
            for at in self._reads_of_memory(group):
                if at.node in settled:
                    return None
                if at.node in made:
                    distances = _distances(at, group, axes, origin)
                    if distances is None:
                        return None
                    moved = tuple((low + d, high + d) for (low, high), d in zip(halo, distances, strict=True))
                    inner[at.node] = _hull([moved, inner.get(at.node, moved)]) or moved
        windows = _windows(groups, halos, made & inner.keys())  # running values may be read where they are made alone
        return _Chain(axes, min(extents), windows, self._table)

    def _reads_of_memory(self, group: FusionGroup) -> Iterator[IndexedValue]:
        """The reads of a group, in its own axes, without those of values that it makes at that very place."""
        here = {
            IndexedValue(statement.target, index)
            for statement, places in zip(group.statements, group.axes, strict=True)
            if (index := statement.made_at(places)) is not None
        }
        for statement, places in zip(group.statements, group.axes, strict=True):
            placed = (
                IndexedValue(indexed.node, relabel(indexed.index, places))
                for indexed in self._slices.of(statement).reads
            )
            yield from (at for at in placed if at not in here)


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """Groups one behind the other: the extents of the results along tiled axes, and how far the windows of the values
    in between extend beyond a tile.
    """

    axes: tuple[int, ...]
    dims: tuple[int, ...]
    windows: Mapping[Node, Halo]
    table: cost.CostTable

    def tilings(self) -> Iterator[tuple[float, Tiling]]:
        """Tiles that pay, with what they compute twice: those with the least of it whose windows fit into scratch."""
        machine = self.table.machine
        if sum(node.aval.nbytes for node in self.windows) < machine.tiled_bytes:
            return
        fitting = [sizes for widths in self._widths() if (sizes := self._deepest(widths)) is not None]
        best = min(fitting, key=self._repeated, default=None)
        saved = machine.round_trip_cost * sum(node.aval.size for node in self.windows)
        if best is not None and self._repeated(best) <= saved:
            yield self._repeated(best), Tiling(self.axes, best, tuple(self.windows))

    def _widths(self) -> Iterator[tuple[int, ...]]:
        """Extents of tiles along all axes but the first; what lies behind each other in them is long."""
        spans = []
        least = -(-self.table.machine.narrowest_tile // max(min(map(self._behind, self.windows), default=1), 1))
        for size in self.dims[1:]:
            halves = itertools.takewhile(lambda width: width >= least, _halves(size))
            spans.append(list(halves) or [size])
        return itertools.product(*spans)

    def _deepest(self, widths: tuple[int, ...]) -> tuple[int, ...] | None:
        """The largest tile of these widths."""
        low, high = 0, max(-(-self.dims[0] // self.table.machine.least_tiles), 1)
        while low < high:
            middle = (low + high + 1) // 2
            if self._bytes((middle, *widths)) <= self.table.machine.tile_bytes:
                low = middle
            else:
                high = middle - 1
        return (low, *widths) if low else None

    def _bytes(self, sizes: tuple[int, ...]) -> int:
        return sum(math.prod(self._shape(node, sizes)) * node.aval.dtype.itemsize for node in self.windows)

    def _shape(self, node: Node, sizes: tuple[int, ...]) -> Sequence[int]:
        """The extents of the part of a value that a tile needs."""
        shape = list(node.aval.shape)
        for axis, size, (before, behind) in zip(self.axes, sizes, self.windows[node], strict=True):
            shape[axis] = size + behind - before
        return shape

    def _behind(self, node: Node) -> int:
        """The elements of a value at one position along the tiled axes."""
        return math.prod(size for axis, size in enumerate(node.aval.shape) if axis not in self.axes)

    def _repeated(self, sizes: tuple[int, ...]) -> float:
        """The work that tiles of these sizes do more often than once, in additions."""
        total = 0.0
        for node, halo in self.windows.items():
            ratio = 1.0
            for size, (low, high), axis in zip(sizes, halo, self.axes, strict=True):
                extent = node.aval.shape[axis]
                ratio *= (size + high - low) / size if size < extent else 1.0
            total += (ratio - 1.0) * node.aval.size * self.table.total(node)
        return total


def _halves(size: int) -> Iterator[int]:
    while size > 0:
        yield size
        size = 0 if size == 1 else -(-size // 2)


def _statements(step: Step) -> tuple[Statement, ...]:
    return step.statements if isinstance(step, KernelStep) else ()


def _groups(step: Step) -> tuple[FusionGroup, ...]:
    return step.groups if isinstance(step, KernelStep) else ()


def _may_be_tiled(step: Step, *, last: bool = False) -> bool:
    """Return whether a step is a kernel that makes every element by itself.

    The ``last`` one of a chain may write to what is there before, which no stage in front of it reads.
    """
    groups = _groups(step)
    return bool(groups) and all(
        isinstance(statement, Store | Scan)
        and not (statement.domain.nested or statement.domain.skew or (statement.updated and not last))
        and group.chunk is None
        for group in groups
        for statement in group.statements
    )


def _of_one_origin(group: FusionGroup) -> Iterator[FusionGroup]:
    """A group for the statements of each origin: parts of one size that are made together lie in different tiles."""
    apart: dict[tuple[int, ...], list[int]] = {}
    for number, statement in enumerate(group.statements):
        apart.setdefault(statement.domain.begin, []).append(number)
    for numbers in apart.values():
        statements, axes = tuple(group.statements[n] for n in numbers), tuple(group.axes[n] for n in numbers)
        yield dataclasses.replace(group, statements=statements, axes=axes)


def _origin(group: FusionGroup, axes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The beginning of a group's domain along tiled axes; None if its statements do not agree about it."""
    found: set[tuple[int, ...]] = set()
    for statement, places in zip(group.statements, group.axes, strict=True):
        fixed = dict(statement.domain.fixed)
        for axis in axes:
            if axis >= len(statement.dims) or axis in fixed or places.get(axis) != axis:
                return None
            if statement.dims[axis] != group.dims[axis]:
                return None
        found.add(tuple(statement.domain.begin[axis] for axis in axes))
    return found.pop() if len(found) == 1 else None


def _distances(
    at: IndexedValue, group: FusionGroup, axes: tuple[int, ...], origin: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The distance from its own position at which a group reads a value along tiled axes; None if it varies."""
    distances: list[int] = []
    for axis, first in zip(axes, origin, strict=True):
        if axis >= len(at.index):
            return None
        if axis in axes_of((*at.index[:axis], *at.index[axis + 1 :])):
            return None
        map = at.index[axis]
        moves = (axis, 1) if group.dims[axis] != 1 else (None, 1)
        if map.found or map.also or (map.axis, map.scale) != moves:
            return None
        distances.append(map.offset - first)
    return tuple(distances)


def _extents(groups: Iterable[FusionGroup], results: Iterable[Node], axes: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The extents of the results along tiled axes."""
    found = dict.fromkeys(results, (0,) * len(axes))
    for group in groups:
        for statement in group.statements:
            if statement.target in found:
                ends = [statement.domain.begin[axis] + statement.dims[axis] for axis in axes]
                found[statement.target] = tuple(map(max, ends, found[statement.target]))
    return set(found.values())


def _hull(halos: Iterable[Halo]) -> Halo | None:
    found = list(halos)
    if not found:
        return None
    return tuple((min(low for low, _ in along), max(high for _, high in along)) for along in zip(*found, strict=True))


def _windows(groups: Iterable[FusionGroup], halos: Iterable[Halo], made: Iterable[Node]) -> dict[Node, Halo]:
    """The distance beyond a tile of the windows that hold all that is made of each value."""
    found: dict[Node, Halo] = {}
    inner = set(made)
    for group, halo in zip(groups, halos, strict=True):
        for node in dict.fromkeys(statement.target for statement in group.statements if statement.target in inner):
            found[node] = _hull([halo, found.get(node, halo)]) or halo
    return found
