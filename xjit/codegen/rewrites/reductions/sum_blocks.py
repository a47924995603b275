"""Add a block of elements up by itself before it is added to the sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xjit import numerics
from xjit.codegen.rewrites.analysis.exchange import with_accumulates
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import start_of
from xjit.codegen.rewrites.analysis.surroundings import known_before
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Carry,
    Grouping,
    Kernel,
    Loop,
    Order,
    Prim,
    Statement,
    Var,
)
from xjit.ir.loops.walk import statements
from xjit.types import FLOAT64


@dataclass(frozen=True, slots=True)
class SumBlocks:
    """Add the elements of a block up in lanes, in their own type; the sums of blocks in float64.

    before      for b in 0 .. n by 512:
                  e = min(b + 512, n)
                  for j in b .. e:
                    s = add(s, x[j]) in blocks along b
    after       for b in 0 .. n by 512:                 SumBlocks("j")
                  e = min(b + 512, n)
                  carry s_block: f64 = 0.0
                  for j in b .. e:
                    s_block = add(s_block, x[j]) in lanes along j
                  s = add(s, s_block) with errors
    """

    loop: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses loops that are not inside of one over blocks, an iteration of which is a block."""
        path, loop = found(kernel, self.loop)
        line = next((one for one in reversed(path[:-1]) if isinstance(one, Loop)), None)
        if line is None or line.step != numerics.BLOCK:
            raise RefusedError(f"the loop over {self.loop} is not inside of one over blocks")
        along = Order(Grouping.BLOCKS, variable(line.variable))
        steps = [one for one in statements(loop.body) if isinstance(one, Accumulate) and one.order == along]
        if not steps:
            raise RefusedError(f"nothing in the loop over {self.loop} is added in blocks along {line.variable}")
        if loop.step != 1 or not known_before(kernel, path).at_most(loop.stop, loop.start + numerics.BLOCK):
            raise RefusedError(f"the loop over {self.loop} may be longer than a block")
        taken = Names(kernel)
        parts = {one.name: taken.fresh(f"{one.name}_block") for one in steps}
        return with_statements(kernel, loop, tuple(_in_parts(loop, steps, parts)))


def _in_parts(loop: Loop, steps: Sequence[Accumulate], parts: dict[str, str]) -> Iterator[Statement]:
    in_lanes = Order(Grouping.LANES, variable(loop.variable))
    for step in steps:
        yield Carry(parts[step.name], start_of(step))

    def of_block(step: Accumulate) -> Accumulate:
        return replace(step, name=parts[step.name], order=in_lanes) if step in steps else step

    yield replace(loop, body=with_accumulates(loop.body, of_block))
    for step in steps:
        part = Var(parts[step.name], step.value.dtype)
        order = Order(Grouping.ERRORS) if numerics.keeps_errors(step.reducer, part.dtype) else None
        wide = part if part.dtype == FLOAT64 else Prim("cast", (part,), FLOAT64)
        yield Accumulate(step.name, step.reducer, wide, order=order)
