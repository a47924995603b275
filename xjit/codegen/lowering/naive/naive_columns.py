"""The naive loops of a group whose reduced axes are slow in memory: kept axes around those of each pass.

    for i0 in 0 .. n0:
      carry t0: f64 = 0.0
      for j0 in 0 .. n1:
        t0 = (t0 + a0[j0, i0])
      o0[i0] = t0

The elements of a column are combined one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from xjit.codegen.lowering.group_values import GroupValues
from xjit.codegen.lowering.reductions import Recognised
from xjit.codegen.lowering.running import RunningValue
from xjit.codegen.scheduling.levels import Passes
from xjit.dataclass import dataclass
from xjit.fusion.statements import Reduce, Scan


@dataclass(eq=False)
class NaiveColumns:
    """The loops of a group, which are ``work`` additions in all."""

    values: GroupValues
    passes: Passes

    def __post_init__(self) -> None:
        values = self.values
        self.nest, self.bounds, self.plan, self.group = values.nest, values.bounds, values.plan, values.group
        self.work = values.accesses.work(columns=True)
        # Loops over rows are the innermost ones in the end, as far as values depend on a column.
        values.elements.innermost |= {axis for loop in self.plan.reduced for axis in loop.axes}

    def write(self) -> None:
        """All loops."""
        self.bounds.open(self.plan.kept)
        self.values.write_passes(self.passes, lambda level: self._pass(self.passes.along(level)))
        self.bounds.close_kept(len(self.plan.kept))

    def _pass(self, chosen: Sequence[int]) -> None:
        """One pass over the reduced axes: all reductions, scans and stores that are ready."""
        column, statements = self.nest.inner, self.group.statements
        folds = {number: self._fold(number) for number in chosen if isinstance(statements[number], Reduce | Scan)}
        for fold in folds.values():
            fold.start(column)
        self.bounds.open(self.plan.reduced)
        for number in chosen:
            match folds.get(number):
                case None:
                    self.values.store(number)
                case RunningValue() as scan:
                    self.values.settle_scan(number, scan.advance(self.nest.inner))
                case fold:
                    fold.take_in_order(self.nest.inner)
        self.bounds.close_reduced(self.plan.reduced)
        for number, fold in folds.items():
            if isinstance(statements[number], Reduce):
                self.values.settle(number, fold.finish(column), column)

    def _fold(self, number: int) -> Recognised:
        is_scan = isinstance(self.group.statements[number], Scan)
        fold = self.values.running(number) if is_scan else self.values.accumulator(number)
        assert isinstance(fold, Recognised)
        fold.in_one_block()
        return fold
