"""Split a loop into blocks of some length, and the loop inside of one."""

from __future__ import annotations

from xjit.codegen.rewrites.analysis.exchange import with_line
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, minimum, variable
from xjit.ir.loops.nodes import Block, Kernel, LetInt, Loop, LoopKind


@dataclass(frozen=True, slots=True)
class Split:
    """Split a loop into blocks; the order of its iterations stays.

    before      for i in 0 .. n:
                  ...
    after       for b in 0 .. n by 512:                 Split("i", 512, "b")
                  for i in b .. min(b + 512, n):
                    ...

    The outer loop keeps the kind, the inner one is serial. The end of a block gets a name if one is given. A length
    in words, which is at least 1, counts blocks: for b in 0 .. (n + size - 1) // size, and i in b*size ..
    min(b*size + size, n).
    """

    loop: str
    length: int | IntExpr
    block: str
    end: str = ""

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops with steps and unrolled ones."""
        _, loop = found(kernel, self.loop)
        see_that_it_has_no_steps(loop)
        start = variable(self.block)
        if not isinstance(self.length, int):
            start = loop.start + start * self.length
        stop = minimum(start + self.length, loop.stop)
        named = (LetInt(self.end, stop),) if self.end else ()
        body = with_line(loop.body, self.loop, self.block)
        inner = Loop(loop.variable, start, variable(self.end) if self.end else stop, body)
        return with_statements(kernel, loop, (self._outer(loop, (*named, inner)),))

    def _outer(self, loop: Loop, body: Block) -> Loop:
        if isinstance(self.length, int):
            return Loop(self.block, loop.start, loop.stop, body, loop.kind, self.length)
        return Loop(self.block, constant(0), blocks_of(self.length, loop.stop - loop.start), body, loop.kind)


def see_that_it_has_no_steps(loop: Loop) -> None:
    """Refuse loops with steps and unrolled ones."""
    if loop.step != 1 or loop.kind is LoopKind.UNROLLED:
        raise RefusedError(f"the loop over {loop.variable} has steps, or is written out")


def blocks_of(length: IntExpr, iterations: IntExpr) -> IntExpr:
    """The number of blocks that some iterations make."""
    return (iterations + length - 1) // length
