"""Make one loop of two, one in the other."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.scalars import see_that_no_line_ends
from xjit.codegen.rewrites.analysis.surroundings import extent, known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import Kernel, LetInt, Loop


@dataclass(frozen=True, slots=True)
class Collapse:
    """Make one loop of two, one in the other, over all pairs of their iterations; their order stays.

    before      for i in 0 .. n:
                  for j in 0 .. m:
                    out[i, j] = (x[i, j] + 1.0)
    after       for k in 0 .. m*n:                      Collapse("i", "j", "k")
                  i = (k // m)
                  j = (k % m)
                  out[i, j] = (x[i, j] + 1.0)

    Threads share the pairs where there are few rows.
    """

    outer: str
    inner: str
    both: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops with steps, with something between them, of two kinds, or not of a rectangle."""
        path, outer = found(kernel, self.outer)
        match outer.body:
            case (Loop() as inner,) if inner.variable == self.inner:
                pass
            case _:
                raise RefusedError(f"the loop over {self.outer} has more in it than the loop over {self.inner}")
        if outer.kind is not inner.kind:
            raise RefusedError(f"the loop over {self.outer} is {outer.kind.value}, that inside {inner.kind.value}")
        if (outer.step, inner.step) != (1, 1):
            raise RefusedError(f"the loop over {self.outer} or {self.inner} has steps")
        if self.outer in inner.start.names() | inner.stop.names():
            raise RefusedError(f"the bounds of the loop over {self.inner} depend on {self.outer}")
        for name in (self.outer, self.inner):
            see_that_no_line_ends(inner.body, name)
        known = known_before(kernel, path)
        rows, columns = extent(known, outer), extent(known, inner)
        pair = variable(self.both)
        if columns.value == 0:
            raise RefusedError(f"the loop over {self.inner} has no iterations")
        place = LetInt(self.outer, outer.start + pair // columns), LetInt(self.inner, inner.start + pair % columns)
        both = replace(outer, variable=self.both, start=constant(0), stop=rows * columns, body=(*place, *inner.body))
        return with_statements(kernel, outer, (both,))
