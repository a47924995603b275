"""Reductions over axes that are slow in memory: one accumulator per column of a block, in scratch.

for b in range(lo, hi):
    for i in block: acc[i] = identity
    for j in reduced axes:
        for i in block: acc[i] = combine(acc[i], value)
    for i in block: out[i] = acc[i]
"""

from __future__ import annotations

from xjit.codegen.reductions import Recognised
from xjit.codegen.running import RunningValue
from xjit.codegen.scopes import Held, Scope
from xjit.fusion.plan import Region
from xjit.ir.loops import Call, Load, Offset, Store, Term, Value
from xjit.types import COMPLEX128

# Bytes of all accumulators of one loop over columns: scratch is part of the stack.
ACCUMULATOR_BYTES = 262_144
FEWEST_COLUMNS = 16


def most_columns(region: Region) -> int:
    """How many columns have an accumulator for every reduction and scan of a region, in whole vectors."""
    count = sum(unit.is_reduction or unit.is_scan for unit in region.units)
    columns = ACCUMULATOR_BYTES // (COMPLEX128.itemsize * max(1, count))
    return max(FEWEST_COLUMNS, columns // FEWEST_COLUMNS * FEWEST_COLUMNS)


class ColumnAccumulator:
    """A reduction with one accumulator per column of a block, in scratch."""

    def __init__(self, fold: Recognised, name: str, column: str) -> None:
        self.fold = fold
        self.name = name
        self.column = column
        self.where = fold.unit.target.where
        self.dtype = fold.dtype

    def _offset(self) -> Offset:
        return Offset((Term(self.column, 1), Term("b_start", -1)))

    def _put(self, value: Value) -> None:
        store = Store(self.name, self._offset(), value, self.fold.dtype, self.where)
        self.fold.elements.nest.inner.statements.append(store)

    def _get(self) -> Value:
        scope = self.fold.elements.nest.inner
        load = Load(self.name, self._offset(), self.fold.dtype, True)
        return self.fold.elements.let(scope, "x", load, self.fold.dtype, self.where)

    def start(self) -> None:
        """acc[i] = identity."""
        self._put(self.fold.identity(self.fold.dtype))

    def take(self) -> None:
        """acc[i] = combine(acc[i], value)."""
        value = self.fold.plain_operand(0)
        before = self._get()
        self._put(Call(self.fold.in_order, (before, value), self.fold.dtype))

    def take_running(self) -> Held:
        """The same for a scan: what has been got so far is a value of its own."""
        assert isinstance(self.fold, RunningValue)
        held = self.fold.combined(self._get(), self.fold.elements.nest.inner)
        assert held.plain is not None
        self._put(held.plain)
        return held

    def finish(self, row: Scope) -> Held:
        """The column's result."""
        return self.fold.settle(self._get(), row, self.where)
