"""Keep scratch of one element in a register."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xjit.codegen.rewrites.analysis.surroundings import block_of, with_block
from xjit.codegen.rewrites.record import RefusedError
from xjit.codegen.rewrites.storage.privatize import see_that_it_is_loaded_and_stored
from xjit.dataclass import dataclass
from xjit.ir.loops.nodes import (
    Alloc,
    Block,
    Carry,
    Const,
    Find,
    Fold,
    Kernel,
    Let,
    Load,
    Loop,
    Value,
    Var,
)
from xjit.ir.loops.walk import Change, blocks, loads, path_to, replaced, replaced_all, statements, stores
from xjit.ir.scalar_expr import Literal


@dataclass(frozen=True, slots=True)
class KeepInRegister:
    """Make a carried scalar of scratch that has one element, or a name where it is given one value.

    before      alloc t: f64[] for each iteration
                t[] = 1.0
                for i in 0 .. n:
                  out[i] = t[]
                  t[] = (t[] + x[i])
    after       carry t: f64 = 0.0                      KeepInRegister("t")
                t = 1.0
                for i in 0 .. n:
                  out[i] = t
                  t = (t + x[i])

    A name will do where one value is stored, in front of all who read it.
    """

    buffer: str

    def apply(self, kernel: Kernel) -> Kernel:
        """Refuses what is no scratch of one element, and what iterations without order store."""
        home = path_to(kernel.body, lambda one: isinstance(one, Alloc) and one.buffer.name == self.buffer)
        if not home or not isinstance(home[-1], Alloc):
            raise RefusedError(f"{self.buffer} is no scratch of the kernel")
        if home[-1].buffer.extents:
            raise RefusedError(f"{self.buffer} has more than one element")
        block = block_of(kernel, home)
        self._see_that_it_may(block)
        rest = tuple(one for one in block if one is not home[-1])
        named = self._named(rest)
        if named is None:
            dtype = home[-1].buffer.dtype
            changed: dict[int, Block] = {
                id(store): (Fold((self.buffer,), (store.value,)),)
                for store in stores(block)
                if store.buffer == self.buffer
            }
            changed[id(home[-1])] = (Carry(self.buffer, Const(Literal.of(np.zeros((), dtype)))),)
            named = replaced_all(block, changed)
        return with_block(kernel, block, Change(value=self._read).block(named))

    def _see_that_it_may(self, block: Block) -> None:
        see_that_it_is_loaded_and_stored(self.buffer, block)
        for one in statements(block):
            if isinstance(one, Find) and one.load.buffer == self.buffer:
                raise RefusedError(f"a Find touches {self.buffer}")
            if not isinstance(one, Loop) or one.kind.is_ordered:
                continue
            if any(store.buffer == self.buffer for store in stores(one.body)):
                raise RefusedError(f"iterations over {one.variable} store into {self.buffer} in no order")

    def _named(self, block: Block) -> Block | None:
        """The block with a name for the only value that is stored; None where a name would not do."""
        found = [one for one in stores(block) if one.buffer == self.buffer]
        if len(found) != 1:
            return None
        inside = next(one for one in _blocks(block) if any(store is found[0] for store in one))
        place = next(number for number, one in enumerate(inside) if one is found[0])
        behind = sum(load.buffer == self.buffer for load in loads(inside[place + 1 :]))
        if behind != sum(load.buffer == self.buffer for load in loads(block)):
            return None
        return replaced(block, found[0], (Let(self.buffer, found[0].value, found[0].where),))

    def _read(self, value: Value) -> Value:
        if isinstance(value, Load) and value.buffer == self.buffer:
            return Var(self.buffer, value.dtype)
        return value


def _blocks(block: Block) -> Iterator[Block]:
    """Yield a block and all blocks inside of it."""
    yield block
    for one in block:
        for inner in blocks(one):
            yield from _blocks(inner)
