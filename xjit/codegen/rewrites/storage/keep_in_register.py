"""Keep scratch of one element in a register."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xjit.codegen.rewrites.record import RefusedError
from xjit.dataclass import dataclass, field, replace
from xjit.ir.loops.nodes import (
    Alloc,
    Block,
    Carry,
    Const,
    Find,
    Fold,
    Invoke,
    Kernel,
    Let,
    Load,
    Loop,
    Statement,
    Store,
    TransposeBlock,
    Value,
    Var,
)
from xjit.ir.loops.walk import Change, blocks, parts, replaced_all, values
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
        return kept_in_registers(kernel, (self.buffer,))


def kept_in_registers(kernel: Kernel, names: Sequence[str]) -> Kernel:
    """The kernel after one :class:`KeepInRegister` for each name, in two walks over it for all of them."""
    uses = _Uses({name: _Use() for name in names})
    uses.block(kernel.body)
    changed: dict[int, Block] = {}
    for name, use in uses.of.items():
        changed.update(use.statements(name))

    def read(value: Value) -> Value:
        if isinstance(value, Load) and value.buffer in uses.of:
            return Var(value.buffer, value.dtype)
        return value

    return replace(kernel, body=Change(value=read).block(replaced_all(kernel.body, changed)))


@dataclass(slots=True, eq=False)
class _Use:
    """The uses of one buffer: its ``home``, its stores and loads, and the reason to refuse it.

    Places count loads: ``place`` is that of the last store, ``end`` that of the end of its block. ``unordered`` is
    the number of loops without order around the home.
    """

    home: Alloc | None = None
    unordered: int = 0
    stores: list[Store] = field(default_factory=list)
    place: int = 0
    end: int = 0
    loads: list[int] = field(default_factory=list)
    reason: str = ""

    def statements(self, name: str) -> Mapping[int, Block]:
        """The statements in place of the buffer's own, by their identities."""
        if self.home is None:
            raise RefusedError(f"{name} is no scratch of the kernel")
        if self.home.buffer.extents:
            raise RefusedError(f"{name} has more than one element")
        if self.reason:
            raise RefusedError(self.reason)
        if len(self.stores) == 1 and all(self.place < load <= self.end for load in self.loads):
            (store,) = self.stores
            return {id(self.home): (), id(store): (Let(name, store.value, store.where),)}
        zero = Const(Literal.of(np.zeros((), self.home.buffer.dtype)))
        folds: dict[int, Block] = {id(store): (Fold((name,), (store.value,)),) for store in self.stores}
        return {id(self.home): (Carry(name, zero),), **folds}


@dataclass(slots=True, eq=False)
class _Uses:
    """A walk over a kernel that notes the uses of some buffers ``of`` one element, by their names."""

    of: Mapping[str, _Use]
    place: int = 0
    unordered: list[str] = field(default_factory=list)

    def block(self, block: Block) -> None:
        """Notes the uses in a block."""
        stored = list[_Use]()
        for one in block:
            for value in values(one):
                self._loads(value)
            self._own(one, stored)
            in_no_order = [one.variable] if isinstance(one, Loop) and not one.kind.is_ordered else []
            self.unordered += in_no_order
            for inner in blocks(one):
                self.block(inner)
            del self.unordered[len(self.unordered) - len(in_no_order) :]
        for use in stored:
            use.end = self.place

    def _loads(self, value: Value) -> None:
        for part in parts(value):
            if isinstance(part, Load) and part.buffer in self.of:
                self.place += 1
                self.of[part.buffer].loads.append(self.place)

    def _own(self, one: Statement, stored: list[_Use]) -> None:
        if isinstance(one, Store):
            use = self.of.get(one.buffer)
            if use is not None:
                self._store(one, use)
                stored.append(use)
        elif isinstance(one, Alloc):
            use = self.of.get(one.buffer.name)
            if use is not None:
                use.home, use.unordered = one, len(self.unordered)
        elif isinstance(one, Find):
            self._refuse(one.load.buffer, f"a Find touches {one.load.buffer}")
        elif isinstance(one, Invoke | TransposeBlock):
            touched = one.buffers if isinstance(one, Invoke) else (one.target, one.source)
            for name in touched:
                self._refuse(name, f"a {type(one).__name__} touches {name}")

    def _store(self, store: Store, use: _Use) -> None:
        use.stores.append(store)
        use.place = self.place
        if len(self.unordered) > use.unordered:
            variable = self.unordered[use.unordered]
            self._refuse(store.buffer, f"iterations over {variable} store into {store.buffer} in no order")

    def _refuse(self, name: str, reason: str) -> None:
        use = self.of.get(name)
        if use is not None:
            use.reason = use.reason or reason
