"""Share the iterations of a loop among threads."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import carried_by
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Kernel, Loop, LoopKind


@dataclass(frozen=True, slots=True)
class Parallelize:
    """Share the iterations of a loop among threads.

    before      for i in k + 1 .. n:
                  a[i, k] = a[i, k] / a[k, k]
    after       parallel i in k + 1 .. n:               Parallelize("i")
                  a[i, k] = a[i, k] / a[k, k]
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops whose iterations may touch what another one writes, and loops inside of parallel ones."""
        path, loop = found(kernel, self.loop)
        if any(isinstance(one, Loop) and one.kind is LoopKind.PARALLEL for one in path):
            raise RefusedError(f"the loop over {self.loop} is parallel, or inside of one that is")
        reason = carried_by(path)
        if reason:
            raise RefusedError(reason)
        return with_statements(kernel, loop, (replace(loop, kind=LoopKind.PARALLEL),))
