"""The scratch of a kernel: memory on the stack for what loops keep for each other."""

from __future__ import annotations

from xjit.codegen.lowering.scopes import LoopBuilder
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

    def add(self, name: str, dtype: DType, shape: tuple[IntExpr, ...], strides: tuple[IntExpr, ...] = ()) -> str:
        """A buffer of this name; without strides the last axis is the fastest."""
        packed = Buffer.packed(name, dtype, *shape)
        buffer = Buffer(name, dtype, shape, strides or packed.strides)
        self.allocs.append(Alloc(buffer, Scope.KERNEL))
        return name

    def give_back(self) -> None:
        """Frees all buffers for the next nest."""
        self._free = list(self.allocs)
