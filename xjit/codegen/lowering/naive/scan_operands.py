"""Operands of scans, computed in front of them in their loops, so that rewrites can give it loops of its own."""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.scheduling.rows.scan_blocks import ScanPass
from xjit.codegen.scheduling.rows.scan_reads import ScanReads, Stage
from xjit.dataclass import dataclass, field
from xjit.fusion.statements import IndexedValue
from xjit.ir.loops.nodes import Var


@dataclass(eq=False)
class ScanOperands:
    """The costly operands of the scans of one pass: which loop computes each first, and by which name."""

    scans: ScanReads
    values: GroupValues
    chosen: Sequence[int]
    _names: dict[IndexedValue, str] = field(default_factory=dict)
    _parted: dict[int, int] = field(default_factory=dict)
    _number: int = 0
    _stage: Stage | None = None

    def begin(self, number: int, stage: Stage) -> None:
        """Turn to the next loop."""
        self._number, self._stage = number, stage

    def take_first(self) -> None:
        """Compute the operands of the scans of the loop at hand in front of them."""
        new = False
        if self._stage is None or not self._stage.scans:
            return
        for indexed in self._costly(self._stage.statements):
            held = self.values.elements.value(indexed)
            value = self.values.elements.bits(held, indexed.node.aval.dtype, indexed.node.where)
            if isinstance(value, Var) and indexed not in self._names:
                self._names[indexed] = value.name
                new = True
        if new:
            self._parted[self._number] = len(self.values.nest.inner.statements)

    def note(self) -> None:
        """Note the operands of later scans that the loop at hand computes for all steps."""
        if self._stage is None or self._stage.scans or self._stage.span is not None:
            return
        for indexed in self._costly(self.chosen):
            held = self.values.nest.known(indexed)
            value = None if held is None else held.bits or held.plain
            if isinstance(value, Var):
                self._names.setdefault(indexed, value.name)

    def found(self, carry: str, loops: int, rows: tuple[str, ...]) -> ScanPass:
        """The record of the pass."""
        return ScanPass(carry, loops, tuple(self._names.values()), tuple(self._parted.items()), rows)

    def _costly(self, numbers: Sequence[int]) -> list[IndexedValue]:
        scans = (number for number in numbers if self.scans.is_scan(number) and self.scans.is_costly(number))
        return list(dict.fromkeys(map(self.scans.operand, scans)))
