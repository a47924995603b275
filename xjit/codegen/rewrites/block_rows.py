"""Run a kernel for one block of rows after the other, each from the beginning to the end."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.rows import final_stores, row_loops, why_rows_meet
from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass
from xjit.ir.loops.build import equal, number, position
from xjit.ir.loops.intexpr import IntExpr, as_int, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import Block, If, Kernel, LetInt, Loop, LoopKind, Statement
from xjit.ir.loops.walk import replaced_all


@dataclass(frozen=True, slots=True)
class BlockRows:
    """Run a kernel in blocks of the rows that its loops have in common, the blocks side by side.

    before      carry t: s64 = 0
                while (t < 9):
                  for i in 0 .. n:
                    y[i] = (x[i] + y[i])
                  for j in 0 .. n:
                    x[j] = (x[j] * y[j])
                  t = (t + 1)
                rounds[0] = t
    after       parallel b in 0 .. max(((n + 3) // 4), 1):  BlockRows(4, "b")
                  b_start = 4*b
                  b_stop = min(4*b + 4, n)
                  carry t: s64 = 0
                  while (t < 9):
                    for i in b_start .. b_stop:
                      y[i] = (x[i] + y[i])
                    for j in b_start .. b_stop:
                      x[j] = (x[j] * y[j])
                    t = (t + 1)
                  if (s64(b) == 0):
                    rounds[0] = t

    The rows of a block stay in the cache for all turns. What stands outside of the loops is done for each block, of
    which there is one where there are no rows. The length of a block is positive.
    """

    length: IntExpr | int
    block: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where rows need each other."""
        reason = why_rows_meet(kernel)
        if reason:
            raise RefusedError(f"rows do not run side by side: {reason}")
        taken = Names(kernel)
        start, stop = taken.fresh(f"{self.block}_start"), taken.fresh(f"{self.block}_stop")
        loops = list(row_loops(kernel.body))
        rows, length = loops[0].stop, as_int(self.length)
        parts = {id(one): (replace(one, start=variable(start), stop=variable(stop)),) for one in loops}
        first = variable(self.block) * length
        given: Block = (LetInt(start, first), LetInt(stop, minimum(first + length, rows)))
        once = {id(one) for one in final_stores(kernel)}
        body = tuple(self._once(one) if id(one) in once else one for one in kernel.body)
        body = replaced_all(body, parts)
        count = maximum(1, (rows + (length - 1)) // length)
        whole = Loop(self.block, constant(0), count, (*given, *body), LoopKind.PARALLEL)
        return replace(kernel, body=(whole,))

    def _once(self, store: Statement) -> If:
        """The store in the first block alone."""
        return If(equal(position(variable(self.block)), number(0)), (store,))
