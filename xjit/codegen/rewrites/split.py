"""Split a loop into blocks of some length, and the loop inside of one."""

from __future__ import annotations

from xjit.codegen.rewrites.analysis.exchange import with_line
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import minimum, variable
from xjit.ir.loops.nodes import Kernel, LetInt, Loop, LoopKind


@dataclass(frozen=True, slots=True)
class Split:
    """Split a loop into blocks; the order of its iterations stays.

    before      for i in 0 .. n:
                  ...
    after       for b in 0 .. n by 512:                 Split("i", 512, "b")
                  for i in b .. min(b + 512, n):
                    ...

    The outer loop keeps the kind, the inner one is serial. The end of a block gets a name if one is given.
    """

    loop: str
    length: int
    block: str
    end: str = ""

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops with steps and unrolled ones."""
        _, loop = found(kernel, self.loop)
        if loop.step != 1 or loop.kind is LoopKind.UNROLLED:
            raise RefusedError(f"the loop over {self.loop} has steps, or is written out")
        start = variable(self.block)
        stop = minimum(start + self.length, loop.stop)
        named = (LetInt(self.end, stop),) if self.end else ()
        body = with_line(loop.body, self.loop, self.block)
        inner = Loop(loop.variable, start, variable(self.end) if self.end else stop, body)
        outer = Loop(self.block, loop.start, loop.stop, (*named, inner), loop.kind, self.length)
        return with_statements(kernel, loop, (outer,))
