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

from xjit.dataclass import dataclass
from xjit.fusion import cost
from xjit.fusion.groups import made_at
from xjit.fusion.layout import Layouts
from xjit.fusion.plan import KernelStep, Pull, Reach, Region, Step, Tiling, Unit
from xjit.fusion.reads import Walk, walk
from xjit.fusion.units import owner
from xjit.ir.index import relabel
from xjit.ir.node import Node


@dataclass(frozen=True, slots=True, eq=False)
class Tiled:
    """The steps, the values that still need a buffer, and what was put into tiles, in words."""

    steps: tuple[Step, ...]
    stored: frozenset[Node]
    reasons: tuple[str, ...]


def in_tiles(
    steps: Sequence[Step],
    stored: frozenset[Node],
    elsewhere: frozenset[Node],
    leaves: frozenset[Node],
    layouts: Layouts,
) -> Tiled:
    """Steps in which kernels are stages of the kernels that read them.

    ``stored`` are the values with a buffer, ``elsewhere`` those that something else than kernels reads, ``leaves``
    those at which pulling stops.
    """
    if sum(isinstance(step, KernelStep) for step in steps) < 2:
        return Tiled(tuple(steps), stored, ())
    chains = _Chains(steps, elsewhere, layouts, leaves)
    found: dict[int, KernelStep] = {}
    gone: set[int] = set()
    for number in reversed(range(len(steps))):
        if number not in gone:
            members, step = chains.ending_in(number)
            if step is not None:
                found[number] = step
                gone |= members - {number}
    kept = tuple(found.get(number, step) for number, step in enumerate(steps) if number not in gone)
    windows = [node for step in found.values() if step.tiling is not None for node in step.tiling.windows]
    reasons = tuple(f"{node.op.name} at {node.where} stays in scratch, a tile at a time" for node in windows)
    return Tiled(kept, stored - frozenset(windows), reasons)


