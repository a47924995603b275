"""Split a loop over a part of something into the blocks that the whole is cut into."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.split import blocks_of, see_that_it_has_no_steps
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import Kernel, Loop, LoopKind


@dataclass(frozen=True, slots=True)
class SplitPart:
    """Split a loop into the blocks of a longer one, of which it has the iterations from ``first`` on.

    before      for i in 0 .. n:
                  out[f + i] = x[f + i]
    after       for b in 0 .. ((f + n + s - 1) // s):   SplitPart("i", s, "b", f, f + n)
                  for i in max(0, b*s - f) .. min(b*s - f + s, n):
                    out[f + i] = x[f + i]

    The parts of one whole then have equal loops over blocks, which may be fused. Blocks in which a part has nothing
    are empty. The length is at least 1.
    """

    loop: str
    length: IntExpr
    block: str
    first: IntExpr
    whole: IntExpr

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops with steps, unrolled ones, and those that are not provably a part of the whole."""
        path, loop = found(kernel, self.loop)
        see_that_it_has_no_steps(loop)
        known = known_before(kernel, path)
        begins = known.at_most(constant(0), self.first + loop.start)
        if not (begins and known.at_most(self.first + loop.stop, self.whole)):
            raise RefusedError(f"the loop over {self.loop} may be no part of 0 .. {self.whole} from {self.first} on")
        start = variable(self.block) * self.length - self.first
        stop = minimum(start + self.length, loop.stop)
        inner = replace(loop, start=maximum(start, loop.start), stop=stop, kind=LoopKind.SERIAL)
        outer = Loop(self.block, constant(0), blocks_of(self.length, self.whole), (inner,), loop.kind)
        return with_statements(kernel, loop, (outer,))
