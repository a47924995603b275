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
from dataclasses import dataclass, field

from xjit.codegen import reductions
from xjit.codegen.accesses import RegionAccesses
from xjit.codegen.elements import storage_dtype
from xjit.codegen.schedule import Loop
from xjit.codegen.scopes import Nest, Scope
from xjit.fusion import cost
from xjit.fusion.groups import made_at
from xjit.fusion.plan import Pull, Region
from xjit.fusion.reads import below
from xjit.fusion.units import owner
from xjit.ir.index import relabel
from xjit.ir.loops import Base, Bound, Clip, Load, Offset, Store, Term
from xjit.ir.node import Node
from xjit.ir.opdef import AxisMap
from xjit.types import DType


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

    ``span`` is what the units run over, (first, last) along the axis; None: all of it.
    """

    scans: bool
    units: tuple[int, ...]
    filled: tuple[Pull, ...]
    span: tuple[int, int] | None


@dataclass(eq=False)
class BlockWalk:
    """The pass of a region along an axis that something is scanned along."""

    region: Region
    accesses: RegionAccesses
    nest: Nest
    scratch: Callable[[str, DType], str]
    kept: dict[Pull, Kept] = field(default_factory=dict)
    ready: set[Pull] = field(default_factory=set)
    in_scans: bool = False
    variable: str = ""
    block: str = ""
    around: Scope = field(default_factory=lambda: Scope(None, frozenset()))

    def __post_init__(self) -> None:
        self.table = cost.CostTable(self.accesses.leaves)
        self.reads = [self._reads(number) for number in range(len(self.region.units))]
        self.scanned = {self._row(self._made(n)): n for n, unit in enumerate(self.region.units) if unit.is_scan}
        self.depth = self._depths()

    @property
    def is_worthwhile(self) -> bool:
        """Whether something runs behind, or what scans need or what needs them is worth vector code."""
        units = self.region.units
        if not self.region.reduced or self.region.nested or self.region.chunk is not None:
            return False
        costly = (n for n, unit in enumerate(units) if unit.is_scan or self.depth[n] >= 0)
        return bool(self.scanned) and (
            any(unit.lag is not None for unit in units) or any(self._is_costly(n) for n in costly)
        )

    def _is_costly(self, number: int) -> bool:
        return any(self.table.total(pull.node) >= cost.WORTH_A_ROW for pull in self.region.units[number].values[:1])

    def _reads(self, number: int) -> list[Pull]:
        """What a unit reads of scans, in the axes of the region."""
        scans = {unit.target for unit in self.region.units if unit.is_scan}
        found = self.accesses.found[number].reads
        axes = self.region.axes[number]
        return [Pull(pull.node, relabel(pull.index, axes)) for pull in found if owner(pull.node) in scans]

    def _made(self, number: int) -> Pull:
        """The value that a scan makes, where it makes it."""
        unit = self.region.units[number]
        index = made_at(unit, self.region.axes[number])
        assert index is not None
        return Pull(unit.target, index)

    def _row(self, pull: Pull) -> Pull:
        """What a scan makes along the axis, as one value; anything else as it is."""
        if not any(unit.is_scan and unit.target is pull.node for unit in self.region.units):
            return pull
        along = self.region.reduced[0]
        return Pull(pull.node, (*pull.index[:along], AxisMap(None), *pull.index[along + 1 :]))

    def _depths(self) -> list[int]:
        """How many scans follow on each other until the unit has what it needs: -1 if it needs none."""
        depth: list[int] = []
        for number, unit in enumerate(self.region.units):
            before = max((depth[self.scanned[self._row(pull)]] for pull in self.reads[number]), default=-1)
            depth.append(before + unit.is_scan)
        return depth

    def read_later(self, levels: Sequence[int]) -> dict[Pull, int]:
        """What scans make that later passes than their own read, with their own."""
        found: dict[Pull, int] = {}
        for number, reads in enumerate(self.reads):
            for pull in reads:
                own = levels[self.scanned[self._row(pull)]]
                if own < levels[number]:
                    found[pull] = own
        return found

    def is_needed_for(self, pull: Pull) -> bool:
        """Whether the value is made of what a scan of the region makes."""
        scans = {unit.target for unit in self.region.units if unit.is_scan}
        return any(owner(one.node) in scans for one in below([pull], self.accesses.operands))

    def _operand(self, number: int) -> Pull:
        value = self.region.units[number].values[0]
        return Pull(value.node, relabel(value.index, self.region.axes[number]))

    # ------------------------------------------------------------------ what is kept

    def keeps(self, pull: Pull) -> bool:
        """Whether the value gets a place in scratch when it is made."""
        return self._row(pull) in self.kept

    def holds(self, pull: Pull) -> bool:
        """Whether the value is to be taken from scratch: what scans make, and, by scans, what was made for them."""
        row = self._row(pull)
        return row in self.ready and (self.in_scans or row in self.scanned)

    def place(self, pull: Pull) -> tuple[str, Offset]:
        """Where a value is in scratch at the step at hand."""
        kept = self.kept[self._row(pull)]
        rest = kept.history - self._distance(pull)
        if not rest:
            return kept.name, Offset((Term(self.variable, 1), Term(self.block, -1)))
        key = ("at", kept.name, rest)
        if key not in self.around.known:
            name = self.around.known[key] = self.nest.fresh(f"{kept.name}_at")
            word = self.nest.word((kept.name, "back", rest), rest, "w")
            self.around.statements.append(Base(name, Offset((Term(word, 1), Term(self.block, -1)))))
        return kept.name, Offset((Term(self.variable, 1), Term(self.around.known[key], 1)))

    def _distance(self, pull: Pull) -> int:
        """How many steps before the one at hand a scan has made the value."""
        number = self.scanned.get(self._row(pull))
        if number is None:
            return 0
        along = self.region.reduced[0]
        return self._made(number).index[along].offset - pull.index[along].offset

    def _keep(self, key: Pull, history: int) -> None:
        room = reductions.SUM_BLOCK + history
        extent = self.nest.word(("room", key), room, "n") if history else str(room)
        self.kept[key] = Kept(key.node, self.scratch(extent, storage_dtype(key.node.aval.dtype)), history)

    # ------------------------------------------------------------------ the walk

    def write(
        self, loop: Loop, stop: str, chosen: Sequence[int], stage: Callable[[Stage, tuple[str, str]], None]
    ) -> None:
        """All blocks; ``stage`` writes one loop between the bounds given."""
        self.variable, self.block = loop.variable, self.nest.fresh("b")
        end = self.nest.fresh("e")
        self.around = self.nest.open(self.block)
        self.around.statements.append(Bound(end, self.block, reductions.SUM_BLOCK, stop))
        stages = self._stages(chosen)
        for pull in {pull: None for one in stages for pull in one.filled}:
            self._keep(pull, 0)
        back: dict[Pull, int] = {}
        made = {self._row(self._made(number)) for number in chosen if self._is_scan(number)}
        for pull in (pull for number in chosen for pull in self.reads[number] if self._row(pull) in made):
            back[self._row(pull)] = max(back.get(self._row(pull), 0), self._distance(pull))
        for row, history in back.items():
            self._keep(row, history)
        for one in stages:
            self.in_scans = one.scans
            stage(one, self._bounds(one, end))
            self.ready.update(one.filled, (self._row(self._made(number)) for number in one.units if one.scans))
        self._slide(end)
        self.nest.close("0", stop, step=reductions.SUM_BLOCK)
        self.kept.clear()
        self.ready.clear()

    def _stages(self, chosen: Sequence[int]) -> list[Stage]:
        found: list[Stage] = []
        for depth in range(-1, max(self.depth[number] for number in chosen) + 1):
            at = [number for number in chosen if not self._is_scan(number) and self.depth[number] == depth]
            scans = [number for number in chosen if self._is_scan(number) and self.depth[number] == depth + 1]
            found += _by_span(False, {n: self._span(n) for n in at}, self._filled(scans))
            found += _by_span(True, {n: self._span(n) for n in scans}, {})
        return found

    def _is_scan(self, number: int) -> bool:
        return self.region.units[number].is_scan

    def _span(self, number: int) -> tuple[int, int] | None:
        unit = self.region.units[number]
        return None if unit.lag is None else (unit.lag, unit.lag + unit.dims[self.region.reduced[0]])

    def _filled(self, scans: Sequence[int]) -> dict[Pull, tuple[int, int] | None]:
        """The operands of scans that are made in a loop before, with what they are made for: from the first step
        that some scan needs to the last one.
        """
        found: dict[Pull, tuple[int, int] | None] = {}
        for number in filter(self._is_costly, scans):
            pull, span = self._operand(number), self._span(number)
            known = found.get(pull, (0, 0))
            if pull not in found or span is None:
                found[pull] = span
            elif known is not None:
                found[pull] = min(span[0], known[0]), max(span[1], known[1])
        return found

    def _bounds(self, stage: Stage, end: str) -> tuple[str, str]:
        if stage.span is None:
            return self.block, end
        first, last = (self.nest.word(("span", stage.units, stage.filled, n), stage.span[n], "n") for n in (0, 1))
        low, high = self.nest.fresh("p"), self.nest.fresh("q")
        self.around.statements.append(Clip(low, high, self.block, end, first, last))
        return low, high

    def _slide(self, end: str) -> None:
        """Moves what later steps need to before the next block."""
        for history in sorted({kept.history for kept in self.kept.values() if kept.history}):
            count, step = self.nest.fresh("c"), self.nest.fresh("h")
            self.nest.inner.statements.append(Base(count, Offset((Term(end, 1), Term(self.block, -1)))))
            self.nest.open(step)
            rows = [(row, kept) for row, kept in self.kept.items() if kept.history == history]
            for row, kept in rows:
                load = Load(kept.name, Offset((Term(step, 1), Term(count, 1))), kept.dtype, True)
                where = row.node.where
                self.nest.inner.statements.append(Store(kept.name, Offset((Term(step, 1),)), load, kept.dtype, where))
            self.nest.close("0", self.nest.word(("history", rows[0][0]), history, "n"))


def _by_span(
    scans: bool, units: dict[int, tuple[int, int] | None], filled: dict[Pull, tuple[int, int] | None]
) -> list[Stage]:
    """A loop for each span."""
    spans = dict.fromkeys((*units.values(), *filled.values()))
    return [
        Stage(
            scans,
            tuple(number for number, own in units.items() if own == span),
            tuple(pull for pull, own in filled.items() if own == span),
            span,
        )
        for span in spans
    ]
