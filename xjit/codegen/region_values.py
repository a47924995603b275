"""What the loops of a region compute and store, in whichever form they are.

A value is pulled at the index of the innermost loop, down to what is read: from a buffer, from a nested reduction, or
from where an earlier loop has kept it. Which values are kept, and where, each form of loops decides for itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Protocol

from xjit.codegen import reductions
from xjit.codegen.buffers import Buffers, Pointers
from xjit.codegen.checks import Checks
from xjit.codegen.elements import Elements, storage_dtype
from xjit.codegen.loop_bounds import LoopBounds
from xjit.codegen.loop_order import Ordered
from xjit.codegen.nested import NestedReductions
from xjit.codegen.packed import PackedReductions
from xjit.codegen.running import RunningValue
from xjit.codegen.scopes import Held, Nest, Scope
from xjit.codegen.scratch import Scratch
from xjit.codegen.strips import Strips
from xjit.codegen.tiles import Tiles
from xjit.dataclass import dataclass, field
from xjit.fusion.groups import made_at
from xjit.fusion.plan import Pull
from xjit.fusion.reads import below
from xjit.fusion.units import owner
from xjit.ir.loops import Load, Offset, Store
from xjit.ir.node import Node
from xjit.types import BOOL, TupleType

Place = tuple[str, Offset]


class KeptValues(Protocol):
    """The values that a form of loops keeps in memory, so that later loops need not compute them again.

    What ``holds`` says depends on which of the loops is written at the time.
    """

    def holds(self, pull: Pull) -> bool:
        """Whether the value has been kept and is to be loaded."""

    def place(self, pull: Pull) -> Place:
        """The buffer that the value is kept in, and where in it the one of the step at hand is."""

    def places_of_scan(self, pull: Pull) -> Iterable[Place]:
        """Where a scan has to put the value as soon as it has made it."""


class NothingKept:
    """Of loops that need no values of each other."""

    def holds(self, pull: Pull) -> bool:
        """Never."""
        return False

    def place(self, pull: Pull) -> Place:
        """There is none."""
        raise LookupError(f"{pull.node.op.name} is kept nowhere")

    def places_of_scan(self, pull: Pull) -> Iterable[Place]:
        """There are none."""
        return ()


@dataclass(eq=False)
class RegionValues:
    """The values of a region where its loops are open. ``stored`` are the nodes that have a buffer."""

    loops: Ordered
    stored: frozenset[Node]
    nest: Nest
    pointers: Pointers
    checks: Checks
    scratch: Scratch
    bounds: LoopBounds
    kept: KeptValues = field(default_factory=NothingKept)

    def __post_init__(self) -> None:
        self.region, self.accesses, self.plan = self.loops.region, self.loops.accesses, self.loops.plan
        columns = self.plan.columns or not self.plan.reduced
        loops = self.plan.kept if columns else self.plan.reduced
        innermost = frozenset(loops[-1].axes) if loops else frozenset()
        self.elements = Elements(self.nest, self._read, self._is_leaf, self._variable, innermost, self.region.dims)
        self.strips = Strips(self.nest, self.elements)
        memory = (self.nest, self.elements, self.plan, self.region, self.accesses, self.pointers)
        turned = self.loops.transposition
        self.tiles = None if turned is None else Tiles(*memory, turned, self.scratch)
        self.buffers = self.tiles or Buffers(*memory)
        packed = PackedReductions(self.nest, self.elements, self.buffers, self.scratch, self.bounds.extent)
        self._nested = NestedReductions(
            self.nest, self.elements, self.plan, self.region.nested, self.bounds.extent, packed
        )

    # ------------------------------------------------------------------ what is read

    def _variable(self, axis: int) -> str | None:
        loop = self.plan.loop_of(axis)
        return None if loop is None else loop.variable

    def _is_leaf(self, pull: Pull) -> bool:
        if pull in self.accesses.reads or self.kept.holds(pull) or pull.node in self._nested.first:
            return True
        return owner(pull.node) in self.accesses.targets & self.accesses.leaves

    def _read(self, pull: Pull) -> Held:
        scope = self.nest.scope_for(pull.index)
        if self.kept.holds(pull):
            load = Load(*self.kept.place(pull), storage_dtype(pull.node.aval.dtype), True)
            return self.buffers.held(load, scope, pull.node)
        if pull.node in self._nested.first:
            return self._nested.result(pull)
        return self.buffers.load(self.accesses.reads[pull], scope, pull.node, False)

    # ------------------------------------------------------------------ what is computed, kept and stored

    def computed(self, numbers: Iterable[int]) -> list[Pull]:
        """What these units compute in the loop at hand, operands before users: nothing below what has been kept."""
        chosen = list(numbers)

        def operands(pull: Pull) -> Iterable[Pull]:
            return () if self.kept.holds(pull) else self.accesses.operands(pull)

        needed = set(below((pull for number in chosen for pull in self.accesses.values[number]), operands))
        pulls = dict.fromkeys(pull for number in chosen for pull in self.accesses.walks[number])
        return [pull for pull in pulls if pull in needed and not self.kept.holds(pull)]

    def keep(self, pull: Pull, place: Place | None = None) -> None:
        """Computes a value and puts it where it is kept."""
        held = self.elements.value(pull)
        dtype = pull.node.aval.dtype
        value = self.elements.bits(held, dtype, pull.node.where)
        name, offset = place or self.kept.place(pull)
        self.nest.inner.statements.append(Store(name, offset, value, storage_dtype(dtype), pull.node.where))

    def keep_all(self, pulls: Iterable[Pull]) -> None:
        """Keeps several values."""
        for pull in pulls:
            self.keep(pull)

    def store(self, number: int) -> None:
        """Computes the value of a unit that makes each element by itself, and stores or checks it."""
        unit, pull = self.region.units[number], self.accesses.values[number][0]
        held = self.elements.value(pull)
        if unit.is_check:
            self.checks.take(unit.target, self.elements.plain(held, BOOL, pull.node.where), held.scope)
            return
        access = self.accesses.writes[number]
        assert access is not None
        self.buffers.put(access, held, source=pull.node)

    def store_all(self, numbers: Iterable[int]) -> None:
        """Does so for several units."""
        for number in numbers:
            self.store(number)

    # ------------------------------------------------------------------ reductions and scans

    def accumulator(self, number: int) -> reductions.Accumulator:
        """The accumulator of a reduction."""
        return reductions.make(self.elements, self.region.units[number], self.region.axes[number])

    def running(self, number: int) -> RunningValue:
        """The accumulator of a scan."""
        return RunningValue(self.elements, self.region.units[number], self.region.axes[number])

    def settle(self, number: int, results: list[Held], row: Scope) -> None:
        """Makes the results of a reduction known to the row, and stores those that have a buffer."""
        unit, axes = self.region.units[number], self.region.axes[number]
        index = made_at(unit, axes)
        nodes = self.accesses.results_of(unit.target)
        for k, held in enumerate(results):
            for node in nodes.get(k, ()):
                if index is not None:
                    row.known[Pull(node, index)] = held
                if node in self.stored or (node is unit.target and not isinstance(node.type, TupleType)):
                    self._store_result(node, number, held)

    def _store_result(self, node: Node, number: int, held: Held) -> None:
        access = self.accesses.writes[number]
        if access is None or node not in self.stored:
            return
        self.buffers.put(dataclasses.replace(access, node=node), held, chunked=self.region.chunk is not None)

    def settle_scan(self, number: int, held: Held) -> None:
        """Makes a running value known where it stands, keeps it for those who read it later, and stores it."""
        unit, access = self.region.units[number], self.accesses.writes[number]
        index = made_at(unit, self.region.axes[number])
        assert access is not None and index is not None
        pull = Pull(unit.target, index)
        self.nest.inner.known[pull] = held
        for place in self.kept.places_of_scan(pull):
            self.keep(pull, place)
        if unit.target in self.stored:
            self.buffers.put(access, held)
