"""Cut a reduction into partial ones, combined by a tree."""

from __future__ import annotations

from collections.abc import Iterator

from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.scalars import identity, scalars_of, see_that_no_line_ends
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Buffer,
    Carry,
    Const,
    Fold,
    Kernel,
    Load,
    Loop,
    Prim,
    Statement,
    Store,
    Var,
)
from xjit.ir.loops.walk import renamed


@dataclass(frozen=True, slots=True)
class Rfactor:
    """Cut a reduction into ``parts`` partial ones, each of every ``parts``-th element, and combine them by a tree.

    before      for j in 0 .. m:
                  t = add(t, x[j])
    after       alloc p_parts: f32[4] for each iteration Rfactor("j", 4, "p")
                for p in 0 .. 4:
                  carry t_p: f32 = -0.0
                  for j in p .. m by 4:
                    t_p = add(t_p, x[j])
                  p_parts[p] = t_p
                for p_2 in 0 .. 2:
                  p_parts[p_2] = (p_parts[p_2] + p_parts[p_2 + 2])
                for p_1 in 0 .. 1:
                  p_parts[p_1] = (p_parts[p_1] + p_parts[p_1 + 1])
                t = (t + p_parts[0])

    Each part begins with what the reducer leaves as it is. Sums of floats are rounded in another order.
    """

    loop: str
    parts: int
    part: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where the loop does more than one reduction, or the reducer may not be regrouped."""
        if self.parts < 2 or self.parts & (self.parts - 1):
            raise RefusedError(f"{self.parts} is not a power of two above 1")
        _, loop = found(kernel, self.loop)
        see_that_no_line_ends(loop.body, self.loop)
        match loop.body:
            case (Accumulate(lanes=0) as step,) if loop.step == 1 and loop.kind.is_ordered:
                start = identity(step.reducer, step.value.dtype)
            case _:
                raise RefusedError(f"the loop over {self.loop} is not one reduction")
        if step.name in scalars_of(step.value):
            raise RefusedError(f"{step.name} is read by its own reduction")
        if start is None:
            raise RefusedError(f"{step.reducer} is no reducer that is known to be regrouped")
        return with_statements(kernel, loop, tuple(self._cut(loop, step, start, Names(kernel))))

    def _cut(self, loop: Loop, step: Accumulate, start: Const, taken: Names) -> Iterator[Statement]:
        dtype, own, parts = step.value.dtype, taken.fresh(f"{step.name}_{self.part}"), f"{self.part}_parts"
        part, zero = variable(self.part), constant(0)
        (inner,) = renamed((step,), {step.name: own})
        yield Alloc(Buffer.packed(parts, dtype, constant(self.parts)))
        body = (
            Carry(own, start),
            Loop(loop.variable, loop.start + part, loop.stop, (inner,), step=self.parts),
            Store(parts, (part,), Var(own, dtype)),
        )
        yield Loop(self.part, zero, constant(self.parts), body)
        width = self.parts // 2
        while width:
            name = f"{self.part}_{width}"
            at = variable(name)
            halves = Load(parts, (at,), dtype), Load(parts, (at + width,), dtype)
            sum = Prim(step.reducer, halves, dtype)
            yield Loop(name, zero, constant(width), (Store(parts, (at,), sum),))
            width //= 2
        whole = Var(step.name, dtype), Load(parts, (zero,), dtype)
        yield Fold((step.name,), (Prim(step.reducer, whole, dtype),))
