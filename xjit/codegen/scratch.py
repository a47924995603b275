"""The scratch of a kernel: memory on the stack for what loops keep for each other."""

from __future__ import annotations

from xjit.codegen.scopes import Nest
from xjit.dataclass import dataclass, field
from xjit.ir.loops import Alloc
from xjit.types import DType


@dataclass(eq=False)
class Scratch:
    """The buffers of scratch of one kernel, in the order in which they were taken first.

    Nests that run one behind the other use the same ones: the stack has room for those of one nest, not of thirty.
    """

    nest: Nest
    allocs: list[Alloc] = field(default_factory=list)
    _free: list[Alloc] = field(default_factory=list)

    def take(self, extent: str, dtype: DType) -> str:
        """The name of a buffer of so many elements that nobody else uses."""
        alloc = next((one for one in self._free if (one.extent, one.dtype) == (extent, dtype)), None)
        if alloc is not None:
            self._free.remove(alloc)
            return alloc.buffer
        alloc = Alloc(self.nest.fresh("m"), extent, dtype)
        self.allocs.append(alloc)
        return alloc.buffer

    def give_back(self) -> None:
        """Frees all buffers for the next nest."""
        self._free = list(self.allocs)
