"""What sums over columns need of each row, one number, made for a few rows ahead.

In the gradient ``x.T @ (exp(x @ w) - y)`` the columns of ``x`` are added up, each row times a number that takes a sum
over the row and a function. Strips of rows are walked twice while they are in the first-level cache: the numbers of a
strip wait in scratch, and the functions run as vector code over them instead of once for every row.

    for b0 in range(0, n0, 16):
        e0 = min(b0 + 16, n0)
        for j0 in range(b0, e0):
            st(m1, j0 - b0, <sum over the row j0>)
        for j0 in range(b0, e0):
            st(m2, j0 - b0, exp(ldw(m1, j0 - b0)) - ld(a1, j0))
        for j0 in range(b0, e0):
            for i0 in range(b_start, b_stop):
                st(m0, i0 - b_start, ldw(m0, i0 - b_start) + ld(a0, j0 * s0 + i0) * ldw(m2, j0 - b0))
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from xjit.codegen.lowering.buffers import Place
from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.loop_bounds import Bounds
from xjit.codegen.scheduling.accesses import GroupAccesses
from xjit.codegen.scheduling.schedule import Loop
from xjit.codegen.scheduling.several_rows import join_rows
from xjit.dataclass import dataclass, field
from xjit.fusion import cost
from xjit.fusion.regions.reads import below, sources
from xjit.fusion.statements import IndexedValue
from xjit.ir.index_map import axes_of
from xjit.ir.loops.intexpr import variable


@dataclass(eq=False)
class RowValues:
    """The numbers that wait in scratch: ``places`` are the scratch and the address of each within the open strip."""

    values: GroupValues
    places: dict[IndexedValue, Place] = field(default_factory=dict)
    waiting: set[IndexedValue] = field(default_factory=set)

    def open(self, loop: Loop, bounds: Bounds, indexed_values: list[IndexedValue]) -> Bounds:
        """Begins a loop over strips and makes these values, each after those that it needs; the bounds of a strip."""
        start, stop = self.values.nest.open_blocks(self.values.nest.machine.strip_rows, bounds[1])
        elements = self.values.elements
        innermost, elements.innermost = elements.innermost, frozenset(loop.axes)
        for indexed in indexed_values:
            self._make(indexed, loop, (start, stop))
        elements.innermost = innermost
        return start, stop

    def close(self, bounds: Bounds) -> None:
        """Ends the strip after the loop that adds its rows to accumulators, which now takes several in a step."""
        join_rows(self.values.nest)
        self.values.nest.close(*bounds, step=self.values.nest.machine.strip_rows)
        self.places.clear()
        self.waiting.clear()

    def _make(self, indexed: IndexedValue, loop: Loop, bounds: Bounds) -> None:
        values = self.values
        name = values.scratch.take(storage_dtype(indexed.node.aval.dtype), values.nest.machine.strip_rows)
        self.places[indexed] = name, (variable(loop.variable) - bounds[0],)
        needed = below([indexed], values.accesses.operands)
        values.loop(loop, bounds, needed, functools.partial(values.keep, indexed))
        self.waiting.add(indexed)


def expensive_row_values(accesses: GroupAccesses, chosen: Sequence[int], loop: Loop) -> list[IndexedValue]:
    """What these statements compute of each step of a loop over rows alone and then use for columns.

    Those that cost more than a store and a load, and before them the reductions over rows that they are made of.
    """
    group, table = accesses.group, cost.CostTable(accesses.leaves, accesses.machine)
    reduced = frozenset(group.reduced)
    found: dict[IndexedValue, None] = {}
    for number in chosen:
        own = dict.fromkeys(accesses.visits[number])

        def is_made_for_rows(indexed: IndexedValue, own: dict[IndexedValue, None] = own) -> bool:
            axes = axes_of(indexed.index)
            return indexed in own and axes <= reduced and bool(axes & frozenset(loop.axes))

        wanted = [
            indexed
            for indexed in _used_by_columns(accesses, number)
            if is_made_for_rows(indexed) and table.total(indexed.node) >= accesses.machine.row_cost
        ]
        needed = set(below(wanted, accesses.operands))
        found.update(dict.fromkeys(p for p in own if p in needed and p.node in group.nested and is_made_for_rows(p)))
        found.update(dict.fromkeys(wanted))
    return list(found)


def _used_by_columns(accesses: GroupAccesses, number: int) -> Iterator[IndexedValue]:
    """What is combined with values that change along a kept axis, and what the statement itself takes."""
    group = accesses.group
    yield from accesses.values[number]
    for indexed in accesses.visits[number]:
        if axes_of(indexed.index) & frozenset(group.kept):
            yield from sources(indexed, group.dims, group.nested)
