"""Results that wait in rows for the loops that read them: what scans make, and results of nested reductions.

for j0 in 0 .. n0:                # a scan
  v0 = t0 + x[i0, j0]
  t0 = v0
  m0[j0] = v0
for j0_0 in w0 .. n0:             # what reads it, here and some steps later
  o0[i0, j0_0] = m0[j0_0] - m0[j0_0 - w0]

Other values are computed wherever they are needed; rewrites have the expensive ones stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xjit.codegen.lowering.buffers import Place
from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.naive.loop_bounds import Bounds
from xjit.codegen.scheduling.rows.row_storage import KeptValue, RowStorage
from xjit.codegen.scheduling.rows.scan_reads import ScanReads, Stage
from xjit.codegen.scheduling.schedule import Loop
from xjit.dataclass import dataclass, field
from xjit.fusion.statements import IndexedValue
from xjit.ir.loops.intexpr import IntExpr, constant, minimum, variable
from xjit.ir.loops.nodes import Alloc, Buffer, Var


@dataclass(eq=False)
class RowScratch:
    """The rows of a group that wait; ``level`` is that of the pass at hand.

    ``rows`` are the buffers of what scans make along the axis, ``ready`` those that have been filled.
    """

    storage: RowStorage
    scans: ScanReads
    values: GroupValues
    level: int = 0
    rows: dict[IndexedValue, str] = field(default_factory=dict)
    ready: set[IndexedValue] = field(default_factory=set)
    _made: dict[IndexedValue, str] = field(default_factory=dict)
    _names: dict[IndexedValue, str] = field(default_factory=dict)

    def holds(self, indexed: IndexedValue) -> bool:
        """Return whether an earlier loop has filled the row of the value."""
        if indexed in self.storage.ahead:
            return self.is_staged(indexed)
        return self.scans.row(indexed) in self.ready

    def is_staged(self, indexed: IndexedValue) -> bool:
        """Return whether the value is to be loaded from where an earlier pass has stored it."""
        return self.storage.levels.get(indexed, self.level) < self.level

    def place(self, indexed: IndexedValue) -> Place:
        """The buffer that the value is kept in, and where in it the one of the step at hand is."""
        row = self.scans.row(indexed)
        if row in self.rows:
            return self.rows[row], (variable(self._loop.variable) - self._steps(self.scans.distance(indexed)),)
        number = self.storage.places.get(indexed)
        if number is None:
            return self._buffer(indexed), (variable(self._loop.variable),)
        access = self.values.accesses.writes[number]
        assert access is not None
        return self.values.buffers.place(access)

    def places_of_scan(self, indexed: IndexedValue) -> Iterator[Place]:
        """The places into which a scan puts the value for other loops."""
        row = self.scans.row(indexed)
        if row in self.rows:
            yield self.rows[row], (variable(self._loop.variable),)

    def share(self) -> None:
        """Give rows of scans that later passes read than the one at hand a buffer."""
        for indexed in self.storage.running:
            if self.storage.levels[indexed] == self.level:
                row = self.scans.row(indexed)
                self.rows[row] = self._buffer(row)

    def hand_on(self, rows: Iterable[IndexedValue]) -> tuple[str, ...]:
        """Give rows that only the pass at hand reads a buffer in front of its loops; return the names."""
        names = []
        for row in rows:
            if row not in self.rows:
                self.rows[row] = name = self.values.nest.fresh("m")
                extent, dtype = self.values.bounds.extent(self._loop), storage_dtype(row.node.aval.dtype)
                self.values.nest.inner.statements.append(Alloc(Buffer.packed(name, dtype, extent)))
                names.append(name)
        return tuple(names)

    def finish(self, numbers: Iterable[int]) -> None:
        """Let later loops read the rows of scans among some statements."""
        made = (self.scans.row(self.scans.made(number)) for number in numbers if self.scans.is_scan(number))
        self.ready.update(row for row in made if row in self.rows)

    def note(self) -> None:
        """Note the names of values that later passes need, where they are computed."""
        for indexed in self.storage.computed:
            if self.storage.levels[indexed] == self.level and indexed not in self._made:
                held = self.values.nest.known(indexed)
                if isinstance(value := held.bits or held.plain, Var):
                    self._made[indexed] = value.name

    @property
    def kept_values(self) -> Iterator[KeptValue]:
        """The values that rewrites are to keep, and where."""
        for indexed, name in self._made.items():
            number = self.storage.places[indexed]
            if number is None:
                yield KeptValue(name, self._buffer(indexed), is_output=False)
                continue
            access = self.values.accesses.writes[number]
            assert access is not None
            yield KeptValue(name, self.values.buffers.place(access)[0], is_output=True)

    def span(self, stage: Stage) -> Bounds:
        """The bounds of a loop over the rows."""
        _, stop = self.values.bounds.reduced(self._loop)
        if stage.span is None:
            return constant(0), stop
        first, last = stage.span
        if last == self._loop.extent:
            return self._steps(first), stop
        return self._steps(first), minimum(self.values.nest.word(("last", last), last, "n"), stop)

    def _steps(self, count: int) -> IntExpr:
        """A number of steps, from the table."""
        return self.values.nest.word(("steps along", count), count, "w") if count else constant(0)

    @property
    def _loop(self) -> Loop:
        return self.values.plan.reduced[0]

    def _buffer(self, indexed: IndexedValue) -> str:
        """Scratch for a row, which nests behind this one use as well."""
        if indexed not in self._names:
            extent, dtype = self.values.bounds.extent(self._loop), storage_dtype(indexed.node.aval.dtype)
            self._names[indexed] = self.values.scratch.take(dtype, extent)
        return self._names[indexed]
