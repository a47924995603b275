"""Make two loops of one: loop fission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.directions import Place, dependence, earlier
from xjit.codegen.rewrites.analysis.exchange import uses
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.surroundings import known_before, written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Block, Kernel, Let, LetInt, Load, LoopKind, Statement
from xjit.ir.loops.walk import defined, parts, renamed


@dataclass(frozen=True, slots=True)
class Distribute:
    """Make two loops of one: the first with so many of its statements, the second with the rest.

    before      for i in 0 .. n:
                  v = (x[i] + 1.0)
                  t[i] = v
                  out[i] = (v * t[i])
    after       for i in 0 .. n:                        Distribute("i", 2, "k")
                  v = (x[i] + 1.0)
                  t[i] = v
                for k in 0 .. n:
                  v_k = (x[k] + 1.0)
                  out[k] = (v_k * t[k])

    Values that both need are computed in both.
    """

    loop: str
    statements: int
    second: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where the rest of an iteration is needed by the beginning of a later one, or lives in scalars."""
        path, loop = found(kernel, self.loop)
        if loop.kind in (LoopKind.GRID_BLOCK, LoopKind.BLOCK_THREAD):
            raise RefusedError(f"the loop over {self.loop} is one of a grid")
        if not 0 < self.statements < len(loop.body):
            raise RefusedError(f"the loop over {self.loop} has {len(loop.body)} statements")
        first, rest = loop.body[: self.statements], loop.body[self.statements :]
        copied = self._copied(first, rest)
        if loop.kind.is_ordered:
            here, behind = Place((loop,), first), Place((loop,), (*copied, *rest))
            reason = dependence(known_before(kernel, path), here, behind, earlier(loop))
            if reason:
                raise RefusedError(f"later iterations over {self.loop} need the rest of earlier ones: {reason}")
        names = Names(kernel).copies(copied, self.second)
        second = renamed((*copied, *rest), names | {self.loop: self.second})
        return with_statements(
            kernel, loop, (replace(loop, body=first), replace(loop, variable=self.second, body=second))
        )

    def _copied(self, first: Block, rest: Block) -> tuple[Statement, ...]:
        """The names that the beginning gives and the rest uses."""
        found: list[Statement] = []
        wanted = uses(rest)
        for one in reversed(first):
            if not wanted & set(defined(one)):
                continue
            if not isinstance(one, Let | LetInt):
                raise RefusedError(f"the rest of the loop over {self.loop} needs {defined(one)[0]}")
            found.insert(0, one)
            wanted |= uses((one,))
        _see_that_they_stay(found, written((*first, *rest)))
        return tuple(found)


def _see_that_they_stay(copied: Sequence[Statement], stored: set[str]) -> None:
    for one in copied:
        if isinstance(one, Let):
            for part in parts(one.value):
                if isinstance(part, Load) and part.buffer in stored:
                    raise RefusedError(f"{one.name} is read from {part.buffer}, which is written")
