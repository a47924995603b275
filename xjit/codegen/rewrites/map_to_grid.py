"""Give the iterations of a loop to blocks of a grid, and those of the loops inside to the threads of a block."""

from __future__ import annotations

from dataclasses import replace

from xjit.codegen.rewrites.analysis.dependence import carried_by
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, variable
from xjit.ir.loops.nodes import (
    Alloc,
    Barrier,
    Block,
    Carry,
    Const,
    Fold,
    FromInt,
    If,
    Kernel,
    Let,
    Loop,
    LoopKind,
    Prim,
    Scope,
    Statement,
    Store,
)
from xjit.ir.loops.walk import loads, stores, substituted
from xjit.ir.scalar_expr import Literal
from xjit.types import BOOL, INT64


@dataclass(frozen=True, slots=True)
class MapToGrid:
    """Give a loop to the blocks of a grid and the loops in its body to ``threads`` threads.

    before      for i in 0 .. n:                        MapToGrid("i", "p", 4)
                  alloc parts: f32[4]
                  for p in 0 .. 4:
                    parts[p] = x[i, p]
                  for q in 0 .. 2:
                    parts[q] = parts[q] + parts[q + 2]
                  s[i] = parts[0]
    after       block i in 0 .. n:
                  alloc parts: f32[4] for each block
                  thread p in 0 .. 4:
                    parts[p] = x[i, p]
                    barrier
                    if p < 2:
                      parts[p] = parts[p] + parts[p + 2]
                    barrier
                    if p < 1:
                      s[i] = parts[0]

    Loops that have the threads' number of iterations or fewer take one thread for each; what is in no loop is done by
    the first thread, or by each for itself where it only names values.
    """

    block: str
    thread: str
    threads: int

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses where iterations of the loops need each other, or a loop has more than there are threads."""
        path, loop = found(kernel, self.block)
        if len(path) > 1:
            raise RefusedError(f"the loop over {self.block} is inside of another statement")
        for inner in (loop, *(one for one in loop.body if isinstance(one, Loop))):
            reason = carried_by((*path, inner) if inner is not loop else path)
            if reason:
                raise RefusedError(reason)
        allocs = tuple(replace(one, scope=Scope.BLOCK) for one in loop.body if isinstance(one, Alloc))
        rest = [one for one in loop.body if not isinstance(one, Alloc)]
        body: list[Statement] = []
        for one in rest:
            # Elements that others may have written are read behind a barrier.
            if any(loads((one,))) and any(stores(tuple(body))):
                body.append(Barrier())
            body += self._by_threads(one)
        threads = Loop(self.thread, constant(0), constant(self.threads), tuple(body), LoopKind.BLOCK_THREAD)
        mapped = replace(loop, kind=LoopKind.GRID_BLOCK, body=(*allocs, threads))
        return with_statements(kernel, loop, (mapped,))

    def _by_threads(self, statement: Statement) -> Block:
        """One statement as what each thread does."""
        match statement:
            case Loop(variable=name, start=start, stop=stop, body=body, step=1):
                extent = (stop - start).value
                if extent is None or extent > self.threads:
                    raise RefusedError(
                        f"the loop over {name} has {stop - start} iterations for {self.threads} threads"
                    )
                own = substituted(body, {name: variable(self.thread) + start})
                return own if extent == self.threads else (If(self._first(constant(extent)), own),)
            case Carry() | Let() | Fold():
                return (statement,)
            case Store():
                return (If(self._first(constant(1)), (statement,)),)
        raise RefusedError(f"{type(statement).__name__} is not for several threads")

    def _first(self, count: IntExpr) -> Prim:
        """Return whether a thread is one of the first."""
        number = FromInt(variable(self.thread), INT64)
        return Prim("lt", (number, Const(Literal.of(count.value, INT64))), BOOL)
