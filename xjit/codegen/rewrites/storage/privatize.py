"""Let every iteration of a loop work on its own copy of elements."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import known_inside, touches
from xjit.codegen.rewrites.analysis.surroundings import known_before, written
from xjit.codegen.rewrites.analysis.windows import window
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Block, Invoke, Kernel, TransposeBlock
from xjit.ir.loops.walk import statements


@dataclass(frozen=True, slots=True)
class Privatize:
    """Let every iteration of a loop work on a copy of the elements that it touches, as of a block of accumulators.

    before      for b in 0 .. m by 4:
                  for i in 0 .. n:
                    for j in b .. min(b + 4, m):
                      s[j] = (s[j] + x[i, j])
    after       for b in 0 .. m by 4:                   Privatize("s", "b", "acc")
                  alloc acc: f32[4] for each iteration
                  for acc_in in b .. min(b + 4, m):
                    acc[acc_in - b] = s[acc_in]
                  for i in 0 .. n:
                    for j in b .. min(b + 4, m):
                      acc[-b + j] = (acc[-b + j] + x[i, j])
                  for acc_out in b .. min(b + 4, m):
                    s[acc_out] = acc[acc_out - b]

    The order in which elements are combined stays.
    """

    buffer: str
    loop: str
    name: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses buffers that are scratch already, and where it is not known how far the indices go."""
        path, loop = found(kernel, self.loop)
        buffer = next((one.buffer for one in kernel.arguments if one.buffer.name == self.buffer), None)
        if buffer is None:
            raise RefusedError(f"{self.buffer} is no argument of the kernel")
        if not loop.kind.is_ordered:
            raise RefusedError(f"the loop over {self.loop} is {loop.kind.value} already")
        see_that_it_is_loaded_and_stored(self.buffer, loop.body)
        touched = [touch for touch in touches(loop.body) if touch.buffer == self.buffer]
        if not touched:
            raise RefusedError(f"the loop over {self.loop} does not touch {self.buffer}")
        known = known_inside(known_before(kernel, path), loop, {})
        own = window(self.name, buffer, touched, known)
        body: Block = (own.alloc, own.read_in("in"), *own.instead(loop.body))
        if self.buffer in written(loop.body):
            body = (*body, own.write_back("out"))
        return with_statements(kernel, loop, (replace(loop, body=body),))


def see_that_it_is_loaded_and_stored(name: str, block: Block) -> None:
    """Refuses where a buffer is touched by more than loads and stores."""
    for one in statements(block):
        several = one.buffers if isinstance(one, Invoke) else ()
        if isinstance(one, TransposeBlock):
            several = one.target, one.source
        if name in several:
            raise RefusedError(f"a {type(one).__name__} touches {name}")
