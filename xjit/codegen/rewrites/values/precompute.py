"""Compute values of all iterations of a loop in a loop of their own in front of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xjit.codegen.rewrites.analysis.exchange import uses
from xjit.codegen.rewrites.analysis.fresh import Names
from xjit.codegen.rewrites.analysis.intervals import most
from xjit.codegen.rewrites.analysis.scalars import changed
from xjit.codegen.rewrites.analysis.surroundings import integers_before, known_before, written
from xjit.codegen.rewrites.record import RefusedError, found, with_statements
from xjit.dataclass import dataclass
from xjit.ir.loops.intexpr import IntExpr, constant, maximum, substitute, variable
from xjit.ir.loops.nodes import (
    Alloc,
    Barrier,
    Block,
    Buffer,
    Carry,
    Check,
    If,
    Invoke,
    Kernel,
    Let,
    Load,
    Loop,
    Statement,
    Store,
    Var,
    While,
)
from xjit.ir.loops.walk import defined, renamed, statements
from xjit.types import DType


@dataclass(frozen=True, slots=True)
class Precompute:
    """Compute values of all iterations of a loop in a loop of their own in front of it; they wait in scratch.

    before      for b in 0 .. n by 4:
                  for i in b .. min(b + 4, n):
                    v = exp(w[i])
                    for j in 0 .. m:
                      s[j] = (s[j] + (v * x[i, j]))
    after       for b in 0 .. n by 4:                   Precompute("i", ("v",), "k")
                  alloc v_k: f32[4] for each iteration
                  for k in b .. min(b + 4, n):
                    v_now = exp(w[k])
                    v_k[-b + k] = v_now
                  for i in b .. min(b + 4, n):
                    v = v_k[-b + i]
                    for j in 0 .. m:
                      s[j] = (s[j] + (v * x[i, j]))

    Also known as loop fission with scalar expansion. Loops that accumulate a value go with it.
    """

    loop: str
    values: tuple[str, ...]
    ahead: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses values of what the loop writes, and loops that may have any number of iterations."""
        path, loop = found(kernel, self.loop)
        if loop.step != 1 or not loop.kind.is_ordered:
            raise RefusedError(f"the loop over {self.loop} is {loop.kind.value} by {loop.step}, not for by 1")
        length = substitute(loop.stop - loop.start, integers_before(kernel, path))
        room = most(length)
        if room is None:
            raise RefusedError(f"it is not known how many iterations over {self.loop} there are at most")
        room = room if known_before(kernel, path).at_most(constant(0), room) else maximum(room, 0)
        own = needed_for(loop.body, self.values)
        rest = tuple(one for one in loop.body if not any(one is other for other in own))
        self._see_that_they_may_come_before(own, rest)
        self._see_that_the_last_ones_are_meant(loop.body)
        return with_statements(kernel, loop, self._apart(loop, room, own, Names(kernel)))

    def _see_that_they_may_come_before(self, own: Block, rest: Block) -> None:
        """Refuses where the statements for the values and the rest of the loop need each other."""
        for one in statements(own):
            if isinstance(one, If | While | Check | Barrier | Invoke):
                raise RefusedError(f"{type(one).__name__} keeps its place")
        effects = written(own) | _all_changed(own), written(rest) | _all_changed(rest)
        for name in sorted((uses(own) & effects[1]) | (uses(rest) & effects[0] - set(self.values))):
            raise RefusedError(f"{name} is changed and needed in the loop over {self.loop}")

    def _see_that_the_last_ones_are_meant(self, body: Block) -> None:
        """Refuses where a value changes behind a use of it."""
        used: set[str] = set()
        for one in body:
            several = changed((one,)) & set(self.values)
            for name in sorted(several & used):
                raise RefusedError(f"{name} changes behind a use of it")
            used |= uses((one,)) - several

    def _apart(self, loop: Loop, room: IntExpr, own: Block, taken: Names) -> Block:
        dtypes = {name: _dtype(own, name) for name in self.values}
        buffers = {name: taken.fresh(f"{name}_{self.ahead}") for name in self.values}
        allocs = (Alloc(Buffer.packed(buffers[name], dtypes[name], room)) for name in self.values)
        names = taken.copies(own, "now") | {loop.variable: self.ahead}
        where = {name: getattr(one, "where", None) for one in own for name in defined(one)}
        at, index = ((variable(name) - loop.start,) for name in (self.ahead, loop.variable))
        stores: Block = tuple(
            Store(buffers[name], at, Var(names[name], dtypes[name]), where[name]) for name in self.values
        )
        first = replace(loop, variable=self.ahead, body=(*renamed(own, names), *stores))
        known: Block = tuple(Let(name, Load(buffers[name], index, dtypes[name]), where[name]) for name in self.values)
        return (*allocs, first, replace(loop, body=_rest(loop.body, own, known)))


def _rest(body: Block, own: Block, known: Block) -> Block:
    """The loop without what was for the values alone, which it loads instead."""
    given = {name for one in known for name in defined(one)}
    kept: list[Statement] = []
    wanted: set[str] = set()
    for one in reversed(body):
        if any(one is other for other in own) and (given & _gives(one) or not wanted & _gives(one)):
            continue
        kept.insert(0, one)
        wanted |= uses((one,))
    return (*(one for one in known if set(defined(one)) & wanted), *kept)


def _gives(one: Statement) -> set[str]:
    """The names that later statements may need a statement for."""
    return {*defined(one), *changed((one,)), *written((one,))}


def needed_for(body: Block, several: Sequence[str]) -> Block:
    """The statements of a block that some names need, in order: the slice of the block for them."""
    own: list[Statement] = []
    wanted = set(several)
    for one in reversed(body):
        if _gives(one) & wanted:
            own.insert(0, one)
            wanted |= uses((one,)) | _gives(one)
    return tuple(own)


def _dtype(own: Block, name: str) -> DType:
    for one in own:
        if isinstance(one, Let | Carry) and one.name == name:
            return one.value.dtype
    raise RefusedError(f"{name} is no value in the body of the loop")


def _all_changed(block: Block) -> set[str]:
    """The scalars that change anywhere in a block, those that it gives included."""
    return {name for one in statements(block) for name in changed((one,))}
