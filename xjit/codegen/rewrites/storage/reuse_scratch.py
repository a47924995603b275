"""Let loops that follow each other use the same scratch."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import Alloc, Block, Kernel, Scope, Statement
from xjit.ir.loops.walk import blocks, renamed, statements


@dataclass(frozen=True, slots=True)
class ReuseScratch:
    """Let what follows in a kernel use the scratch that is free again: the stack has room for one nest, not for all.

    before      parallel i in 0 .. n:
                  alloc p: f64[4] for each iteration
                  p[1] = x[i]
                  out[i] = p[1]
                parallel j in 0 .. n:
                  alloc q: f64[4] for each iteration
                  q[1] = x[j]
                  second[j] = q[1]
    after       parallel i in 0 .. n:                   ReuseScratch()
                  alloc p: f64[4] for each iteration
                  p[1] = x[i]
                  out[i] = p[1]
                parallel j in 0 .. n:
                  alloc p: f64[4] for each iteration
                  p[1] = x[j]
                  second[j] = p[1]
    """

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses kernels without two nests that need scratch of one size."""
        free: list[Alloc] = []
        body: list[Statement] = []
        for one in kernel.body:
            names, left = dict[str, str](), list(free)
            for alloc in allocated(one):
                alike = next((other for other in left if _alike(alloc, other)), None)
                if alike is None:
                    free.append(alloc)
                else:
                    left.remove(alike)
                    names[alloc.buffer.name] = alike.buffer.name
            body += renamed((one,), names) if names else (one,)
        if all(new is old for new, old in zip(body, kernel.body, strict=True)):
            raise RefusedError("no nest needs scratch that another one has used")
        return replace(kernel, body=tuple(body))


def allocated(one: Statement) -> list[Alloc]:
    """The scratch inside of a statement."""
    inside: list[Block] = list(blocks(one))
    return [alloc for block in inside for alloc in statements(block) if isinstance(alloc, Alloc)]


def _alike(one: Alloc, other: Alloc) -> bool:
    is_own = one.scope is Scope.ITERATION and other.scope is Scope.ITERATION
    return is_own and replace(one.buffer, name=other.buffer.name) == other.buffer
