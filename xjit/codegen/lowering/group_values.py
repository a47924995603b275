"""The values that the loops of a group compute and store, in whichever form they are.

A value is inlined at the index of the innermost loop, down to what is read: from a buffer, from a nested reduction,
or from where an earlier loop has kept it. Which values are kept, and where, each form of loops decides for itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Protocol

from xjit.codegen.lowering import reductions
from xjit.codegen.lowering.buffers import Buffers, Place, Pointers
from xjit.codegen.lowering.check_flags import Checks
from xjit.codegen.lowering.elements import Elements, storage_dtype
from xjit.codegen.lowering.inner_reductions import NestedReductions
from xjit.codegen.lowering.naive.loop_bounds import Bounds, LoopBounds
from xjit.codegen.lowering.running import RunningValue
from xjit.codegen.lowering.scopes import Element, LoopBuilder, Scope
from xjit.codegen.lowering.scratch import Scratch
from xjit.codegen.lowering.variants import calls_many
from xjit.codegen.scheduling.levels import Passes
from xjit.codegen.scheduling.loop_order import Ordered
from xjit.codegen.scheduling.rows.row_storage import KeptValue
from xjit.codegen.scheduling.rows.scan_blocks import ScanPass
from xjit.codegen.scheduling.schedule import Loop
from xjit.dataclass import dataclass, field
from xjit.fusion.regions.materialized import owner
from xjit.fusion.regions.reads import below
from xjit.fusion.statements import Check, IndexedValue, Reduce, Scan
from xjit.ir.index_map import axes_of, is_origin
from xjit.ir.loops.intexpr import maximum, minimum, variable
from xjit.ir.loops.nodes import LetInt, Load, LoopKind, Store
from xjit.ir.node import Node
from xjit.types import BOOL, TupleType


class KeptValues(Protocol):
    """The values that a form of loops keeps in memory, so that later loops need not compute them again.

    What ``holds`` says depends on which of the loops is written at the time.
    """

    def holds(self, indexed: IndexedValue) -> bool:
        """Return whether the value has been kept and is to be loaded."""

    def place(self, indexed: IndexedValue) -> Place:
        """The buffer that the value is kept in, and where in it the one of the step at hand is."""

    def places_of_scan(self, indexed: IndexedValue) -> Iterable[Place]:
        """The places into which a scan puts the value as soon as it has made it."""


class NothingKept:
    """Of loops that need no values of each other."""

    def holds(self, indexed: IndexedValue) -> bool:
        """Never."""
        return False

    def place(self, indexed: IndexedValue) -> Place:
        """There is none."""
        raise LookupError(f"{indexed.node.op.name} is kept nowhere")

    def places_of_scan(self, indexed: IndexedValue) -> Iterable[Place]:
        """There are none."""
        return ()


@dataclass(eq=False)
class GroupValues:
    """The values of a group where its loops are open. ``stored`` are the nodes that have a buffer.

    The scheduler is told of ``kept_values`` and ``scan_passes``. Values that are ``staged`` in the loop at hand are
    written as any others, and loaded after rewrites.
    """

    loops: Ordered
    stored: frozenset[Node]
    nest: LoopBuilder
    pointers: Pointers
    checks: Checks
    scratch: Scratch
    bounds: LoopBounds
    kept: KeptValues = field(default_factory=NothingKept)
    kept_values: list[KeptValue] = field(default_factory=list)
    scan_passes: list[ScanPass] = field(default_factory=list)
    staged: Callable[[IndexedValue], bool] = field(default=lambda indexed: False)

    def __post_init__(self) -> None:
        self.group, self.accesses, self.plan = self.loops.group, self.loops.accesses, self.loops.plan
        columns = self.plan.columns or not self.plan.reduced
        loops = self.plan.inner if columns else self.plan.reduced
        innermost = frozenset(loops[-1].axes) if loops else frozenset()
        self.elements = Elements(self.nest, self._read, self._is_leaf, self._variable, innermost, self.group.dims)
        memory = (self.nest, self.elements, self.plan, self.group, self.accesses, self.pointers)
        self.buffers = Buffers(*memory)
        self._nested = NestedReductions(self.nest, self.elements, self.plan, self.group.nested, self.bounds.extent)

    # ------------------------------------------------------------------ what is read

    def _variable(self, axis: int) -> str | None:
        loop = self.plan.loop_of(axis)
        return None if loop is None else loop.variable

    def _is_leaf(self, indexed: IndexedValue) -> bool:
        if indexed in self.accesses.reads or self.kept.holds(indexed) or indexed.node in self._nested.first:
            return True
        made = owner(indexed.node)
        return made in self.accesses.leaves and made in self.accesses.targets

    def _read(self, indexed: IndexedValue) -> Element:
        scope = self.nest.scope_for(indexed.index)
        if self.kept.holds(indexed):
            load = Load(*self.kept.place(indexed), storage_dtype(indexed.node.aval.dtype))
            return self.buffers.held(load, scope, indexed.node)
        if indexed.node in self._nested.first:
            return self._nested.result(indexed)
        condition = None if is_origin(indexed.index) else self.elements.condition  # the first element is there
        return self.buffers.load(self.accesses.reads[indexed], scope, indexed.node, False, condition)

    # ------------------------------------------------------------------ where loops end

    def find_stops(self) -> None:
        """Names the integers of the run at which loops end, in front of all loops.

        Of those that reduce LLVM is not to know that they are too short for lanes: it would leave some loops as they
        are, and their additions in another order.
        """
        for axis, (limit, before) in self.group.limits.items():
            loop = self.plan.loop_of(axis)
            assert loop is not None, "an axis with a limit has a loop"
            found = variable(self.elements.looked_up(IndexedValue(limit, ())).name)
            stop = maximum(minimum(found - before, self.bounds.extent(loop)), 0) if before else found
            if axis in self.group.reduced:
                stop = stop + self.nest.word("nothing", 0, "zero")
            if stop != found:
                name = self.nest.fresh("stop")
                self.nest.inner.statements.append(LetInt(name, stop))
                stop = variable(name)
            self.bounds.stops[loop.variable] = stop

    # ------------------------------------------------------------------ what is computed, kept and stored

    def loop(
        self,
        loop: Loop,
        bounds: Bounds,
        indexed_values: Iterable[IndexedValue],
        body: Callable[[], None],
        kind: LoopKind = LoopKind.SERIAL,
    ) -> bool:
        """Write an innermost loop around what ``body`` writes; ``indexed_values`` are the values in it.

        Return whether the loop does anything: without it there is none.
        """
        axes, short = set(loop.axes), self.plan.short
        if short is not None:
            axes = set(self.elements.innermost)
        nodes = [
            one.node
            for one in dict.fromkeys(indexed_values)
            if axes_of(one.index) & axes
            for _ in range(1 if short is None or axes_of(one.index).isdisjoint(short.axes) else short.extent)
        ]
        self.elements.calls = calls_many(nodes, self.nest.machine)
        self.nest.open(loop.variable, loop.axes)
        body()
        is_written = self.nest.close(*bounds, kind)
        self.elements.calls = False
        return is_written

    def computed(self, numbers: Iterable[int]) -> list[IndexedValue]:
        """The values that these statements compute in the open loop, operands before users: nothing below what has
        been kept.
        """
        chosen = list(numbers)

        def is_loaded(indexed: IndexedValue) -> bool:
            return self.kept.holds(indexed) or self.staged(indexed)

        def operands(indexed: IndexedValue) -> Iterable[IndexedValue]:
            return () if is_loaded(indexed) else self.accesses.operands(indexed)

        needed = set(below((indexed for number in chosen for indexed in self.accesses.values[number]), operands))
        indexed_values = dict.fromkeys(indexed for number in chosen for indexed in self.accesses.visits[number])
        return [indexed for indexed in indexed_values if indexed in needed and not is_loaded(indexed)]

    def keep(self, indexed: IndexedValue, place: Place | None = None) -> None:
        """Computes a value and puts it where it is kept."""
        held = self.elements.value(indexed)
        dtype = indexed.node.aval.dtype
        value = self.elements.bits(held, dtype, indexed.node.where)
        name, index = place or self.kept.place(indexed)
        self.nest.inner.statements.append(Store(name, index, value, indexed.node.where))

    def write_passes(self, passes: Passes, write: Callable[[int], None]) -> None:
        """Write each pass of some level, and between passes what is stored once for a row or a column.

        In chunks, operands of a pass that stay the same in it are found by the number of the chunk, in front of it.
        """
        self.store_all(passes.between(0))
        for level in range(1, passes.count + 1):
            if self.group.chunk is not None:
                for indexed in passes.read_ahead(level):
                    self.elements.value(indexed)
            write(level)
            self.store_all(passes.between(level))

    def store(self, number: int) -> None:
        """Computes the value of a statement that makes each element by itself, and stores or checks it."""
        statement, indexed = self.group.statements[number], self.accesses.values[number][0]
        held = self.elements.value(indexed)
        if isinstance(statement, Check):
            self.checks.take(statement.target, self.elements.plain(held, BOOL, indexed.node.where), held.scope)
            return
        access = self.accesses.writes[number]
        assert access is not None
        self.buffers.put(access, held, source=indexed.node)

    def store_all(self, numbers: Iterable[int]) -> None:
        """Does so for several statements."""
        for number in numbers:
            self.store(number)

    # ------------------------------------------------------------------ reductions and scans

    def accumulator(self, number: int) -> reductions.Accumulator:
        """The accumulator of a reduction."""
        statement = self.group.statements[number]
        assert isinstance(statement, Reduce)
        return reductions.make(self.elements, statement, self.group.axes[number])

    def running(self, number: int) -> RunningValue:
        """The accumulator of a scan."""
        statement = self.group.statements[number]
        assert isinstance(statement, Scan)
        return RunningValue(self.elements, statement, self.group.axes[number])

    def settle(self, number: int, results: list[Element], row: Scope) -> None:
        """Makes the results of a reduction known to the row, and stores those that have a buffer."""
        statement, axes = self.group.statements[number], self.group.axes[number]
        index = statement.made_at(axes)
        nodes = self.accesses.results_of(statement.target)
        for k, held in enumerate(results):
            for node in nodes.get(k, ()):
                if index is not None:
                    row.known[IndexedValue(node, index)] = held
                if node in self.stored or (node is statement.target and not isinstance(node.type, TupleType)):
                    self._store_result(node, number, held)

    def _store_result(self, node: Node, number: int, held: Element) -> None:
        access = self.accesses.writes[number]
        if access is None or node not in self.stored:
            return
        self.buffers.put(dataclasses.replace(access, node=node), held, chunked=self.group.chunk is not None)

    def settle_scan(self, number: int, held: Element) -> None:
        """Makes a running value known where it stands, keeps it for those who read it later, and stores it."""
        statement, access = self.group.statements[number], self.accesses.writes[number]
        index = statement.made_at(self.group.axes[number])
        assert access is not None and index is not None
        indexed = IndexedValue(statement.target, index)
        self.nest.inner.known[indexed] = held
        for place in self.kept.places_of_scan(indexed):
            self.keep(indexed, place)
        if statement.target in self.stored or access.along:  # a buffer, or scratch of a tile
            self.buffers.put(access, held)
