"""Walks along an axis in blocks: what a scan makes of a block waits in scratch, and what reads it follows there.

The loop of a scan is one addition after the other. What it needs, and what needs it, are loops of their own that are
vector code. What runs ``w`` steps behind finds the end of the block before in front of the block at hand::

    t0 = f64(-0.0)
    for b0 in range(0, n0, 512):
        e0 = min(b0 + 512, n0)
        for j0 in range(b0, e0):               # the scan
            t0 = t0 + ld(a0, a0_at0 + j0)
            st(m0, w - b0 + j0, t0)
        for j0 in range(max(b0, w), e0):       # what reads it, here and w steps before
            st(o0, o0_at0 + j0, ld(m0, w - b0 + j0) - ld(m0, j0 - b0))
        for h0 in range(w):                    # the last w sums stay
            st(m0, h0, ld(m0, h0 + (e0 - b0)))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xjit import numerics
from xjit.codegen.lowering.buffers import Place
from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.loop_bounds import Bounds
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.lowering.scratch import Scratch
from xjit.codegen.scheduling.scan_reads import ScanReads
from xjit.codegen.scheduling.schedule import Loop
from xjit.dataclass import dataclass, field
from xjit.fusion.statements import IndexedValue, Scan
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import Load, Store
from xjit.ir.node import Node
from xjit.types import DType

ZERO = constant(0)


@dataclass(frozen=True, slots=True)
class Kept:
    """A value of the block at hand in scratch: how many steps before the block are still there as well."""

    node: Node
    name: str
    history: int

    @property
    def dtype(self) -> DType:
        """The type that memory holds."""
        return storage_dtype(self.node.aval.dtype)


@dataclass(frozen=True, slots=True)
class Stage:
    """One loop over a block: scans, or what needs no scan but earlier ones. ``filled`` are kept for the next scans.

    ``span`` is what the statements run over, (first, last) along the axis; None: all of it.
    """

    scans: bool
    statements: tuple[int, ...]
    filled: tuple[IndexedValue, ...]
    span: tuple[int, int] | None


@dataclass(eq=False)
class BlockWalk:
    """The pass of a group along an axis that something is scanned along."""

    scans: ScanReads
    nest: LoopBuilder
    scratch: Scratch
    kept: dict[IndexedValue, Kept] = field(default_factory=dict)
    ready: set[IndexedValue] = field(default_factory=set)
    in_scans: bool = False
    step: IntExpr = ZERO
    block: IntExpr = ZERO

    # ------------------------------------------------------------------ what is kept

    def keeps(self, indexed: IndexedValue) -> bool:
        """Whether the value gets a place in scratch when it is made."""
        return self.scans.row(indexed) in self.kept

    def holds(self, indexed: IndexedValue) -> bool:
        """Whether the value is to be taken from scratch: what scans make, and, by scans, what was made for them."""
        row = self.scans.row(indexed)
        return row in self.ready and (self.in_scans or row in self.scans.scanned)

    def place(self, indexed: IndexedValue) -> Place:
        """Where a value is in scratch at the step at hand."""
        kept = self.kept[self.scans.row(indexed)]
        rest = kept.history - self.scans.distance(indexed)
        back = self.nest.word((kept.name, "back", rest), rest, "w") if rest else 0
        return kept.name, (self.step - self.block + back,)

    def _keep(self, key: IndexedValue, history: int) -> None:
        room = numerics.BLOCK + history
        extent = self.nest.word(("room", key), room, "n") if history else room
        self.kept[key] = Kept(key.node, self.scratch.take(storage_dtype(key.node.aval.dtype), extent), history)

    # ------------------------------------------------------------------ the walk

    def write(self, loop: Loop, stop: IntExpr, chosen: Sequence[int], stage: Callable[[Stage, Bounds], None]) -> None:
        """All blocks; ``stage`` writes one loop between the bounds given."""
        self.step = variable(loop.variable)
        self.block, end = self.nest.open_blocks(numerics.BLOCK, stop)
        stages = self._stages(chosen)
        for indexed in {indexed: None for one in stages for indexed in one.filled}:
            self._keep(indexed, 0)
        back: dict[IndexedValue, int] = {}
        made = {self.scans.row(self.scans.made(number)) for number in chosen if self._is_scan(number)}
        for indexed in (
            indexed for number in chosen for indexed in self.scans.reads[number] if self.scans.row(indexed) in made
        ):
            back[self.scans.row(indexed)] = max(back.get(self.scans.row(indexed), 0), self.scans.distance(indexed))
        for row, history in back.items():
            self._keep(row, history)
        for one in stages:
            self.in_scans = one.scans
            stage(one, self._bounds(one, end))
            self.ready.update(
                one.filled, (self.scans.row(self.scans.made(number)) for number in one.statements if one.scans)
            )
        self._slide(end)
        self.nest.close(0, stop, step=numerics.BLOCK)
        self.kept.clear()
        self.ready.clear()

    def _stages(self, chosen: Sequence[int]) -> list[Stage]:
        found: list[Stage] = []
        for depth in range(-1, max(self.scans.depth[number] for number in chosen) + 1):
            at = [number for number in chosen if not self._is_scan(number) and self.scans.depth[number] == depth]
            scans = [number for number in chosen if self._is_scan(number) and self.scans.depth[number] == depth + 1]
            found += _by_span(False, {n: self._span(n) for n in at}, self._filled(scans))
            found += _by_span(True, {n: self._span(n) for n in scans}, {})
        return found

    def _is_scan(self, number: int) -> bool:
        return isinstance(self.scans.group.statements[number], Scan)

    def _span(self, number: int) -> tuple[int, int] | None:
        statement = self.scans.group.statements[number]
        skew = statement.domain.skew
        return None if skew is None else (skew, skew + statement.dims[self.scans.group.reduced[0]])

    def _filled(self, scans: Sequence[int]) -> dict[IndexedValue, tuple[int, int] | None]:
        """The operands of scans that are made in a loop before, with what they are made for: from the first step
        that some scan needs to the last one.
        """
        found: dict[IndexedValue, tuple[int, int] | None] = {}
        for number in filter(self.scans.is_costly, scans):
            indexed, span = self.scans.operand(number), self._span(number)
            known = found.get(indexed, (0, 0))
            if indexed not in found or span is None:
                found[indexed] = span
            elif known is not None:
                found[indexed] = min(span[0], known[0]), max(span[1], known[1])
        return found

    def _bounds(self, stage: Stage, end: IntExpr) -> Bounds:
        if stage.span is None:
            return self.block, end
        first, last = (
            self.nest.word(("span", stage.statements, stage.filled, n), stage.span[n], "n") for n in (0, 1)
        )
        low = self.nest.integer("p", maximum(self.block, first))
        return low, self.nest.integer("q", minimum(end, last))

    def _slide(self, end: IntExpr) -> None:
        """Moves what later steps need to before the next block."""
        for history in sorted({kept.history for kept in self.kept.values() if kept.history}):
            count, name = self.nest.integer("c", end - self.block), self.nest.fresh("h")
            self.nest.open(name)
            step = variable(name)
            rows = [(row, kept) for row, kept in self.kept.items() if kept.history == history]
            for row, kept in rows:
                load = Load(kept.name, (step + count,), kept.dtype)
                self.nest.inner.statements.append(Store(kept.name, (step,), load, row.node.where))
            self.nest.close(0, self.nest.word(("history", rows[0][0]), history, "n"))


def _by_span(
    scans: bool, statements: dict[int, tuple[int, int] | None], filled: dict[IndexedValue, tuple[int, int] | None]
) -> list[Stage]:
    """A loop for each span."""
    spans = dict.fromkeys((*statements.values(), *filled.values()))
    return [
        Stage(
            scans,
            tuple(number for number, own in statements.items() if own == span),
            tuple(indexed for indexed, own in filled.items() if own == span),
            span,
        )
        for span in spans
    ]
