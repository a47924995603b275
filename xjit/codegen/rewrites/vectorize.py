"""Run the iterations of a loop side by side in lanes."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.directions import Place, elements, later
from xjit.codegen.rewrites.analysis.scalars import lane_order
from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Barrier, Kernel, Loop, LoopKind, Statement, While
from xjit.ir.loops.walk import statements


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
        reasons = (*map(_unlike_lanes, statements(loop.body)), lane_order(loop.body))
        for reason in filter(None, reasons):
            raise RefusedError(f"the loop over {self.loop} is not for lanes: {reason}")
        place = Place((loop,), loop.body)
        reason = elements(known_before(kernel, path), place, place, later(loop))
        if reason:
            raise RefusedError(f"lanes of {self.loop} need each other: {reason}")
        return with_statements(kernel, loop, (replace(loop, kind=LoopKind.VECTOR),))


def _unlike_lanes(one: Statement) -> str:
    match one:
        case Loop() if one.kind is not LoopKind.UNROLLED:
            return f"it has the loop over {one.variable} in it"
        case While():
            return "lanes may go round a while different times"
        case Barrier():
            return "lanes do not wait for each other"
    return ""
