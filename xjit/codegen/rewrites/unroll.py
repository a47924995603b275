"""Write the iterations of a short loop out."""

from __future__ import annotations

from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import constant
from xjit.ir.loops.nodes import Block, Kernel, Loop
from xjit.ir.loops.walk import renamed, substituted

# Longer loops are no faster written out, and take long to compile.
MOST = 64


@dataclass(frozen=True, slots=True)
class Unroll:
    """Write the iterations of a loop out, one behind the other.

    before      for w in 0 .. 3:
                  t = max(t, x[i + w])
    after       t = max(t, x[i])                        Unroll("w")
                t = max(t, x[i + 1])
                t = max(t, x[i + 2])
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops whose extent is not a small number."""
        _, loop = found(kernel, self.loop)
        extent = (loop.stop - loop.start).value
        if extent is None or not 0 <= extent <= MOST * loop.step:
            raise RefusedError(
                f"the loop over {self.loop} has {loop.stop - loop.start} iterations, not a small number"
            )
        taken = Names(kernel)
        copies = [_copy(loop, number, taken) for number in range(0, extent, loop.step)]
        return with_statements(kernel, loop, tuple(statement for copy in copies for statement in copy))


def _copy(loop: Loop, number: int, taken: Names) -> Block:
    """The body for one iteration, with names of its own but for the first one."""
    body = substituted(loop.body, {loop.variable: loop.start + constant(number)})
    return renamed(body, taken.copies(body, str(number))) if number else body
