"""Make a line of the axes of scratch."""

from __future__ import annotations

from xjit.codegen.rewrites.analysis.exchange import reindexed
from xjit.codegen.rewrites.analysis.surroundings import block_of, with_block
from xjit.codegen.rewrites.record import RefusedError
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant
from xjit.ir.loops.nodes import Alloc, Buffer, Kernel
from xjit.ir.loops.walk import path_to


@dataclass(frozen=True, slots=True)
class Flatten:
    """Give scratch one axis, along which its rows follow each other.

    before      alloc t: f64[n, m] for each iteration
                for i in 0 .. n:
                  for j in 0 .. m:
                    t[i, j] = x[i, j]
    after       alloc t: f64[m*n] for each iteration    Flatten("t")
                for i in 0 .. n:
                  for j in 0 .. m:
                    t[i*m + j] = x[i, j]
    """

    buffer: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses scratch with gaps, and such as is touched by more than loads and stores."""
        path = path_to(kernel.body, lambda one: isinstance(one, Alloc) and one.buffer.name == self.buffer)
        alloc = path[-1] if path else None
        if not isinstance(alloc, Alloc):
            raise RefusedError(f"{self.buffer} is no scratch of the kernel")
        old = alloc.buffer
        if old != Buffer.packed(old.name, old.dtype, *old.extents):
            raise RefusedError(f"{self.buffer} has gaps, or its first axis is not the slowest")
        block = block_of(kernel, path)
        see_that_it_is_loaded_and_stored(self.buffer, block)
        count = constant(1)
        for extent in old.extents:
            count = count * extent
        line = Alloc(Buffer.packed(old.name, old.dtype, count), alloc.scope)

        def place(index: tuple[IntExpr, ...]) -> tuple[IntExpr, ...]:
            return (sum((at * stride for at, stride in zip(index, old.strides, strict=True)), start=constant(0)),)

        moved = zip(block, reindexed(block, self.buffer, place), strict=True)
        return with_block(kernel, block, tuple(line if one is alloc else new for one, new in moved))