class _Chains:
    """Looks for kernels that can be stages of others."""

    def __init__(
        self,
        steps: Sequence[Step],
        elsewhere: frozenset[Node],
        layouts: Layouts,
        leaves: frozenset[Node],
    ) -> None:
        self._steps = steps
        self._table = cost.CostTable(leaves)
        self._elsewhere = elsewhere
        self._leaves = leaves
        self._walks: dict[Unit, Walk] = {}
        self._layouts = layouts
        self._makers: dict[Node, set[int]] = {}
        self._readers: dict[Node, set[int]] = {}
        for number, step in enumerate(steps):
            if isinstance(step, KernelStep):
                for unit in step.units:
                    self._makers.setdefault(unit.target, set()).add(number)
                    for pull in self._walked(unit).reads:
                        self._readers.setdefault(owner(pull.node), set()).add(number)
        self._sources: dict[int, set[int]] = {}
        for node, readers in self._readers.items():
            for number in readers:
                self._sources.setdefault(number, set()).update(self._makers.get(node, ()))

    def _walked(self, unit: Unit) -> Walk:
        """What a unit pulls in, down to what is stored in the end: not every value is that asked for a buffer."""
        found = self._walks.get(unit)
        if found is None:
            found = self._walks[unit] = walk(unit, self._leaves)
        return found

    def ending_in(self, last: int) -> tuple[set[int], KernelStep | None]:
        """The kernels that become stages of a kernel, with itself, and all of them as one kernel."""
        members, best = {last}, None
        refused: set[int] = set()
        if not _may_be_tiled(self._steps[last]):
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
            makers = self._makers_together(number)
            if not all(_may_be_tiled(self._steps[maker]) for maker in makers):
                continue
            targets = {unit.target for one in makers for unit in _units(self._steps[one])}
            hidden = targets.isdisjoint(self._elsewhere) and makers.isdisjoint(members | refused)
            readers = set().union(*(self._readers.get(node, set()) for node in targets)) - makers
            if hidden and readers and readers <= members:
                yield makers

    def _makers_together(self, number: int) -> set[int]:
        """A kernel and those that make other parts of the same values."""
        found, fresh = set[int](), {number}
        while fresh:
            found |= fresh
            targets = {unit.target for one in fresh for unit in _units(self._steps[one])}
            fresh = set().union(*(self._makers[node] for node in targets)) - found
        return found

    def _together(self, members: set[int]) -> KernelStep | None:
        """One kernel of all members, or None where they cannot be tiled or it does not pay."""
        last = max(members)
        whole = [region for number in sorted(members) for region in _regions(self._steps[number])]
        regions = tuple(part for region in whole for part in _of_one_origin(region))
        operations = sum(len(self._walked(unit).visits) for region in regions for unit in region.units)
        if operations > cost.KERNEL_OPERATIONS:
            return None
        results = {unit.target for unit in _units(self._steps[last]) if unit.is_plain}
        inner = {unit.target for region in regions for unit in region.units} - results
        if not all(self._is_regular(unit) for region in regions for unit in region.units if unit.target in inner):
            return None
        slowest = self._slowest_axes(_units(self._steps[last])[0].target)
        chains = [self._chain(regions, results, axes) for axes in (slowest[:1], slowest)]
        found = [tiling for chain in chains if chain is not None for tiling in chain.tilings()]
        _, best = min(found, key=operator.itemgetter(0), default=(0.0, None))
        return None if best is None else KernelStep(regions, best)

    def _slowest_axes(self, node: Node) -> tuple[int, ...]:
        """The two axes along which neighbours lie furthest apart in memory."""
        strides = self._layouts.strides(node)
        return tuple(sorted(range(len(strides)), key=lambda axis: -strides[axis])[:2])

    def _is_regular(self, unit: Unit) -> bool:
        """Whether the unit stores its elements where the value as a whole has them."""
        strides, fixed = self._layouts.strides(unit.target), dict(unit.fixed)
        if not unit.is_plain or unit.steps != strides:
            return False
        origin = unit.origin or (0,) * len(strides)
        first = (start + fixed.get(axis, 0) for axis, start in enumerate(origin))
        same = unit.values[0].node.aval.dtype == unit.target.aval.dtype
        return same and unit.start == sum(a * b for a, b in zip(first, strides, strict=True))

    def _chain(self, regions: tuple[Region, ...], results: set[Node], axes: tuple[int, ...]) -> _Chain | None:
        """The regions with how far each has to run, or None where that is not the same everywhere.

        From the last region back, every read of what the kernel makes widens the reach of its makers, all of which
        run before: a window holds all that is read of it. Refused is a read of what runs in the same region or a
        later one, as two parts of one loop nest may have read each other where they now lie in different tiles, and
        one of a result, which other tiles write.
        """
        origins = [_origin(region, axes) for region in regions]
        if not axes or None in origins:
            return None
        extents = _extents(regions, results, axes)
        if len(extents) != 1:
            return None
        none: Reach = ((0, 0),) * len(axes)
        inner: dict[Node, Reach] = {}
        reaches: list[Reach] = []
        made = {unit.target for region in regions for unit in region.units} - results
        settled = set(results)  # how far they run is settled: nothing more can be asked of them
        for region, origin in zip(reversed(regions), reversed(origins), strict=True):
            own = [none if unit.target in results else inner.get(unit.target) for unit in region.units]
            reach = _hull(one for one in own if one is not None)
            assert origin is not None
            if reach is None:
                return None
            reaches.insert(0, reach)
            settled.update(unit.target for unit in region.units)
            for at in self._reads_of_memory(region):
                if at.node in settled:
                    return None
                if at.node in made:
                    distances = _distances(at, region, axes, origin)
                    if distances is None:
                        return None
                    moved = tuple((low + d, high + d) for (low, high), d in zip(reach, distances, strict=True))
                    inner[at.node] = _hull([moved, inner.get(at.node, moved)]) or moved
        windows = _windows(regions, reaches, made)
        return _Chain(regions, axes, min(extents), tuple(reaches), windows, self._table)

    def _reads_of_memory(self, region: Region) -> Iterator[Pull]:
        """What a region reads, in its own axes, but for what it makes itself at that very place."""
        here = {
            Pull(unit.target, index)
            for unit, places in zip(region.units, region.axes, strict=True)
            if (index := made_at(unit, places)) is not None
        }
        for unit, places in zip(region.units, region.axes, strict=True):
            placed = (Pull(pull.node, relabel(pull.index, places)) for pull in self._walked(unit).reads)
            yield from (at for at in placed if at not in here)


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """Regions one behind the other, and how far each of them and each window reaches beyond a tile."""

    regions: tuple[Region, ...]
    axes: tuple[int, ...]
    dims: tuple[int, ...]
    reaches: tuple[Reach, ...]
    windows: Mapping[Node, Reach]
    table: cost.CostTable

    def tilings(self) -> Iterator[tuple[float, Tiling]]:
        """Tiles that pay, with what they compute twice: those with the least of it whose windows fit into scratch."""
        if sum(node.aval.nbytes for node in self.windows) < cost.TILED_BYTES:
            return
        fitting = [sizes for widths in self._widths() if (sizes := self._deepest(widths)) is not None]
        best = min(fitting, key=self._repeated, default=None)
        saved = cost.ROUND_TRIP * sum(node.aval.size for node in self.windows)
        if best is not None and self._repeated(best) <= saved:
            yield self._repeated(best), Tiling(self.axes, self.dims, best, self.reaches, self.windows)

    def _widths(self) -> Iterator[tuple[int, ...]]:
        """Extents of tiles along all axes but the first."""
        spans = []
        for size in self.dims[1:]:
            halves = itertools.takewhile(lambda width: width >= cost.NARROWEST_TILE, _halves(size))
            spans.append(list(halves) or [size])
        return itertools.product(*spans)

    def _deepest(self, widths: tuple[int, ...]) -> tuple[int, ...] | None:
        """The largest tile of these widths."""
        low, high = 0, max(-(-self.dims[0] // cost.LEAST_TILES), 1)
        while low < high:
            middle = (low + high + 1) // 2
            if self._bytes((middle, *widths)) <= cost.TILE_BYTES:
                low = middle
            else:
                high = middle - 1
        return (low, *widths) if low else None

    def _bytes(self, sizes: tuple[int, ...]) -> int:
        tiling = Tiling(self.axes, self.dims, sizes, self.reaches, self.windows)
        return sum(math.prod(tiling.window_shape(node)) * node.aval.dtype.itemsize for node in self.windows)

    def _repeated(self, sizes: tuple[int, ...]) -> float:
        """What tiles of these sizes compute more often than once, in additions."""
        total = 0.0
        for node, reach in self.windows.items():
            ratio = 1.0
            for size, (low, high), axis in zip(sizes, reach, self.axes, strict=True):
                extent = node.aval.shape[axis]
                ratio *= (size + high - low) / size if size < extent else 1.0
            total += (ratio - 1.0) * node.aval.size * self.table.total(node)
        return total


def _halves(size: int) -> Iterator[int]:
    while size > 0:
        yield size
        size = 0 if size == 1 else -(-size // 2)


def _units(step: Step) -> tuple[Unit, ...]:
    return step.units if isinstance(step, KernelStep) else ()


def _regions(step: Step) -> tuple[Region, ...]:
    return step.regions if isinstance(step, KernelStep) else ()


def _may_be_tiled(step: Step) -> bool:
    """Whether a step is a kernel that makes every element by itself."""
    regions = _regions(step)
    return bool(regions) and all(
        unit.is_plain and not unit.nested and region.chunk is None for region in regions for unit in region.units
    )


def _of_one_origin(region: Region) -> Iterator[Region]:
    """A region for the units of each origin: parts of one size that are made together lie in different tiles."""
    apart: dict[tuple[int, ...], list[int]] = {}
    for number, unit in enumerate(region.units):
        apart.setdefault(unit.origin or (0,) * len(unit.dims), []).append(number)
    for numbers in apart.values():
        units, axes = tuple(region.units[n] for n in numbers), tuple(region.axes[n] for n in numbers)
        yield dataclasses.replace(region, units=units, axes=axes)


def _origin(region: Region, axes: tuple[int, ...]) -> tuple[int, ...] | None:
    """Where the domain of a region begins along tiled axes; None where its units do not agree about that."""
    found: set[tuple[int, ...]] = set()
    for unit, places in zip(region.units, region.axes, strict=True):
        fixed = dict(unit.fixed)
        for axis in axes:
            if axis >= len(unit.dims) or axis in fixed or places.get(axis) != axis:
                return None
            if unit.dims[axis] != region.dims[axis]:
                return None
        found.add(tuple(unit.origin[axis] if unit.origin else 0 for axis in axes))
    return found.pop() if len(found) == 1 else None


def _distances(at: Pull, region: Region, axes: tuple[int, ...], origin: tuple[int, ...]) -> tuple[int, ...] | None:
    """How far off its own position a region reads a value along tiled axes; None where that is not constant."""
    distances: list[int] = []
    for axis, first in zip(axes, origin, strict=True):
        if axis >= len(at.index):
            return None
        map = at.index[axis]
        moves = (axis, 1) if region.dims[axis] != 1 else (None, 1)
        if map.found or (map.axis, map.scale) != moves:
            return None
        distances.append(map.offset - first)
    return tuple(distances)


def _extents(regions: Iterable[Region], results: Iterable[Node], axes: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The extents of the results along tiled axes."""
    found = dict.fromkeys(results, (0,) * len(axes))
    for region in regions:
        for unit in region.units:
            if unit.target in found:
                origin = unit.origin or (0,) * len(unit.dims)
                ends = [origin[axis] + unit.dims[axis] for axis in axes]
                found[unit.target] = tuple(map(max, ends, found[unit.target]))
    return set(found.values())


def _hull(reaches: Iterable[Reach]) -> Reach | None:
    found = list(reaches)
    if not found:
        return None
    return tuple((min(low for low, _ in along), max(high for _, high in along)) for along in zip(*found, strict=True))


def _windows(regions: Iterable[Region], reaches: Iterable[Reach], made: Iterable[Node]) -> dict[Node, Reach]:
    """How far beyond a tile the windows reach that hold all that is made of each value."""
    found: dict[Node, Reach] = {}
    inner = set(made)
    for region, reach in zip(regions, reaches, strict=True):
        for node in dict.fromkeys(unit.target for unit in region.units if unit.target in inner):
            found[node] = _hull([reach, found.get(node, reach)]) or reach
    return found
