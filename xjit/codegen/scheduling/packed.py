"""Short reductions whose results fill a row, written out, so that the loop along the row is vector code.

The distances of a point to all centres, of 16 coordinates each, are sums of 16 elements, which wait in a row of
scratch.
Along a centre they would be added across the elements of one vector; along the row each vector holds as many centres.
Centres are read across memory then, and therefore packed before, coordinate by coordinate:

    m1 = scratch_f32(n0 * 16)
    for j0 in range(n0):
        for d2 in range(16):
            st(m1, d2 * n0 + j0, ld(a1, j0 * a1_s0 + d2))
    for i0 in range(lo, hi):
        x0 = ld(a0, i0 * a0_s0)
        x1 = ld(a0, i0 * a0_s0 + 1)
        ...
        for j0 in range(n0):
            v0 = x0 - ldw(m1, j0)
            v1 = x1 - ldw(m1, n0 + j0)
            ...
            st(m0, j0, v0 * v0 + v8 * v8 + ...)

Values are combined in the order that :mod:`xjit.numerics` defines for all sums.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Sequence

from xjit import numerics
from xjit.codegen.lowering.buffers import Buffers
from xjit.codegen.lowering.elements import Elements
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.lowering.scratch import Scratch
from xjit.codegen.lowering.variants import calls_varied
from xjit.codegen.scheduling.accesses import Access, GroupAccesses
from xjit.codegen.scheduling.schedule import Loop, Schedule
from xjit.dataclass import dataclass
from xjit.fusion.regions.reads import below, positions_of
from xjit.fusion.statements import IndexedValue
from xjit.ir.index_map import changed
from xjit.ir.loops.intexpr import IntExpr, constant, variable
from xjit.ir.loops.nodes import Prim, Store, Value
from xjit.ir.opdef import AxisMap
from xjit.types import FLOAT32, FLOAT64, DType


@dataclass(eq=False)
class PackedReductions:
    """Writes reductions out where a loop along a row is open. ``extent`` is the length of a loop."""

    nest: LoopBuilder
    elements: Elements
    buffers: Buffers
    scratch: Scratch
    extent: Callable[[Loop], IntExpr]

    @property
    def _plan(self) -> Schedule:
        return self.buffers.plan

    @property
    def _accesses(self) -> GroupAccesses:
        return self.buffers.accesses

    def loop(self, values: IndexedValue, combined: DType, loops: list[Loop]) -> Loop | None:
        """The loop of a reduction of ``values`` that is to be written out in the row loop at hand, if it is."""
        plan, machine = self._plan, self.nest.machine
        rows = math.prod(loop.extent for loop in plan.kept)
        if plan.columns or plan.chunked is not None or len(plan.reduced) != 1 or len(loops) != 1:
            return None
        (row,), (short,) = plan.reduced, loops
        if self.nest.inner.variable != row.variable or combined not in (FLOAT32, FLOAT64):
            return None
        if not 1 < short.extent <= machine.packed_terms:
            return None
        if row.extent < machine.packed_results or rows < machine.packed_rows:
            return None
        visits = list(self._visits(values))
        if len(visits) * short.extent > machine.written_out_operations or not all(map(self._is_simple, visits)):
            return None
        across = [access for access in self._leaves(values) if self._is_across(access, short)]
        if not all(self._can_be_packed(access, short) for access in across):
            return None
        size = sum(row.extent * short.extent * access.node.aval.dtype.itemsize for access in set(across))
        return short if size <= machine.packed_bytes else None

    def _visits(self, values: IndexedValue) -> Iterator[IndexedValue]:
        """What is computed or read for one element."""
        return below([values], self._accesses.operands)

    def _leaves(self, values: IndexedValue) -> list[Access]:
        return [self._accesses.reads[indexed] for indexed in self._visits(values) if indexed in self._accesses.reads]

    def _is_simple(self, indexed: IndexedValue) -> bool:
        """Whether the value is a read, or computed by functions that have no rare arguments, at known positions."""
        is_read = indexed in self._accesses.reads
        if positions_of(indexed) or (not is_read and (self.elements.is_leaf(indexed) or calls_varied(indexed.node))):
            return False
        return not is_read or indexed.node.aval.dtype in (FLOAT32, FLOAT64)

    def _is_across(self, access: Access, short: Loop) -> bool:
        """Whether the loop along the row reads across memory where the short one reads other elements."""
        step = access.moves[self._plan.reduced[0].axes[-1]]
        return access.moves[short.axes[0]] != 0 and step not in (0, 1)

    def _can_be_packed(self, access: Access, short: Loop) -> bool:
        """Whether all rows of the kernel read the same elements."""
        own = {*self._plan.reduced[0].axes, *short.axes}
        return not any(move for axis, move in enumerate(access.moves) if axis not in own)

    def combined(self, values: IndexedValue, combine: str, short: Loop, start: Value, in_lanes: bool) -> Value:
        """All elements along the short loop, combined with what the reduction starts from."""
        reads = self._accesses.reads
        added = {indexed: access for indexed, access in self._at_places(values, short) if indexed not in reads}
        reads.update(added)
        result = self._in_order(values, combine, short, start, in_lanes)
        for indexed in added:
            del reads[indexed]
        return result

    def _in_order(self, values: IndexedValue, combine: str, short: Loop, start: Value, in_lanes: bool) -> Value:
        """The elements in the order of :mod:`xjit.numerics`, as a line shorter than a block or one by one."""
        node, (axis,), count = values.node, short.axes, short.extent
        dtype = node.aval.dtype

        def both(one: Value, other: Value) -> Value:
            return self.elements.let(self.nest.inner, "v", Prim(combine, (one, other), dtype), dtype, node.where)

        def at(place: int) -> Value:
            return self.elements.plain(self.elements.value(_placed(values, axis, place)), dtype, node.where)

        items = [at(place) for place in range(count)]
        lanes = numerics.lanes(dtype)
        many = count - count % lanes
        few = count - count % numerics.FEW_LANES
        if not in_lanes:
            return functools.reduce(both, items, start)
        sums = (
            *_tree(items[:many], lanes, both),
            *_tree(items[many:few], numerics.FEW_LANES, both),
        )
        return functools.reduce(both, (*sums, *items[few:]), start)

    def _at_places(self, values: IndexedValue, short: Loop) -> Iterator[tuple[IndexedValue, Access]]:
        """The reads of each element along the short loop, and where they are to be found."""
        (axis,) = short.axes
        for indexed in list(self._visits(values)):
            access = self._accesses.reads.get(indexed)
            if access is None or not access.moves[axis]:
                continue
            packed = self._packed(indexed, access, short) if self._is_across(access, short) else None
            moves = tuple(0 if one == axis else move for one, move in enumerate(access.moves))
            for place in range(short.extent):
                here = dataclasses.replace(access, moves=moves, start=access.start + place * access.moves[axis])
                self.buffers.interleaved[here] = access.start
                if packed is not None:
                    row = self._plan.reduced[0]
                    self.buffers.packed[here] = packed, (constant(place), variable(row.variable))
                yield _placed(indexed, axis, place), here

    def _packed(self, indexed: IndexedValue, access: Access, short: Loop) -> str:
        """The scratch that holds the elements of an access, those along the row side by side."""
        row, dtype = self._plan.reduced[0], indexed.node.aval.dtype
        name = self.scratch.take(dtype, short.extent, self.extent(row))
        hidden = self.nest.leave_to(self.nest.scopes[self.nest.outermost])
        self.nest.open(row.variable, row.axes)
        inner = self.nest.open(short.variable, short.axes)
        value = self.elements.plain(self.buffers.load(access, inner, indexed.node, False), dtype, indexed.node.where)
        place = variable(short.variable), variable(row.variable)
        inner.statements.append(Store(name, place, value, indexed.node.where))
        self.nest.close(0, short.extent)
        self.nest.close(0, self.extent(row))
        self.nest.scopes.extend(hidden)
        return name


def _tree(items: Sequence[Value], lanes: int, both: Callable[[Value, Value], Value]) -> tuple[Value, ...]:
    """A whole number of groups of values, added lane by lane and then in a tree of halves; nothing where none are."""
    sums = list(items[:lanes])
    for place, item in enumerate(items[lanes:]):
        sums[place % lanes] = both(sums[place % lanes], item)
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [both(*pair) for pair in zip(sums[:half], sums[half:], strict=True)]
    return tuple(sums)


def _placed(indexed: IndexedValue, axis: int, place: int) -> IndexedValue:
    """The value at one position along an axis."""

    def at(map: AxisMap) -> AxisMap:
        return map if map.axis != axis else AxisMap(None, 1, map.scale * place + map.offset, map.found)

    return IndexedValue(indexed.node, changed(indexed.index, at))
