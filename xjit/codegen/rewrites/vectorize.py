"""Run the iterations of a loop side by side in lanes."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.directions import Place, elements, later
from xjit.codegen.rewrites.analysis.scalars import is_exact
from xjit.codegen.rewrites.analysis.siblings import known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Accumulate, Barrier, Fold, Kernel, Loop, LoopKind, Statement, While
from xjit.ir.loops.walk import names, statements


@dataclass(frozen=True, slots=True)
class Vectorize:
    """Run the iterations of an innermost loop side by side in lanes.

    before      for j in 0 .. m:
                  out[j] = (x[j] * w)
                  t = max(t, x[j])
    after       vector j in 0 .. m:                     Vectorize("j")
                  out[j] = (x[j] * w)
                  t = max(t, x[j])
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops around others, elements that other lanes write, and sums that are rounded in order."""
        path, loop = found(kernel, self.loop)
        if loop.kind is not LoopKind.SERIAL:
            raise RefusedError(f"the loop over {self.loop} is {loop.kind.value} already")
        own = names(loop.body)
        for one in statements(loop.body):
            reason = _unlike_lanes(one, own)
            if reason:
                raise RefusedError(f"the loop over {self.loop} is not for lanes: {reason}")
        place = Place((loop,), loop.body)
        reason = elements(known_before(kernel, path), place, place, later(loop))
        if reason:
            raise RefusedError(f"lanes of {self.loop} need each other: {reason}")
        return with_statements(kernel, loop, (replace(loop, kind=LoopKind.VECTOR),))


def _unlike_lanes(one: Statement, own: set[str]) -> str:
    match one:
        case Loop() if one.kind is not LoopKind.UNROLLED:
            return f"it has the loop over {one.variable} in it"
        case While():
            return "lanes may go round a while different times"
        case Barrier():
            return "lanes do not wait for each other"
        case Fold() if set(one.names) - own:
            return f"{', '.join(one.names)} change in order"
        case Accumulate() if one.name not in own and not one.lanes and not is_exact(one):
            return f"{one.name} is rounded in order"
    return ""
