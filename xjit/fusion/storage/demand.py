"""Demands: for every value the places at which statements read it, followed from the results to the inputs.

A place is a reader, which is a statement that will be made, an index in the reader's domain, and the box of positions
at which it is read there. What is put together of pieces is read in other boxes by other pieces. Readers that are
expected to share a loop nest have one ``Prospect``: what all of them read at one place is computed once.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from xjit import numerics
from xjit.dataclass import dataclass, field
from xjit.fusion import cost
from xjit.fusion.regions.assembled import Box, pieces_read
from xjit.fusion.regions.reads import positions_of, sources
from xjit.fusion.regions.tiny import short_axes
from xjit.fusion.statements import IndexedValue, Reduce, Scan, Statement
from xjit.ir.index_map import Index, axes_of, changed, has_lookups, lookups_of
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap
from xjit.machine import Machine


@dataclass(eq=False, slots=True)
class Prospect:
    """A loop nest as far as it can be foreseen: what it reduces, and how many operations it has so far.

    ``reduced`` is None as long as nothing in it reduces. Values that come before ``border`` in the graph belong to
    other kernels.
    """

    machine: Machine
    reduced: tuple[int, ...] | None = None
    fast: bool = True
    operations: int = 0
    border: int = 0
    joined: Prospect | None = None

    @property
    def columns(self) -> bool:
        """Return whether it folds over slow axes of memory."""
        return self.reduced is not None and not self.fast

    def last(self) -> Prospect:
        """The nest that this one has become a part of, or itself."""
        last = self
        while last.joined is not None:
            last = last.joined
        if self.joined is not None:
            self.joined = last
        return last

    def takes(self, other: Prospect) -> bool:
        """Return whether both are likely to be one nest."""
        if self.operations + other.operations > self.machine.kernel_operations:
            return False
        if self.reduced is None or other.reduced is None:
            return self.fast and other.fast
        return self.reduced == other.reduced and self.fast == other.fast

    def join(self, other: Prospect) -> None:
        """Makes another nest a part of this one."""
        self.operations += other.operations
        self.border = max(self.border, other.border)
        if self.reduced is None:
            self.reduced, self.fast = other.reduced, other.fast
        other.joined = self


@dataclass(eq=False, slots=True)
class Reader:
    """A statement that will be made. ``level`` is how many kernels run at least between it and the results."""

    statement: Statement
    level: int
    prospect: Prospect
    dims: tuple[int, ...]
    rank: int
    nested: dict[Node, int] = field(default_factory=dict)
    unrolled: set[int] = field(default_factory=set)
    chunk_number: IndexedValue | None = None

    def unroll(self, index: Index) -> None:
        """Notes that a tiny reduction is read at an index: along short axes that it does not use, the statement will
        be written out, so that it is computed once for all of them.
        """
        self.unrolled.update(axis for axis in short_axes(self.statement) if axis not in axes_of(index))

    def at(self, index: Index, box: Box) -> Iterable[tuple[Index, Box]]:
        """The places that one becomes where the statement is written out."""
        return self._written_out(index, box) if self.unrolled else ((index, box),)

    def _written_out(self, index: Index, box: Box) -> Iterator[tuple[Index, Box]]:
        axes = sorted(self.unrolled)
        if math.prod(self.dims[axis] for axis in axes) > numerics.TINY:
            yield index, box
            return
        used = [axis for axis in axes if axis in axes_of(index)]
        bounds = [(0, 1) if axis in self.unrolled else one for axis, one in enumerate(box)]
        for position in itertools.product(*(range(*box[axis]) for axis in used)):
            fixed = dict(zip(used, position, strict=True))
            yield changed(index, functools.partial(_fixed, fixed)), tuple(bounds)

    def jumps(self, index: Index) -> bool:
        """Return whether positions at the index come from data, next to each other or not; the number of a chunk
        stays while its loops run.
        """
        return any(IndexedValue(one.source, one.axes) != self.chunk_number for one in lookups_of(index))

    @property
    def box(self) -> Box:
        """The whole domain."""
        return tuple([(0, size) for size in self.dims])


Places: TypeAlias = "dict[tuple[Reader, Index], Box]"


@dataclass(eq=False)
class Demands:
    """The places at which values are read. Values ``given`` before the program starts need none."""

    given: frozenset[Node]
    places: dict[Node, Places] = field(default_factory=dict)

    def read(self, reader: Reader, indexed: IndexedValue, box: Box) -> None:
        """Notes that a value is read in a box of a reader's domain."""
        node = indexed.node
        if node in self.given or indexed == reader.chunk_number:
            return
        if len(box) < len(reader.dims):  # of reductions that have come to run inside
            box += tuple([(0, size) for size in reader.dims[len(box) :]])
        found = self.places.get(node)
        if found is None:
            found = self.places[node] = {}
        key = reader, indexed.index
        known = found.get(key)
        found[key] = box if known is None or known == box else _hull(known, box)

    def expand(self, reader: Reader, indexed: IndexedValue, box: Box) -> None:
        """Notes what a value reads that a reader inlines."""
        if indexed.node.is_assembled:
            for value, part in pieces_read(indexed, box):
                self.read(reader, value, part)
        else:
            for value in sources(indexed, reader.dims, reader.nested):
                self.read(reader, value, box)
        if has_lookups(indexed.index):
            for value in positions_of(indexed):
                self.read(reader, value, box)

    def begin(self, reader: Reader) -> None:
        """Notes what a statement reads."""
        box = reader.box
        target = reader.statement.target
        for indexed in (*reader.statement.values, *reader.statement.positions):
            if indexed.node is target:
                self.expand(reader, indexed, box)
            else:
                self.read(reader, indexed, box)


