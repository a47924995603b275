"""The loops over one block of elements that are added lane by lane: whole groups of lanes, fewer lanes, the rest.

    w0 = b0 + ((e0 - b0) & -64)
    for j0 in range(b0, w0):
        t0 = radd(t0, x)
    w1 = w0 + ((e0 - w0) & -8)
    for j0 in range(w0, w1):
        u0 = radd8(u0, x)
    t0 = t0 + u0
    for j0 in range(w1, e0):
        t0 = t0 + x

What takes long to compute is not written three times. The rest after whole groups waits in scratch:

    for j0 in range(w0, e0):
        st(m0, j0 - w0, exp_f32(x))
    for k0 in range(w0, w1):
        u0 = radd8(u0, ldw(m0, k0 - w0))
    ...

So do all elements where LLVM would not compute as many at a time as there are lanes: with functions that have rare
arguments, loops within the loop, or gaps between what is read.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence

from xjit import numerics
from xjit.codegen.lowering.loop_bounds import Bounds
from xjit.codegen.lowering.reductions import Accumulator, Recognised
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.lowering.scratch import Scratch
from xjit.codegen.lowering.variants import has_variants, is_vector_function
from xjit.dataclass import dataclass
from xjit.fusion.cost import element_cost
from xjit.fusion.statements import IndexedValue
from xjit.ir.loops.intexpr import IntExpr, variable
from xjit.ir.loops.nodes import Load
from xjit.ir.scalar_expr import INSTRUCTIONS, Expr, Prim
from xjit.machine import Machine
from xjit.types import NARROW_FLOATS, dtype_class


class Work(enum.Enum):
    """How what is added up is computed."""

    LIGHT = "wherever it is added"
    LONG = "as vectors, best written once"
    ODD = "not in vectors of any length"


def in_lanes(folds: Iterable[Accumulator]) -> list[Recognised]:
    """Those accumulators that add lane by lane."""
    return [fold for fold in folds if isinstance(fold, Recognised) and fold.in_lanes]


def work_of(indexed_values: Sequence[IndexedValue], machine: Machine, sums: int = 1) -> Work:
    """What computing these values is like, for so many sums."""
    if sums < 2 and any(
        dtype_class(source.aval.dtype) == "C" for indexed in indexed_values for source in indexed.node.inputs
    ):
        return Work.ODD  # one part of complex numbers leaves gaps, which the parts that are summed together fill
    if not all(
        indexed.node.aval.dtype not in NARROW_FLOATS and _is_vector_code(indexed.node.element)
        for indexed in indexed_values
    ):
        return Work.ODD
    cost = sum(element_cost(indexed.node, machine) for indexed in indexed_values)
    return Work.LIGHT if cost <= machine.repeated_cost else Work.LONG


def _is_vector_code(expr: Expr | None) -> bool:
    """Whether an expression has instructions only, and functions without rare arguments."""
    stack = [] if expr is None else [expr]
    while stack:
        top = stack.pop()
        if isinstance(top, Prim):
            if top.args and has_variants(top.name, top.args[0].dtype):
                return False
            is_function = top.name not in INSTRUCTIONS
            if is_function and not (top.args and is_vector_function(top.name, top.args[0].dtype)):
                return False
            stack.extend(top.args)
    return True


@dataclass(eq=False)
class LaneLoops:
    """Writes the loops over a block. ``scratch`` is where values may wait."""

    nest: LoopBuilder
    scratch: Scratch

    def write(
        self, folds: Sequence[Recognised], bounds: Bounds, loop: Callable[[Bounds], None], step: str, work: Work
    ) -> None:
        """All loops; ``loop`` writes one between bounds, in which every accumulator takes the element at hand."""
        (start, stop), rest = bounds, bounds[0]
        lanes, *others = {numerics.lanes(fold.dtype) for fold in folds}
        work = Work.ODD if others else work
        if work is not Work.ODD:
            rest = self._groups(folds, bounds, lanes, loop)
        if work is Work.LIGHT:
            end = self._groups(folds, (rest, stop), numerics.FEW_LANES, loop)
            self._one_by_one(folds, (end, stop), loop)
        elif work is Work.ODD or not (start.value is not None and rest == stop):
            self.fill(folds, variable(step) - rest)
            loop((rest, stop))
            if work is Work.ODD:
                self.add_up(folds, bounds)
            else:
                self._add_up(folds, (rest, stop), (numerics.FEW_LANES,))

    def fill(self, folds: Sequence[Recognised], place: IntExpr) -> None:
        """Lets accumulators put what they take into scratch, at a place."""
        for fold in folds:
            name = self.scratch.take(fold.dtype, numerics.BLOCK)
            fold.strip = Load(name, (place,), fold.dtype)

    def add_up(self, folds: Sequence[Recognised], bounds: Bounds) -> None:
        """Adds up what lies in scratch for the elements between bounds."""
        for lanes in sorted({numerics.lanes(fold.dtype) for fold in folds}):
            alike = [fold for fold in folds if numerics.lanes(fold.dtype) == lanes]
            self._add_up(alike, bounds, (lanes, numerics.FEW_LANES))

    def _add_up(self, folds: Sequence[Recognised], bounds: Bounds, groups: Sequence[int]) -> None:
        """Adds up what lies in scratch, in groups of so many lanes and of fewer."""
        waiting = [(fold, fold.strip) for fold in folds if fold.strip is not None]
        for fold in folds:
            fold.strip = None

        def loop(part: Bounds) -> None:
            step = self.nest.fresh("k")
            inner = self.nest.open(step)
            for fold, strip in waiting:
                fold.add(Load(strip.buffer, (variable(step) - bounds[0],), strip.dtype), inner)
            self.nest.close(*part)

        start, stop = bounds
        for lanes in groups:
            start = self._groups(folds, (start, stop), lanes, loop)
        self._one_by_one(folds, (start, stop), loop)

    def _groups(
        self, folds: Sequence[Recognised], bounds: Bounds, lanes: int, loop: Callable[[Bounds], None]
    ) -> IntExpr:
        """The loop over whole groups of lanes, if there may be any; where it ends."""
        for fold in folds:
            fold.lanes = lanes
        start, stop = bounds
        end = start + (stop - start) // lanes * lanes
        if end.value is None:
            end = self.nest.integer("w", end)
        if end != start:
            loop((start, end))
        return end

    def _one_by_one(self, folds: Sequence[Recognised], bounds: Bounds, loop: Callable[[Bounds], None]) -> None:
        """The loop over what is left, after what lies in lanes has been added up."""
        for fold in folds:
            fold.join(self.nest.inner)
        if bounds[0] != bounds[1]:
            loop(bounds)
