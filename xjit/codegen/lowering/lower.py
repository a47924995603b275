"""A group becomes a loop nest, in the form that its plan asks for.

row_nest.py      row by row: the kept axes around passes over the reduced ones, or around the innermost kept one
column_nest.py   in blocks of columns, where the reduced axes are slow in memory
tiled_nest.py    in tiles, where operands lie across each other
"""

from __future__ import annotations

from typing import Protocol

from xjit.codegen.forms.chunks import open_chunks
from xjit.codegen.forms.column_nest import ColumnNest
from xjit.codegen.forms.row_nest import RowNest
from xjit.codegen.forms.tiled_nest import TiledNest
from xjit.codegen.lowering.buffers import Pointers
from xjit.codegen.lowering.check_flags import Checks
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.loop_bounds import LoopBounds
from xjit.codegen.lowering.loop_names import LoopNames
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.lowering.scratch import Scratch
from xjit.codegen.scheduling.levels import Passes
from xjit.codegen.scheduling.loop_order import ordered
from xjit.codegen.scheduling.scan_reads import ScanReads
from xjit.codegen.scheduling.scheduler import NaiveNest
from xjit.dataclass import dataclass
from xjit.fusion.buffers.layout import Layouts
from xjit.fusion.plan import FusionGroup
from xjit.ir.loops.nodes import LoopKind
from xjit.ir.node import Node


class GroupNest(Protocol):
    """The loops of a group in some form."""

    @property
    def work(self) -> float:
        """How much there is to compute, in additions."""

    def write(self) -> None:
        """Puts all loops into the nest."""


@dataclass(eq=False)
class Lowering:
    """One group: ``write`` puts its loops into the nest. The loops over ``tiled`` axes stay apart and are given
    ``bounds``.
    """

    group: FusionGroup
    layouts: Layouts
    leaves: frozenset[Node]
    stored: frozenset[Node]
    nest: LoopBuilder
    pointers: Pointers
    checks: Checks
    scratch: Scratch
    tiled: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        loops = self.loops = ordered(
            self.group, self.layouts, self.leaves, self.stored, self.nest.machine, self.tiled
        )
        self.group, self.accesses, self.plan = loops.group, loops.accesses, loops.plan
        self._names = LoopNames(self.nest)
        self.bounds = LoopBounds(self.nest, self.plan, loops.pairs)
        self.values = GroupValues(
            loops, self.stored, self.nest, self.pointers, self.checks, self.scratch, self.bounds
        )
        self.passes = Passes(self.accesses, self.plan)
        self.form = self._form(ScanReads(self.accesses))

    def _form(self, scans: ScanReads) -> GroupNest:
        """The form of the loops."""
        if self.values.tiles is not None:
            return TiledNest(self.values, self.values.tiles)
        if self.plan.columns and self.group.reduced and self.passes.store_once and not self._waits_for(scans):
            return ColumnNest(self.values, self.passes, scans)
        return RowNest(self.values, self.passes, scans)

    def _waits_for(self, scans: ScanReads) -> bool:
        """Whether something needs a scan at other steps than its own, for which whole rows are kept."""
        return self.group.has_skew or bool(scans.read_later(self.passes.levels))

    @property
    def work(self) -> float:
        """How much there is to compute, in additions."""
        return self.form.work

    @property
    def naive(self) -> NaiveNest:
        """The loops that have been written."""
        names = {name: tuple(own) for name, own in self._names.given.items()}
        return NaiveNest(self.loops, names, tuple(self.values.kept_values), tuple(self.values.scan_passes))

    @property
    def is_alone(self) -> bool:
        """Whether none of the loops is one whose iterations threads share."""
        return self.plan.shared is None and self.plan.chunked is None and not isinstance(self.form, ColumnNest)

    def write(self) -> None:
        """The whole nest, its loops with names of their own."""
        statements = self.nest.inner.statements
        begin = len(statements)
        self._write()
        statements[begin:] = self._names.told_apart(tuple(statements[begin:]))

    def _write(self) -> None:
        if self.plan.chunked is None:
            self.form.write()
            return
        chunks = open_chunks(self.nest, self.group, self.plan)
        self.form.write()
        self.nest.close(0, chunks, LoopKind.PARALLEL if self.bounds.shared else LoopKind.SERIAL)
