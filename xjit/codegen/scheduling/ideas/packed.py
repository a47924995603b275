"""Short reductions whose results fill a row, written out, so that the loop along the row is vector code.

The distances of a point to all centres, of 16 coordinates each, are sums of 16 elements, which wait in a row of
scratch. Along a centre they would be added across the elements of one vector; along the row each vector holds as many
centres. Centres are read across memory then, and therefore packed before, coordinate by coordinate:

    parallel i0 in 0 .. n1:                        alloc m1: f32[16, n0] for each iteration
      for j0 in 0 .. n0:                           m1[d, j] = transposed centres[j, d], in blocks
        carry s0: f32 = 0.0                        parallel i0 in 0 .. n1:
        for d2 in 0 .. 16:                           for j0 in 0 .. n0:
          v0 = points[i0, d2] - centres[j0, d2]        carry s0: f32 = 0.0
          s0 = add(s0, v0 * v0) in lanes along d2      v0_0 = points[i0, 0] - m1[0, j0]
        m0[j0] = s0                                    ...
        ...                                            v0_15 = points[i0, 15] - m1[15, j0]
                                                       s0 = add(s0, v0_0 * v0_0 + v0_8 * v0_8 + ...)
                                                       m0[j0] = s0
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xjit.codegen.language.scalar_types import TURNED
from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.rewrites.record import Rewrite, found
from xjit.codegen.rewrites.reductions.write_out import WriteOut
from xjit.codegen.rewrites.storage.stage_transposed import StageTransposed
from xjit.codegen.rewrites.values.specialize_rare import is_varied
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import evaluate
from xjit.ir.loops.nodes import Access, Accumulate, Buffer, FromInt, Kernel, Let, Load, Loop, Prim, Value
from xjit.ir.loops.walk import parts, values
from xjit.types import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from xjit.codegen.scheduling.scheduler import NaiveNest


def in_packed_rows(kernel: Kernel, nests: Sequence[NaiveNest], nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield what writes short reductions out along rows, with their operands packed."""
    for one in nests:
        plan, machine = one.ordered.plan, nest.machine
        if not plan.nested or plan.columns or plan.chunked is not None or len(plan.reduced) != 1:
            continue
        rows = math.prod(loop.extent for loop in plan.kept)
        if plan.reduced[0].extent >= machine.packed_results and rows >= machine.packed_rows:
            yield from _nested_in_rows(kernel, one, nest)


def _nested_in_rows(kernel: Kernel, naive: NaiveNest, nest: LoopBuilder) -> Iterator[Sequence[Rewrite]]:
    """Yield the rewrites of the reductions that stand in the loops of one group along a row."""
    (row,), names = naive.ordered.plan.reduced, naive.loops
    for name in [name for loop in naive.ordered.plan.nested for name in names.get(loop.variable, ())]:
        path, short = found(kernel, name)
        around = path[-2]
        if isinstance(around, Loop) and around.variable in names[row.variable]:
            packing = _Packing(kernel, nest, around, short, row.extent)
            own = {name for several in names.values() for name in several}
            outermost = next(one for one in path if isinstance(one, Loop) and one.variable in own)
            if packing.is_worth_it:
                yield (*packing.rewrites(outermost), WriteOut(name))


@dataclass(frozen=True, slots=True, eq=False)
class _Packing:
    """A short reduction in a loop along a row of so many results."""

    kernel: Kernel
    nest: LoopBuilder
    row: Loop
    short: Loop
    results: int

    @property
    def is_worth_it(self) -> bool:
        """Return whether a reduction is little work when written out, and what it reads across memory fits into
        cache.
        """
        terms, machine = (self.short.stop - self.short.start).value or 0, self.nest.machine
        if not 1 < terms <= machine.packed_terms or len(self.short.body) * terms > machine.written_out_operations:
            return False
        *given, step = self.short.body
        if not isinstance(step, Accumulate) or step.value.dtype not in (FLOAT32, FLOAT64):
            return False
        if not all(isinstance(one, Let) and self._is_simple(one.value) for one in (*given, Let("", step.value))):
            return False
        across = list(self._across())
        own = {self.row.variable, self.short.variable}
        if any(expr.names() - own for load in across for expr in load.index):
            return False
        size = sum(self.results * terms * load.dtype.itemsize for load in across)
        return size <= machine.packed_bytes

    def _is_simple(self, value: Value) -> bool:
        """Return whether a value is computed of arguments of the kernel by functions that have no rare arguments."""
        for part in parts(value):
            if isinstance(part, FromInt) or (isinstance(part, Prim) and is_varied(replace(part, variant=""))):
                return False
            if isinstance(part, Load) and (
                part.buffer not in self._only_read or part.dtype not in (FLOAT32, FLOAT64)
            ):
                return False
        return True

    @property
    def _only_read(self) -> Mapping[str, Buffer]:
        arguments = self.kernel.arguments
        return {one.buffer.name: one.buffer for one in arguments if one.access is Access.READ}

    def _across(self) -> Iterator[Load]:
        """Yield the loads that the loop along the row takes across memory, and the short one too."""
        loads = dict.fromkeys(
            part
            for one in self.short.body
            for value in values(one)
            for part in parts(value)
            if isinstance(part, Load)
        )
        for load in loads:
            moved = [self._axes(load, loop) for loop in (self.short, self.row)]
            if all(moved) and self._step(load, moved[1][0]) != 1:
                yield load

    def _axes(self, load: Load, loop: Loop) -> list[int]:
        return [axis for axis, expr in enumerate(load.index) if loop.variable in expr.names()]

    def _step(self, load: Load, axis: int) -> int:
        stride = self._only_read[load.buffer].strides[axis]
        return evaluate(stride, dict(self.nest.words.values()))

    def rewrites(self, outermost: Loop) -> Iterator[Rewrite]:
        """Yield what packs the operands in front of all loops."""
        for load in self._across():
            axes = self._axes(load, self.short)[0], self._axes(load, self.row)[0]
            block = TURNED[load.dtype.itemsize] if self._step(load, axes[0]) == 1 else 1
            along = self.row.variable
            yield StageTransposed(load.buffer, outermost.variable, self.nest.fresh("m"), axes, along, block)
