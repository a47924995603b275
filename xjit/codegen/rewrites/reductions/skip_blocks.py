"""Leave out blocks in which a condition holds for no element, as bounds of the elements say."""

from __future__ import annotations

from dataclasses import replace

from xjit import numerics
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.reductions.element_bounds import ElementBounds, constant_bounds, with_room
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import constant, minimum, variable
from xjit.ir.loops.nodes import If, Kernel, LetInt, Loop
from xjit.ir.loops.walk import replaced


@dataclass(frozen=True, slots=True)
class SkipBlocks:
    """Leave out blocks in which a condition holds for no element: they add what changes nothing.

    before      for t in 0 .. m:
                  carry s: f64 = 0.0
                  q = w[t]
                  for b in 0 .. 4096 by 512:
                    e = min(4096, b + 512)
                    for i in b .. e:
                      s = add(s, select((x[i] < q), y[i], 0.0)) in blocks along b
                  r[t] = s
    after       alloc least: f64[8] for each iteration  SkipBlocks("b", "t", 8)
                alloc largest: f64[8] for each iteration
                for block in 0 .. 8:
                  first = 512*block
                  last = min(4096, first + 512)
                  carry least_now: f64 = inf
                  carry largest_now: f64 = -inf
                  for at in first .. last:
                    least_now = min(least_now, x[at])
                    largest_now = max(largest_now, x[at])
                  least[block] = least_now
                  largest[block] = largest_now
                for t in 0 .. m:
                  carry s: f64 = 0.0
                  q = w[t]
                  for b in 0 .. 4096 by 512:
                    if not((q <= least[(b // 512)])):
                      e = min(4096, b + 512)
                      for i in b .. e:
                        s = add(s, select((x[i] < q), y[i], 0.0)) in blocks along b
                  r[t] = s

    The bounds of a block are found once for all iterations of the loop around. Bounds of NaN leave nothing out.
    """

    loop: str
    turns: str
    blocks: int

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that do more than to reduce what conditions choose, or whose elements change."""
        path, block = found(kernel, self.loop)
        _, turns = found(kernel, self.turns)
        if len(path) < 2 or path[-2] is not turns or not turns.kind.is_ordered or block.step != numerics.BLOCK:
            raise RefusedError(f"the loop over {self.loop} is not one over blocks in that over {self.turns}")
        *rest, loop = block.body
        if not isinstance(loop, Loop) or not all(isinstance(one, LetInt) for one in rest):
            raise RefusedError(f"the loop over {self.loop} does more than to go along blocks")
        taken = Names(kernel)
        bounds = ElementBounds(constant_bounds(kernel, turns, block, loop), loop.variable, self.blocks, taken)
        at, first, last = (taken.fresh(name) for name in ("block", "first", "last"))
        start, size = block.start, numerics.BLOCK
        of_block = (
            LetInt(first, start + variable(at) * size),
            LetInt(last, minimum(variable(first) + size, block.stop)),
            *bounds.of_part(variable(at), variable(first), variable(last)),
        )
        count = (block.stop - start + (size - 1)) // size
        ahead = Loop(at, constant(0), count, of_block)
        may_hold = bounds.may_hold((variable(block.variable) - start) // size)
        skipped = replace(block, body=(If(may_hold, block.body),))
        body = replaced(turns.body, block, (skipped,))
        kernel = with_room(kernel, path, block, self.blocks * size)
        return with_statements(kernel, turns, (*bounds.allocs, ahead, replace(turns, body=body)))
