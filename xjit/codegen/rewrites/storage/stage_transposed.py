"""Copy what a loop reads into scratch with rows and columns exchanged."""

from __future__ import annotations

from xjit.codegen.rewrites.analysis.dependence import touches
from xjit.codegen.rewrites.analysis.exchange import reindexed
from xjit.codegen.rewrites.analysis.surroundings import known_before, written
from xjit.codegen.rewrites.analysis.windows import Window, window
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, maximum
from xjit.ir.loops.nodes import Alloc, Buffer, Kernel, TransposeBlock
from xjit.ir.loops.ranges import Ranges


@dataclass(frozen=True, slots=True)
class StageTransposed:
    """Copy the part of a buffer that a loop reads into scratch in front of it, the last two axes exchanged.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    out[i, j] = (x[i] * a[j, 3])
    after       alloc t: f64[1, m] for each iteration   StageTransposed("a", "i", "t")
                t[0, 0] = transposed a[0, 3] of m x 1
                for i in 0 .. n:
                  for j in 0 .. m:
                    out[i, j] = (x[i] * t[0, j])

    Elements that are read across memory lie side by side then: packing.
    """

    buffer: str
    loop: str
    name: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses buffers that the loop writes, and such of which it reads a part that is not known."""
        path, loop = found(kernel, self.loop)
        buffer = next((one.buffer for one in kernel.arguments if one.buffer.name == self.buffer), None)
        if buffer is None or len(buffer.extents) < 2:
            raise RefusedError(f"{self.buffer} is no argument of the kernel with rows and columns")
        see_that_it_is_loaded_and_stored(self.buffer, (loop,))
        if self.buffer in written((loop,)):
            raise RefusedError(f"the loop over {self.loop} writes {self.buffer}")
        touched = [touch for touch in touches((loop,)) if touch.buffer == self.buffer]
        if not touched:
            raise RefusedError(f"the loop over {self.loop} does not read {self.buffer}")
        known = known_before(kernel, path)
        own = window(self.name, buffer, touched, known)
        reading = reindexed((loop,), self.buffer, lambda index: _turned(own.inside(index)), self.name)
        scratch = Buffer.packed(self.name, buffer.dtype, *_turned(own.extents))
        return with_statements(kernel, loop, (Alloc(scratch), self._copy(own, known), *reading))

    def _copy(self, own: Window, known: Ranges) -> TransposeBlock:
        start = tuple(one.low for one in own.needed)
        if any(one.low != bounds.low for one, bounds in zip(own.needed, own.bounds, strict=True)):
            raise RefusedError(f"the part of {self.buffer} that is read may begin before its first element")
        if any(one.low != one.high for one in own.needed[:-2]):
            raise RefusedError(f"several planes of {self.buffer} are read")
        rows, columns = (_length(known, one.low, one.high) for one in own.bounds[-2:])
        at = (constant(0),) * len(start)
        return TransposeBlock(self.name, at, self.buffer, start, (rows, columns))


def _turned(axes: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
    return *axes[:-2], axes[-1], axes[-2]


def _length(known: Ranges, low: IntExpr, high: IntExpr) -> IntExpr:
    return high - low + 1 if known.at_most(low, high + 1) else maximum(high - low + 1, 0)
