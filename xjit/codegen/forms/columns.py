"""What a block of columns has in scratch: one accumulator per column, and values that are kept for later loops."""

from __future__ import annotations

from collections.abc import Iterable

from xjit.codegen.forms.row_values import RowValues
from xjit.codegen.lowering.buffers import Place
from xjit.codegen.lowering.elements import storage_dtype
from xjit.codegen.lowering.reductions import Recognised
from xjit.codegen.lowering.running import RunningValue
from xjit.codegen.lowering.scopes import Held, Scope
from xjit.codegen.lowering.scratch import Scratch
from xjit.dataclass import dataclass, field
from xjit.fusion.plan import FusionGroup
from xjit.fusion.statements import IndexedValue, Reduce, Scan
from xjit.ir.loops.intexpr import IntExpr, variable
from xjit.ir.loops.nodes import Load, Prim, Store, Value
from xjit.machine import Machine
from xjit.types import COMPLEX128


def most_columns(group: FusionGroup, machine: Machine) -> int:
    """How many columns have an accumulator for every reduction and scan of a group, in whole vectors."""
    count = sum(isinstance(statement, Reduce | Scan) for statement in group.statements)
    columns, vectors = machine.accumulator_bytes // (COMPLEX128.itemsize * max(1, count)), machine.accumulator_columns
    return max(vectors, columns // vectors * vectors)


class ColumnAccumulator:
    """A reduction with one accumulator per column of a block, in scratch."""

    def __init__(self, fold: Recognised, name: str, column: str) -> None:
        self.fold = fold
        self.name = name
        self.column = column
        self.where = fold.statement.target.where
        self.dtype = fold.dtype

    def _index(self) -> tuple[IntExpr, ...]:
        return (variable(self.column) - variable("b_start"),)

    def _put(self, value: Value) -> None:
        store = Store(self.name, self._index(), value, self.where)
        self.fold.elements.nest.inner.statements.append(store)

    def _get(self) -> Value:
        scope = self.fold.elements.nest.inner
        load = Load(self.name, self._index(), self.fold.dtype)
        return self.fold.elements.let(scope, "x", load, self.fold.dtype, self.where)

    def start(self) -> None:
        """acc[i] = identity."""
        self._put(self.fold.identity(self.fold.dtype))

    def take(self) -> None:
        """acc[i] = combine(acc[i], value)."""
        value = self.fold.plain_operand(0)
        before = self._get()
        self._put(Prim(self.fold.in_order, (before, value), self.fold.dtype))

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


@dataclass(eq=False)
class KeptColumns:
    """The values that wait in scratch: of columns, for the next pass or within a row, and of the rows of a strip.

    ``room`` is the longest block, ``column`` the variable of the loop over it.
    """

    row_values: RowValues
    scratch: Scratch
    column: str
    room: int
    waiting: set[IndexedValue] = field(default_factory=set)
    _names: dict[IndexedValue, str] = field(default_factory=dict)

    def holds(self, indexed: IndexedValue) -> bool:
        """Whether the value has been kept."""
        return indexed in self.waiting or indexed in self.row_values.waiting

    def place(self, indexed: IndexedValue) -> Place:
        """The scratch that the value is kept in, and where in it the one of the step at hand is."""
        if indexed in self.row_values.places:
            return self.row_values.places[indexed]
        if indexed not in self._names:
            self._names[indexed] = self.scratch.take(storage_dtype(indexed.node.aval.dtype), self.room)
        return self._names[indexed], (variable(self.column) - variable("b_start"),)

    def places_of_scan(self, indexed: IndexedValue) -> Iterable[Place]:
        """None: what runs behind a scan, or after it, goes row by row."""
        return ()
