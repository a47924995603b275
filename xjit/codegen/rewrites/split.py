"""Split a loop into blocks of some length, and the loop inside of one."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, minimum, variable
from xjit.ir.loops.nodes import Kernel, Loop, LoopKind
from xjit.ir.loops.ranges import Ranges


@dataclass(frozen=True, slots=True)
class Split:
    """Split a loop into blocks; the order of its iterations stays.

    before      for i in 0 .. n:
                  ...
    after       for b in 0 .. n by 512:                 Split("i", 512, "b")
                  for i in b .. min(b + 512, n):
                    ...

    The outer loop keeps the kind, the inner one is serial. A length in words, which is at least 1, counts blocks:
    for b in 0 .. (n + size - 1) // size, and i in b*size .. min(b*size + size, n). With ``part_of`` = (first, whole)
    the iterations are those from the first one on of a longer loop, whose blocks they are cut into.
    """

    loop: str
    length: int | IntExpr
    block: str
    part_of: tuple[IntExpr, IntExpr] | None = None

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops with steps, unrolled ones, and those that are not provably a part of the longer one."""
        path, loop = found(kernel, self.loop)
        if loop.step != 1 or loop.kind is LoopKind.UNROLLED:
            raise RefusedError(f"the loop over {self.loop} has steps, or is written out")
        if self.part_of is not None:
            outer = self._of_a_part(loop, *self.part_of, known_before(kernel, path))
        elif isinstance(self.length, int):
            block = variable(self.block)
            inner = self._inside(loop, block, minimum(block + self.length, loop.stop))
            outer = Loop(self.block, loop.start, loop.stop, (inner,), loop.kind, self.length)
        else:
            start = loop.start + variable(self.block) * self.length
            inner = self._inside(loop, start, minimum(start + self.length, loop.stop))
            outer = self._counted(inner, loop.stop - loop.start, loop.kind)
        return with_statements(kernel, loop, (outer,))

    def _of_a_part(self, loop: Loop, first: IntExpr, whole: IntExpr, known: Ranges) -> Loop:
        if not (known.at_most(constant(0), first + loop.start) and known.at_most(first + loop.stop, whole)):
            raise RefusedError(f"the loop over {self.loop} may be no part of 0 .. {whole} from {first} on")
        start = variable(self.block) * self.length - first
        stop = minimum(start + self.length, loop.stop)
        return self._counted(self._inside(loop, maximum(start, loop.start), stop), whole, loop.kind)

    def _counted(self, inner: Loop, iterations: IntExpr, kind: LoopKind) -> Loop:
        """The loop over the numbers of blocks."""
        return Loop(self.block, constant(0), (iterations + self.length - 1) // self.length, (inner,), kind)

    def _inside(self, loop: Loop, start: IntExpr, stop: IntExpr) -> Loop:
        return replace(loop, start=start, stop=stop, kind=LoopKind.SERIAL)
