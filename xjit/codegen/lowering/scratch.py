"""The scratch of a kernel: memory on the stack for what loops keep for each other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from xjit.codegen.lowering.scopes import LoopBuilder
from xjit.codegen.lowering.scopes import Scope as Around
from xjit.dataclass import dataclass, field
from xjit.ir.loops.intexpr import Integer, IntExpr, as_int
from xjit.ir.loops.nodes import Alloc, Buffer, Scope
from xjit.types import DType


@dataclass(eq=False)
class Scratch:
    """The buffers of scratch of one kernel, in the order in which they were taken first.

    Nests that run one behind the other use the same ones: the stack has room for those of one nest, not of thirty.
    """

    nest: LoopBuilder
    allocs: list[Alloc] = field(default_factory=list)
    _free: list[Alloc] = field(default_factory=list)

    def take(self, dtype: DType, *extents: Integer) -> str:
        """The name of a buffer of these extents that nobody else uses."""
        shape = tuple(map(as_int, extents))
        alloc = next((one for one in self._free if (one.buffer.extents, one.buffer.dtype) == (shape, dtype)), None)
        if alloc is not None:
            self._free.remove(alloc)
            return alloc.buffer.name
        return self.add(self.nest.fresh("m"), dtype, shape)

    def add(
        self,
        name: str,
        dtype: DType,
        shape: tuple[IntExpr, ...],
        strides: tuple[IntExpr, ...] = (),
        scope: Scope = Scope.KERNEL,
    ) -> str:
        """A buffer of this name; without strides the last axis is the fastest."""
        packed = Buffer.packed(name, dtype, *shape)
        buffer = Buffer(name, dtype, shape, strides or packed.strides)
        self.allocs.append(Alloc(buffer, scope))
        return name

    @contextlib.contextmanager
    def of_each(self, scope: Around) -> Iterator[None]:
        """Allocate what is taken meanwhile in a loop, anew for each of its iterations."""
        self._free.clear()
        first = len(self.allocs)
        yield
        scope.statements[:0] = [replace(one, scope=Scope.ITERATION) for one in self.allocs[first:]]
        del self.allocs[first:]

    def give_back(self) -> None:
        """Frees all buffers for the next nest."""
        self._free = list(self.allocs)