def evaluations(places: Places) -> int:
    """Count how often a value read there would be computed if it were not stored; note that nests compute it."""
    total = 0
    sharing: dict[object, list[Prospect]] = {}
    for (reader, place), whole in places.items():
        for index, box in reader.at(place, whole):
            dims, own = _relative(index, box)
            prospect = reader.prospect.last()
            others = sharing.setdefault((reader.level, dims, reader.rank, own), [])
            if not _shares(prospect, others):
                others.append(prospect)
                prospect.operations += 1
                reduced = prospect.reduced or ()
                total += cost.evaluations(dims, reduced, own, reader.rank, prospect.machine, columns=prospect.columns)
    return total


def prospects(places: Places) -> set[Prospect]:
    """The nests that would compute a value that is read there."""
    return {reader.prospect.last() for reader, _ in places}


def _shares(prospect: Prospect, others: Iterable[Prospect]) -> bool:
    """Return whether one of these nests is the same one, or can be."""
    for other in others:
        last = other.last()
        if last is prospect:
            return True
        if last.takes(prospect):
            last.join(prospect)
            return True
    return False


def _relative(index: Index, box: Box) -> tuple[tuple[int, ...], Index]:
    """The extents of a box, and an index counted from where it begins."""
    dims = tuple([stop - first for first, stop in box])
    if dims == tuple([stop for _, stop in box]):
        return dims, index

    def moved(axis: int) -> AxisMap:
        return AxisMap(axis, 1, box[axis][0] if axis < len(box) else 0)

    return dims, changed(index, moved)


def _fixed(positions: Mapping[int, int], axis: int) -> AxisMap:
    return AxisMap(None, 1, positions[axis]) if axis in positions else AxisMap(axis)


def _hull(one: Box, other: Box) -> Box:
    return tuple([(min(a, c), max(b, d)) for (a, b), (c, d) in zip(one, other, strict=True)])


def prospect_of(statement: Statement, machine: Machine) -> Prospect:
    """The nest of a statement by itself."""
    if isinstance(statement, Reduce | Scan):
        return Prospect(machine, statement.reduced, _runs_along_rows(statement))
    return Prospect(machine)


def reader_of(statement: Statement, level: int, machine: Machine) -> Reader:
    """A reader with a nest by itself."""
    reader = Reader(statement, level, prospect_of(statement, machine), statement.dims, statement.rank)
    reader.chunk_number = statement.chunk_number
    if isinstance(statement, Reduce) and not _reads_along_rows(statement):
        reader.unrolled.update(short_axes(statement))
    return reader


def _runs_along_rows(statement: Reduce | Scan) -> bool:
    """Return whether a statement is likely to fold over what is fastest in memory."""
    order = statement.sums
    return (order is not None and order.along_rows) or _reads_along_rows(statement)


def _reads_along_rows(statement: Reduce | Scan) -> bool:
    axes = [axis for axis in statement.values[0].node.aval.order if statement.dims[axis] > 1]
    return not axes or axes[-1] in statement.reduced
