"""Loops that are named once: each pass over a row has a loop of the same variable, which rewrites tell apart.

for j0 in 0 .. n0:          for j0 in 0 .. n0:
  s = add(s, x[j0])           s = add(s, x[j0])
for j0 in 0 .. n0:          for j0_0 in 0 .. n0:
  o[j0] = x[j0] / s           o[j0_0] = x[j0_0] / s
"""

from __future__ import annotations

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.dataclass import dataclass, field
from xjit.ir.loops.nodes import Block, Loop, Statement
from xjit.ir.loops.walk import blocks, renamed, with_blocks


@dataclass(eq=False)
class LoopNames:
    """The names of the loops of one group, by the variable that each was written with."""

    nest: LoopBuilder
    given: dict[str, list[str]] = field(default_factory=dict)

    def told_apart(self, block: Block) -> Block:
        """The block with names for its loops that no other loop of the kernel has."""
        return tuple(map(self._statement, block))

    def _statement(self, one: Statement) -> Statement:
        if isinstance(one, Loop):
            name = one.variable
            if name in self.nest.loops:
                own = self.nest.fresh(f"{name}_")
                (changed,) = renamed((one,), {name: own})
                assert isinstance(changed, Loop)
                one = changed
            self.nest.loops.add(one.variable)
            self.given.setdefault(name, []).append(one.variable)
        inner = blocks(one)
        return with_blocks(one, tuple(map(self.told_apart, inner))) if inner else one
