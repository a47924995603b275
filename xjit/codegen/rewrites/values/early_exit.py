"""Leave out what can no longer change a reduction."""

from __future__ import annotations

import functools
from dataclasses import replace

from xjit.codegen.rewrites.analysis.first_extremes import first_extreme
from xjit.codegen.rewrites.analysis.scalars import changed, last_word
from xjit.codegen.rewrites.analysis.surroundings import written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Accumulate, Block, Check, Const, Fold, If, Kernel, Prim, Var, While
from xjit.ir.loops.walk import statements
from xjit.types import BOOL


@dataclass(frozen=True, slots=True)
class EarlyExit:
    """Leave out the iterations of a loop, blocks mostly, behind the one that decides all reductions in it.

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
        """Refuses loops that do more than to reduce, and reducers that no value decides."""
        _, loop = found(kernel, self.loop)
        if not changed(loop.body) or not loop.kind.is_ordered:
            raise RefusedError(f"the loop over {self.loop} is not a reduction in order")
        if any(isinstance(one, While | Check) for one in statements(loop.body)) or written(loop.body):
            raise RefusedError(f"the loop over {self.loop} does more than to reduce")
        final = decided(loop.body)
        if final is None:
            raise RefusedError(f"no value of {' and '.join(sorted(changed(loop.body)))} is the last word")
        open = [Prim("ne", (Var(name, word.dtype), word), BOOL) for name, word in final.items()]
        going_on = functools.reduce(lambda one, other: Prim("or", (one, other), BOOL), open)
        return with_statements(kernel, loop, (replace(loop, body=(If(going_on, loop.body),)),))


def decided(block: Block) -> dict[str, Const] | None:
    """The values of the scalars that a block changes which no further element changes; None if one has no such value.

    Where an extreme is looked for, the extreme decides about its place.
    """
    found: dict[str, Const] = {}
    places, reducers = set[str](), dict[str, str]()
    for one in statements(block):
        search = first_extreme(one)
        if isinstance(one, Accumulate) and one.order is None:
            name, reducer, dtype = one.name, one.reducer, one.value.dtype
        elif search is not None:
            name, reducer, dtype = search.best.name, search.reducer, search.best.dtype
            places.add(search.place.name)
        elif isinstance(one, Accumulate | Fold):
            return None
        else:
            continue
        word = last_word(reducer, dtype)
        if word is None or reducers.setdefault(name, reducer) != reducer:
            return None
        found[name] = word
    outer = changed(block)
    return {name: word for name, word in found.items() if name in outer} if outer <= found.keys() | places else None
