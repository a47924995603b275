"""The memory a region touches: buffers, the distance each access moves along each axis, and their table slots."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from xjit.dataclass import dataclass, field
from xjit.fusion.cost import element_cost
from xjit.fusion.groups import evaluations, made_at
from xjit.fusion.layout import Layouts
from xjit.fusion.plan import Pull, Region, Unit
from xjit.fusion.reads import Walk, positions_of, sources, walk
from xjit.fusion.units import owner
from xjit.ir.context import PROJECT
from xjit.ir.expr import Expr, Index, Prim
from xjit.ir.index import relabel
from xjit.ir.node import Node
from xjit.passes.split import TINY
from xjit.types import TupleType


@dataclass(frozen=True, slots=True)
class Access:
    """Elements of one buffer as the loops see them: distances per domain axis and the first element, in elements.

    ``lookups`` are distances times integers from data, added to these.
    """

    node: Node
    moves: tuple[int, ...]
    start: int
    lookups: tuple[tuple[int, Pull], ...] = ()


@dataclass(eq=False)
class RegionAccesses:
    """Everything that the units of a region read and write.

    In the axes of the region: ``values`` are what each unit takes, ``found`` what that pulls in, of which ``walks``
    are the computed values.
    """

    region: Region
    layouts: Layouts
    leaves: frozenset[Node]
    stored: frozenset[Node]
    values: list[tuple[Pull, ...]] = field(default_factory=list)
    found: list[Walk] = field(default_factory=list)
    walks: list[tuple[Pull, ...]] = field(default_factory=list)
    reads: dict[Pull, Access] = field(default_factory=dict)
    writes: list[Access | None] = field(default_factory=list)
    positions: set[int] = field(default_factory=set)
    turned: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        region = self.region
        stores = {
            unit.target
            for unit, axes in zip(region.units, region.axes, strict=True)
            if not unit.is_reduction and made_at(unit, axes) is not None
        }
        self.leaves = self.leaves - stores
        for unit, axes in zip(region.units, region.axes, strict=True):
            self._collect(unit, axes)

    def turn(self, axes: frozenset[int]) -> None:
        """Walks axes from their other end: what moved backward along them moves forward."""
        self.turned |= axes
        self.reads = {at: self._turned(access, axes) for at, access in self.reads.items()}
        self.writes = [None if access is None else self._turned(access, axes) for access in self.writes]

    def _turned(self, access: Access, axes: frozenset[int]) -> Access:
        moves = tuple(-move if axis in axes else move for axis, move in enumerate(access.moves))
        last = sum(access.moves[axis] * (self.region.dims[axis] - 1) for axis in axes)
        return replace(access, moves=moves, start=access.start + last)

    @property
    def targets(self) -> frozenset[Node]:
        """The nodes that the region itself makes."""
        return frozenset(unit.target for unit in self.region.units)

    def operands(self, pull: Pull) -> tuple[Pull, ...]:
        """What a value is computed from in the loops of the region, or, where it is read, found by."""
        needed = () if pull in self.reads else sources(pull, self.region.dims, self.region.nested)
        return (*needed, *positions_of(pull))

    def _collect(self, unit: Unit, axes: dict[int, int]) -> None:
        def placed(pulls: Iterable[Pull]) -> tuple[Pull, ...]:
            return tuple(Pull(pull.node, relabel(pull.index, axes)) for pull in pulls)

        found = walk(unit, self.leaves)
        found = Walk(placed(found.visits), placed(found.reads))
        self.values.append(placed(unit.values))
        self.found.append(found)
        self.walks.append(found.visits)
        for pull in found.visits:
            self._note_positions(pull)
        for at in found.reads:
            if owner(at.node) not in self.targets:
                moves, start = self.layouts.coefficients(at.node, at.index, len(self.region.dims))
                self.reads[at] = Access(at.node, moves, start, self._lookups(at))
        self.writes.append(self._write(unit, axes))

    def _lookups(self, at: Pull) -> tuple[tuple[int, Pull], ...]:
        strides = self.layouts.strides(at.node)
        return tuple(
            (stride * lookup.times, Pull(lookup.source, lookup.axes))
            for map, stride in zip(at.index, strides, strict=True)
            for lookup in map.found
            if stride
        )

    def _note_positions(self, pull: Pull) -> None:
        node = pull.node
        for axis in () if node.element is None else _index_axes(node.element):
            map = pull.index[axis]
            if map.axis is not None:
                self.positions.add(map.axis)

    def _write(self, unit: Unit, axes: dict[int, int]) -> Access | None:
        if unit.is_check:
            return None
        rank = len(self.region.dims)
        moves = [0] * rank
        if not unit.is_reduction:
            for axis, step in enumerate(unit.steps):
                if unit.dims[axis] != 1:
                    moves[axes[axis]] = step
            return Access(unit.target, tuple(moves), unit.start)
        results = [node for node in self.stored if owner(node) is unit.target]
        if not results:
            return None
        strides = self.layouts.strides(results[0])
        fixed, start = dict(unit.fixed), 0
        for place, axis in enumerate(unit.kept):
            start += strides[place] * fixed.get(axis, 0)
            if unit.dims[axis] != 1:
                moves[axis] = strides[place]
        if unit.chunk is not None:
            moves[unit.chunk[0]] = strides[-1]
        return Access(unit.target, tuple(moves), start)

    def results_of(self, target: Node) -> dict[int, list[Node]]:
        """The values that a reduction makes, stored ones and those that are read, by the number of its result."""
        if not isinstance(target.type, TupleType):
            return {0: [target]}
        reads = (pull.node for one in self.found for pull in one.reads)
        found: dict[int, list[Node]] = {}
        for node in set(reads).union(self.stored):
            if node.op is PROJECT and owner(node) is target:
                found.setdefault(node.param("index"), []).append(node)
        return found

    def interleaved(self) -> dict[Access, int]:
        """Accesses that share a buffer and its steps of a few elements with others, and where their common part
        begins: parts of one element after the other, as in the coordinates of points. Addressed from one place they
        become vector loads and stores.
        """
        together: dict[tuple[Node, tuple[int, ...]], set[int]] = {}
        if self.region.has_lags:
            return {}
        for access in (*self.reads.values(), *filter(None, self.writes)):
            if not access.lookups:
                together.setdefault((access.node, access.moves), set()).add(access.start)
        found: dict[Access, int] = {}
        for (node, moves), starts in together.items():
            step = min((abs(move) for move in moves if move), default=1)
            if not 1 < step <= TINY or len(starts) == 1:
                continue
            base = min(starts)
            for start in sorted(starts):
                base = base if start < base + step else start
                found[Access(node, moves, start)] = base
        return found

    @property
    def moves(self) -> list[tuple[int, ...]]:
        """The distances of all accesses; results of chunks lie still, as they move with chunks, not with elements."""
        found = [access.moves for access in self.reads.values()]
        for unit, access in zip(self.region.units, self.writes, strict=True):
            if access is not None:
                cut = None if unit.chunk is None else unit.chunk[0]
                found.append(tuple(0 if axis == cut else move for axis, move in enumerate(access.moves)))
        return found

    def work(self, columns: bool) -> float:
        """Of the whole kernel, in additions; ``columns`` says that it runs in blocks of columns."""
        region = self.region

        def times(pull: Pull) -> int:
            return evaluations(region.dims, region.reduced, pull.index, region.rank, columns=columns)

        pulls = (pull for walked in self.walks for pull in walked)
        total = sum(((element_cost(pull.node) + 0.5) * times(pull) for pull in pulls), 0.0)
        return total + sum(map(times, self.reads)) + math.prod(region.dims[: region.rank])

    @property
    def primary(self) -> tuple[int, ...]:
        """The distances that decide the loop order: of the first store, or of the read along most axes.

        Where a reduction reads nothing along all of its axes, as in a product of matrices, these are the longest
        distances along each axis: ``a[i, k] * b[k, j]`` is summed along rows of ``b``, not down its columns.
        """
        rank = len(self.region.dims)
        full = [self.layouts.directions(pull.node, pull.index, rank) for pull in self.reads]
        stores = [
            access.moves
            for unit, access in zip(self.region.units, self.writes, strict=True)
            if access is not None and not unit.is_reduction
        ]
        candidates = (full or stores) if self.region.reduced else (stores or full)
        if not candidates:
            return tuple(range(rank, 0, -1))
        if self.region.reduced:
            longest = tuple(max(map(abs, moves)) for moves in zip(*candidates, strict=True))
            candidates = [*candidates, longest]
        return max(candidates, key=lambda moves: sum(1 for move in moves if move))


def _index_axes(expr: Expr) -> set[int]:
    found: set[int] = set()
    stack: list[Expr] = [expr]
    seen = {id(expr)}
    while stack:
        top = stack.pop()
        if isinstance(top, Index):
            found.add(top.axis)
        elif isinstance(top, Prim):
            fresh = [arg for arg in top.args if id(arg) not in seen]
            seen.update(map(id, fresh))
            stack.extend(fresh)
    return found
