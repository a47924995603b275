"""Cut a reduction into partial ones, combined by a tree."""

from __future__ import annotations

from collections.abc import Iterator

from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import constant, variable
from xjit.ir.loops.nodes import (
    Accumulate,
    Alloc,
    Buffer,
    Carry,
    Fold,
    Kernel,
    Load,
    Loop,
    Prim,
    Statement,
    Store,
    Value,
    Var,
)
from xjit.ir.loops.walk import blocks, renamed


@dataclass(frozen=True, slots=True)
class Rfactor:
    """Cut a reduction into ``parts`` partial ones, each of every ``parts``-th element, and combine them by a tree.

    before      carry t = 0.0
                for j in 0 .. m:
                  t = add(t, x[j])
    after       carry t = 0.0                           Rfactor("j", 4, "p")
                alloc p_parts: f32[4]
                for p in 0 .. 4:
                  carry t_p = 0.0
                  for j in p .. m by 4:
                    t_p = add(t_p, x[j])
                  p_parts[p] = t_p
                for p_2 in 0 .. 2:
                  p_parts[p_2] = p_parts[p_2] + p_parts[p_2 + 2]
                for p_1 in 0 .. 1:
                  p_parts[p_1] = p_parts[p_1] + p_parts[p_1 + 1]
                t = p_parts[0]
    """

    loop: str
    parts: int
    part: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where the loop does more than one reduction that begins in front of it."""
        if self.parts < 2 or self.parts & (self.parts - 1):
            raise RefusedError(f"{self.parts} is not a power of two above 1")
        path, loop = found(kernel, self.loop)
        match loop.body:
            case (Accumulate() as step,) if loop.step == 1:
                start = _start(path, kernel, step.name)
            case _:
                raise RefusedError(f"the loop over {self.loop} is not one reduction")
        return with_statements(kernel, loop, tuple(self._cut(loop, step, start)))

    def _cut(self, loop: Loop, step: Accumulate, start: Carry) -> Iterator[Statement]:
        dtype, own, parts = step.value.dtype, f"{step.name}_{self.part}", f"{self.part}_parts"
        part, zero = variable(self.part), constant(0)
        (inner,) = renamed((step,), {step.name: own})
        yield Alloc(Buffer.packed(parts, dtype, constant(self.parts)))
        body = (
            Carry(own, start.value),
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
        yield Fold((step.name,), (Load(parts, (zero,), dtype),))


def _start(path: tuple[Statement, ...], kernel: Kernel, name: str) -> Carry:
    """Where the scalar begins: in the block of the loop, in front of it, and a number, which all parts begin with."""
    block = kernel.body if len(path) == 1 else next(one for one in blocks(path[-2]) if path[-1] in one)
    before: list[Value] = [
        one.value
        for one in block
        if isinstance(one, Carry) and one.name == name and not _changes(block, name, path[-1])
    ]
    if not before:
        raise RefusedError(f"{name} does not begin right in front of the loop")
    return Carry(name, before[0])


def _changes(block: tuple[Statement, ...], name: str, until: Statement) -> bool:
    """Whether the scalar changes in front of the loop."""
    for statement in block:
        if statement is until:
            return False
        changed = (statement.name,) if isinstance(statement, Accumulate) else ()
        if name in (statement.names if isinstance(statement, Fold) else changed) or blocks(statement):
            return True
    return False
