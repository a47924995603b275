"""Leave out what can no longer change a reduction."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.scalars import changed, last_word
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Accumulate, Check, Fold, If, Kernel, Prim, Var, While
from xjit.ir.loops.walk import statements
from xjit.types import BOOL


@dataclass(frozen=True, slots=True)
class EarlyExit:
    """Leave out the iterations of a loop, blocks mostly, behind the one that decides a reduction.

    before      for b in 0 .. n by 4:
                  for i in b .. min(b + 4, n):
                    t = or(t, (x[i] < 0.0))
    after       for b in 0 .. n by 4:                   EarlyExit("b")
                  if (t != True):
                    for i in b .. min(b + 4, n):
                      t = or(t, (x[i] < 0.0))
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that do more than one reduction, and reducers that no value decides."""
        _, loop = found(kernel, self.loop)
        steps = [one for one in statements(loop.body) if isinstance(one, Accumulate)]
        several = changed(loop.body)
        if len(several) != 1 or not loop.kind.is_ordered:
            raise RefusedError(f"the loop over {self.loop} is not one reduction in order")
        (name,) = several
        own = [one for one in steps if one.name == name]
        more = any(isinstance(one, While | Check) for one in statements(loop.body)) or written(loop.body)
        if more or any(isinstance(one, Fold) and name in one.names for one in statements(loop.body)):
            raise RefusedError(f"the loop over {self.loop} does more than to reduce {name}")
        final = last_word(own[0].reducer, own[0].value.dtype)
        if final is None or len({one.reducer for one in own}) != 1:
            raise RefusedError(f"no value of {name} is the last word")
        going_on = Prim("ne", (Var(name, final.dtype), final), BOOL)
        return with_statements(kernel, loop, (replace(loop, body=(If(going_on, loop.body),)),))
