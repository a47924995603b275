"""The memory a group touches: buffers, the distance each access moves along each axis, and their table slots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from xjit import numerics
from xjit.codegen.scheduling.schedule import Loop
from xjit.codegen.scheduling.scratch_axes import InTiles
from xjit.dataclass import dataclass, field
from xjit.fusion.buffers.layout import Layouts, coefficients
from xjit.fusion.cost import element_cost, evaluations
from xjit.fusion.plan import FusionGroup
from xjit.fusion.regions.materialized import owner
from xjit.fusion.regions.reads import ProducerSlice, positions_of, producer_slice, sources
from xjit.fusion.statements import Check, IndexedValue, Output, Reduce, Scan, Statement, Store, Update
from xjit.ir.context import PROJECT
from xjit.ir.index_map import relabel
from xjit.ir.node import Node
from xjit.ir.scalar_expr import Expr, Index, Prim
from xjit.lazy import lazy
from xjit.machine import Machine
from xjit.types import TupleType


@dataclass(frozen=True, slots=True)
class Access:
    """Elements of one buffer as the loops see them: distances per domain axis and the first element, in elements.

    ``lookups`` are distances times integers from data, added to these. ``along`` is the same along each axis of a
    value that lives in scratch while a tile is computed.
    """

    node: Node
    moves: tuple[int, ...]
    start: int
    lookups: tuple[tuple[int, IndexedValue], ...] = ()
    along: tuple[Access, ...] = ()


@dataclass(eq=False)
class GroupAccesses:
    """Everything that the statements of a group read and write.

    ``tiles`` says which values live in scratch. In the axes of the group: ``values`` are what each statement takes,
    ``found`` what that inlines, of which ``visits`` are the computed values.
    """

    group: FusionGroup
    layouts: Layouts
    leaves: frozenset[Node]
    stored: frozenset[Node]
    machine: Machine
    tiles: InTiles = field(default_factory=InTiles)
    values: list[tuple[IndexedValue, ...]] = field(default_factory=list)
    found: list[ProducerSlice] = field(default_factory=list)
    visits: list[tuple[IndexedValue, ...]] = field(default_factory=list)
    reads: dict[IndexedValue, Access] = field(default_factory=dict)
    writes: list[Access | None] = field(default_factory=list)
    positions: set[int] = field(default_factory=set)
    turned: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        group = self.group
        stores = {
            statement.target
            for statement, axes in zip(group.statements, group.axes, strict=True)
            if not isinstance(statement, Reduce) and statement.made_at(axes) is not None
        }
        self.leaves = self.leaves - stores
        for statement, axes in zip(group.statements, group.axes, strict=True):
            self._collect(statement, axes)

    def turn(self, axes: frozenset[int]) -> None:
        """Walks axes from their other end: what moved backward along them moves forward."""
        self.turned |= axes
        self.reads = {at: self._turned(access, axes) for at, access in self.reads.items()}
        self.writes = [None if access is None else self._turned(access, axes) for access in self.writes]

    def _turned(self, access: Access, axes: frozenset[int]) -> Access:
        moves = tuple(-move if axis in axes else move for axis, move in enumerate(access.moves))
        last = sum(access.moves[axis] * (self.group.dims[axis] - 1) for axis in axes)
        along = tuple(self._turned(one, axes) for one in access.along)
        return replace(access, moves=moves, start=access.start + last, along=along)

    @lazy
    def targets(self) -> frozenset[Node]:
        """The nodes that the group itself makes."""
        return frozenset(statement.target for statement in self.group.statements)

    def operands(self, indexed: IndexedValue) -> tuple[IndexedValue, ...]:
        """The values that a value is computed from in the loops of the group, or, where it is read, found by."""
        needed = () if indexed in self.reads else sources(indexed, self.group.dims, self.group.nested)
        return (*needed, *positions_of(indexed))

    def _collect(self, statement: Statement, axes: dict[int, int]) -> None:
        def placed(indexed_values: Iterable[IndexedValue]) -> tuple[IndexedValue, ...]:
            if all(axis == place for axis, place in axes.items()):
                return tuple(indexed_values)
            return tuple(IndexedValue(indexed.node, relabel(indexed.index, axes)) for indexed in indexed_values)

        found = producer_slice(statement, self.leaves)
        found = ProducerSlice(placed(found.visits), placed(found.reads))
        self.values.append(placed(statement.values))
        self.found.append(found)
        self.visits.append(found.visits)
        for indexed in found.visits:
            self._note_positions(indexed)
        for at in found.reads:
            if owner(at.node) not in self.targets:
                along = tuple(self._read(at, axis.strides) for axis in self.tiles.values.get(at.node, ()))
                self.reads[at] = replace(self.access(at), along=along)
        self.writes.append(self._write(statement, axes))

    def access(self, at: IndexedValue) -> Access:
        """The elements of a buffer at an index in the axes of the group."""
        return self._read(at, self.layouts.strides(at.node))

    def _read(self, at: IndexedValue, strides: Sequence[int]) -> Access:
        moves, start = coefficients(at.index, strides, len(self.group.dims))
        return Access(at.node, moves, start, self._lookups(at, strides))

    def _lookups(self, at: IndexedValue, strides: Sequence[int]) -> tuple[tuple[int, IndexedValue], ...]:
        return tuple(
            (stride * lookup.times, IndexedValue(lookup.source, lookup.axes))
            for map, stride in zip(at.index, strides, strict=True)
            for lookup in map.found
            if stride
        )

    def _note_positions(self, indexed: IndexedValue) -> None:
        node = indexed.node
        for axis in () if node.element is None else _index_axes(node.element):
            self.positions.update(own for own, _ in indexed.index[axis].terms)

    def _write(self, statement: Statement, axes: dict[int, int]) -> Access | None:
        match statement:
            case Check() | Update():
                return None
            case Reduce():
                return self._result(statement)
            case Store() | Scan():
                along = tuple(
                    self._written(statement, axes, axis.strides, _dot(axis.strides, statement.domain.corner))
                    for axis in self.tiles.values.get(statement.target, ())
                )
                output = statement.output
                return replace(self._written(statement, axes, output.strides, output.start), along=along)

    def _written(self, statement: Store | Scan, axes: dict[int, int], strides: Sequence[int], start: int) -> Access:
        moves = [0] * len(self.group.dims)
        for axis, step in enumerate(strides):
            if statement.dims[axis] != 1:
                moves[axes[axis]] = step
        return Access(statement.target, tuple(moves), start, self._put(statement.output, axes))

    def _put(self, output: Output, axes: dict[int, int]) -> tuple[tuple[int, IndexedValue], ...]:
        """The integers from data that a store adds, with their distances."""
        return tuple((one.times, IndexedValue(one.source, relabel(one.axes, axes))) for one in output.found)

    def _result(self, statement: Reduce) -> Access | None:
        results = [node for node in self.stored if owner(node) is statement.target]
        if not results:
            return None
        strides = self.layouts.strides(results[0])
        moves, start = [0] * len(self.group.dims), 0
        for place, axis in enumerate(statement.kept):
            start += strides[place] * statement.domain.corner[axis]
            if statement.dims[axis] != 1:
                moves[axis] = strides[place]
        if statement.chunk is not None:
            moves[statement.chunk[0]] = strides[-1]
        return Access(statement.target, tuple(moves), start)

    def results_of(self, target: Node) -> dict[int, list[Node]]:
        """The values that a reduction makes, stored ones and those that are read, by the number of its result."""
        if not isinstance(target.type, TupleType):
            return {0: [target]}
        reads = (indexed.node for one in self.found for indexed in one.reads)
        found: dict[int, list[Node]] = {}
        for node in set(reads).union(self.stored):
            if node.op is PROJECT and owner(node) is target:
                found.setdefault(node.param("index"), []).append(node)
        return found

    def interleaved(self, short: Loop | None = None) -> dict[Access, int]:
        """Accesses that share a buffer and its steps of a few elements with others, and where their common part
        begins: parts of one element after the other, as in the coordinates of points. Addressed from one place they
        become vector loads and stores. The ``short`` loop is written out.
        """
        together: dict[tuple[Node, tuple[int, ...]], set[int]] = {}
        if self.group.has_skew:
            return {}
        every = [one for one in (*self.reads.values(), *filter(None, self.writes)) if not one.lookups]
        parts = {access: self._along(access, short) for access in every}
        for several in parts.values():
            for one in several:
                together.setdefault((one.node, one.moves), set()).add(one.start)
        bases = _bases(together)
        found = {}
        for access, several in parts.items():
            own = {bases.get(one) for one in several}
            if len(own) == 1 and (base := own.pop()) is not None:
                found[access] = base
        return found

    def _along(self, access: Access, loop: Loop | None) -> list[Access]:
        """The access at each position of a loop."""
        step = 0 if loop is None else access.moves[loop.axes[-1]]
        access = replace(access, along=()) if access.along else access
        if loop is None or not step:
            return [access]
        moves = tuple(0 if axis in loop.axes else move for axis, move in enumerate(access.moves))
        return [replace(access, moves=moves, start=access.start + step * place) for place in range(loop.extent)]

    def neighbours(self, axis: int, starts: Mapping[Access, int]) -> dict[Access, tuple[int, int]]:
        """Reads of a buffer that are steps along an axis apart: where the first of each row of them begins, and how
        many steps behind it a read is. ``starts`` are where the elements are counted from.
        """
        together: dict[tuple[Node, tuple[int, ...]], set[int]] = {}
        for access in self.reads.values():
            if access.moves[axis] > 0 and not access.lookups:
                together.setdefault((access.node, access.moves), set()).add(starts.get(access, access.start))
        found: dict[tuple[Node, tuple[int, ...], int], tuple[int, int]] = {}
        for (node, moves), several in together.items():
            for start in sorted(several):
                first, steps = found.get((node, moves, start - moves[axis]), (start, -1))
                found[node, moves, start] = first, steps + 1
        at = ((one, (one.node, one.moves, starts.get(one, one.start))) for one in self.reads.values())
        return {access: found[key] for access, key in at if found.get(key, (0, 0))[1]}

    @property
    def moves(self) -> list[tuple[int, ...]]:
        """The distances of all accesses; results of chunks lie still, as they move with chunks, not with elements."""
        found = [access.moves for access in self.reads.values()]
        for statement, access in zip(self.group.statements, self.writes, strict=True):
            if access is not None:
                cut = None if statement.chunk is None else statement.chunk[0]
                found.append(tuple(0 if axis == cut else move for axis, move in enumerate(access.moves)))
        return found

    def work(self, columns: bool, block: int | None = None) -> float:
        """Of the whole kernel, in additions; ``columns`` says that it runs in blocks of columns, of a length that may
        be given.
        """
        group, machine = self.group, self.machine
        if block is not None:
            machine = replace(machine, column_block=block)

        def times(indexed: IndexedValue) -> int:
            return evaluations(group.dims, group.reduced, indexed.index, group.rank, machine, columns=columns)

        indexed_values = (indexed for visited in self.visits for indexed in visited)
        total = sum(
            (
                (element_cost(indexed.node, self.machine) + self.machine.value_cost) * times(indexed)
                for indexed in indexed_values
            ),
            0.0,
        )
        return total + sum(map(times, self.reads)) + math.prod(group.dims[: group.rank])

    @property
    def primary(self) -> tuple[int, ...]:
        """The distances that decide the loop order: of the first store, or of the read along most axes.

        Where a reduction reads nothing along all of its axes, as in a product of matrices, these are the longest
        distances along each axis: ``a[i, k] * b[k, j]`` is summed along rows of ``b``, not down its columns.
        """
        rank = len(self.group.dims)
        full = [self.layouts.directions(indexed.node, indexed.index, rank) for indexed in self.reads]
        stores = [
            access.moves
            for statement, access in zip(self.group.statements, self.writes, strict=True)
            if access is not None and not isinstance(statement, Reduce)
        ]
        candidates = (full or stores) if self.group.reduced else (stores or full)
        if not candidates:
            return tuple(range(rank, 0, -1))
        if self.group.reduced:
            longest = tuple(max(map(abs, moves)) for moves in zip(*candidates, strict=True))
            candidates = [*candidates, longest]
        return max(candidates, key=lambda moves: sum(1 for move in moves if move))


def _dot(strides: Sequence[int], position: Sequence[int]) -> int:
    return sum(stride * at for stride, at in zip(strides, position, strict=True))


def _bases(together: Mapping[tuple[Node, tuple[int, ...]], set[int]]) -> dict[Access, int]:
    """Accesses with equal steps of a few elements, and where each run of them begins that are within one step."""
    found: dict[Access, int] = {}
    for (node, moves), starts in together.items():
        step = min((abs(move) for move in moves if move), default=1)
        if not 1 < step <= numerics.TINY or len(starts) == 1:
            continue
        base = min(starts)
        for start in sorted(starts):
            base = base if start < base + step else start
            found[Access(node, moves, start)] = base
    return found


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
